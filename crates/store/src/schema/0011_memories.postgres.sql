CREATE TABLE store_identity (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    store_id TEXT COLLATE "C" NOT NULL,
    secret BYTEA NOT NULL
);

CREATE TABLE memories (
    key BIGINT PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    kind TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C",
    content TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    trust TEXT COLLATE "C" NOT NULL,
    origin TEXT COLLATE "C" NOT NULL,
    initial_confidence BIGINT NOT NULL,
    project TEXT COLLATE "C",
    tags TEXT COLLATE "C" NOT NULL,
    valid_from BIGINT,
    valid_until BIGINT,
    superseded_by TEXT COLLATE "C",
    suspended_by TEXT COLLATE "C",
    confirmed_at BIGINT,
    reference_count BIGINT NOT NULL DEFAULT 0,
    last_referenced_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    claim TEXT COLLATE "C" NOT NULL,
    removed BIGINT NOT NULL DEFAULT 0,
    text_number BIGINT,
    replaces TEXT COLLATE "C",
    idle_days BIGINT NOT NULL DEFAULT 0
);

CREATE INDEX memories_status ON memories (status, key);

CREATE INDEX memories_project ON memories (project, key);

CREATE INDEX memories_project_status ON memories (project, status, key);

CREATE INDEX memories_subject ON memories (subject, key);

CREATE INDEX memories_claim ON memories (claim);

CREATE UNIQUE INDEX memories_text_number ON memories (text_number) WHERE text_number IS NOT NULL;

CREATE INDEX memories_superseded_by ON memories (superseded_by) WHERE superseded_by IS NOT NULL;

CREATE INDEX memories_suspended_by ON memories (suspended_by) WHERE suspended_by IS NOT NULL;

CREATE TABLE citations (
    memory_key BIGINT NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    place BIGINT NOT NULL,
    message_seq BIGINT,
    session_id TEXT COLLATE "C",
    quote TEXT COLLATE "C" NOT NULL,
    trust TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (memory_key, place)
);

CREATE INDEX citations_message ON citations (message_seq) WHERE message_seq IS NOT NULL;

CREATE INDEX citations_session ON citations (session_id) WHERE session_id IS NOT NULL;

CREATE TABLE signals (
    memory_key BIGINT NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    kind TEXT COLLATE "C" NOT NULL,
    query_hash TEXT COLLATE "C" NOT NULL,
    date TEXT COLLATE "C" NOT NULL,
    query TEXT COLLATE "C",
    at BIGINT NOT NULL,
    PRIMARY KEY (memory_key, kind, query_hash, date)
);

CREATE TABLE operations (
    key BIGINT PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    kind TEXT COLLATE "C" NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    actor_kind TEXT COLLATE "C" NOT NULL,
    subject_kind TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    before TEXT COLLATE "C",
    after TEXT COLLATE "C",
    claim TEXT COLLATE "C",
    reason TEXT COLLATE "C",
    group_id TEXT COLLATE "C",
    undoes TEXT COLLATE "C",
    undone_by TEXT COLLATE "C",
    store_id TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    erased BIGINT NOT NULL DEFAULT 0
);

CREATE INDEX operations_subject ON operations (subject, key);

CREATE INDEX operations_kind ON operations (kind, key);

CREATE INDEX operations_actor ON operations (actor_kind, key);

CREATE INDEX operations_at ON operations (at, key);

CREATE INDEX operations_claim ON operations (claim, key) WHERE claim IS NOT NULL;

CREATE INDEX operations_group ON operations (group_id, key) WHERE group_id IS NOT NULL;

CREATE TABLE projects (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    root TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    removed BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE project_aliases (
    alias TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL REFERENCES projects (name) ON DELETE CASCADE
);

CREATE INDEX project_aliases_name ON project_aliases (name);

CREATE TABLE project_state (
    key BIGINT PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    project TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    since BIGINT NOT NULL,
    until BIGINT,
    superseded_by TEXT COLLATE "C",
    removed BIGINT NOT NULL DEFAULT 0
);

CREATE INDEX project_state_name ON project_state (project, name, key);

CREATE TABLE distrusts (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    target_kind TEXT COLLATE "C" NOT NULL,
    target TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    removed BIGINT NOT NULL DEFAULT 0
);

CREATE INDEX distrusts_target ON distrusts (target_kind, target);

ALTER TABLE embeddings DROP CONSTRAINT embeddings_seq_fkey;

CREATE TABLE active_days (
    day BIGINT PRIMARY KEY,
    last_seq BIGINT NOT NULL
);

CREATE TABLE learning (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    last_seq BIGINT NOT NULL,
    rules BIGINT NOT NULL
);

CREATE TABLE interactions (
    key BIGINT PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    prompt TEXT COLLATE "C" NOT NULL,
    response TEXT COLLATE "C",
    response_summary TEXT COLLATE "C",
    pack_id TEXT COLLATE "C",
    memories_used TEXT COLLATE "C" NOT NULL,
    chunks_used TEXT COLLATE "C" NOT NULL,
    client TEXT COLLATE "C",
    session_id TEXT COLLATE "C",
    project TEXT COLLATE "C",
    created_at BIGINT NOT NULL
);

CREATE INDEX interactions_created_at ON interactions (created_at, key);

CREATE INDEX interactions_session ON interactions (session_id, key) WHERE session_id IS NOT NULL;

CREATE INDEX memories_valid_from ON memories (valid_from) WHERE valid_from IS NOT NULL;

CREATE TABLE packs (
    key BIGINT PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    session_id TEXT COLLATE "C",
    client TEXT COLLATE "C",
    project TEXT COLLATE "C",
    text TEXT COLLATE "C" NOT NULL,
    tokens BIGINT NOT NULL,
    omitted TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE INDEX packs_created ON packs (created_at);

CREATE INDEX packs_session ON packs (session_id, key) WHERE session_id IS NOT NULL;

CREATE TABLE pack_items (
    pack_key BIGINT NOT NULL REFERENCES packs (key) ON DELETE CASCADE,
    place BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    item_id TEXT COLLATE "C" NOT NULL,
    band TEXT COLLATE "C" NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (pack_key, place)
);

CREATE INDEX pack_items_item ON pack_items (item_id, kind, pack_key);

CREATE TABLE served_lines (
    key BIGINT PRIMARY KEY,
    session_id TEXT COLLATE "C",
    client TEXT COLLATE "C",
    kind TEXT COLLATE "C" NOT NULL,
    item_id TEXT COLLATE "C" NOT NULL,
    tokens BIGINT NOT NULL,
    shingles BYTEA NOT NULL,
    terms BYTEA NOT NULL,
    repeatable BIGINT NOT NULL DEFAULT 0,
    at BIGINT NOT NULL
);

CREATE INDEX served_lines_session ON served_lines (session_id, key) WHERE session_id IS NOT NULL;

CREATE INDEX served_lines_client ON served_lines (client, key) WHERE client IS NOT NULL;

CREATE INDEX served_lines_item ON served_lines (item_id, kind);

CREATE INDEX served_lines_at ON served_lines (at);

CREATE TABLE unmutes (
    memory_key BIGINT NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    project TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (memory_key, project)
);
