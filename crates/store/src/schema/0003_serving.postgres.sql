CREATE TABLE tokens (
    key BIGINT PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    label BYTEA NOT NULL UNIQUE,
    hash BYTEA NOT NULL,
    role TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT
);

CREATE TABLE changes (
    key BIGINT PRIMARY KEY,
    kind TEXT COLLATE "C" NOT NULL,
    session_id TEXT COLLATE "C",
    at BIGINT NOT NULL
);

CREATE INDEX changes_session ON changes (session_id) WHERE session_id IS NOT NULL;

CREATE TABLE transcripts (
    path TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    agent TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
