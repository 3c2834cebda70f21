//! The floor of a request: one signed call, the same one each time, whose answer is handed on as it came. It
//! decodes nothing, checks nothing and writes no log.

use std::time::SystemTime;

use aws_sdk_dynamodb::config::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4::SigningParams;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use lambda_runtime::{Error, LambdaEvent, Runtime, service_fn};
use measure::bench::REQUEST_TO_RELAY;
use serde::Serialize;
use serde::de::IgnoredAny;

type Http = Client<HttpConnector, Full<&'static [u8]>>;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    status_code: u16,
    body: String,
}

fn main() -> Result<(), Error> {
    let variable = |name: &str| kit::config::process_var(name).ok_or_else(|| format!("{name} is not set"));
    let url: &'static str = (variable("AWS_ENDPOINT_URL_DYNAMODB")? + "/").leak();
    let request: &'static str = variable(REQUEST_TO_RELAY)?.leak();
    let region = variable("AWS_REGION")?;
    let (key, secret) = (variable("AWS_ACCESS_KEY_ID")?, variable("AWS_SECRET_ACCESS_KEY")?);
    let identity = Credentials::new(key, secret, None, None, "environment").into();

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let http: Http = Client::builder(TokioExecutor::new()).build_http();
        let relay = service_fn(async |_: LambdaEvent<IgnoredAny>| {
            let params = SigningParams::builder()
                .identity(&identity)
                .region(&region)
                .name("dynamodb")
                .time(SystemTime::now())
                .settings(SigningSettings::default())
                .build()?;
            let headers =
                [("content-type", "application/x-amz-json-1.0"), ("x-amz-target", "DynamoDB_20120810.Query")];
            let signable = SignableRequest::new(
                "POST",
                url,
                headers.iter().copied(),
                SignableBody::Bytes(request.as_bytes()),
            )?;
            let (instructions, _) = sign(signable, &params.into())?.into_parts();
            let call = http::Request::post(url);
            let call = headers.iter().fold(call, |call, (name, value)| call.header(*name, *value));
            let mut call = call.body(Full::new(request.as_bytes()))?;
            instructions.apply_to_request_http1x(&mut call);
            let answer = http.request(call).await?;
            let status_code = answer.status().as_u16();
            let body = answer.into_body().collect().await?.to_bytes();
            Ok::<_, Error>(Answer { status_code, body: String::from_utf8(body.into())? })
        });
        Runtime::new(relay).run().await
    })
}
