//! Every list there is.

use kit::list::List;

/// Every list, by name. A test fails where one is missing.
pub static LISTS: &[&List] = &[
    &bank_account::LIST,
    &bom::LIST,
    &budget::LIST,
    &cart::LIST,
    &cash::LIST,
    &contract::LIST,
    &delivery::LIST,
    &financial::LIST,
    &flipping::LIST,
    &ledger::LIST,
    &movement::LIST,
    &orders::LIST,
    &payment::LIST,
    &person::LIST,
    &price::LIST,
    &product::LIST,
    &shipment::LIST,
    &statement::LIST,
    &stock::LIST,
    &variant::LIST,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_is_here() {
        let functions = concat!(env!("CARGO_MANIFEST_DIR"), "/../../functions");
        let mut missing = Vec::new();
        for folder in std::fs::read_dir(functions).unwrap().map(|entry| entry.unwrap()) {
            let declares = std::fs::read_to_string(folder.path().join("src/lib.rs"))
                .is_ok_and(|code| code.contains("LIST: List"));
            let name = folder.file_name().into_string().unwrap();
            if declares && !LISTS.iter().any(|list| list.name() == name) {
                missing.push(name);
            }
        }
        assert_eq!(missing, Vec::<String>::new());
    }
}
