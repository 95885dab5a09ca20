ALTER TABLE context_items RENAME TO root_summaries;

DROP INDEX context_items_summary;

CREATE INDEX root_summaries_summary ON root_summaries (summary_key);

ALTER TABLE summaries ADD COLUMN overview BIGINT NOT NULL DEFAULT 0;

DROP TABLE windows;

CREATE TABLE windows (
    session_key BIGINT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    budget BIGINT NOT NULL,
    format TEXT COLLATE "C" NOT NULL,
    epoch BIGINT NOT NULL,
    history BIGINT NOT NULL,
    first_seq BIGINT NOT NULL,
    full_seq BIGINT NOT NULL,
    frontier TEXT COLLATE "C" NOT NULL,
    omits BIGINT NOT NULL,
    hash TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (session_key, budget, format)
);
