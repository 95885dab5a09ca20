CREATE TABLE capture_projects (
    folder TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    capture TEXT COLLATE "C" NOT NULL,
    chosen_at BIGINT NOT NULL
);

CREATE TABLE capture_pauses (
    started_at BIGINT PRIMARY KEY,
    ended_at BIGINT
);

CREATE TABLE capture_lease (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    holder TEXT COLLATE "C",
    lease_until BIGINT
);

ALTER TABLE transcripts ADD COLUMN fingerprint TEXT COLLATE "C";
