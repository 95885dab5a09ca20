//! TLS to a PostgreSQL server, with a certificate authority and certificates of the test's own.

use crate::support::{NOW, names, with_busy_timeout, write};
use oneiro_model::{Error, ErrorKind, SpaceName};
use oneiro_store::{Store, Target};
use oneiro_testkit::OwnServer;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use std::path::{Path, PathBuf};

const PASSWORD: &str = "hunter2";

/// A certificate authority.
struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Authority {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem();
        Authority { pem, issuer: Issuer::new(params, key) }
    }

    /// A certificate for a host, and its key.
    fn certify(&self, host: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }

    fn file(&self, folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, &self.pem).unwrap();
        path
    }
}

fn open(server: &OwnServer, host: &str, query: &str) -> Result<Store, Error> {
    let port = server.port();
    let url = format!("postgres://postgres:{PASSWORD}@{host}:{port}/postgres?{query}");
    Store::open(
        &Target::Postgres { url, space: SpaceName::default() },
        &with_busy_timeout(5_000),
        NOW,
    )
}

/// Whether the connections of a store are inside TLS, as the server sees them.
fn is_encrypted(store: &Store) -> bool {
    let sql = "SELECT CAST(COUNT(*) AS BIGINT) FROM pg_stat_ssl \
               WHERE pid = pg_backend_pid() AND ssl";
    store.read(|tx| tx.raw(sql)).unwrap() == [1]
}

fn assert_refused(opened: Result<Store, Error>, says: &str) {
    let error = opened.err().expect("the connection should be refused");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
    let text = format!("{error} {error:?} {:?}", error.remedy_text());
    assert!(text.contains(says), "{text}");
    assert!(!text.contains(PASSWORD), "{text}");
}

#[test]
fn every_sslmode_checks_what_libpq_checks() {
    let folder = tempfile::tempdir().unwrap();
    let (authority, stranger) = (Authority::new("ours"), Authority::new("another"));
    let (certificate, key) = authority.certify("localhost");
    let server = OwnServer::start_with_tls(&certificate, &key);
    let known = format!("sslrootcert={}", authority.file(folder.path(), "ca.pem").display());
    let unknown = format!("sslrootcert={}", stranger.file(folder.path(), "other.pem").display());

    // Without a mode, and without an authority: encrypted, and nothing is checked.
    for query in ["", "sslmode=prefer", "sslmode=require"] {
        let store = open(&server, "127.0.0.1", query).unwrap();
        assert!(is_encrypted(&store), "{query}");
    }
    let store = open(&server, "127.0.0.1", "sslmode=disable").unwrap();
    assert!(!is_encrypted(&store));

    for mode in ["require", "verify-ca"] {
        let query = format!("sslmode={mode}&{known}");
        let store = open(&server, "127.0.0.1", &query).unwrap();
        assert!(is_encrypted(&store), "{query}");
        write(&store, mode).unwrap();
        assert!(names(&store).contains(&mode.to_owned()));
    }
    for mode in ["require", "verify-ca", "verify-full"] {
        let query = format!("sslmode={mode}&{unknown}");
        assert_refused(open(&server, "localhost", &query), "UnknownIssuer");
    }
    let store = open(&server, "localhost", &format!("sslmode=verify-full&{known}")).unwrap();
    assert!(is_encrypted(&store));
    let by_address = open(&server, "127.0.0.1", &format!("sslmode=verify-full&{known}"));
    assert_refused(by_address, "certificate");
    // No public authority has signed it.
    assert_refused(open(&server, "localhost", "sslrootcert=system"), "UnknownIssuer");
}

#[test]
fn a_server_without_tls_is_refused_where_tls_is_required_and_used_where_it_is_preferred() {
    let server = OwnServer::start();
    let folder = tempfile::tempdir().unwrap();
    let root = Authority::new("ours").file(folder.path(), "ca.pem");
    assert_refused(open(&server, "127.0.0.1", "sslmode=require"), "does not offer TLS");
    let full = format!("sslmode=verify-full&sslrootcert={}", root.display());
    assert_refused(open(&server, "localhost", &full), "does not offer TLS");
    let store = open(&server, "127.0.0.1", "sslmode=prefer").unwrap();
    assert!(!is_encrypted(&store));
}
