CREATE TABLE note_entries (
    number INTEGER NOT NULL PRIMARY KEY,
    key INTEGER NOT NULL,
    name TEXT NOT NULL,
    handle TEXT NOT NULL,
    text TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX note_entries_name ON note_entries (name, handle);

ALTER TABLE notes ADD COLUMN entries_due INTEGER NOT NULL DEFAULT 1;

CREATE INDEX notes_entries_due ON notes (name) WHERE entries_due = 1;

CREATE TABLE note_origins (
    name TEXT NOT NULL PRIMARY KEY,
    key INTEGER NOT NULL,
    origins TEXT NOT NULL
) STRICT;
