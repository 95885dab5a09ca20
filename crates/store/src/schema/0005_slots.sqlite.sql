CREATE TABLE slots (
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    session_key INTEGER REFERENCES sessions (key) ON DELETE CASCADE,
    value TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (scope, name)
) STRICT;

CREATE INDEX slots_session ON slots (session_key) WHERE session_key IS NOT NULL;

CREATE INDEX messages_compacted ON messages (session_key) WHERE compacted = 1;
