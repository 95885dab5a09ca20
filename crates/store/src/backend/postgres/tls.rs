//! TLS to a PostgreSQL server through rustls, with the `sslmode` and `sslrootcert` of libpq.

use oneiro_model::{Error, Result};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

/// Whether TLS is used, and what is checked of the server's certificate.
#[derive(Clone)]
pub(super) struct Tls {
    mode: TlsMode,
    connector: Connector,
}

/// When TLS is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TlsMode {
    Disabled,
    /// If the server offers it; after a failed handshake, a connection without TLS is tried.
    Preferred,
    Required,
}

impl Tls {
    pub(super) fn disabled() -> Tls {
        Tls { mode: TlsMode::Disabled, connector: Connector(None) }
    }

    /// Interprets `sslmode` and `sslrootcert` as libpq does, with two differences: nothing is read from
    /// the home directory, so verifying a certificate needs `sslrootcert`; and `system` means Mozilla's
    /// certificate authorities, which are compiled in.
    pub(super) fn new(mode: Option<&str>, root: Option<&str>) -> Result<Tls> {
        let sslmode = mode.unwrap_or(if root == Some("system") { "verify-full" } else { "prefer" });
        let (mode, check) = match (sslmode, root) {
            ("disable", _) => return Ok(Tls::disabled()),
            ("prefer", _) => (TlsMode::Preferred, None),
            ("require", None) => (TlsMode::Required, None),
            ("require" | "verify-ca", Some("system")) => {
                return Err(Error::field(
                    "store",
                    format!("sslmode={sslmode} is too weak for sslrootcert=system"),
                )
                .remedy(
                    "use sslmode=verify-full: anyone can get a public certificate for some name",
                ));
            }
            // As in libpq, a given authority is checked under require too.
            ("require" | "verify-ca", Some(root)) => {
                (TlsMode::Required, Some((root, Check::Chain)))
            }
            ("verify-full", Some(root)) => (TlsMode::Required, Some((root, Check::ChainAndName))),
            ("verify-ca" | "verify-full", None) => {
                return Err(Error::field("store", format!("sslmode={sslmode} needs sslrootcert"))
                    .remedy(
                        "add sslrootcert=/path/to/ca.pem, or sslrootcert=system for a server with \
                         a public certificate",
                    ));
            }
            _ => {
                return Err(Error::field("store", format!("{sslmode:?} is not an sslmode"))
                    .remedy("use disable, prefer, require, verify-ca or verify-full"));
            }
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let trust =
            check.map(|(root, check)| Ok(Trust { roots: read_roots(root)?, check })).transpose()?;
        let verifier = Verifier { provider: Arc::clone(&provider), trust };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::internal("TLS setup failed").because(error))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        Ok(Tls { mode, connector: Connector(Some(Arc::new(config))) })
    }

    pub(super) fn mode(&self) -> TlsMode {
        self.mode
    }

    pub(super) fn connector(&self) -> Connector {
        self.connector.clone()
    }
}

fn read_roots(file: &str) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    if file == "system" {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        return Ok(roots);
    }
    let unusable = |what: String| {
        Error::field("store", format!("sslrootcert {file}: {what}"))
            .remedy("name a PEM file with the certificate of the authority")
    };
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    for certificate in read.map_err(|error| unusable(error.to_string()))? {
        roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(unusable("contains no certificate".to_owned()));
    }
    Ok(roots)
}

/// What is checked of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Check {
    /// That a trusted authority signed it.
    Chain,
    /// That, and that it is for the host of the address.
    ChainAndName,
}

#[derive(Debug)]
struct Trust {
    roots: RootCertStore,
    check: Check,
}

/// Verifies a server's certificate. Without trusted roots, only that the server has its key.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    trust: Option<Trust>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if let Some(trust) = &self.trust {
            let parsed = ParsedCertificate::try_from(certificate)?;
            let algorithms = self.provider.signature_verification_algorithms.all;
            rustls::client::verify_server_cert_signed_by_trust_anchor(
                &parsed,
                &trust.roots,
                intermediates,
                now,
                algorithms,
            )?;
            if trust.check == Check::ChainAndName {
                rustls::client::verify_server_name(&parsed, name)?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Makes TLS handshakes for the driver; none where TLS is disabled.
#[derive(Clone)]
pub(super) struct Connector(Option<Arc<ClientConfig>>);

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Connector {
    type Stream = Stream<S>;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Handshake> {
        // The name is read when it is needed: a Unix socket has none and asks for no handshake.
        Ok(Handshake { config: self.0.clone(), host: host.to_owned() })
    }
}

/// One handshake to come.
pub(super) struct Handshake {
    config: Option<Arc<ClientConfig>>,
    host: String,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Handshake {
    type Stream = Stream<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let config = self.config.ok_or_else(|| io::Error::other("TLS is disabled"))?;
            let name = ServerName::try_from(self.host).map_err(io::Error::other)?;
            TlsConnector::from(config).connect(name, stream).await.map(Stream)
        })
    }
}

/// A connection inside TLS.
pub(super) struct Stream<S>(tokio_rustls::client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Stream<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, into)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
