package cli

import (
	"context"
	"fmt"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/token"
)

// surroundings are what a step works with.
type surroundings struct {
	event  event.Event
	run    event.Run
	conn   connection
	client *githubapi.Client // nil without a token
	git    *localGit         // nil without a clone
	gate   *gate
	out    *outputs
}

// open reads the step's inputs and sets up what it works with. release, which is
// never nil, undoes what was set up, also after an error.
func (s *step) open(ctx context.Context) (here surroundings, release func(), err error) {
	release = func() {
		here.git.close()
		if s.workspace != nil {
			_ = s.workspace.Close()
		}
	}
	tok, further := s.maskSecrets()
	if s.settings, err = config.ParseSettings(s.env.Inputs.Get); err != nil {
		return here, release, usageError(err)
	}
	if s.workspace, err = action.OpenDir(s.env.Workspace); err != nil {
		return here, release, usageError(fmt.Errorf("the workspace: %w", err))
	}
	if here.event, here.run, err = action.LoadEvent(s.env); err != nil {
		return here, release, usageError(err)
	}
	if here.conn, err = s.connection(tok); err != nil {
		return here, release, err
	}
	if here.client, err = here.conn.open(); err != nil {
		return here, release, err
	}
	here.git = openGit(ctx, s.env.Workspace, s.pathList(), here.event, s.debug)
	cfg, err := s.policy(ctx, policySource{here.event, here.client, here.git})
	if err != nil {
		return here, release, err
	}
	if here.gate, err = newGate(cfg, serverHost(s.w.Getenv), s.settings.Strict, scanner(tok, further)); err != nil {
		return here, release, err
	}
	if here.out, err = openOutputs(s.workspace); err != nil {
		return here, release, failedError(fmt.Errorf("the step keeps its files in the workspace: %w", err))
	}
	return here, release, nil
}

// maskSecrets has the runner mask the step's secrets, and returns them.
func (s *step) maskSecrets() (tok token.Token, further []string) {
	secret, _ := s.w.Secrets.Token()
	tok = token.New(secret, s.env.APIURL)
	s.runner.Mask(tok)
	further = s.w.Secrets.Further()
	for _, v := range further {
		s.runner.Mask(token.New(v, s.env.APIURL))
	}
	return tok, further
}

// pathList is where programs are looked for; "", the usual folders, on a runner.
func (s *step) pathList() string {
	if s.env.OnRunner {
		return ""
	}
	return s.w.Getenv("PATH")
}

// connection says how GitHub is reached.
func (s *step) connection(tok token.Token) (connection, error) {
	c := connection{tok: tok, apiURL: s.env.APIURL, graphQL: s.env.GraphQLURL, agent: "airlock/" + versionOf(s.w), log: s.info}
	if s.settings.Proxy != nil {
		c.proxy = s.settings.Proxy.String()
	}
	if s.settings.CAFile != "" {
		pem, err := s.workspace.Read(s.settings.CAFile, maxCertificates)
		if err != nil {
			return c, usageError(fmt.Errorf("input ca-file: %w", err))
		}
		c.caFile = pem
	}
	if s.settings.TrustEnv {
		if err := c.trustProxyOf(s.w.Getenv); err != nil {
			return c, usageError(err)
		}
	}
	return c, nil
}
