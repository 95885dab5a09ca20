//! The twins of the schema: the same tables, columns, keys and indexes in both catalogues.

use crate::support::{client, open};
use oneiro_testkit::{Backend, TestSpace};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default, PartialEq, Eq)]
struct Table {
    /// Type, may be NULL, default.
    columns: BTreeMap<String, (String, bool, Option<String>)>,
    primary_key: Vec<String>,
    /// Columns, unique, partial.
    indexes: BTreeSet<(Vec<String>, bool, bool)>,
    /// Column, table and column it refers to, what happens on delete.
    references: BTreeSet<(String, String, String, String)>,
}

type Catalogue = BTreeMap<String, Table>;

fn of_sqlite(space: &TestSpace) -> Catalogue {
    let sqlite = rusqlite::Connection::open(space.file()).unwrap();
    let rows = |sql: &str| -> Vec<Vec<String>> {
        let mut statement = sqlite.prepare(sql).unwrap();
        let width = statement.column_count();
        let text = |row: &rusqlite::Row<'_>, at| match row.get_ref(at).unwrap() {
            rusqlite::types::ValueRef::Null => String::new(),
            rusqlite::types::ValueRef::Integer(number) => number.to_string(),
            other => other.as_str().unwrap().to_owned(),
        };
        let read = |row: &rusqlite::Row<'_>| Ok((0..width).map(|at| text(row, at)).collect());
        statement.query_map([], read).unwrap().map(Result::unwrap).collect()
    };
    let mut found = Catalogue::new();
    for table in rows("SELECT name FROM sqlite_schema WHERE type = 'table'") {
        let name = &table[0];
        let mut table = Table::default();
        let mut key = BTreeMap::new();
        for column in rows(&format!("PRAGMA table_info({name})")) {
            if column[5] != "0" {
                key.insert(column[5].clone(), column[1].clone());
            }
            let kind = match column[2].as_str() {
                "INTEGER" => "bigint",
                "TEXT" => "text",
                "BLOB" => "bytea",
                other => other,
            };
            let is_null = column[3] == "0" && column[5] == "0";
            let default = Some(column[4].replace('\'', "")).filter(|default| !default.is_empty());
            table.columns.insert(column[1].clone(), (kind.to_owned(), is_null, default));
        }
        table.primary_key = key.into_values().collect();
        for index in rows(&format!("PRAGMA index_list({name})")) {
            if index[3] == "pk" {
                continue;
            }
            let columns = rows(&format!("PRAGMA index_info({})", index[1]));
            let columns = columns.into_iter().map(|column| column[2].clone()).collect();
            table.indexes.insert((columns, index[2] == "1", index[4] == "1"));
        }
        for key in rows(&format!("PRAGMA foreign_key_list({name})")) {
            let reference = (key[3].clone(), key[2].clone(), key[4].clone(), key[6].clone());
            table.references.insert(reference);
        }
        found.insert(name.clone(), table);
    }
    found
}

fn of_postgres(space: &TestSpace) -> Catalogue {
    let mut client = client(space);
    let mut found = Catalogue::new();
    let columns = "SELECT table_name::TEXT, column_name::TEXT, data_type::TEXT, \
                   is_nullable = 'YES', column_default::TEXT, collation_name::TEXT \
                   FROM information_schema.columns WHERE table_schema = current_schema()";
    for row in client.query(columns, &[]).unwrap() {
        let (table, column): (String, String) = (row.get(0), row.get(1));
        let (kind, is_null): (String, bool) = (row.get(2), row.get(3));
        let (default, collation): (Option<String>, Option<String>) = (row.get(4), row.get(5));
        if kind == "text" {
            assert_eq!(collation.as_deref(), Some("C"), "{table}.{column} sorts by locale");
        }
        let plain = |default: String| default.replace("::bigint", "").replace("::text", "");
        let default = default.map(|default| plain(default).replace('\'', ""));
        found.entry(table).or_default().columns.insert(column, (kind, is_null, default));
    }
    let names = "ARRAY(SELECT a.attname::TEXT FROM unnest(i.indkey) WITH ORDINALITY k (n, o) \
                 JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.n ORDER BY o)";
    let indexes = format!(
        "SELECT t.relname::TEXT, i.indisprimary, i.indisunique, i.indpred IS NOT NULL, {names} \
         FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid \
         WHERE t.relnamespace = current_schema()::regnamespace"
    );
    for row in client.query(&indexes, &[]).unwrap() {
        let columns: Vec<String> = row.get(4);
        let table = found.entry(row.get(0)).or_default();
        if row.get(1) {
            table.primary_key = columns
        } else {
            table.indexes.insert((columns, row.get(2), row.get(3)));
        }
    }
    let references = "SELECT t.relname::TEXT, a.attname::TEXT, r.relname::TEXT, b.attname::TEXT, \
                      c.confdeltype::TEXT FROM pg_constraint c \
                      JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class r ON r.oid = c.confrelid \
                      JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = c.conkey[1] \
                      JOIN pg_attribute b ON b.attrelid = r.oid AND b.attnum = c.confkey[1] \
                      WHERE c.contype = 'f' AND t.relnamespace = current_schema()::regnamespace";
    for row in client.query(references, &[]).unwrap() {
        let action = match row.get::<_, &str>(4) {
            "a" => "NO ACTION",
            "c" => "CASCADE",
            "n" => "SET NULL",
            other => other,
        };
        let reference = (row.get(1), row.get(2), row.get(3), action.to_owned());
        found.entry(row.get(0)).or_default().references.insert(reference);
    }
    found
}

#[test]
fn both_catalogues_are_the_same() {
    let (here, there) = (TestSpace::new(Backend::Sqlite), TestSpace::new(Backend::Postgres));
    let _stores = (open(&here), open(&there));
    let (sqlite, postgres) = (of_sqlite(&here), of_postgres(&there));
    assert_eq!(sqlite.keys().collect::<Vec<_>>(), postgres.keys().collect::<Vec<_>>());
    for (name, table) in &sqlite {
        assert_eq!(table, &postgres[name], "{name}");
    }
    assert!(sqlite["messages"].columns.len() == 10 && !sqlite["messages"].references.is_empty());
}

#[test]
fn a_copy_by_rows_contains_every_table_and_column() {
    let space = TestSpace::new(Backend::Sqlite);
    let _store = open(&space);
    let names = |columns: &str| columns.split(", ").map(str::to_owned).collect::<BTreeSet<_>>();
    let copied: BTreeMap<String, BTreeSet<String>> = oneiro_store::all_tables()
        .map(|table| (table.name.to_owned(), names(table.columns)))
        .collect();
    let mut there = of_sqlite(&space);
    // The counters are copied by hand, and the copy makes its own migrations.
    there.retain(|table, _| table != "sequence" && table != "migrations");
    let there: BTreeMap<String, BTreeSet<String>> = there
        .into_iter()
        .map(|(name, table)| (name, table.columns.into_keys().collect()))
        .collect();
    assert_eq!(copied, there);
}
