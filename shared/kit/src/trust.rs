//! Whom a connection to DynamoDB trusts.
//!
//! Reading the certificates of a machine takes most of a function's start, and a function of Lambda talks to one
//! service, whose roots are known: so they are part of the binary.

use aws_sdk_dynamodb::config::SharedHttpClient;
use aws_smithy_http_client::tls::{Provider, TlsContext, TrustStore, rustls_provider::CryptoMode};
use aws_smithy_http_client::{Builder, HttpClientError};

/// The roots of Amazon's certificates: Amazon Root CA 1 to 4, and Starfield Services Root Certificate Authority G2.
///
/// Source: Amazon Trust Services, <https://www.amazontrust.com/repository/>; that AWS's endpoints in the regions of
/// amazonaws.com have certificates of these is said there and in AWS Security Blog, "How to Prepare for AWS's Move
/// to Its Own Certificate Authority".
const AMAZON_ROOTS: &str = include_str!("amazon-roots.pem");

/// The first part of the name of a region of the partition `aws`.
///
/// Source: the SDK's own list of partitions.
const PLACES: &[&str] = &["af", "ap", "ca", "eu", "il", "me", "mx", "sa", "us"];

/// What makes an answer one of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Nothing: the address is plain HTTP.
    Plain,
    /// A certificate of Amazon's.
    Amazon,
    /// A certificate that this machine trusts, and a proxy where the environment names one: the SDK's own client.
    Machine,
}

impl Trust {
    /// What is trusted at the address `url`, or at the service's own in a region. `own_way` is whether whoever
    /// deploys says which certificates the machine is to trust, or which proxy it is to go through.
    #[must_use]
    pub fn of(url: Option<&str>, region: &str, own_way: bool) -> Self {
        match url {
            _ if own_way => Self::Machine,
            Some(url) if url.starts_with("http://") => Self::Plain,
            Some(_) => Self::Machine,
            None if is_of_the_partition_aws(region) => Self::Amazon,
            None => Self::Machine,
        }
    }

    /// The HTTP client that trusts this; `None` for the one that the SDK makes by itself.
    ///
    /// # Errors
    ///
    /// The SDK does not take what it is told to trust.
    pub fn client(self) -> Result<Option<SharedHttpClient>, HttpClientError> {
        Ok(match self {
            Self::Plain => Some(Builder::new().build_http()),
            Self::Machine => None,
            Self::Amazon => {
                let roots = TrustStore::empty().with_pem_certificate(AMAZON_ROOTS);
                let context = TlsContext::builder().with_trust_store(roots).build()?;
                let client = Builder::new().tls_provider(Provider::Rustls(CryptoMode::AwsLc));
                Some(client.tls_context(context).build_https())
            }
        })
    }
}

/// Whether a region is one of the partition `aws`, where Amazon's roots are known to hold. Other partitions may have
/// others.
fn is_of_the_partition_aws(region: &str) -> bool {
    let parts: Vec<&str> = region.split('-').collect();
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty();
    matches!(parts.as_slice(), [place, _, last] if PLACES.contains(place) && number(last))
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD as BASE64;

    use super::*;
    use crate::config::{self, Endpoint};
    use crate::dynamo::Db;

    /// SHA-256 of each root, as Amazon Trust Services publishes them.
    const FINGERPRINTS: [&str; 5] = [
        "8ecde6884f3d87b1125ba31ac3fcb13d7016de7f57cc904fe1cb97c6ae98196e",
        "1ba5b2aa8c65401a82960118f80bec4f62304d83cec4713a19c39c011ea46db4",
        "18ce6cfe7bf14e60b2e347b8dfe868cb31d02ebb3ada271569f50343b46db3a4",
        "e35d28419ed02025cfa69038cd623962458da5c695fbdea3c22b0bfb25897092",
        "568d6905a2c88708a4b3025190edcfedb1974a606a13c6e5290fcb2ae63edab5",
    ];

    #[test]
    fn the_roots_are_the_five_that_amazon_publishes() {
        let found: Vec<String> = AMAZON_ROOTS
            .split("-----BEGIN CERTIFICATE-----")
            .filter_map(|part| part.split_once("-----END CERTIFICATE-----"))
            .map(|(base64, _)| BASE64.decode(base64.split_whitespace().collect::<String>()).unwrap())
            .map(|der| aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &der))
            .map(|digest| digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
            .collect();
        assert_eq!(found, FINGERPRINTS);
    }

    #[test]
    fn the_service_s_own_address_needs_amazon_alone() {
        for region in ["sa-east-1", "us-east-1", "eu-central-2", "ap-southeast-4", "mx-central-1"] {
            assert_eq!(Trust::of(None, region, false), Trust::Amazon, "{region}");
            assert_eq!(Trust::of(None, region, true), Trust::Machine, "{region}");
        }
        for elsewhere in [
            "cn-north-1",
            "us-gov-west-1",
            "us-iso-east-1",
            "eu-isoe-west-1",
            "eusc-de-east-1",
            "us-isob-east-1",
            "local",
            "",
        ] {
            assert_eq!(Trust::of(None, elsewhere, false), Trust::Machine, "{elsewhere}");
        }
    }

    #[test]
    fn an_address_of_one_s_own_is_trusted_as_the_machine_says() {
        assert_eq!(Trust::of(Some("http://127.0.0.1:8000"), "sa-east-1", false), Trust::Plain);
        assert_eq!(Trust::of(Some("http://127.0.0.1:8000"), "sa-east-1", true), Trust::Machine);
        assert_eq!(Trust::of(Some("https://localhost:8000"), "sa-east-1", false), Trust::Machine);
        let vpc = "https://vpce-1-2.dynamodb.sa-east-1.vpce.amazonaws.com";
        assert_eq!(Trust::of(Some(vpc), "sa-east-1", false), Trust::Machine);
    }

    #[test]
    fn every_client_can_be_made() {
        for trust in [Trust::Plain, Trust::Amazon, Trust::Machine] {
            let var = |name: &str| name.starts_with("AWS_").then(|| "sa-east-1".to_owned());
            let endpoint = Endpoint { url: None, trust, ..config::endpoint(var).unwrap() };
            // The SDK reads the certificates here.
            assert!(Db::connect(endpoint, "").is_ok(), "{trust:?}");
        }
    }
}
