//! TLS for the DynamoDB of the bench, by an authority of its own that is made for each run.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use axum::serve::Listener;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::PrivatePkcs8KeyDer;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::Failure;

/// The name that a process calls, and that the certificate is for. A name, since DynamoDB has one as well.
pub const HOST: &str = "localhost";

/// What says to a process where the authorities are that it trusts.
pub const TRUSTED: &str = "SSL_CERT_FILE";

/// An authority, and a server's certificate by it. The file with the authority goes with this value.
pub struct Authority {
    file: PathBuf,
    server: Arc<ServerConfig>,
}

/// A listener whose connections are over TLS.
pub struct TlsListener {
    tcp: TcpListener,
    tls: TlsAcceptor,
}

impl Authority {
    /// Makes one, and writes its certificate to a temporary file.
    ///
    /// # Errors
    ///
    /// The certificates cannot be made, or the file cannot be written.
    pub fn new() -> Result<Self, Failure> {
        let mut authority = CertificateParams::default();
        authority.distinguished_name.push(DnType::CommonName, "The authority of a bench");
        authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        authority.key_usages.push(KeyUsagePurpose::KeyCertSign);
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;

        let key = KeyPair::generate()?;
        let mut leaf = CertificateParams::new([HOST.to_owned(), "127.0.0.1".to_owned()])?;
        leaf.distinguished_name.push(DnType::CommonName, HOST);
        leaf.key_usages.push(KeyUsagePurpose::DigitalSignature);
        leaf.extended_key_usages.push(ExtendedKeyUsagePurpose::ServerAuth);
        let leaf = leaf.signed_by(&key, &authority)?;

        let mut server = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(
                vec![leaf.der().clone()],
                PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
            )?;
        // As DynamoDB: no HTTP/2.
        server.alpn_protocols = vec![b"http/1.1".to_vec()];

        let file = std::env::temp_dir().join(format!("chaveiro-bench-{:016x}.pem", fastrand::u64(..)));
        File::create_new(&file)
            .and_then(|mut created| created.write_all(authority.pem().as_bytes()))
            .map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(Self { file, server: Arc::new(server) })
    }

    /// The variable by which a process trusts it.
    #[must_use]
    pub fn trusted(&self) -> (&'static str, String) {
        (TRUSTED, self.file.display().to_string())
    }

    /// Listens on a port of its own.
    ///
    /// # Errors
    ///
    /// There is no port.
    pub async fn listen(&self) -> Result<TlsListener, Failure> {
        // By its name, so that it is the address that a caller finds first.
        let tcp = TcpListener::bind((HOST, 0)).await?;
        Ok(TlsListener { tcp, tls: TlsAcceptor::from(self.server.clone()) })
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        // It is of no use any more, and of no harm where it cannot be removed.
        let _ = fs::remove_file(&self.file);
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, address) = Listener::accept(&mut self.tcp).await;
            // Or an answer waits until the tickets of the handshake before it are acknowledged.
            if stream.set_nodelay(true).is_err() {
                continue;
            }
            // One process calls at a time. If it was ended meanwhile, the next one is accepted.
            if let Ok(stream) = self.tls.accept(stream).await {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.tcp.local_addr()
    }
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::pem::PemObject as _;
    use rustls::pki_types::{CertificateDer, ServerName};
    use rustls::{ClientConfig, RootCertStore};
    use tokio_rustls::TlsConnector;

    use super::*;

    #[tokio::test]
    async fn whose_certificate_is_not_amazon_s_is_not_dynamodb() {
        use kit::config;
        use kit::dynamo::{Db, Session};
        use kit::trust::Trust;

        let authority = Authority::new().unwrap();
        let database = crate::bench::database::Replies::of(dynoxide::Database::memory().unwrap());
        let url = crate::bench::database::serve_over_tls(database, &authority).await.unwrap();
        let var = |name: &str| name.starts_with("AWS_").then(|| "sa-east-1".to_owned());
        let endpoint = config::endpoint(var).unwrap();
        let endpoint = config::Endpoint { url: Some(url), trust: Trust::Amazon, ..endpoint };
        let db = Db::connect(endpoint, "").unwrap();
        let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(30);
        let table = ledger::LIST.table();
        let key = kit::item::texts([("tenant", "acme"), ("id", "e-1")]);
        let error = Session::new(&db, deadline).get(table, key, false).await.unwrap_err();
        assert!(kit::error::chain(&error).contains("UnknownIssuer"), "{}", kit::error::chain(&error));
    }

    #[tokio::test]
    async fn who_trusts_the_file_connects_and_the_file_goes_with_the_authority() {
        let authority = Authority::new().unwrap();
        let (_, file) = authority.trusted();
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(&file).unwrap()).unwrap();
        let client = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let connector = TlsConnector::from(Arc::new(client));
        for name in [HOST, "127.0.0.1"] {
            let mut listener = authority.listen().await.unwrap();
            let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let accepting = tokio::spawn(async move { listener.accept().await });
            connector.connect(ServerName::try_from(name).unwrap(), stream).await.unwrap();
            accepting.await.unwrap();
        }
        drop(authority);
        assert!(!std::path::Path::new(&file).exists());
    }
}
