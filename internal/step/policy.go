package step

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/loopturn"
)

// policy loads the owner's configuration and logs its warnings. The policy is also staged if the
// step's settings say so.
func (s *step) policy(ctx context.Context) (config.SafeOutputs, error) {
	sources := config.Sources{
		Inline:   s.settings.Config,
		File:     s.settings.ConfigFile,
		ReadFile: func(name string) ([]byte, error) { return s.readPolicy(ctx, name) },
	}
	if s.settings.TrustEnv {
		sources.Getenv = s.deps.Getenv
	}
	cfg, err := config.Load(sources)
	if err != nil {
		return config.SafeOutputs{}, exitcode.UsageError(err)
	}
	for _, p := range cfg.Warnings {
		s.warn(p)
	}
	cfg.Policy.Staged = cfg.Policy.Staged || s.settings.Staged
	return cfg, nil
}

// readPolicy reads a file from a commit that neither an agent nor a pull request can change
// (rule R10): the base commit or, where the event has none, the default branch. It asks
// GitHub or, without a token, reads the objects of git.
func (s *step) readPolicy(ctx context.Context, name string) ([]byte, error) {
	clean := path.Clean(strings.TrimPrefix(name, "./"))
	if path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") {
		return nil, errors.New("the path must be relative to the repository's root")
	}
	base := s.event.Base.SHA
	if data := s.readWithLoop(ctx, githubapi.FileAt{Path: clean, Commit: base}); data != nil {
		return []byte(*data), nil
	}
	switch {
	case s.client != nil:
		data, err := s.client.GetFile(ctx, s.repo(), clean, base)
		if apiErr, ok := errors.AsType[*githubapi.Error](err); ok && apiErr.Kind == githubapi.NotFound {
			tree := "the default branch"
			if base != "" {
				tree = "the base commit " + base
			}
			return nil, fmt.Errorf("%w on %s", fs.ErrNotExist, tree)
		}
		return data, err
	case s.git != nil && base != "":
		return s.git.PolicyFile(clean)
	}
	return nil, errors.New("there is no token to read it from GitHub, and the event names no base commit that git could read it from; give the configuration inline, in the input config")
}

// readWithLoop reads a file and the loop's log in one request, which is the first of a turn of the
// fix loop. It returns nil for other steps, without a token, if the event does not show which loop
// the turn is about, after an error, and if GitHub does not include the file. The file then has to
// be read by itself.
func (s *step) readWithLoop(ctx context.Context, file githubapi.FileAt) *string {
	if s.settings.Mode != config.ModeLoop || s.client == nil {
		return nil
	}
	number := 0 // of the pull request; 0 for a turn of all loops
	switch {
	case s.event.IsPull && s.event.Number > 0:
		number = s.event.Number
	case !loopturn.IsAboutAll(s.event):
		return nil
	}
	data, err := s.loopStore().ReadAhead(ctx, number, file)
	if err != nil {
		s.debug("the configuration cannot be read with the loop's log: " + err.Error())
	}
	return data
}
