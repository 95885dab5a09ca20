CREATE TABLE summaries (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session_key INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    depth INTEGER NOT NULL,
    level TEXT NOT NULL,
    model TEXT,
    content TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    source_tokens INTEGER NOT NULL,
    message_count INTEGER NOT NULL,
    message_tokens INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    earliest_at INTEGER NOT NULL,
    latest_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX summaries_session ON summaries (session_key, first_seq);

CREATE INDEX summaries_latest ON summaries (latest_at, key);

CREATE TABLE summary_messages (
    seq INTEGER PRIMARY KEY REFERENCES messages (seq) ON DELETE CASCADE,
    summary_key INTEGER NOT NULL REFERENCES summaries (key) ON DELETE CASCADE
) STRICT;

CREATE INDEX summary_messages_summary ON summary_messages (summary_key, seq);

CREATE TABLE summary_children (
    parent_key INTEGER NOT NULL REFERENCES summaries (key) ON DELETE CASCADE,
    child_key INTEGER NOT NULL REFERENCES summaries (key) ON DELETE CASCADE,
    PRIMARY KEY (parent_key, child_key),
    CHECK (parent_key <> child_key)
) STRICT;

CREATE INDEX summary_children_child ON summary_children (child_key);

CREATE TABLE context_items (
    session_key INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    summary_key INTEGER NOT NULL REFERENCES summaries (key) ON DELETE CASCADE,
    PRIMARY KEY (session_key, summary_key)
) STRICT;

CREATE INDEX context_items_summary ON context_items (summary_key);

CREATE TABLE contexts (
    session_key INTEGER PRIMARY KEY REFERENCES sessions (key) ON DELETE CASCADE,
    epoch INTEGER NOT NULL,
    history INTEGER NOT NULL,
    reason TEXT NOT NULL,
    holder TEXT,
    lease_until INTEGER,
    tried_at INTEGER
) STRICT;

CREATE TABLE windows (
    session_key INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    budget INTEGER NOT NULL,
    format TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    step INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    full_seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (session_key, budget, format)
) STRICT;

CREATE TABLE pins (
    session_key INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    seq INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    PRIMARY KEY (session_key, seq)
) STRICT;

CREATE INDEX pins_message ON pins (seq);

CREATE TABLE message_costs (
    session_key INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    total INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    short_tokens INTEGER NOT NULL,
    begins INTEGER NOT NULL,
    PRIMARY KEY (session_key, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE digests (
    session_key INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    question BLOB NOT NULL,
    head INTEGER NOT NULL,
    content TEXT NOT NULL,
    level TEXT NOT NULL,
    model TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (session_key, question)
) STRICT;

CREATE INDEX messages_hidden ON messages (session_key, seq) WHERE rewind > 0 OR compacted > 0;
