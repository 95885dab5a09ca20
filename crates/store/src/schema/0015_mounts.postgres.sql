CREATE TABLE mounts (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    host TEXT COLLATE "C" NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    layout TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE mount_files (
    mount TEXT COLLATE "C" NOT NULL REFERENCES mounts (id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    base_hash TEXT COLLATE "C",
    file_hash TEXT COLLATE "C",
    stamp TEXT COLLATE "C" NOT NULL,
    pending_hash TEXT COLLATE "C",
    pending_file TEXT COLLATE "C",
    temp TEXT COLLATE "C",
    erased BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (mount, name)
);

CREATE INDEX mount_files_name ON mount_files (name);
