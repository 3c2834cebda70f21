//! The orders of a tenant, newest first whatever the question.

use kit::list::{Answer, Days, Direction, Filter, List, Order, Partition, Question, Read, Sort};
use tables::sales_order::{BY_CREATED_AT, BY_ORDER_STATUS, BY_STATUS, CUSTOMER_ID, TABLE};

const NEWEST_FIRST: Order = Order::By("createdAt", Direction::Descending);

/// `GET /orders`.
pub static LIST: List = List::new(
    "orders",
    "/orders",
    TABLE,
    &[
        Question {
            name: "orders-of-a-period",
            read: Read::Index(BY_CREATED_AT),
            partition: Partition::Tenant,
            sort: Sort::Days(Days::Instants),
            filter: None,
            order: Order::Key(Direction::Descending),
        },
        Question {
            name: "orders-in-a-payment-status",
            read: Read::Index(BY_STATUS),
            partition: Partition::Tenant,
            sort: Sort::Equals("status"),
            filter: None,
            order: NEWEST_FIRST,
        },
        Question {
            name: "orders-in-a-fulfilment-status",
            read: Read::Index(BY_ORDER_STATUS),
            partition: Partition::Tenant,
            sort: Sort::Equals("orderStatus"),
            filter: None,
            order: NEWEST_FIRST,
        },
        Question {
            name: "orders-of-a-customer",
            read: Read::Table,
            partition: Partition::Tenant,
            sort: Sort::All,
            filter: Some(Filter { attribute: CUSTOMER_ID, parameter: "customerId" }),
            order: NEWEST_FIRST,
        },
    ],
    Answer::Page,
);
