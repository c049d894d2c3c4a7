package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubapi"
)

// policySource is where a configuration's file can be read that neither an agent
// nor a pull request can write (rule R10).
type policySource struct {
	ev     event.Event
	client *githubapi.Client // nil without a token
	git    *localGit         // nil without a clone
}

// policy loads the step's configuration and logs its warnings.
func (s *step) policy(ctx context.Context, src policySource) (config.SafeOutputs, error) {
	sources := config.Sources{
		Inline:   s.settings.Config,
		File:     s.settings.ConfigFile,
		ReadFile: func(name string) ([]byte, error) { return src.read(ctx, name) },
	}
	if s.settings.TrustEnv {
		sources.Getenv = s.w.Getenv
	}
	cfg, err := config.Load(sources)
	if err != nil {
		return config.SafeOutputs{}, usageError(err)
	}
	for _, p := range cfg.Warnings {
		s.warn(p)
	}
	cfg.Policy.Staged = cfg.Policy.Staged || s.settings.Staged
	return cfg, nil
}

// read reads a file of the base commit or, where the event has none, of the
// default branch: from GitHub, or from git's objects, whose ids the event names.
func (p policySource) read(ctx context.Context, name string) ([]byte, error) {
	clean := path.Clean(strings.TrimPrefix(name, "./"))
	if path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") {
		return nil, errors.New("the path must be relative to the repository's root")
	}
	repo := githubapi.Repo{Owner: p.ev.Repo.Owner, Name: p.ev.Repo.Name}
	switch {
	case p.client != nil:
		data, err := p.client.GetFile(ctx, repo, clean, p.ev.Base.SHA)
		var apiErr *githubapi.Error
		if errors.As(err, &apiErr) && apiErr.Kind == githubapi.NotFound {
			return nil, fmt.Errorf("%w on %s", fs.ErrNotExist, p.where())
		}
		return data, err
	case p.git != nil && p.ev.Base.SHA != "":
		return p.git.policyFile(clean)
	}
	return nil, errors.New("there is no token to read it from GitHub, and the event names no base commit that git could read it from; give the configuration inline, in the input config")
}

// where names the tree that policies come from.
func (p policySource) where() string {
	if p.ev.Base.SHA != "" {
		return "the base commit " + p.ev.Base.SHA
	}
	return "the default branch"
}
