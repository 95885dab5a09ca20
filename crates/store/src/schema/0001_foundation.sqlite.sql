CREATE TABLE sequence (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    message INTEGER NOT NULL,
    key INTEGER NOT NULL,
    settings INTEGER NOT NULL
) STRICT;

INSERT INTO sequence (id, message, key, settings) VALUES (1, 0, 0, 0);

CREATE TABLE settings (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE payloads (
    key INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    data BLOB NOT NULL
) STRICT;

CREATE TABLE sessions (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    last_active_at INTEGER NOT NULL,
    active_minute INTEGER NOT NULL,
    message_count INTEGER NOT NULL DEFAULT 0,
    tool_call_count INTEGER NOT NULL DEFAULT 0,
    first_user_seq INTEGER,
    repaired INTEGER NOT NULL DEFAULT 0,
    rewind_count INTEGER NOT NULL DEFAULT 0,
    archived INTEGER NOT NULL DEFAULT 0,
    ended_at INTEGER,
    end_reason TEXT,
    user_id TEXT,
    model TEXT,
    model_config TEXT,
    system_prompt_key INTEGER REFERENCES payloads (key),
    parent_key INTEGER REFERENCES sessions (key) ON DELETE SET NULL,
    lineage TEXT,
    title TEXT,
    project TEXT,
    cwd TEXT,
    metadata TEXT,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    reasoning_tokens INTEGER NOT NULL DEFAULT 0,
    api_call_count INTEGER NOT NULL DEFAULT 0,
    estimated_cost_nanousd INTEGER NOT NULL DEFAULT 0,
    actual_cost_nanousd INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX sessions_active ON sessions (active_minute);

CREATE INDEX sessions_started ON sessions (started_at, key);

CREATE INDEX sessions_parent ON sessions (parent_key) WHERE parent_key IS NOT NULL;

CREATE INDEX sessions_prompt ON sessions (system_prompt_key) WHERE system_prompt_key IS NOT NULL;

CREATE UNIQUE INDEX sessions_title ON sessions (title) WHERE title IS NOT NULL;

CREATE TABLE messages (
    seq INTEGER PRIMARY KEY,
    session_key INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    role TEXT NOT NULL,
    external_id TEXT,
    compacted INTEGER NOT NULL,
    rewind INTEGER NOT NULL,
    tool_calls INTEGER NOT NULL,
    payloads INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;

CREATE INDEX messages_session ON messages (session_key, seq);

CREATE UNIQUE INDEX messages_external ON messages (session_key, external_id)
    WHERE external_id IS NOT NULL;

CREATE TABLE message_payloads (
    seq INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    pointer TEXT NOT NULL,
    payload_key INTEGER NOT NULL REFERENCES payloads (key),
    PRIMARY KEY (seq, pointer)
) STRICT;

CREATE INDEX message_payloads_payload ON message_payloads (payload_key);

CREATE TABLE usage (
    session_key INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    model TEXT NOT NULL,
    provider TEXT NOT NULL,
    base_url TEXT NOT NULL,
    billing_mode TEXT NOT NULL,
    task TEXT NOT NULL,
    api_calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cache_read_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    estimated_cost_nanousd INTEGER NOT NULL,
    actual_cost_nanousd INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    PRIMARY KEY (session_key, model, provider, base_url, billing_mode, task)
) STRICT;

CREATE TABLE jobs (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    payload TEXT NOT NULL,
    unique_key TEXT,
    holder TEXT,
    lease_until INTEGER,
    attempts INTEGER NOT NULL,
    last_error TEXT,
    next_run_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX jobs_due ON jobs (state, next_run_at, key);

CREATE UNIQUE INDEX jobs_unique ON jobs (unique_key)
    WHERE unique_key IS NOT NULL AND state IN ('queued', 'running');

CREATE TABLE backups (
    path TEXT NOT NULL PRIMARY KEY,
    at INTEGER NOT NULL,
    reason TEXT NOT NULL
) STRICT;
