//! Entries of cash books. A book grows for ever, so each of its months is a partition of its own.

use jiff::civil::Date;
use kit::key::{Key, KeyFault, Month, Table, entry_key, month_partition};

/// The table.
pub const TABLE: Table = Table::new("CashEntry", Key::pair("bookMonthKey", "entryKey"), &[]);

/// The key attributes of an entry: `bookMonthKey` and `entryKey`.
///
/// # Errors
///
/// A part that is empty, too long, or holds `#`.
pub fn key(tenant: &str, book: &str, day: Date, id: &str) -> Result<[(&'static str, String); 2], KeyFault> {
    let partition = month_partition(tenant, book, Month::of(day))?;
    Ok([("bookMonthKey", partition), ("entryKey", entry_key(day, id)?)])
}
