CREATE TABLE note_entries (
    number BIGINT NOT NULL PRIMARY KEY,
    key BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    handle TEXT COLLATE "C" NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL
);

CREATE UNIQUE INDEX note_entries_name ON note_entries (name, handle);

ALTER TABLE notes ADD COLUMN entries_due BIGINT NOT NULL DEFAULT 1;

CREATE INDEX notes_entries_due ON notes (name) WHERE entries_due = 1;

CREATE TABLE note_origins (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    key BIGINT NOT NULL,
    origins TEXT COLLATE "C" NOT NULL
);
