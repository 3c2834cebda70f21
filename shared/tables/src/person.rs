//! People: customers, suppliers, staff.

use kit::key::{
    Derived, INDEX_ONLY, Index, Key, KeyFault, MAX_SORT_BYTES, Rollout, SCHEMA_VERSION, TENANT, Table,
};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The people of a tenant by name.
pub const BY_NAME: Index = Index::new("tenant-sortName-index", Key::pair("tenant", SORT_NAME));

/// Where a person holds the name that is sorted by.
const SORT_NAME: &str = "sortName";

/// The table.
pub const TABLE: Table = Table {
    unlisted: &[SORT_NAME, SCHEMA_VERSION, INDEX_ONLY],
    ..Table::new("Person", Key::single("id"), &[BY_NAME])
};

/// People by name are given an index; before that, the table was scanned for a tenant's.
pub static BY_TENANT: Rollout = Rollout {
    name: "person-by-tenant",
    table: TABLE,
    index: BY_NAME,
    derived: &[Derived {
        attribute: SORT_NAME,
        from: &["id", "name"],
        value: |texts| match texts {
            [id, name] => sort_name(name, id),
            _ => Err(KeyFault::Missing),
        },
        may_be_stored: false,
    }],
    found_by: &[TENANT],
    schema_version: 1,
};

/// What stands between a name and the id that tells two of one name apart. No folded name has two spaces
/// in a row, and nothing in one sorts before a space: `ana` comes before `ana maria`.
const BEFORE_ID: &str = "  ";

/// The name by which a person is sorted: as a Brazilian reader looks for it, without regard to case,
/// accents, punctuation or how many spaces there are. People of one name follow by id.
///
/// # Errors
///
/// A name that is too long for a sort key.
pub fn sort_name(name: &str, id: &str) -> Result<String, KeyFault> {
    let mut folded = String::with_capacity(name.len() + BEFORE_ID.len() + id.len());
    // Upper and lower case one after the other fold what has no counterpart of its own, such as "ß".
    let letters = name.nfkd().filter(|letter| !is_combining_mark(*letter));
    for letter in letters.flat_map(char::to_uppercase).flat_map(char::to_lowercase) {
        // Folding may set marks free again: the dotted capital I has one.
        if is_combining_mark(letter) {
            continue;
        }
        if letter.is_alphanumeric() {
            folded.push(letter);
        } else if !matches!(letter, '\'' | '\u{2019}') && !folded.is_empty() && !folded.ends_with(' ') {
            folded.push(' ');
        }
    }
    folded.truncate(folded.trim_end().len());
    folded.push_str(BEFORE_ID);
    folded.push_str(id);
    if folded.len() > MAX_SORT_BYTES { Err(KeyFault::TooLong(MAX_SORT_BYTES)) } else { Ok(folded) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(names: &[&str]) -> Vec<String> {
        let mut keys: Vec<(String, &str)> = names
            .iter()
            .enumerate()
            .map(|(at, name)| (sort_name(name, &format!("{at:02}")).unwrap(), *name))
            .collect();
        keys.sort();
        keys.into_iter().map(|(_, name)| name.to_owned()).collect()
    }

    #[test]
    fn people_stand_where_a_brazilian_reader_looks_for_them() {
        let names = [
            "Zélia Duncan",
            "álvaro campos",
            "Ana Maria",
            "Ana",
            "ÂNGELA RÔ RÔ",
            "Antônio Jobim",
            "Ácido",
            "D'Ávila, João",
            "Davila, Jorge",
            "Çelik",
            "Celso",
            "  Bruno   Lima ",
        ];
        assert_eq!(
            sorted(&names),
            [
                "Ácido",
                "álvaro campos",
                "Ana",
                "Ana Maria",
                "ÂNGELA RÔ RÔ",
                "Antônio Jobim",
                "  Bruno   Lima ",
                "Çelik",
                "Celso",
                "D'Ávila, João",
                "Davila, Jorge",
                "Zélia Duncan",
            ]
        );
    }

    #[test]
    fn composed_and_decomposed_letters_are_the_same() {
        assert_eq!(sort_name("Jo\u{e3}o", "1"), sort_name("JOA\u{303}O", "1"));
        assert_eq!(sort_name("João", "1").as_deref(), Ok("joao  1"));
        assert_eq!(sort_name("Strauß", "1"), sort_name("STRAUSS", "1"));
        assert_eq!(sort_name("İnci", "1"), sort_name("inci", "1"));
    }

    #[test]
    fn people_of_one_name_follow_by_id() {
        assert!(sort_name("Ana", "p-1").unwrap() < sort_name("ANÁ", "p-2").unwrap());
        assert!(sort_name("Ana", "zz").unwrap() < sort_name("Ana Maria", "aa").unwrap());
        assert_eq!(sort_name("--", "p-1").as_deref(), Ok("  p-1"));
    }

    #[test]
    fn a_name_that_no_sort_key_holds_is_refused() {
        // Three bytes each, and folding keeps them.
        assert_eq!(sort_name(&"木".repeat(341), "12").unwrap_err(), KeyFault::TooLong(1024));
        assert!(sort_name(&"木".repeat(340), "12").is_ok());
    }
}
