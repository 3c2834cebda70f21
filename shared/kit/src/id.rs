//! New names for what is stored.
//!
//! They are made here and not in the functions that need them: a dependency of one function alone would
//! have other features chosen for it, and the SDK built once more.

/// A new id that no other has and that sorts by the time of its making (UUID version 7, RFC 9562).
#[must_use]
pub fn new() -> String {
    uuid::Uuid::now_v7().to_string()
}
