package loopturn

import (
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/loopref"
)

// What follows is for callers that import neither loopref nor fixloop.

// LogStore is where the logs of a repository's loops are.
type LogStore = loopref.Store

// Store returns the store of a repository's loops. A secret signs their logs; "" leaves them
// unsigned.
func Store(gh loopref.GitHub, repo githubapi.Repo, secret string) *LogStore {
	return &loopref.Store{GitHub: gh, Repo: repo, Secret: secret}
}

// ParseLimits reads the limits of a loop, such as "iterations=3 fix=45m".
func ParseLimits(text string) (fixloop.Limits, error) { return fixloop.ParseLimits(text) }
