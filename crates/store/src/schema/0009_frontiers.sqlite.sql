ALTER TABLE context_items RENAME TO root_summaries;

DROP INDEX context_items_summary;

CREATE INDEX root_summaries_summary ON root_summaries (summary_key);

ALTER TABLE summaries ADD COLUMN overview INTEGER NOT NULL DEFAULT 0;

DROP TABLE windows;

CREATE TABLE windows (
    session_key INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    budget INTEGER NOT NULL,
    format TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    history INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    full_seq INTEGER NOT NULL,
    frontier TEXT NOT NULL,
    omits INTEGER NOT NULL,
    hash TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (session_key, budget, format)
) STRICT;
