//! Rules for parameters, over every list.

use crate::asking::first_asked as asked;
use crate::event::get;
use crate::registry;
use crate::world::{World, send};

#[tokio::test]
async fn bounds_are_named() {
    let world = World::new();
    let limited = registry::lists().into_iter().filter(|list| list.answer() != kit::list::Answer::All);
    for list in limited {
        let app = world.deployed(list);
        for wrong in ["0", "-1", "101", "abc", "", "1.5", "+1", " 1", "99999999999999999999"] {
            let answer = send(&app, &asked(list).with("limit", wrong)).await;
            assert_eq!((answer.status, answer.code().as_str()), (400, "limit_out_of_range"), "{wrong}");
            assert_eq!(answer.message(), "limit must be between 1 and 100");
        }
        if list.answer() != kit::list::Answer::Page {
            continue;
        }
        for wrong in ["0", "-1", "abc", "", "9007199254740992"] {
            let answer = send(&app, &asked(list).with("page", wrong)).await;
            assert_eq!((answer.status, answer.code().as_str()), (400, "page_out_of_range"), "{wrong}");
            assert_eq!(answer.message(), "page must be between 1 and 9007199254740991");
        }
    }
    assert!(world.calls().is_empty());
}

#[tokio::test]
async fn an_undeclared_parameter_is_refused_and_the_questions_are_named() {
    let world = World::new();
    for list in registry::lists() {
        let answer = send(&world.deployed(list), &asked(list).with("color", "red")).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "unknown_parameter"), "{}", list.name());
        assert!(answer.message().starts_with("\"color\" is not a parameter"), "{}", answer.message());
        for question in list.questions() {
            let in_query = |name: &&str| !list.path().contains(&format!("{{{name}}}"));
            for parameter in question.required().into_iter().flatten().filter(in_query) {
                assert!(answer.message().contains(parameter), "{}", answer.message());
            }
        }
    }
    let answer = send(&world.deployed(&orders::LIST), &get("/orders", "acme").with("offset", "20")).await;
    assert_eq!(
        answer.message(),
        "\"offset\" is not a parameter of this list; it answers [from] [to]; status; orderStatus; customerId; each \
         with page, limit"
    );
    let answer =
        send(&world.deployed(&financial::LIST), &get("/financial-entries", "acme").with("limit", "5")).await;
    assert_eq!(answer.message(), "\"limit\" is not a parameter of this list; it answers unitId [from] [to]");
    let ledger = get("/ledger", "acme").with("unitId", "u-1").with("page", "2");
    let message = send(&world.deployed(&ledger::LIST), &ledger).await.message();
    assert!(message.ends_with("; each with limit, cursor, order"), "{message}");
    assert!(world.calls().is_empty());
}

#[tokio::test]
async fn a_whole_collection_takes_no_paging() {
    let world = World::new();
    let whole = registry::lists().into_iter().filter(|list| list.answer() == kit::list::Answer::All);
    for list in whole {
        for name in kit::list::PAGING {
            let answer = send(&world.deployed(list), &asked(list).with(name, "1")).await;
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (400, "unknown_parameter"),
                "{}",
                list.name()
            );
        }
    }
    assert!(world.calls().is_empty());
}

#[tokio::test]
async fn a_repeated_parameter_is_refused_by_both_kinds_of_api() {
    let world = World::new();
    let app = world.deployed(&orders::LIST);
    let event = get("/orders", "acme").with("status", "OPEN").with("status", "PAID");
    for event in [event.http(), event.rest()] {
        let answer = crate::world::send_raw(&app, &event.to_string()).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "repeated_parameter"));
        assert_eq!(answer.message(), "\"status\" must be given once");
    }
    assert!(world.calls().is_empty());
}

