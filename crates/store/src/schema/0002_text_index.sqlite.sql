CREATE TABLE text_index (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    build INTEGER NOT NULL,
    generation INTEGER NOT NULL
) STRICT;

CREATE TABLE segments (
    id INTEGER PRIMARY KEY,
    build INTEGER NOT NULL,
    live INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    docs INTEGER NOT NULL,
    words INTEGER NOT NULL,
    blocks INTEGER NOT NULL,
    analyzer INTEGER NOT NULL,
    embedder TEXT,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE segment_terms (
    key INTEGER PRIMARY KEY,
    segment INTEGER NOT NULL,
    first_term BLOB NOT NULL,
    part INTEGER NOT NULL,
    data BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX segment_terms_first ON segment_terms (segment, first_term, part);

CREATE TABLE segment_docs (
    key INTEGER PRIMARY KEY,
    data BLOB NOT NULL
) STRICT;

CREATE TABLE segment_vectors (
    key INTEGER PRIMARY KEY,
    data BLOB NOT NULL
) STRICT;

CREATE TABLE embeddings (
    seq INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
    chunk INTEGER NOT NULL,
    model TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (seq, chunk, model)
) STRICT;
