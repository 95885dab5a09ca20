CREATE TABLE summaries (
    key BIGINT PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    session_key BIGINT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    kind TEXT COLLATE "C" NOT NULL,
    depth BIGINT NOT NULL,
    level TEXT COLLATE "C" NOT NULL,
    model TEXT COLLATE "C",
    content TEXT COLLATE "C" NOT NULL,
    tokens BIGINT NOT NULL,
    source_tokens BIGINT NOT NULL,
    message_count BIGINT NOT NULL,
    message_tokens BIGINT NOT NULL,
    first_seq BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    earliest_at BIGINT NOT NULL,
    latest_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE INDEX summaries_session ON summaries (session_key, first_seq);

CREATE INDEX summaries_latest ON summaries (latest_at, key);

CREATE TABLE summary_messages (
    seq BIGINT PRIMARY KEY REFERENCES messages (seq) ON DELETE CASCADE,
    summary_key BIGINT NOT NULL REFERENCES summaries (key) ON DELETE CASCADE
);

CREATE INDEX summary_messages_summary ON summary_messages (summary_key, seq);

CREATE TABLE summary_children (
    parent_key BIGINT NOT NULL REFERENCES summaries (key) ON DELETE CASCADE,
    child_key BIGINT NOT NULL REFERENCES summaries (key) ON DELETE CASCADE,
    PRIMARY KEY (parent_key, child_key),
    CHECK (parent_key <> child_key)
);

CREATE INDEX summary_children_child ON summary_children (child_key);

CREATE TABLE context_items (
    session_key BIGINT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    summary_key BIGINT NOT NULL REFERENCES summaries (key) ON DELETE CASCADE,
    PRIMARY KEY (session_key, summary_key)
);

CREATE INDEX context_items_summary ON context_items (summary_key);

CREATE TABLE contexts (
    session_key BIGINT PRIMARY KEY REFERENCES sessions (key) ON DELETE CASCADE,
    epoch BIGINT NOT NULL,
    history BIGINT NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    holder TEXT COLLATE "C",
    lease_until BIGINT,
    tried_at BIGINT
);

CREATE TABLE windows (
    session_key BIGINT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    budget BIGINT NOT NULL,
    format TEXT COLLATE "C" NOT NULL,
    epoch BIGINT NOT NULL,
    step BIGINT NOT NULL,
    first_seq BIGINT NOT NULL,
    full_seq BIGINT NOT NULL,
    hash TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (session_key, budget, format)
);

CREATE TABLE pins (
    session_key BIGINT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    seq BIGINT NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    at BIGINT NOT NULL,
    PRIMARY KEY (session_key, seq)
);

CREATE INDEX pins_message ON pins (seq);

CREATE TABLE message_costs (
    session_key BIGINT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    ordinal BIGINT NOT NULL,
    total BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    short_tokens BIGINT NOT NULL,
    begins BIGINT NOT NULL,
    PRIMARY KEY (session_key, seq)
);

CREATE TABLE digests (
    session_key BIGINT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    question BYTEA NOT NULL,
    head BIGINT NOT NULL,
    content TEXT COLLATE "C" NOT NULL,
    level TEXT COLLATE "C" NOT NULL,
    model TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    PRIMARY KEY (session_key, question)
);

CREATE INDEX messages_hidden ON messages (session_key, seq) WHERE rewind > 0 OR compacted > 0;
