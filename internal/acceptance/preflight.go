package acceptance

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// preflight returns the reasons why nothing can be verified, if there are any. It changes nothing
// outside of the verification.
func (v *verification) preflight(ctx context.Context) (why []string) {
	v.progress(Step{Text: "preflight"})
	if reason := v.findWorktree(ctx); reason == "" {
		v.dropBareWords()
	} else {
		why = append(why, reason)
	}
	why = append(why, v.reachServices(ctx)...)
	return append(why, v.findPrograms()...)
}

// findWorktree opens the work tree. It returns why the work tree cannot be used, for example
// because the request names another branch than is checked out; "" if it can be used.
func (v *verification) findWorktree(ctx context.Context) string {
	var err error
	if v.worktree, err = v.deps.Worktree(ctx); err != nil {
		return fmt.Sprintf("The work tree cannot be used: %v.", err)
	}
	v.paths = sync.OnceValues(func() ([]string, error) { return v.worktree.Paths(ctx) })
	if v.req.Branch == "" {
		return ""
	}
	branch, err := v.worktree.Branch()
	switch {
	case err != nil:
		return fmt.Sprintf("The request names the branch %s, and which one is checked out cannot be determined: %v.", v.quote(v.req.Branch), err)
	case branch == v.req.Branch, branch == "" && v.worktree.IsAt(v.req.Branch):
		return ""
	case branch == "":
		return fmt.Sprintf("The request names the branch %s, and another commit is checked out.", v.quote(v.req.Branch))
	}
	return fmt.Sprintf("The request names the branch %s, and %s is checked out.", v.quote(v.req.Branch), v.quote(branch))
}

// dropBareWords leaves a criterion to the validator if its hint names a word or pattern that may be
// a path, and there is no such path.
func (v *verification) dropBareWords() {
	isBareWord := func(p probe) bool {
		if !p.perhaps {
			return false
		}
		name, _, _, err := v.find(p.path)
		return err == nil && name == ""
	}
	for _, c := range v.criteria {
		i := slices.IndexFunc(c.probes, isBareWord)
		if i < 0 {
			continue
		}
		path := c.probes[i].path
		c.why = fmt.Sprintf("there is no path %s, which may be an ordinary word where it is not in backticks", v.quote(path))
		if strings.ContainsAny(path, patternSigns) {
			c.why = fmt.Sprintf("there is no path %s, and a machine reads no patterns", v.quote(path))
		}
		c.probes, c.byValidator = nil, true
	}
}

// reachServices connects to what has to run, and returns what cannot be reached. It starts nothing,
// and refuses to connect if the request is not the owner's own.
func (v *verification) reachServices(ctx context.Context) (why []string) {
	if v.req.Services == nil {
		return nil
	}
	if v.cfg.Trust != Owner {
		return []string{"The request names services; Airlock connects to services only for the owner's own requests."}
	}
	for _, port := range v.req.Services.Ports {
		address := net.JoinHostPort("localhost", strconv.Itoa(int(port)))
		if err := v.deps.Reach(ctx, address); err != nil {
			why = append(why, fmt.Sprintf("The required port %d is closed: %v. Start what listens there; Airlock starts no service.", port, err))
		}
	}
	for _, service := range []string{v.req.Services.AppURL, v.req.Services.APIURL} {
		if service == "" {
			continue
		}
		address, err := addressOf(service)
		if err == nil {
			err = v.deps.Reach(ctx, address)
		}
		if err != nil {
			why = append(why, fmt.Sprintf("The service %s cannot be reached: %v. Start it; Airlock starts no service.", service, err))
		}
	}
	return why
}

// addressOf returns the host and port of a URL. The usual port of http or https stands for one that
// is missing.
func addressOf(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return "", err
	}
	if u.Hostname() == "" {
		return "", fmt.Errorf("it names no host")
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	return net.JoinHostPort(u.Hostname(), port), nil
}

// findPrograms returns why the owner's programs cannot be used. It looks for those that will be
// asked, and for the judge unless the task may pass without one.
func (v *verification) findPrograms() (why []string) {
	look := func(name string, program *Program) {
		if program == nil {
			return
		}
		if err := program.Find(); err != nil {
			why = append(why, fmt.Sprintf("The %s %s cannot be used: %v.", name, v.quote(program.Name), err))
		}
	}
	for _, side := range v.sides() {
		if len(side.criteria) > 0 && v.mayAsk() {
			look(side.name, side.program)
		}
	}
	if !v.cfg.JudgeOptional {
		look("judge", v.deps.Judge)
	}
	return why
}

// mayAsk reports whether the owner's programs may judge the criteria (rule R11).
func (v *verification) mayAsk() bool { return v.cfg.Trust == Owner || v.cfg.StrangersToValidator }
