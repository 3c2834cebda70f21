//! The cursor: where a page ended, sealed.
//!
//! A cursor is the version, a nonce and the authenticated encryption (AES-256-GCM-SIV) of which of the
//! question's queries was being read, and of the key attributes that the query does not fix, in URL-safe
//! base64. The tenant, the list, the question,
//! the direction and every parameter are bound to it as associated data: they are not in it, and it
//! opens only where they are the same. A cursor that does not open is refused before anything is read.

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::{hkdf, rand};
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;

use crate::error::{Code, Error};
use crate::item::Item;
use crate::key::{MAX_PARTITION_BYTES, MAX_SORT_BYTES, ScalarType};
use crate::list::Direction;
use crate::plan::{Plan, Start};

/// The first byte of every cursor.
const VERSION: u8 = 1;

/// The shortest setting that a key is derived from, in bytes.
pub const MIN_KEY_BYTES: usize = 32;

/// The longest cursor that is looked at: one that carries the largest keys there are, two of each kind.
const MAX_CHARACTERS: usize = (MAX_PARTITION_BYTES + MAX_SORT_BYTES) * 2 * 4 / 3 + 64;

/// The keys that seal and open cursors.
pub struct CursorKeys {
    current: LessSafeKey,
    previous: Option<LessSafeKey>,
}

impl std::fmt::Debug for CursorKeys {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("CursorKeys")
            .field("previous", &self.previous.is_some())
            .finish_non_exhaustive()
    }
}

impl CursorKeys {
    /// Derives the keys from their settings: cursors are sealed with `current`, and those sealed with
    /// `previous` still open while a rotation is under way.
    ///
    /// # Errors
    ///
    /// A setting shorter than [`MIN_KEY_BYTES`].
    pub fn new(current: &str, previous: Option<&str>) -> Result<Self, Error> {
        Ok(Self { current: derive(current)?, previous: previous.map(derive).transpose()? })
    }

    /// Seals the place where the next page starts.
    ///
    /// # Errors
    ///
    /// A fault of ours: there is no such query, its key lacks an attribute, or the library fails.
    pub fn seal(&self, plans: &[Plan], start: &Start) -> Result<String, Error> {
        let fault = |what: &'static str| Error::internal("sealing a cursor", what);
        let plan = plans.get(start.query).ok_or_else(|| fault("there is no such query"))?;
        let query = u16::try_from(start.query).map_err(|_| fault("there are too many queries"))?;
        let mut sealed = query.to_be_bytes().to_vec();
        for attribute in start.key.iter().flat_map(|_| &plan.carried) {
            let (tag, bytes): (u8, &[u8]) = match start.key.as_ref().and_then(|key| key.get(attribute.name)) {
                Some(AttributeValue::S(text)) => (b'S', text.as_bytes()),
                Some(AttributeValue::N(digits)) => (b'N', digits.as_bytes()),
                Some(AttributeValue::B(blob)) => (b'B', blob.as_ref()),
                _ => return Err(fault("the key lacks an attribute")),
            };
            let len = u16::try_from(bytes.len()).map_err(|_| fault("the key is too long"))?;
            sealed.push(tag);
            sealed.extend_from_slice(&len.to_be_bytes());
            sealed.extend_from_slice(bytes);
        }
        // A nonce drawn twice would, with this cipher, show no more than that two places are equal.
        let mut nonce = [0_u8; NONCE_LEN];
        let mut cursor = vec![VERSION];
        rand::fill(&mut nonce)
            .and_then(|()| {
                let aad = Aad::from(binding(plan));
                self.current.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut sealed)
            })
            .map_err(|_| Error::internal("sealing a cursor", "the cipher failed"))?;
        cursor.extend_from_slice(&nonce);
        cursor.extend_from_slice(&sealed);
        Ok(BASE64.encode(cursor))
    }

    /// Opens a cursor as the place where a page of `plans` starts.
    ///
    /// # Errors
    ///
    /// 400 `invalid_cursor`, always with the same message: a cursor that was not made for this tenant,
    /// list, question, direction and these parameters, or that was changed in any way.
    pub fn open(&self, plans: &[Plan], cursor: &str) -> Result<Start, Error> {
        self.opened(plans, cursor).ok_or_else(|| {
            Error::rejected(
                Code::InvalidCursor,
                "cursor is not one that this list gave for these parameters; start again without it",
            )
        })
    }

    fn opened(&self, plans: &[Plan], cursor: &str) -> Option<Start> {
        if cursor.len() > MAX_CHARACTERS {
            return None;
        }
        let bytes = BASE64.decode(cursor).ok()?;
        let (version, rest) = bytes.split_first()?;
        let (nonce, sealed) = rest.split_at_checked(NONCE_LEN)?;
        if *version != VERSION {
            return None;
        }
        let binding = binding(plans.first()?);
        [Some(&self.current), self.previous.as_ref()].into_iter().flatten().find_map(|key| {
            let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
            let mut place = sealed.to_vec();
            let place = key.open_in_place(nonce, Aad::from(&binding), &mut place).ok()?;
            start(plans, place)
        })
    }
}

