//! What the tests of the store share: opening a space, and looking into it with a bare driver.

use oneiro_model::{Error, Result, Timestamp};
use oneiro_store::{CURRENT, Migration, Options, Store, Target, Tx, settings};
use oneiro_testkit::{Backend, TestSpace};
use std::time::Duration;

pub const NOW: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

pub fn target(space: &TestSpace) -> Target {
    Target::parse(&space.store, Some(&space.space)).unwrap()
}

pub fn open(space: &TestSpace) -> Store {
    open_with(space, &Options::default()).unwrap()
}

pub fn open_with(space: &TestSpace, options: &Options) -> Result<Store> {
    Store::open(&target(space), options, NOW)
}

pub fn with_busy_timeout(millis: u64) -> Options {
    Options { busy_timeout: Duration::from_millis(millis), ..Options::default() }
}

/// Writes the setting `name`; the smallest write there is.
pub fn put(tx: &Tx<'_>, name: &str) -> Result<()> {
    settings::put(tx, name, Some("1"), NOW)
}

pub fn write(store: &Store, name: &str) -> Result<()> {
    let name = name.to_owned();
    store.write(move |tx| put(tx, &name))
}

/// The names of all settings.
pub fn names(store: &Store) -> Vec<String> {
    let rows = store.read(settings::all).unwrap();
    rows.into_iter().map(|(name, _)| name).collect()
}

/// A client of the server, inside the space's schema.
pub fn client(space: &TestSpace) -> postgres::Client {
    let mut client = postgres::Client::connect(&space.store, postgres::NoTls).unwrap();
    client.batch_execute(&format!("SET search_path TO \"oneiro_{}\"", space.space)).unwrap();
    client
}

/// Somebody else, who holds the write lock of the space until dropped.
pub enum Holder {
    Sqlite(rusqlite::Connection),
    Postgres(postgres::Client),
}

impl Holder {
    pub fn of(space: &TestSpace) -> Holder {
        match space.backend {
            Backend::Sqlite => {
                let connection = rusqlite::Connection::open(space.file()).unwrap();
                connection.execute_batch("BEGIN IMMEDIATE").unwrap();
                Holder::Sqlite(connection)
            }
            Backend::Postgres => {
                let mut client = client(space);
                client.batch_execute("BEGIN; SELECT 1 FROM sequence FOR UPDATE").unwrap();
                Holder::Postgres(client)
            }
        }
    }

    pub fn let_go(self) {
        match self {
            Holder::Sqlite(connection) => connection.execute_batch("COMMIT").unwrap(),
            Holder::Postgres(mut client) => client.batch_execute("COMMIT").unwrap(),
        }
    }
}

/// The error must name `place` and say what to do.
pub fn assert_helpful(error: &Error, place: &std::path::Path) {
    let place = place.display().to_string();
    assert!(error.message().contains(&place), "{error:?} does not name {place}");
    assert!(error.remedy_text().is_some(), "{error:?} has no remedy");
}

/// The schema of this version of Oneiro and one more migration.
pub const fn current_and(next: Migration) -> [Migration; CURRENT.len() + 1] {
    let mut all = [next; CURRENT.len() + 1];
    let mut at = 0;
    while at < CURRENT.len() {
        all[at] = CURRENT[at];
        at += 1;
    }
    all
}
