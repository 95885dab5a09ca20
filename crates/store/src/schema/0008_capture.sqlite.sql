CREATE TABLE capture_projects (
    folder TEXT NOT NULL PRIMARY KEY,
    capture TEXT NOT NULL,
    chosen_at INTEGER NOT NULL
) STRICT;

CREATE TABLE capture_pauses (
    started_at INTEGER PRIMARY KEY,
    ended_at INTEGER
) STRICT;

CREATE TABLE capture_lease (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    holder TEXT,
    lease_until INTEGER
) STRICT;

ALTER TABLE transcripts ADD COLUMN fingerprint TEXT;
