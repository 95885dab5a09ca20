ALTER TABLE signals ADD COLUMN relevance INTEGER;

CREATE TABLE dreams (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    mode TEXT NOT NULL,
    preset TEXT NOT NULL,
    started_by TEXT NOT NULL,
    period INTEGER,
    apply INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    reason TEXT,
    thresholds TEXT NOT NULL,
    inputs TEXT NOT NULL,
    counts TEXT NOT NULL,
    findings TEXT NOT NULL,
    holder TEXT,
    lease_until INTEGER,
    group_id TEXT,
    revision TEXT,
    started_at INTEGER NOT NULL,
    finished_at INTEGER,
    undone_at INTEGER
) STRICT;

CREATE UNIQUE INDEX dreams_period ON dreams (period) WHERE period IS NOT NULL;

CREATE TABLE dream_candidates (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    claim TEXT NOT NULL UNIQUE,
    memory_key INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    tags TEXT NOT NULL,
    evidence TEXT NOT NULL,
    parts TEXT NOT NULL,
    score INTEGER NOT NULL,
    decision TEXT NOT NULL,
    gate TEXT,
    reason TEXT NOT NULL,
    decided_at INTEGER NOT NULL,
    dream_id TEXT NOT NULL,
    staged_at INTEGER NOT NULL,
    promoted_at INTEGER,
    refused_at INTEGER
) STRICT;

CREATE INDEX dream_candidates_memory ON dream_candidates (memory_key);

CREATE INDEX dream_candidates_score ON dream_candidates (score, key);

CREATE INDEX dream_candidates_decision ON dream_candidates (decision, score, key);

CREATE TABLE dream_decisions (
    dream_key INTEGER NOT NULL REFERENCES dreams (key) ON DELETE CASCADE,
    candidate_key INTEGER NOT NULL REFERENCES dream_candidates (key) ON DELETE CASCADE,
    decision TEXT NOT NULL,
    gate TEXT,
    reason TEXT NOT NULL,
    score INTEGER NOT NULL,
    parts TEXT NOT NULL,
    evidence TEXT NOT NULL,
    note TEXT,
    line TEXT,
    written TEXT,
    takes_place_of TEXT,
    PRIMARY KEY (dream_key, candidate_key)
) STRICT;

CREATE INDEX dream_decisions_candidate ON dream_decisions (candidate_key, dream_key);

CREATE TABLE dream_entries (
    note TEXT NOT NULL,
    candidate_key INTEGER NOT NULL REFERENCES dream_candidates (key) ON DELETE CASCADE,
    line TEXT NOT NULL,
    dream_id TEXT NOT NULL,
    added_at INTEGER NOT NULL,
    removed_at INTEGER,
    PRIMARY KEY (note, candidate_key)
) STRICT;

CREATE INDEX dream_entries_candidate ON dream_entries (candidate_key);
