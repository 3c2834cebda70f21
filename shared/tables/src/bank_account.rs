//! Bank accounts. The id of one is its organization, its provider and its number: `org-7#itau#12345-6`.

use kit::key::{
    Derived, INDEX_ONLY, Index, Key, KeyFault, Rollout, SCHEMA_VERSION, SEPARATOR, TENANT, Table, composite,
};

/// The accounts of an organization by provider.
pub const BY_ORGANIZATION: Index =
    Index::new("organizationLookupKey-index", Key::pair(ORGANIZATION_LOOKUP_KEY, PROVIDER));

/// The accounts at a provider by organization.
pub const BY_PROVIDER: Index =
    Index::new("providerLookupKey-index", Key::pair(PROVIDER_LOOKUP_KEY, ORGANIZATION_ID));

const ORGANIZATION_LOOKUP_KEY: &str = "organizationLookupKey";
const PROVIDER_LOOKUP_KEY: &str = "providerLookupKey";
const ORGANIZATION_ID: &str = "organizationId";
const PROVIDER: &str = "provider";

/// The attribute that holds all three parts.
pub const ID: &str = "id";

/// The table. An account that has no `organizationId` or `provider` of itself is given them for the indexes
/// alone.
pub const TABLE: Table = Table {
    unlisted: &[ORGANIZATION_LOOKUP_KEY, PROVIDER_LOOKUP_KEY, SCHEMA_VERSION, INDEX_ONLY],
    ..Table::new("BankAccount", Key::single(ID), &[BY_ORGANIZATION, BY_PROVIDER])
};

/// Accounts of an organization are given an index; before that, the table was scanned for them. DynamoDB
/// makes one index of a table at a time, so this and [`PROVIDER_ROLLOUT`] are at different stages on the
/// way.
pub static ORGANIZATION_ROLLOUT: Rollout = Rollout {
    name: "bank-by-organization",
    table: TABLE,
    index: BY_ORGANIZATION,
    derived: &[
        Derived {
            attribute: ORGANIZATION_LOOKUP_KEY,
            from: &[TENANT, ID],
            value: |texts| lookup_key(texts, 0),
            may_be_stored: false,
        },
        Derived { attribute: PROVIDER, from: &[ID], value: |texts| part(texts, 1), may_be_stored: true },
    ],
    found_by: &[TENANT, ID],
    schema_version: 1,
};

/// Accounts at a provider are given an index; before that, the table was scanned for them.
pub static PROVIDER_ROLLOUT: Rollout = Rollout {
    name: "bank-by-provider",
    table: TABLE,
    index: BY_PROVIDER,
    derived: &[
        Derived {
            attribute: PROVIDER_LOOKUP_KEY,
            from: &[TENANT, ID],
            value: |texts| lookup_key(texts, 1),
            may_be_stored: false,
        },
        Derived {
            attribute: ORGANIZATION_ID,
            from: &[ID],
            value: |texts| part(texts, 0),
            may_be_stored: true,
        },
    ],
    found_by: &[TENANT, ID],
    schema_version: 2,
};

/// How many parts an id has.
const PARTS: usize = 3;

/// One of the parts of the id, which is the last of the texts.
fn part(texts: &[&str], at: usize) -> Result<String, KeyFault> {
    let id = texts.last().copied().unwrap_or_default();
    let parts: Vec<&str> = id.split(SEPARATOR).collect();
    if parts.len() != PARTS {
        return Err(KeyFault::Parts(PARTS));
    }
    match parts.get(at) {
        Some(part) if !part.is_empty() => Ok((*part).to_owned()),
        _ => Err(KeyFault::Empty),
    }
}

/// The tenant, the first of the texts, and a part of the id.
fn lookup_key(texts: &[&str], at: usize) -> Result<String, KeyFault> {
    let tenant = texts.first().copied().unwrap_or_default();
    composite(&[tenant, &part(texts, at)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_tells_organization_and_provider() {
        let texts = ["acme", "org-7#itau#123"];
        assert_eq!(lookup_key(&texts, 0).as_deref(), Ok("acme#org-7"));
        assert_eq!(lookup_key(&texts, 1).as_deref(), Ok("acme#itau"));
        for (id, fault) in [
            ("org-7#itau", KeyFault::Parts(3)),
            ("a#b#c#d", KeyFault::Parts(3)),
            ("#itau#1", KeyFault::Empty),
        ] {
            assert_eq!(lookup_key(&["acme", id], 0), Err(fault), "{id}");
        }
    }
}
