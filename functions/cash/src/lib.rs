//! The entries of a cash book, newest first.

use kit::list::{Answer, Days, Direction, List, Order, Partition, Question, Read, Sort};
use tables::cash_entry::TABLE;

const OF_A_MONTH: Question = Question {
    name: "cash-entries-of-a-month",
    read: Read::Table,
    partition: Partition::TenantAndMonths("bookId"),
    sort: Sort::Month("month"),
    filter: None,
    order: Order::Key(Direction::Descending),
    until: None,
};

const OF_A_PERIOD: Question =
    Question { name: "cash-entries-of-a-period", sort: Sort::Days(Days::Dates), ..OF_A_MONTH };

/// `GET /cash-books/{bookId}/entries`.
pub static LIST: List = List::new(
    "cash",
    "/cash-books/{bookId}/entries",
    TABLE,
    &[OF_A_MONTH, OF_A_PERIOD],
    Answer::Cursor { reversible: true },
);
