ALTER TABLE jobs ADD COLUMN needs TEXT COLLATE "C";

DROP INDEX jobs_unique;

CREATE UNIQUE INDEX jobs_unique ON jobs (unique_key)
    WHERE unique_key IS NOT NULL AND state = 'queued';
