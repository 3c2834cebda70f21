//! The bank accounts of an organization, or at a provider.

use kit::list::{
    Answer, Direction, Filter, FilterPart, List, OldPath, Order, Partition, Question, Read, Sort,
};
use tables::bank_account::{BY_ORGANIZATION, BY_PROVIDER, ID, ORGANIZATION_ROLLOUT, PROVIDER_ROLLOUT, TABLE};

// The sort keys are those of the indexes. Most accounts have theirs in common with others, and DynamoDB
// promises no order among them, so pages are made by the id as well.
const BY_PROVIDER_AND_ID: Order = Order::By("provider", Direction::Ascending);
const BY_ORGANIZATION_AND_ID: Order = Order::By("organizationId", Direction::Ascending);

/// `GET /bank-accounts`.
pub static LIST: List = List::new(
    "bank-account",
    "/bank-accounts",
    TABLE,
    &[
        Question {
            name: "accounts-of-an-organization",
            read: Read::Index(BY_ORGANIZATION),
            partition: Partition::TenantAnd("organizationId"),
            sort: Sort::All,
            filter: None,
            order: BY_PROVIDER_AND_ID,
            until: Some(OldPath {
                rollout: &ORGANIZATION_ROLLOUT,
                scan: true,
                keep: &[Filter { attribute: ID, parameter: "organizationId", part: FilterPart::First }],
            }),
        },
        Question {
            name: "accounts-at-a-provider",
            read: Read::Index(BY_PROVIDER),
            partition: Partition::TenantAnd("provider"),
            sort: Sort::All,
            filter: None,
            order: BY_ORGANIZATION_AND_ID,
            until: Some(OldPath {
                rollout: &PROVIDER_ROLLOUT,
                scan: true,
                keep: &[Filter { attribute: ID, parameter: "provider", part: FilterPart::Inner }],
            }),
        },
    ],
    Answer::Page,
);
