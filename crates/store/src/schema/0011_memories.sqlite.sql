CREATE TABLE store_identity (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    store_id TEXT NOT NULL,
    secret BLOB NOT NULL
) STRICT;

CREATE TABLE memories (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    subject TEXT,
    content TEXT NOT NULL,
    status TEXT NOT NULL,
    trust TEXT NOT NULL,
    origin TEXT NOT NULL,
    initial_confidence INTEGER NOT NULL,
    project TEXT,
    tags TEXT NOT NULL,
    valid_from INTEGER,
    valid_until INTEGER,
    superseded_by TEXT,
    suspended_by TEXT,
    confirmed_at INTEGER,
    reference_count INTEGER NOT NULL DEFAULT 0,
    last_referenced_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    claim TEXT NOT NULL,
    removed INTEGER NOT NULL DEFAULT 0,
    text_number INTEGER,
    replaces TEXT,
    idle_days INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX memories_status ON memories (status, key);

CREATE INDEX memories_project ON memories (project, key);

CREATE INDEX memories_project_status ON memories (project, status, key);

CREATE INDEX memories_subject ON memories (subject, key);

CREATE INDEX memories_claim ON memories (claim);

CREATE UNIQUE INDEX memories_text_number ON memories (text_number) WHERE text_number IS NOT NULL;

CREATE INDEX memories_superseded_by ON memories (superseded_by) WHERE superseded_by IS NOT NULL;

CREATE INDEX memories_suspended_by ON memories (suspended_by) WHERE suspended_by IS NOT NULL;

CREATE TABLE citations (
    memory_key INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    message_seq INTEGER,
    session_id TEXT,
    quote TEXT NOT NULL,
    trust TEXT NOT NULL,
    PRIMARY KEY (memory_key, place)
) STRICT;

CREATE INDEX citations_message ON citations (message_seq) WHERE message_seq IS NOT NULL;

CREATE INDEX citations_session ON citations (session_id) WHERE session_id IS NOT NULL;

CREATE TABLE signals (
    memory_key INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    query_hash TEXT NOT NULL,
    date TEXT NOT NULL,
    query TEXT,
    at INTEGER NOT NULL,
    PRIMARY KEY (memory_key, kind, query_hash, date)
) STRICT;

CREATE TABLE operations (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    actor TEXT NOT NULL,
    actor_kind TEXT NOT NULL,
    subject_kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    before TEXT,
    after TEXT,
    claim TEXT,
    reason TEXT,
    group_id TEXT,
    undoes TEXT,
    undone_by TEXT,
    store_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    erased INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX operations_subject ON operations (subject, key);

CREATE INDEX operations_kind ON operations (kind, key);

CREATE INDEX operations_actor ON operations (actor_kind, key);

CREATE INDEX operations_at ON operations (at, key);

CREATE INDEX operations_claim ON operations (claim, key) WHERE claim IS NOT NULL;

CREATE INDEX operations_group ON operations (group_id, key) WHERE group_id IS NOT NULL;

CREATE TABLE projects (
    name TEXT NOT NULL PRIMARY KEY,
    root TEXT,
    created_at INTEGER NOT NULL,
    removed INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE project_aliases (
    alias TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL REFERENCES projects (name) ON DELETE CASCADE
) STRICT;

CREATE INDEX project_aliases_name ON project_aliases (name);

CREATE TABLE project_state (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER,
    superseded_by TEXT,
    removed INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX project_state_name ON project_state (project, name, key);

CREATE TABLE distrusts (
    id TEXT NOT NULL PRIMARY KEY,
    target_kind TEXT NOT NULL,
    target TEXT NOT NULL,
    at INTEGER NOT NULL,
    removed INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX distrusts_target ON distrusts (target_kind, target);

CREATE TABLE embeddings_of_texts (
    seq INTEGER NOT NULL,
    chunk INTEGER NOT NULL,
    model TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (seq, chunk, model)
) STRICT;

INSERT INTO embeddings_of_texts SELECT seq, chunk, model, data FROM embeddings;

DROP TABLE embeddings;

ALTER TABLE embeddings_of_texts RENAME TO embeddings;

CREATE TABLE active_days (
    day INTEGER PRIMARY KEY,
    last_seq INTEGER NOT NULL
) STRICT;

CREATE TABLE learning (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    last_seq INTEGER NOT NULL,
    rules INTEGER NOT NULL
) STRICT;

CREATE TABLE interactions (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    prompt TEXT NOT NULL,
    response TEXT,
    response_summary TEXT,
    pack_id TEXT,
    memories_used TEXT NOT NULL,
    chunks_used TEXT NOT NULL,
    client TEXT,
    session_id TEXT,
    project TEXT,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX interactions_created_at ON interactions (created_at, key);

CREATE INDEX interactions_session ON interactions (session_id, key) WHERE session_id IS NOT NULL;

CREATE INDEX memories_valid_from ON memories (valid_from) WHERE valid_from IS NOT NULL;

CREATE TABLE packs (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session_id TEXT,
    client TEXT,
    project TEXT,
    text TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    omitted TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX packs_created ON packs (created_at);

CREATE INDEX packs_session ON packs (session_id, key) WHERE session_id IS NOT NULL;

CREATE TABLE pack_items (
    pack_key INTEGER NOT NULL REFERENCES packs (key) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    kind TEXT NOT NULL,
    item_id TEXT NOT NULL,
    band TEXT NOT NULL,
    text TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (pack_key, place)
) STRICT;

CREATE INDEX pack_items_item ON pack_items (item_id, kind, pack_key);

CREATE TABLE served_lines (
    key INTEGER PRIMARY KEY,
    session_id TEXT,
    client TEXT,
    kind TEXT NOT NULL,
    item_id TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    shingles BLOB NOT NULL,
    terms BLOB NOT NULL,
    repeatable INTEGER NOT NULL DEFAULT 0,
    at INTEGER NOT NULL
) STRICT;

CREATE INDEX served_lines_session ON served_lines (session_id, key) WHERE session_id IS NOT NULL;

CREATE INDEX served_lines_client ON served_lines (client, key) WHERE client IS NOT NULL;

CREATE INDEX served_lines_item ON served_lines (item_id, kind);

CREATE INDEX served_lines_at ON served_lines (at);

CREATE TABLE unmutes (
    memory_key INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    project TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (memory_key, project)
) STRICT;
