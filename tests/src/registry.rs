//! Every function there is. The coverage test fails where a folder in functions/ is missing here.

use kit::function::Function;
use kit::list::{Answer, List};

/// Every function, by name.
pub fn all() -> Vec<Function> {
    vec![
        Function::from(&backfill::JOB),
        Function::from(&bank_account::LIST),
        Function::from(&bank_account_save::OPERATION),
        Function::from(&bom::LIST),
        Function::from(&budget::LIST),
        Function::from(&cart::LIST),
        Function::from(&cash::LIST),
        Function::from(&contract::LIST),
        Function::from(&contract_save::OPERATION),
        Function::from(&delivery::LIST),
        Function::from(&financial::LIST),
        Function::from(&flipping::LIST),
        Function::from(&index_report::JOB),
        Function::from(&ledger::LIST),
        Function::from(&movement::LIST),
        Function::from(&order_create::OPERATION),
        Function::from(&orders::LIST),
        Function::from(&payment::LIST),
        Function::from(&person::LIST),
        Function::from(&person_save::OPERATION),
        Function::from(&price::LIST),
        Function::from(&product::LIST),
        Function::from(&product_save::OPERATION),
        Function::from(&shipment::LIST),
        Function::from(&statement::LIST),
        Function::from(&stock::LIST),
        Function::from(&variant::LIST),
    ]
}

/// Every list that is deployed.
pub fn lists() -> Vec<&'static List> {
    all()
        .into_iter()
        .filter_map(|function| match function {
            Function::List(list) => Some(list),
            Function::Operation(_) | Function::Job(_) => None,
        })
        .collect()
}

/// Every list that answers cursors: those deployed and those declared for the tests.
pub fn cursor_lists() -> Vec<&'static List> {
    let declared = crate::declared::LISTS.iter().copied();
    declared.chain(lists()).filter(|list| matches!(list.answer(), Answer::Cursor { .. })).collect()
}
