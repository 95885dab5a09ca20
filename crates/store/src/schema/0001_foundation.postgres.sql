CREATE TABLE sequence (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    message BIGINT NOT NULL,
    key BIGINT NOT NULL,
    settings BIGINT NOT NULL
);

INSERT INTO sequence (id, message, key, settings) VALUES (1, 0, 0, 0);

CREATE TABLE settings (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value TEXT COLLATE "C" NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE payloads (
    key BIGINT PRIMARY KEY,
    hash BYTEA NOT NULL UNIQUE,
    size BIGINT NOT NULL,
    data BYTEA NOT NULL
);

CREATE TABLE sessions (
    key BIGINT PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    source TEXT COLLATE "C" NOT NULL,
    started_at BIGINT NOT NULL,
    last_active_at BIGINT NOT NULL,
    active_minute BIGINT NOT NULL,
    message_count BIGINT NOT NULL DEFAULT 0,
    tool_call_count BIGINT NOT NULL DEFAULT 0,
    first_user_seq BIGINT,
    repaired BIGINT NOT NULL DEFAULT 0,
    rewind_count BIGINT NOT NULL DEFAULT 0,
    archived BIGINT NOT NULL DEFAULT 0,
    ended_at BIGINT,
    end_reason TEXT COLLATE "C",
    user_id TEXT COLLATE "C",
    model TEXT COLLATE "C",
    model_config TEXT COLLATE "C",
    system_prompt_key BIGINT REFERENCES payloads (key),
    parent_key BIGINT REFERENCES sessions (key) ON DELETE SET NULL,
    lineage TEXT COLLATE "C",
    title TEXT COLLATE "C",
    project TEXT COLLATE "C",
    cwd TEXT COLLATE "C",
    metadata TEXT COLLATE "C",
    input_tokens BIGINT NOT NULL DEFAULT 0,
    output_tokens BIGINT NOT NULL DEFAULT 0,
    cache_read_tokens BIGINT NOT NULL DEFAULT 0,
    cache_write_tokens BIGINT NOT NULL DEFAULT 0,
    reasoning_tokens BIGINT NOT NULL DEFAULT 0,
    api_call_count BIGINT NOT NULL DEFAULT 0,
    estimated_cost_nanousd BIGINT NOT NULL DEFAULT 0,
    actual_cost_nanousd BIGINT NOT NULL DEFAULT 0
);

CREATE INDEX sessions_active ON sessions (active_minute);

CREATE INDEX sessions_started ON sessions (started_at, key);

CREATE INDEX sessions_parent ON sessions (parent_key) WHERE parent_key IS NOT NULL;

CREATE INDEX sessions_prompt ON sessions (system_prompt_key) WHERE system_prompt_key IS NOT NULL;

CREATE UNIQUE INDEX sessions_title ON sessions (title) WHERE title IS NOT NULL;

CREATE TABLE messages (
    seq BIGINT PRIMARY KEY,
    session_key BIGINT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    at BIGINT NOT NULL,
    role TEXT COLLATE "C" NOT NULL,
    external_id TEXT COLLATE "C",
    compacted BIGINT NOT NULL,
    rewind BIGINT NOT NULL,
    tool_calls BIGINT NOT NULL,
    payloads BIGINT NOT NULL,
    body TEXT COLLATE "C" NOT NULL
);

CREATE INDEX messages_session ON messages (session_key, seq);

CREATE UNIQUE INDEX messages_external ON messages (session_key, external_id)
    WHERE external_id IS NOT NULL;

CREATE TABLE message_payloads (
    seq BIGINT NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    pointer TEXT COLLATE "C" NOT NULL,
    payload_key BIGINT NOT NULL REFERENCES payloads (key),
    PRIMARY KEY (seq, pointer)
);

CREATE INDEX message_payloads_payload ON message_payloads (payload_key);

CREATE TABLE usage (
    session_key BIGINT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    model TEXT COLLATE "C" NOT NULL,
    provider TEXT COLLATE "C" NOT NULL,
    base_url TEXT COLLATE "C" NOT NULL,
    billing_mode TEXT COLLATE "C" NOT NULL,
    task TEXT COLLATE "C" NOT NULL,
    api_calls BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cache_read_tokens BIGINT NOT NULL,
    cache_write_tokens BIGINT NOT NULL,
    reasoning_tokens BIGINT NOT NULL,
    estimated_cost_nanousd BIGINT NOT NULL,
    actual_cost_nanousd BIGINT NOT NULL,
    first_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    PRIMARY KEY (session_key, model, provider, base_url, billing_mode, task)
);

CREATE TABLE jobs (
    key BIGINT PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    kind TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    payload TEXT COLLATE "C" NOT NULL,
    unique_key TEXT COLLATE "C",
    holder TEXT COLLATE "C",
    lease_until BIGINT,
    attempts BIGINT NOT NULL,
    last_error TEXT COLLATE "C",
    next_run_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE INDEX jobs_due ON jobs (state, next_run_at, key);

CREATE UNIQUE INDEX jobs_unique ON jobs (unique_key)
    WHERE unique_key IS NOT NULL AND state IN ('queued', 'running');

CREATE TABLE backups (
    path TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    at BIGINT NOT NULL,
    reason TEXT COLLATE "C" NOT NULL
);
