//! The body of an answer of DynamoDB, kept as it came: the rows of a page are read from it, without the
//! values that the SDK would make of them first.

use std::pin::Pin;
use std::str::Utf8Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use aws_sdk_dynamodb::config::interceptors::BeforeDeserializationInterceptorContextMut;
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use aws_smithy_runtime_api::client::interceptors::dyn_dispatch_hint;
use aws_smithy_types::body::SdkBody;
use http_body::Frame;

/// The body of an answer. Empty until there is one.
#[derive(Debug, Default)]
pub struct Body(Vec<u8>);

impl Body {
    /// The text that it has to be.
    ///
    /// # Errors
    ///
    /// It is none.
    pub fn text(&self) -> Result<&str, Utf8Error> {
        std::str::from_utf8(&self.0)
    }
}

/// Has one call of the SDK read an answer of success as one that says nothing, and keeps what it says. Errors,
/// retries and time-outs are the SDK's as ever.
#[derive(Debug, Clone, Default)]
pub struct KeepBody(Arc<Mutex<Body>>);

impl KeepBody {
    /// What was kept.
    #[must_use]
    pub fn take(&self) -> Body {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn keep(&self, body: Vec<u8>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Body(body);
    }
}

#[dyn_dispatch_hint]
impl Intercept for KeepBody {
    fn name(&self) -> &'static str {
        "KeepBody"
    }

    fn modify_before_deserialization(
        &self,
        context: &mut BeforeDeserializationInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let response = context.response_mut();
        if response.status().is_success() {
            let body = response.take_body();
            let length = body.content_length().and_then(|length| usize::try_from(length).ok());
            let read = Vec::with_capacity(length.unwrap_or_default().min(MOST_AT_ONCE));
            *response.body_mut() =
                SdkBody::from_body_1_x(Keeping { body, read, kept: self.clone(), ended: false });
        }
        Ok(())
    }
}

/// What DynamoDB answers at most, or somewhat more. A length that is told is not believed beyond it.
///
/// Source: Amazon DynamoDB API reference, `Query`: 1 MB of items, which is more as JSON.
const MOST_AT_ONCE: usize = 4 * 1024 * 1024;

/// An answer that is kept while it is read, and says nothing.
struct Keeping {
    body: SdkBody,
    read: Vec<u8>,
    kept: KeepBody,
    ended: bool,
}

type Bytes = <SdkBody as http_body::Body>::Data;

impl http_body::Body for Keeping {
    type Data = Bytes;
    type Error = <SdkBody as http_body::Body>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        // It ends with the body.
        while let Some(frame) = ready!(Pin::new(&mut self.body).poll_frame(context)) {
            if let Ok(data) = frame?.into_data() {
                self.read.extend_from_slice(&data);
            }
        }
        self.ended = true;
        let read = std::mem::take(&mut self.read);
        self.kept.keep(read);
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"{}")))))
    }
}
