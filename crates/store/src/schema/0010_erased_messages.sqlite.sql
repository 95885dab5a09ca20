CREATE TABLE erased_messages (
    id_hash TEXT NOT NULL PRIMARY KEY
) STRICT;

UPDATE capture_projects SET capture = 'excluded' WHERE capture = 'off' AND folder <> '';
