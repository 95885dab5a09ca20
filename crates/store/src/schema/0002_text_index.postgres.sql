CREATE TABLE text_index (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    build BIGINT NOT NULL,
    generation BIGINT NOT NULL
);

CREATE TABLE segments (
    id BIGINT PRIMARY KEY,
    build BIGINT NOT NULL,
    live BIGINT NOT NULL,
    first_seq BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    messages BIGINT NOT NULL,
    docs BIGINT NOT NULL,
    words BIGINT NOT NULL,
    blocks BIGINT NOT NULL,
    analyzer BIGINT NOT NULL,
    embedder TEXT COLLATE "C",
    created_at BIGINT NOT NULL
);

CREATE TABLE segment_terms (
    key BIGINT PRIMARY KEY,
    segment BIGINT NOT NULL,
    first_term BYTEA NOT NULL,
    part BIGINT NOT NULL,
    data BYTEA NOT NULL
);

CREATE UNIQUE INDEX segment_terms_first ON segment_terms (segment, first_term, part);

CREATE TABLE segment_docs (
    key BIGINT PRIMARY KEY,
    data BYTEA NOT NULL
);

CREATE TABLE segment_vectors (
    key BIGINT PRIMARY KEY,
    data BYTEA NOT NULL
);

CREATE TABLE embeddings (
    seq BIGINT NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    chunk BIGINT NOT NULL,
    model TEXT COLLATE "C" NOT NULL,
    data BYTEA NOT NULL,
    PRIMARY KEY (seq, chunk, model)
);
