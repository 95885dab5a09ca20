CREATE TABLE note_texts (
    hash TEXT NOT NULL PRIMARY KEY,
    text TEXT NOT NULL
) STRICT;

CREATE TABLE notes (
    name TEXT NOT NULL PRIMARY KEY,
    text_hash TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    removed INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE revisions (
    id TEXT NOT NULL PRIMARY KEY,
    key INTEGER NOT NULL,
    group_id TEXT NOT NULL,
    parent TEXT,
    at INTEGER NOT NULL,
    author TEXT NOT NULL,
    author_kind TEXT NOT NULL,
    message TEXT NOT NULL,
    dream_id TEXT,
    store_id TEXT NOT NULL
) STRICT;

CREATE INDEX revisions_key ON revisions (key);

CREATE INDEX revisions_group ON revisions (group_id);

CREATE TABLE note_changes (
    revision TEXT NOT NULL REFERENCES revisions (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    key INTEGER NOT NULL,
    text_hash TEXT,
    erased INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (revision, name)
) STRICT;

CREATE INDEX note_changes_name ON note_changes (name, key);

CREATE INDEX note_changes_text ON note_changes (text_hash) WHERE text_hash IS NOT NULL;
