//! What can go wrong, in two kinds: the caller's mistake, which is named to the caller, and ours, which
//! is told in full to the log alone.
//!
//! `Display` gives one sentence and never repeats its source; [`chain`] joins the sources for the log.

use std::error::Error as StdError;

use crate::key::KeyFault;

/// A source of an error of ours.
pub type Source = Box<dyn StdError + Send + Sync>;

/// The stable name of an error, as the answer carries it in `error.code`.
///
/// A code, once given out, keeps its meaning: screens compare it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// The event is not one of API Gateway's.
    InvalidEvent,
    /// The query string is not a valid one.
    InvalidQueryString,
    /// A parameter stands in the query string more than once.
    RepeatedParameter,
    /// A parameter that the list does not know.
    UnknownParameter,
    /// A combination of parameters that no key answers.
    UnsupportedQuestion,
    /// A parameter's value cannot be used.
    InvalidParameter,
    /// `limit` is not a whole number within its bounds.
    LimitOutOfRange,
    /// `page` is not a whole number within its bounds.
    PageOutOfRange,
    /// A date is not a calendar day written `YYYY-MM-DD`.
    InvalidDate,
    /// `from` is after `to`.
    ReversedPeriod,
    /// `from` and `to` are further apart than a list walks.
    PeriodTooLong,
    /// `order` is neither `asc` nor `desc`.
    InvalidOrder,
    /// The cursor was not made by this list for this question of this tenant.
    InvalidCursor,
    /// The body cannot be read.
    InvalidBody,
    /// An attribute of the body is missing or has a value that cannot be used.
    InvalidAttribute,
    /// The request has no identity, or one without a tenant.
    Unauthenticated,
    /// The identity's tenant cannot be used.
    InvalidTenant,
    /// Nothing is served at this path, or no such item is stored.
    NotFound,
    /// The path is served, but not with this method.
    MethodNotAllowed,
    /// An item with this id is stored already.
    AlreadyExists,
    /// What is stored is not what the caller says it is.
    PreconditionFailed,
    /// The answer is larger than Lambda can hand back.
    AnswerTooLarge,
    /// An item is larger than DynamoDB stores.
    ItemTooLarge,
    /// A fault of ours.
    Internal,
    /// DynamoDB refuses more requests for now.
    Throttled,
    /// There was no answer in time.
    TimedOut,
}

impl Code {
    /// Every code.
    pub const ALL: &[Self] = &[
        Self::InvalidEvent,
        Self::InvalidQueryString,
        Self::RepeatedParameter,
        Self::UnknownParameter,
        Self::UnsupportedQuestion,
        Self::InvalidParameter,
        Self::LimitOutOfRange,
        Self::PageOutOfRange,
        Self::InvalidDate,
        Self::ReversedPeriod,
        Self::PeriodTooLong,
        Self::InvalidOrder,
        Self::InvalidCursor,
        Self::InvalidBody,
        Self::InvalidAttribute,
        Self::Unauthenticated,
        Self::InvalidTenant,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::AlreadyExists,
        Self::PreconditionFailed,
        Self::AnswerTooLarge,
        Self::ItemTooLarge,
        Self::Internal,
        Self::Throttled,
        Self::TimedOut,
    ];

    /// The code as it stands in an answer.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidEvent => "invalid_event",
            Self::InvalidQueryString => "invalid_query_string",
            Self::RepeatedParameter => "repeated_parameter",
            Self::UnknownParameter => "unknown_parameter",
            Self::UnsupportedQuestion => "unsupported_question",
            Self::InvalidParameter => "invalid_parameter",
            Self::LimitOutOfRange => "limit_out_of_range",
            Self::PageOutOfRange => "page_out_of_range",
            Self::InvalidDate => "invalid_date",
            Self::ReversedPeriod => "reversed_period",
            Self::PeriodTooLong => "period_too_long",
            Self::InvalidOrder => "invalid_order",
            Self::InvalidCursor => "invalid_cursor",
            Self::InvalidBody => "invalid_body",
            Self::InvalidAttribute => "invalid_attribute",
            Self::Unauthenticated => "unauthenticated",
            Self::InvalidTenant => "invalid_tenant",
            Self::NotFound => "not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::AlreadyExists => "already_exists",
            Self::PreconditionFailed => "precondition_failed",
            Self::AnswerTooLarge => "answer_too_large",
            Self::ItemTooLarge => "item_too_large",
            Self::Internal => "internal_error",
            Self::Throttled => "throttled",
            Self::TimedOut => "timed_out",
        }
    }
}

