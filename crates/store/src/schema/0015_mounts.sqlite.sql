CREATE TABLE mounts (
    id TEXT NOT NULL PRIMARY KEY,
    host TEXT NOT NULL,
    path TEXT NOT NULL,
    layout TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE mount_files (
    mount TEXT NOT NULL REFERENCES mounts (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    base_hash TEXT,
    file_hash TEXT,
    stamp TEXT NOT NULL,
    pending_hash TEXT,
    pending_file TEXT,
    temp TEXT,
    erased INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (mount, name)
) STRICT;

CREATE INDEX mount_files_name ON mount_files (name);
