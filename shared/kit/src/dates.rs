//! Calendar days as bounds of a sort key.
//!
//! A screen asks for days, both ends inclusive. What is stored is either a day (`2026-02-01`) or an
//! instant in UTC (`2026-02-01T03:00:00.000Z`). Both are text that sorts by time, so a period becomes a
//! range of text.

use jiff::{ToSpan, civil::Date, tz::TimeZone};

use crate::error::{Code, Error};
use crate::key::Month;

/// Sorts after every continuation that a day or a second is stored with: `T`, `#`, `.`, `Z`, `+`, `-`
/// and digits all come before it.
const AFTER_EVERY_SUFFIX: char = '~';

/// Reads a calendar day written `YYYY-MM-DD`.
///
/// # Errors
///
/// 400 `invalid_date` that names the parameter.
pub fn parse_day(parameter: &str, text: &str) -> Result<Date, Error> {
    let bytes = text.as_bytes();
    let shape = bytes.len() == 10
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    let day = if shape { text.parse::<Date>().ok() } else { None };
    day.filter(|day| day.year() > 0).ok_or_else(|| {
        Error::rejected(
            Code::InvalidDate,
            format!("{parameter} must be a calendar day written YYYY-MM-DD, such as 2026-02-28"),
        )
    })
}

/// Reads a calendar month written `YYYY-MM`.
///
/// # Errors
///
/// 400 `invalid_date` that names the parameter.
pub fn parse_month(parameter: &str, text: &str) -> Result<Month, Error> {
    let first = if text.len() == 7 { parse_day(parameter, &format!("{text}-01")).ok() } else { None };
    first.map(Month::of).ok_or_else(|| {
        let message = format!("{parameter} must be a calendar month written YYYY-MM, such as 2026-02");
        Error::rejected(Code::InvalidDate, message)
    })
}

/// Whether a text is an instant in UTC, written so that texts sort by time: by the second
/// (`2026-02-01T03:00:00Z`) or with milliseconds (`2026-02-01T03:00:00.000Z`). Of one second, the former comes last.
#[must_use]
pub fn is_instant(text: &str) -> bool {
    let written = |at: jiff::Timestamp| text == format!("{}Z", second(at)) || text == instant(at);
    text.parse().is_ok_and(written)
}

/// The smallest stored day not before `day`.
#[must_use]
pub fn first_of_day(day: Date) -> String {
    day.to_string()
}

/// A text not before anything stored on `day`.
#[must_use]
pub fn last_of_day(day: Date) -> String {
    format!("{day}{AFTER_EVERY_SUFFIX}")
}

/// A text not after any instant of the local day `day`: its first second in UTC, without what may
/// follow the second.
///
/// The day begins where the time zone says: on 2018-11-04 there was no midnight in São Paulo, and the
/// day began at 01:00 local time, 03:00 UTC. The last day of the calendar, which a screen may take for
/// "for ever", has no instants: it begins and ends as a text.
#[must_use]
pub fn first_instant_of_day(day: Date, zone: &TimeZone) -> String {
    start_of_day(day, zone).map_or_else(|| first_of_day(day), second)
}

/// A text not before any instant of the local day `day`.
#[must_use]
pub fn last_instant_of_day(day: Date, zone: &TimeZone) -> String {
    let next = day.tomorrow().ok().and_then(|next| start_of_day(next, zone));
    let last = next.and_then(|next| next.checked_sub(1.second()).ok());
    last.map_or_else(|| last_of_day(day), |last| format!("{}{AFTER_EVERY_SUFFIX}", second(last)))
}

/// Where a day begins; `None` at the ends of the calendar.
fn start_of_day(day: Date, zone: &TimeZone) -> Option<jiff::Timestamp> {
    // Where there was no midnight, this is the first instant after the gap.
    Some(day.to_zoned_datetime(zone.clone()).ok()?.timestamp())
}

/// `2026-02-01T03:00:00`, the part of an instant that is stored in the same way with or without a
/// fraction.
fn second(instant: jiff::Timestamp) -> String {
    instant.strftime("%Y-%m-%dT%H:%M:%S").to_string()
}

