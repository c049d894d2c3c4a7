package apply

import (
	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/githubapi"
)

// Deps is what Observe and an Execution are given from outside.
type Deps struct {
	GitHub *githubapi.Client // nil without a token
	Clock  githubapi.Clock   // by which Observe and an Execution wait; required with GitHub
	Files  Files             // nil where nothing can be stored
	// Source reads files of a commit; nil where none are at hand, and GitHub is asked.
	Source Source
	// Diff is the diff of the event's pull request from git; nil where there is none,
	// and GitHub is asked.
	Diff []changes.ChangedFile
	// Code is nil where items that carry code cannot be applied.
	Code *Code
	// Log receives progress, a line a call. A line may contain the agent's words:
	// whoever shows it escapes it. Log may be nil.
	Log func(string)
}

func (d Deps) log(line string) {
	if d.Log != nil {
		d.Log(line)
	}
}

// Files stores what could not be delivered to GitHub, such as a SARIF file.
type Files interface {
	// WriteFile stores data under a name and returns the path for people and later
	// steps.
	WriteFile(name string, data []byte) (path string, err error)
}

// Source reads files of a commit by their path from the repository's root.
type Source interface {
	ReadFile(commit, path string) ([]byte, error)
}
