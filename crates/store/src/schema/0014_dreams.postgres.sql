ALTER TABLE signals ADD COLUMN relevance BIGINT;

CREATE TABLE dreams (
    key BIGINT PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    mode TEXT COLLATE "C" NOT NULL,
    preset TEXT COLLATE "C" NOT NULL,
    started_by TEXT COLLATE "C" NOT NULL,
    period BIGINT,
    apply BIGINT NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C",
    thresholds TEXT COLLATE "C" NOT NULL,
    inputs TEXT COLLATE "C" NOT NULL,
    counts TEXT COLLATE "C" NOT NULL,
    findings TEXT COLLATE "C" NOT NULL,
    holder TEXT COLLATE "C",
    lease_until BIGINT,
    group_id TEXT COLLATE "C",
    revision TEXT COLLATE "C",
    started_at BIGINT NOT NULL,
    finished_at BIGINT,
    undone_at BIGINT
);

CREATE UNIQUE INDEX dreams_period ON dreams (period) WHERE period IS NOT NULL;

CREATE TABLE dream_candidates (
    key BIGINT PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    claim TEXT COLLATE "C" NOT NULL UNIQUE,
    memory_key BIGINT NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    tags TEXT COLLATE "C" NOT NULL,
    evidence TEXT COLLATE "C" NOT NULL,
    parts TEXT COLLATE "C" NOT NULL,
    score BIGINT NOT NULL,
    decision TEXT COLLATE "C" NOT NULL,
    gate TEXT COLLATE "C",
    reason TEXT COLLATE "C" NOT NULL,
    decided_at BIGINT NOT NULL,
    dream_id TEXT COLLATE "C" NOT NULL,
    staged_at BIGINT NOT NULL,
    promoted_at BIGINT,
    refused_at BIGINT
);

CREATE INDEX dream_candidates_memory ON dream_candidates (memory_key);

CREATE INDEX dream_candidates_score ON dream_candidates (score, key);

CREATE INDEX dream_candidates_decision ON dream_candidates (decision, score, key);

CREATE TABLE dream_decisions (
    dream_key BIGINT NOT NULL REFERENCES dreams (key) ON DELETE CASCADE,
    candidate_key BIGINT NOT NULL REFERENCES dream_candidates (key) ON DELETE CASCADE,
    decision TEXT COLLATE "C" NOT NULL,
    gate TEXT COLLATE "C",
    reason TEXT COLLATE "C" NOT NULL,
    score BIGINT NOT NULL,
    parts TEXT COLLATE "C" NOT NULL,
    evidence TEXT COLLATE "C" NOT NULL,
    note TEXT COLLATE "C",
    line TEXT COLLATE "C",
    written TEXT COLLATE "C",
    takes_place_of TEXT COLLATE "C",
    PRIMARY KEY (dream_key, candidate_key)
);

CREATE INDEX dream_decisions_candidate ON dream_decisions (candidate_key, dream_key);

CREATE TABLE dream_entries (
    note TEXT COLLATE "C" NOT NULL,
    candidate_key BIGINT NOT NULL REFERENCES dream_candidates (key) ON DELETE CASCADE,
    line TEXT COLLATE "C" NOT NULL,
    dream_id TEXT COLLATE "C" NOT NULL,
    added_at BIGINT NOT NULL,
    removed_at BIGINT,
    PRIMARY KEY (note, candidate_key)
);

CREATE INDEX dream_entries_candidate ON dream_entries (candidate_key);