/// An instant as it is stored: UTC, milliseconds, `Z`. Of fixed width, so that text sorts by time.
#[must_use]
pub fn instant(at: jiff::Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use proptest::prelude::*;

    use super::*;

    fn sao_paulo() -> TimeZone {
        TimeZone::get("America/Sao_Paulo").unwrap()
    }

    #[test]
    fn a_day_without_midnight_has_23_hours() {
        let day = date(2018, 11, 4);
        assert_eq!(first_instant_of_day(day, &sao_paulo()), "2018-11-04T03:00:00");
        assert_eq!(last_instant_of_day(day, &sao_paulo()), "2018-11-05T01:59:59~");
    }

    #[test]
    fn a_day_with_two_midnights_has_25_hours() {
        let day = date(2018, 2, 17);
        assert_eq!(first_instant_of_day(day, &sao_paulo()), "2018-02-17T02:00:00");
        assert_eq!(last_instant_of_day(day, &sao_paulo()), "2018-02-18T02:59:59~");
    }

    #[test]
    fn every_way_to_write_an_instant_falls_into_its_day() {
        let (from, to) = (
            first_instant_of_day(date(2026, 2, 1), &sao_paulo()),
            last_instant_of_day(date(2026, 2, 1), &sao_paulo()),
        );
        for inside in [
            "2026-02-01T03:00:00Z",
            "2026-02-01T03:00:00.000Z",
            "2026-02-01T03:00:00+00:00",
            "2026-02-02T02:59:59Z",
            "2026-02-02T02:59:59.999999Z",
        ] {
            assert!(from.as_str() <= inside && inside <= to.as_str(), "{inside}");
        }
        for outside in ["2026-02-01T02:59:59.999Z", "2026-02-02T03:00:00Z", "2026-02-02T03:00:00.000Z"] {
            assert!(!(from.as_str() <= outside && outside <= to.as_str()), "{outside}");
        }
    }

    #[test]
    fn only_a_full_calendar_day_is_a_day() {
        for wrong in
            ["2026-02-30", "2026-2-1", "20260201", "2026-02-01T00:00:00Z", "", "0000-01-01", "-001-01-01"]
        {
            let error = parse_day("from", wrong).unwrap_err();
            assert_eq!(error.code(), Code::InvalidDate, "{wrong}");
            assert!(error.to_string().starts_with("from "), "{error}");
        }
        assert_eq!(parse_day("from", "2024-02-29").unwrap(), date(2024, 2, 29));
    }

    #[test]
    fn only_a_full_calendar_month_is_a_month() {
        for wrong in ["2026-13", "2026-2", "2026-02-01", "202602", "", "0000-12"] {
            assert_eq!(parse_month("month", wrong).unwrap_err().code(), Code::InvalidDate, "{wrong}");
        }
        assert_eq!(parse_month("month", "2026-02").unwrap().to_string(), "2026-02");
    }

    #[test]
    fn the_last_day_of_the_calendar_ends_after_every_instant() {
        for (zone, text) in [(sao_paulo(), "9999-12-31~"), (TimeZone::UTC, "9999-12-31~")] {
            assert_eq!(last_instant_of_day(date(9999, 12, 31), &zone), text);
        }
        assert!(first_instant_of_day(date(9999, 12, 31), &sao_paulo()).starts_with("9999-12-31"));
        assert_eq!(first_instant_of_day(date(1, 1, 1), &sao_paulo()), "0001-01-01T03:06:28");
        assert!(parse_day("to", "9999-12-31").is_ok());
    }

    #[test]
    fn an_instant_is_one_that_sorts_by_time() {
        for right in ["2026-02-01T12:00:00Z", "2026-02-01T12:00:00.000Z", "2026-02-28T23:59:59.999Z"] {
            assert!(is_instant(right), "{right}");
        }
        for wrong in [
            "2026-02-01T120000Z",
            "2026-02-01T12Z",
            "2026-02-01T12:00Z",
            "2026-02-01T12:00:00,5Z",
            "2026-02-01T12:00:00.5Z",
            "2026-02-01T12:00:00.123456789Z",
            "2026-02-01T23:59:60Z",
            "2026-02-01T12:00:00+00:00",
            "2026-02-01 12:00:00Z",
            "2026-02-30T12:00:00Z",
            "2026-02-01",
            "",
        ] {
            assert!(!is_instant(wrong), "{wrong}");
        }
    }

    #[test]
    fn an_instant_is_stored_with_three_fraction_digits() {
        let at: jiff::Timestamp = "2026-11-30T17:37:23.5Z".parse().unwrap();
        assert_eq!(instant(at), "2026-11-30T17:37:23.500Z");
    }

    proptest! {
        #[test]
        fn days_follow_each_other_without_gap_or_overlap(offset in 0_i32..60_000) {
            let day = date(1900, 1, 1).checked_add(offset.days()).unwrap();
            let next = day.checked_add(1.day()).unwrap();
            let last = last_instant_of_day(day, &sao_paulo());
            let first = first_instant_of_day(next, &sao_paulo());
            let end: jiff::Timestamp = format!("{}Z", last.trim_end_matches('~')).parse().unwrap();
            let start: jiff::Timestamp = format!("{first}Z").parse().unwrap();
            prop_assert_eq!(start.duration_since(end).as_secs(), 1);
        }
    }
}