/// Why a request has no answer of its own.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller's mistake: the message names what is wrong and what would be right.
    #[error("{message}")]
    Rejected {
        /// Its stable name.
        code: Code,
        /// One sentence for the caller.
        message: String,
    },
    /// The path is served, but with other methods.
    #[error("{message}")]
    MethodNotAllowed {
        /// One sentence for the caller.
        message: String,
        /// The methods it is served with, as `Allow` gives them.
        methods: String,
    },
    /// An attribute that is part of a key has a value that a key cannot have. Nothing was sent.
    #[error("{attribute} {fault}")]
    KeyAttribute {
        /// The attribute's stored name.
        attribute: String,
        /// What is wrong with its value.
        fault: KeyFault,
    },
    /// An item is larger than DynamoDB stores. Nothing was sent.
    #[error("an item must have at most {} bytes, names included", crate::item::MAX_ITEM_BYTES)]
    ItemTooLarge,
    /// DynamoDB refuses a write for what is in it, or in the stored item.
    #[error("DynamoDB refuses the write")]
    Refused(#[source] Source),
    /// The condition of a write does not hold. `item` is what is stored, where it was asked for.
    #[error("the condition of the write does not hold")]
    ConditionFailed {
        /// The stored item.
        item: Option<Box<crate::item::Item>>,
    },
    /// DynamoDB throttled for longer than the SDK tries again.
    #[error("DynamoDB throttles")]
    Throttled(#[source] Option<Source>),
    /// No answer within the time there is.
    #[error("no answer in time")]
    TimedOut(#[source] Option<Source>),
    /// Anything else: a fault of ours.
    #[error("{doing} failed")]
    Internal {
        /// What was being done, for the log.
        doing: &'static str,
        /// Why it failed.
        #[source]
        source: Source,
    },
}

impl Error {
    /// The caller's mistake.
    pub fn rejected(code: Code, message: impl Into<String>) -> Self {
        Self::Rejected { code, message: message.into() }
    }

    /// A fault of ours while `doing` something.
    pub fn internal(doing: &'static str, source: impl Into<Source>) -> Self {
        Self::Internal { doing, source: source.into() }
    }

    /// The stable name of the error.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Rejected { code, .. } => *code,
            Self::MethodNotAllowed { .. } => Code::MethodNotAllowed,
            Self::KeyAttribute { .. } => Code::InvalidAttribute,
            Self::ItemTooLarge => Code::ItemTooLarge,
            Self::ConditionFailed { .. } => Code::PreconditionFailed,
            Self::Throttled(_) => Code::Throttled,
            Self::TimedOut(_) => Code::TimedOut,
            Self::Refused(_) | Self::Internal { .. } => Code::Internal,
        }
    }
}

/// The error and all its causes, for the log. What DynamoDB quotes of a request stands in braces in its
/// messages, and is left out.
#[must_use]
pub fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        // Some libraries repeat their cause in their own text.
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    without_braces(&text)
}

/// The text with an ellipsis in place of all from its first brace to the last one. What is quoted may hold braces
/// itself, so no brace in between can be believed to end it.
fn without_braces(text: &str) -> String {
    let Some((before, quoted)) = text.split_once('{') else { return text.to_owned() };
    let after = quoted.rsplit_once('}').map(|(_, after)| after).filter(|after| !after.contains('{'));
    format!("{before}{{...}}{}", after.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct() {
        let names: std::collections::BTreeSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(names.len(), Code::ALL.len());
    }

    #[test]
    fn what_a_service_quotes_is_left_out() {
        let quoted = "lower bound operand: AttributeValue: {S:Maria {x}}, upper bound operand: {S:A}, so no";
        assert_eq!(without_braces(quoted), "lower bound operand: AttributeValue: {...}, so no");
        for (quoted, kept) in [
            ("nothing", "nothing"),
            ("value {S:a}Maria Silva} end", "value {...} end"),
            ("value {S:a}}Maria {Silva} end", "value {...} end"),
            ("value {S:a} end {S:Maria", "value {...}"),
            ("value } end", "value } end"),
        ] {
            assert_eq!(without_braces(quoted), kept);
        }
    }

    #[test]
    fn the_chain_has_every_cause_once() {
        let io = std::io::Error::other("connection reset");
        let error = Error::internal("Query on SalesOrder", io);
        assert_eq!(error.to_string(), "Query on SalesOrder failed");
        assert_eq!(chain(&error), "Query on SalesOrder failed: connection reset");
    }
}
