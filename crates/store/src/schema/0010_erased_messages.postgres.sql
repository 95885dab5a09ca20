CREATE TABLE erased_messages (
    id_hash TEXT COLLATE "C" NOT NULL PRIMARY KEY
);

UPDATE capture_projects SET capture = 'excluded' WHERE capture = 'off' AND folder <> '';