#[tokio::test]
async fn a_combination_that_no_key_answers_names_those_that_one_does() {
    let world = World::new();
    let app = world.deployed(&orders::LIST);
    let event = get("/orders", "acme").with("status", "OPEN").with("orderStatus", "NEW");
    let answer = send(&app, &event).await;
    assert_eq!((answer.status, answer.code().as_str()), (400, "unsupported_question"));
    assert_eq!(
        answer.message(),
        "no key answers status with orderStatus; this list answers [from] [to]; status; orderStatus; customerId"
    );
    let answer = send(&app, &get("/orders", "acme").with("status", "OPEN").with("from", "2026-02-01")).await;
    assert_eq!(answer.code(), "unsupported_question");
    let answer = send(&app, &get("/orders", "acme").with("cursor", "x")).await;
    assert_eq!(answer.code(), "unknown_parameter", "a list by page takes no cursor");
    assert!(world.calls().is_empty());
}

#[tokio::test]
async fn a_reversed_period_and_a_day_that_is_none_are_named() {
    let world = World::new();
    let app = world.deployed(&orders::LIST);
    let answer =
        send(&app, &get("/orders", "acme").with("from", "2026-02-02").with("to", "2026-02-01")).await;
    assert_eq!((answer.status, answer.code().as_str()), (400, "reversed_period"));
    assert_eq!(answer.message(), "from (2026-02-02) must not be after to (2026-02-01)");
    for wrong in ["2026-02-30", "2026-13-01", "02/01/2026", "today", ""] {
        let answer = send(&app, &get("/orders", "acme").with("to", wrong)).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_date"), "{wrong}");
        assert!(answer.message().starts_with("to must be a calendar day"), "{}", answer.message());
    }
    assert!(world.calls().is_empty());
}

#[tokio::test]
async fn a_day_without_midnight_is_read_whole() {
    let world = World::new();
    let app = world.deployed(&orders::LIST);
    send(&app, &get("/orders", "acme").with("from", "2018-11-04").with("to", "2018-11-04")).await;
    assert_eq!(
        world.calls()[0].key_condition(),
        "tenant = acme AND createdAt BETWEEN 2018-11-04T03:00:00 AND 2018-11-05T01:59:59~"
    );
}

#[tokio::test]
async fn a_day_that_the_time_zone_skipped_is_empty() {
    let world = World::new();
    let app = world.declared_with(&orders::LIST, &[("TIME_ZONE", "Pacific/Apia")]);
    let event = get("/orders", "acme").with("from", "2011-12-30").with("to", "2011-12-30");
    let answer = send(&app, &event).await;
    assert_eq!((answer.status, answer.total()), (200, 0), "{}", answer.body);
}

#[tokio::test]
async fn values_arrive_whole_whatever_is_in_them() {
    let world = World::new();
    let app = world.deployed(&orders::LIST);
    for value in ["Silva, Ana", "a#b", "a b", "a+b", "100%", "São João", "a&b=c", "%2C", "\u{1F511}"] {
        for event in [get("/orders", "acme").with("status", value)] {
            for event in [event.http(), event.rest()] {
                let answer = crate::world::send_raw(&app, &event.to_string()).await;
                assert_eq!(answer.status, 200, "{value}: {}", answer.body);
                let calls = world.calls();
                let sent = &calls[0].body["ExpressionAttributeValues"][":1"]["S"];
                assert_eq!(sent.as_str(), Some(value));
            }
        }
    }
}

#[tokio::test]
async fn a_value_that_no_key_holds_is_refused_by_name() {
    let world = World::new();
    let app = world.deployed(&orders::LIST);
    for (value, message) in
        [("", "status must not be empty"), (&"é".repeat(513) as &str, "status must have at most 1024 bytes")]
    {
        let answer = send(&app, &get("/orders", "acme").with("status", value)).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_parameter"));
        assert_eq!(answer.message(), message);
    }
    let world = World::with_tables(&[crate::declared::VISIT]);
    let app = world.declared(&crate::declared::VISITS);
    let answer = send(&app, &get("/visits", "acme").with("roomId", "acme#7")).await;
    assert_eq!(answer.message(), "roomId must not contain \"#\"");
    assert!(world.calls().is_empty());
}

#[tokio::test]
async fn only_asc_and_desc_are_orders() {
    let world = World::with_tables(&[crate::declared::VISIT]);
    let app = world.declared(&crate::declared::VISITS);
    for wrong in ["up", "ASC", ""] {
        let answer = send(&app, &get("/visits", "acme").with("order", wrong)).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_order"), "{wrong}");
    }
    assert!(world.calls().is_empty());
}
