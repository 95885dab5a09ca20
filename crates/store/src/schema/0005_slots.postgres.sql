CREATE TABLE slots (
    scope TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    session_key BIGINT REFERENCES sessions (key) ON DELETE CASCADE,
    value TEXT COLLATE "C" NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (scope, name)
);

CREATE INDEX slots_session ON slots (session_key) WHERE session_key IS NOT NULL;

CREATE INDEX messages_compacted ON messages (session_key) WHERE compacted = 1;
