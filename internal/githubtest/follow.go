package githubtest

import (
	"fmt"
	"strings"
)

// followBranches lets the open pull requests follow the git repository, whoever
// changed it: the head is where its branch is, the files are what it changes, an
// earlier head stays known, a pull request whose head is in its base is merged,
// and one whose branch is gone is closed. The caller holds the lock.
func (s *Server) followBranches() error {
	if s.o.Git == nil {
		return nil
	}
	refs, err := s.o.Git.refs()
	if err != nil {
		return err
	}
	heads := map[string]string{}
	for _, r := range refs {
		if name, ok := strings.CutPrefix(r.name, "refs/heads/"); ok {
			heads[name] = r.sha
		}
	}
	for _, i := range s.state.Issues {
		if i.Pull == nil || i.Pull.Head.Fork != "" || i.State != "open" {
			continue
		}
		if err := s.follow(i, heads); err != nil {
			return err
		}
	}
	s.heads = heads
	return nil
}

// follow brings one pull request to where its branches are.
func (s *Server) follow(i *Issue, heads map[string]string) error {
	p, git := i.Pull, s.o.Git
	head, base := heads[p.Head.Ref], heads[p.Base.Ref]
	if head == "" {
		if s.heads[p.Head.Ref] != "" {
			i.State, i.UpdatedAt = "closed", s.now()
		}
		return nil
	}
	if before := s.heads[p.Base.Ref]; before != "" && base != "" && before != base {
		if _, err := git.run("", "merge-base", "--is-ancestor", head, base); err == nil {
			i.State, p.Merged, i.UpdatedAt = "closed", true, s.now()
		}
	}
	if head == p.Head.SHA {
		return nil
	}
	if _, err := git.resolve(p.Head.SHA); err == nil {
		p.Earlier = append(p.Earlier, Revision{SHA: p.Head.SHA, Files: p.Files})
		i.UpdatedAt = s.now()
	}
	p.Head.SHA = head
	if base != "" {
		p.Base.SHA = base
		fork, err := git.run("", "merge-base", base, head)
		if err != nil {
			return nil // nothing in common: there is nothing to show
		}
		if p.Files, err = git.diff(fork, head); err != nil {
			return err
		}
	}
	_, err := git.run("", "update-ref", fmt.Sprintf("refs/pull/%d/head", i.Number), head)
	return err
}
