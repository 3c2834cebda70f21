//! The statement of a bank account, newest first.

use kit::list::{Answer, Days, Direction, List, Order, Partition, Question, Read, Sort};
use tables::statement_entry::TABLE;

const OF_A_MONTH: Question = Question {
    name: "statement-of-a-month",
    read: Read::Table,
    partition: Partition::TenantAndMonths("accountId"),
    sort: Sort::Month("month"),
    filter: None,
    order: Order::Key(Direction::Descending),
    until: None,
};

const OF_A_PERIOD: Question =
    Question { name: "statement-of-a-period", sort: Sort::Days(Days::Dates), ..OF_A_MONTH };

/// `GET /bank-accounts/{accountId}/statement`.
pub static LIST: List = List::new(
    "statement",
    "/bank-accounts/{accountId}/statement",
    TABLE,
    &[OF_A_MONTH, OF_A_PERIOD],
    Answer::Cursor { reversible: false },
);
