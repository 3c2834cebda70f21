//! The orders of a tenant, newest first whatever the question.

use kit::list::{
    Answer, Days, Direction, Filter, FilterPart, List, OldPath, Order, Partition, Question, Read, Sort,
};
use tables::sales_order::{
    BY_CREATED_AT, BY_CUSTOMER, BY_ORDER_STATUS, BY_STATUS, CUSTOMER, CUSTOMER_ROLLOUT, TABLE,
};

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
            until: None,
        },
        Question {
            name: "orders-in-a-payment-status",
            read: Read::Index(BY_STATUS),
            partition: Partition::Tenant,
            sort: Sort::Equals("status"),
            filter: None,
            order: NEWEST_FIRST,
            until: None,
        },
        Question {
            name: "orders-in-a-fulfilment-status",
            read: Read::Index(BY_ORDER_STATUS),
            partition: Partition::Tenant,
            sort: Sort::Equals("orderStatus"),
            filter: None,
            order: NEWEST_FIRST,
            until: None,
        },
        Question {
            name: "orders-of-a-customer",
            read: Read::Index(BY_CUSTOMER),
            partition: Partition::Tenant,
            sort: Sort::Equals("customerId"),
            filter: None,
            order: NEWEST_FIRST,
            until: Some(OldPath {
                rollout: &CUSTOMER_ROLLOUT,
                scan: false,
                keep: &[Filter { attribute: CUSTOMER, parameter: "customerId", part: FilterPart::Whole }],
            }),
        },
    ],
    Answer::Page,
);