/// The place: what the cursor carries, and what the query fixes.
fn start(plans: &[Plan], place: &[u8]) -> Option<Start> {
    let (query, mut place) = place.split_first_chunk::<2>()?;
    let query = usize::from(u16::from_be_bytes(*query));
    let plan = plans.get(query)?;
    if place.is_empty() && !plan.carried.is_empty() {
        return Some(Start { query, key: None });
    }
    let mut key = Item::new();
    for attribute in &plan.carried {
        let (tag, rest) = place.split_first()?;
        let (len, rest) = rest.split_first_chunk::<2>()?;
        let (bytes, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*len)))?;
        place = rest;
        let text = || String::from_utf8(bytes.to_vec()).ok();
        let value = match (tag, attribute.scalar) {
            (b'S', ScalarType::S) => AttributeValue::S(text()?),
            (b'N', ScalarType::N) => AttributeValue::N(text()?),
            (b'B', ScalarType::B) => AttributeValue::B(Blob::new(bytes)),
            _ => return None,
        };
        key.insert(attribute.name.to_owned(), value);
    }
    for (name, value) in &plan.fixed {
        key.insert((*name).to_owned(), AttributeValue::S(value.clone()));
    }
    place.is_empty().then_some(Start { query, key: Some(key) })
}

/// Everything that a cursor is bound to, each part after its length, so that no two lists of parts give
/// the same bytes.
fn binding(plan: &Plan) -> Vec<u8> {
    let direction = match plan.direction {
        Direction::Ascending => "asc",
        Direction::Descending => "desc",
    };
    let parts = [plan.list, plan.question, direction]
        .into_iter()
        .chain(plan.asked.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]));
    let mut bound = vec![VERSION];
    for part in parts {
        bound.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bound.extend_from_slice(part.as_bytes());
    }
    bound
}

