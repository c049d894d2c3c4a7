package agents

import "github.com/agent-airlock/airlock/internal/store"

// Tables are the tables of the blueprints that were added.
var Tables = store.Schema{Package: "agents", Steps: []store.Step{store.Both(`
CREATE TABLE agents (
	name TEXT PRIMARY KEY,
	type TEXT NOT NULL,
	description TEXT NOT NULL,
	parameters_schema TEXT,
	output_schema TEXT,
	command TEXT NOT NULL,
	tags TEXT NOT NULL,
	time_limit_seconds BIGINT NOT NULL,
	max_attempts BIGINT NOT NULL,
	version BIGINT NOT NULL
)`), store.Both(`ALTER TABLE agents ADD COLUMN needs TEXT NOT NULL DEFAULT '[]'`)}}
