CREATE TABLE note_texts (
    hash TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    text TEXT COLLATE "C" NOT NULL
);

CREATE TABLE notes (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    text_hash TEXT COLLATE "C" NOT NULL,
    updated_at BIGINT NOT NULL,
    removed BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE revisions (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    key BIGINT NOT NULL,
    group_id TEXT COLLATE "C" NOT NULL,
    parent TEXT COLLATE "C",
    at BIGINT NOT NULL,
    author TEXT COLLATE "C" NOT NULL,
    author_kind TEXT COLLATE "C" NOT NULL,
    message TEXT COLLATE "C" NOT NULL,
    dream_id TEXT COLLATE "C",
    store_id TEXT COLLATE "C" NOT NULL
);

CREATE INDEX revisions_key ON revisions (key);

CREATE INDEX revisions_group ON revisions (group_id);

CREATE TABLE note_changes (
    revision TEXT COLLATE "C" NOT NULL REFERENCES revisions (id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    key BIGINT NOT NULL,
    text_hash TEXT COLLATE "C",
    erased BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (revision, name)
);

CREATE INDEX note_changes_name ON note_changes (name, key);

CREATE INDEX note_changes_text ON note_changes (text_hash) WHERE text_hash IS NOT NULL;
