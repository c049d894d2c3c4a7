package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/githubapi"
)

// connection says how GitHub is reached.
func (f applyFlags) connection(w World) (connection, error) {
	c := connectFromEnv(w)
	c.proxy, c.log = f.proxy, progress(w)
	c.pace = githubapi.PaceConfig{Spacing: f.pace}
	if f.pace <= 0 {
		c.pace = githubapi.Unpaced()
	}
	if f.caFile != "" {
		pem, err := readCertificates(f.caFile)
		if err != nil {
			return c, usageError(fmt.Errorf("--ca-file: %w", err))
		}
		c.caFile = pem
	}
	if f.trustEnv {
		if err := c.trustProxyOf(w.Getenv); err != nil {
			return c, usageError(err)
		}
	}
	return c, nil
}

// passage is what stands behind the first door, without code and items of our own.
func (f applyFlags) passage(w World, conn connection) (passage, error) {
	env := eventEnv(w, f.event, f.eventName, f.repo)
	ev, run, err := action.LoadEvent(env)
	if err != nil {
		return passage{}, usageError(err)
	}
	client, err := conn.open()
	if err != nil {
		return passage{}, err
	}
	p := passage{
		event:  ev,
		config: apply.Config{Run: run, Workflow: w.Getenv("GITHUB_WORKFLOW"), Version: versionOf(w), DryRun: f.dryRun, Server: env.ServerURL},
		world:  apply.World{Clock: githubapi.SystemClock{}, Files: directory(f.outputDir), Log: progress(w)},
	}
	if client != nil {
		p.world.GitHub = client
	}
	return p, nil
}

// withFindings gives the passage what the checks of another job found.
func (p *passage) withFindings(name string, w World, g *gate) error {
	file, err := action.OpenUser(name, nil, checkreport.MaxBytes)
	if err != nil {
		return usageError(fmt.Errorf("--findings: %w", err))
	}
	defer file.Close()
	doc, err := g.readFindings(file, name, p.event)
	if err != nil {
		return usageError(fmt.Errorf("--findings: %w", err))
	}
	p.own, err = g.ownItems(doc, p.event, told(w, p.event, p.config.Run))
	return err
}

// withChanges gives the passage the agent's changes. release undoes what was set up.
func (p *passage) withChanges(ctx context.Context, w World, f applyFlags, conn connection) (release func(), err error) {
	if f.dir != "" && !isFolder(f.dir) {
		return nil, usageError(fmt.Errorf("--dir: %s is no folder: name the clone that holds the agent's changes", f.dir))
	}
	dir := cmp.Or(f.dir, w.Getenv("GITHUB_WORKSPACE"), ".")
	git := openGit(ctx, dir, w.Getenv("PATH"), p.event, progress(w))
	src := codeSource{file: f.changes, base: f.changesBase, workspace: dir, pathList: w.Getenv("PATH"),
		exclude: belowDir(dir, ".", f.outputDir, f.input, f.plan, f.changes),
		open:    func() (io.ReadCloser, error) { return openInput(w, f.changes) }}
	code, more, err := src.code(git, p.event, conn)
	release = func() { more(); git.close() }
	if err != nil {
		release()
		return nil, err
	}
	p.world.Code = code
	return release, nil
}
