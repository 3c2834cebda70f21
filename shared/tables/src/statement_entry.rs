//! Entries of bank statements. An account's history grows for ever, so each of its months is a partition
//! of its own.

use jiff::civil::Date;
use kit::key::{Key, KeyFault, Month, Table, entry_key, month_partition};

/// The table.
pub const TABLE: Table = Table::new("StatementEntry", Key::pair("accountMonthKey", "entryKey"), &[]);

/// The key attributes of an entry: `accountMonthKey` and `entryKey`.
///
/// # Errors
///
/// A part that is empty, too long, or holds `#`.
pub fn key(
    tenant: &str,
    account: &str,
    day: Date,
    id: &str,
) -> Result<[(&'static str, String); 2], KeyFault> {
    let partition = month_partition(tenant, account, Month::of(day))?;
    Ok([("accountMonthKey", partition), ("entryKey", entry_key(day, id)?)])
}