/// The setting is a text of any form, so the key is derived from it (HKDF, RFC 5869).
fn derive(setting: &str) -> Result<LessSafeKey, Error> {
    if setting.len() < MIN_KEY_BYTES {
        return Err(Error::internal("reading the cursor key", "it must have at least 32 bytes"));
    }
    let mut key = [0_u8; 32];
    hkdf::Salt::new(hkdf::HKDF_SHA256, b"chaveiro")
        .extract(setting.as_bytes())
        .expand(&[b"cursor"], hkdf::HKDF_SHA256)
        .and_then(|okm| okm.fill(&mut key))
        .and_then(|()| UnboundKey::new(&AES_256_GCM_SIV, &key))
        .map(LessSafeKey::new)
        .map_err(|_| Error::internal("reading the cursor key", "the cipher refused it"))
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;
    use proptest::prelude::*;

    use super::*;
    use crate::key::{Index, Key, Table};
    use crate::list::{Answer, List, Order, Partition, Question, Read, Sort};
    use crate::plan::plan;
    use crate::rollout::Stages;

    const BY_UNIT: Index = Index::new("unit-index", Key::pair("unitLookupKey", "dueDate"));
    const TABLE: Table = Table::new("Entry", Key::pair("tenant", "id"), &[BY_UNIT]);
    static LIST: List = List::new(
        "entries",
        "/entries",
        TABLE,
        &[Question {
            name: "entries-of-a-unit",
            read: Read::Index(BY_UNIT),
            partition: Partition::TenantAnd("unitId"),
            sort: Sort::All,
            filter: None,
            order: Order::Key(Direction::Ascending),
            until: None,
        }],
        Answer::Cursor { reversible: true },
    );
    const KEY: &str = "a development key of more than 32 bytes";
    const NEXT_KEY: &str = "another development key, also long enough";

    fn planned(tenant: &str, unit: &str, turned: Option<Direction>) -> Vec<Plan> {
        plan(
            &LIST,
            tenant,
            &[("unitId".to_owned(), unit.to_owned())],
            turned,
            &TimeZone::UTC,
            &Stages::default(),
        )
        .unwrap()
    }

    fn row(tenant: &str, unit: &str, due: &str, id: &str) -> Start {
        let key = [
            ("tenant", tenant),
            ("unitLookupKey", &format!("{tenant}#{unit}")),
            ("dueDate", due),
            ("id", id),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), AttributeValue::S(value.to_owned())))
        .collect();
        Start { query: 0, key: Some(key) }
    }

    #[test]
    fn a_cursor_opens_for_its_own_question_only() {
        let keys = CursorKeys::new(KEY, None).unwrap();
        let own = planned("acme", "7", None);
        let cursor = keys.seal(&own, &row("acme", "7", "2026-02-01", "e1")).unwrap();
        assert_eq!(keys.open(&own, &cursor).unwrap(), row("acme", "7", "2026-02-01", "e1"));
        for other in [
            planned("beta", "7", None),
            planned("acme", "8", None),
            planned("acme", "7", Some(Direction::Descending)),
        ] {
            assert_eq!(keys.open(&other, &cursor).unwrap_err().code(), Code::InvalidCursor);
        }
    }

    #[test]
    fn a_previous_key_still_opens_and_an_older_one_does_not() {
        let plan = planned("acme", "7", None);
        let place = row("acme", "7", "2026-02-01", "e1");
        let old = CursorKeys::new(KEY, None).unwrap().seal(&plan, &place).unwrap();
        let rotated = CursorKeys::new(NEXT_KEY, Some(KEY)).unwrap();
        assert_eq!(rotated.open(&plan, &old).unwrap(), place);
        let fresh = rotated.seal(&plan, &place).unwrap();
        assert!(CursorKeys::new(KEY, None).unwrap().open(&plan, &fresh).is_err());
        assert!(CursorKeys::new(NEXT_KEY, None).unwrap().open(&plan, &old).is_err());
    }

    #[test]
    fn a_short_key_is_refused() {
        assert!(CursorKeys::new("short", None).is_err());
        assert!(CursorKeys::new(KEY, Some("short")).is_err());
    }

    #[test]
    fn keys_of_128_bytes_fit_into_512_characters() {
        let (tenant, unit, due, id) = ("t".repeat(128), "u".repeat(128), "d".repeat(128), "i".repeat(128));
        let keys = CursorKeys::new(KEY, None).unwrap();
        let cursor = keys.seal(&planned(&tenant, &unit, None), &row(&tenant, &unit, &due, &id)).unwrap();
        assert!(cursor.len() <= 512, "{}", cursor.len());
        assert!(cursor.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')));
    }

    proptest! {
        #[test]
        fn any_key_comes_back_whole(due in any::<String>(), id in any::<String>()) {
            let keys = CursorKeys::new(KEY, None).unwrap();
            let plan = planned("acme", "7", None);
            let place = row("acme", "7", &due, &id);
            let cursor = keys.seal(&plan, &place).unwrap();
            prop_assert_eq!(keys.open(&plan, &cursor).unwrap(), place);
        }

        #[test]
        fn a_changed_or_cut_cursor_does_not_open(at in any::<prop::sample::Index>(), bit in 0_u8..8, cut in 1_usize..8) {
            let keys = CursorKeys::new(KEY, None).unwrap();
            let plan = planned("acme", "7", None);
            let cursor = keys.seal(&plan, &row("acme", "7", "2026-02-01", "e1")).unwrap();
            let mut bytes = BASE64.decode(&cursor).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            prop_assert!(keys.open(&plan, &BASE64.encode(bytes)).is_err());
            prop_assert!(keys.open(&plan, &cursor[..cursor.len() - cut]).is_err());
            let longer = cursor + &"A".repeat(cut);
            prop_assert!(keys.open(&plan, &longer).is_err());
        }

        #[test]
        fn no_text_panics(text in ".{0,80}") {
            let keys = CursorKeys::new(KEY, None).unwrap();
            prop_assert!(keys.open(&planned("acme", "7", None), &text).is_err());
        }
    }
}
