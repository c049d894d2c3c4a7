package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/report"
)

// findings runs the checks, or reads what an earlier job found; nil where the step
// has nothing to do with checks.
func (s *step) findings(ctx context.Context, here surroundings) (*checkreport.Document, error) {
	checks := here.gate.cfg.Checks
	switch {
	case s.settings.Findings != "":
		doc, err := s.readFindings(here.event, here.gate)
		if err != nil {
			return nil, err
		}
		return doc, s.setChecks(doc, s.settings.Findings)
	case s.settings.Mode == config.ModeCheck:
	case s.settings.Mode == config.ModeAll && checks.Given && knowsCommits(here.event):
	default:
		if s.settings.Mode == config.ModeAll && checks.Given {
			s.warn(withoutChecks(here.event))
		}
		return nil, s.set([]report.Output{{Name: "checks"}, {Name: "checks-status"}, {Name: "findings-file"}})
	}
	doc, err := s.check(ctx, here, checks)
	var invalid *phase.InvalidInput
	if errors.As(err, &invalid) {
		raw, encoding := json.Marshal(phase.Refused(invalid.Problems))
		if encoding == nil {
			encoding = s.set([]report.Output{{Name: "checks", Value: string(raw)}, {Name: "checks-status", Value: string(phase.Fail)}})
		}
		if invalid.NoLanguage() {
			err = fmt.Errorf("%w\n%s under checks in the configuration. Where a pull request may change documents only, leave those out by paths-ignore in the workflow", err, nameLanguage(""))
		}
		return nil, usageError(errors.Join(err, encoding))
	}
	if err != nil {
		return nil, err
	}
	return doc, s.tellChecks(doc, here)
}

// readFindings reads the findings document that the input findings names.
func (s *step) readFindings(ev event.Event, g *gate) (*checkreport.Document, error) {
	if s.settings.Mode == config.ModeCheck {
		return nil, usageError(errors.New("input findings: mode check finds them itself; use it with mode apply"))
	}
	f, err := s.openBelow("findings", s.settings.Findings)
	if err != nil {
		return nil, usageError(err)
	}
	defer f.Close()
	doc, err := g.readFindings(f, s.settings.Findings, ev)
	if err != nil {
		return nil, usageError(fmt.Errorf("input findings: %w", err))
	}
	return doc, nil
}

// knowsCommits reports whether an event is about a pull request and tells its commits.
func knowsCommits(ev event.Event) bool {
	return ev.IsPull && ev.Head.SHA != "" && ev.Base.SHA != ""
}

// withoutChecks says why mode all runs no checks: what an event without the commits
// of a pull request checks out is the default branch.
func withoutChecks(ev event.Event) string {
	if !ev.IsPull {
		return fmt.Sprintf("the checks did not run: the event %q is about no pull request. Use mode check to check what is checked out", ev.Name)
	}
	return fmt.Sprintf("the checks did not run: the event %q does not tell the commits of pull request #%d, and checks out another branch by default. Run them on the event pull_request, or use mode check after checking out the pull request", ev.Name, ev.Number)
}

// check runs the six checks on the workspace.
func (s *step) check(ctx context.Context, here surroundings, checks config.Checks) (*checkreport.Document, error) {
	root := s.env.Workspace
	src := changedSource{root: root, git: here.git, ev: here.event, client: here.client, log: s.info,
		exclude: belowDir(root, root, outputDir, s.settings.OutputFile, s.settings.AgentOutput, os.TempDir())}
	if src.pull() {
		src.remote = here.remote(s.env.ServerURL)
	}
	set, err := src.find(ctx)
	if err != nil {
		return nil, err
	}
	in := configured(checks)
	in.WorkingDirectory = root
	v := newValidation(s.w, here.gate, checks, in, root, ".", set)
	v.beside.token = !here.conn.tok.IsZero()
	v.say = s.info
	v.about(here.event)
	progress := startProgress(logWriter{s.info}, here.gate.words, func() int { return 0 })
	defer progress.end()
	v.tell = progress.tell
	return v.run(ctx)
}

// remote returns how the repository's own commits are fetched: from where GitHub
// says that it is or, without a token, from its usual address.
func (here surroundings) remote(server string) func(context.Context) (*gitrepo.Remote, error) {
	return func(ctx context.Context) (*gitrepo.Remote, error) {
		url := strings.TrimRight(cmp.Or(server, "https://github.com"), "/") + "/" + here.event.Repo.FullName() + ".git"
		if here.client != nil {
			repo, err := here.client.GetRepo(ctx, githubapi.Repo{Owner: here.event.Repo.Owner, Name: here.event.Repo.Name})
			if err != nil {
				return nil, failedError(err)
			}
			url = repo.CloneURL
		}
		return here.conn.remote(url)
	}
}
