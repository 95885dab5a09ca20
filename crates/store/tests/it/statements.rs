//! The SQL is written once, and both engines understand all of it.

use crate::support::{client, open};
use oneiro_store::{all_statements, message_rows, messages};
use oneiro_testkit::{Backend, on_both_backends};
use postgres::types::Type;

fn statements() -> Vec<(String, &'static str)> {
    let all = all_statements().into_iter();
    let mut all: Vec<_> =
        all.map(|(module, name, sql)| (format!("{module}::{name}"), sql)).collect();
    all.push(("messages::INSERT_MANY".to_owned(), messages::insert_many_sql()));
    all.push(("message_rows::ROWS_BY_ID".to_owned(), message_rows::rows_by_id_sql()));
    all
}

on_both_backends! {
    fn every_statement_can_be_prepared(space) {
        let _store = open(space);
        assert!(statements().len() > 60);
        for (name, sql) in statements() {
            match space.backend {
                Backend::Sqlite => {
                    let sqlite = rusqlite::Connection::open(space.file()).unwrap();
                    let prepared = sqlite.prepare(sql);
                    assert!(prepared.is_ok(), "{name}: {:?}", prepared.err());
                }
                Backend::Postgres => {
                    let prepared = client(space).prepare(&sql.replace('?', "$"));
                    let prepared = prepared.unwrap_or_else(|error| panic!("{name}: {error:?}"));
                    // An undeclared parameter or column becomes INT4 or UNKNOWN, and then a value
                    // that SQLite takes does not fit.
                    let known = [Type::INT8, Type::TEXT, Type::BYTEA];
                    assert!(
                        prepared.params().iter().all(|kind| known.contains(kind)),
                        "{name}: parameters {:?}", prepared.params()
                    );
                    let columns = prepared.columns().iter().map(postgres::Column::type_);
                    assert!(
                        columns.clone().all(|kind| known.contains(kind)),
                        "{name}: columns {:?}", columns.collect::<Vec<_>>()
                    );
                }
            }
        }
    }
}

#[test]
fn every_statement_has_a_unique_name() {
    let mut names: Vec<String> = statements().into_iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}
