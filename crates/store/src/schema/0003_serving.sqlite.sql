CREATE TABLE tokens (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    label BLOB NOT NULL UNIQUE,
    hash BLOB NOT NULL,
    role TEXT NOT NULL,
    name TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
) STRICT;

CREATE TABLE changes (
    key INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    session_id TEXT,
    at INTEGER NOT NULL
) STRICT;

CREATE INDEX changes_session ON changes (session_id) WHERE session_id IS NOT NULL;

CREATE TABLE transcripts (
    path TEXT NOT NULL PRIMARY KEY,
    agent TEXT NOT NULL,
    position INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
