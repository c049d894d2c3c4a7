package githubtest

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// complete fills in what a fixture may leave out, and starts ids and numbers
// above all that are taken.
func (s *Server) complete() {
	f := &s.state
	def(&f.Repo.ID, 1)
	def(&f.Repo.Owner, "octo")
	def(&f.Repo.Name, "repo")
	def(&f.Repo.DefaultBranch, "main")
	if f.Viewer == (Account{}) {
		f.Viewer = Account{Login: "github-actions[bot]", ID: 41898282}
	}
	s.nextID = max(s.nextID, 1000)
	taken := func(ids ...int64) {
		for _, id := range ids {
			s.nextID = max(s.nextID, id)
		}
	}
	for _, i := range f.Issues {
		taken(i.ID)
		s.nextNum = max(s.nextNum, i.Number)
		for _, c := range i.Comments {
			taken(c.ID)
		}
		if i.Pull != nil {
			for _, r := range i.Pull.Reviews {
				taken(r.ID)
			}
			for _, d := range i.Pull.Comments {
				taken(d.ID)
			}
		}
	}
	for _, d := range f.Discussions {
		taken(d.ID)
		s.nextNum = max(s.nextNum, d.Number)
		for _, c := range d.Comments {
			taken(c.ID)
		}
	}
	for _, k := range f.Checks {
		taken(k.ID)
	}
	for i := range f.Labels {
		taken(f.Labels[i].ID)
	}
	stranger := Account{Login: "octocat", ID: 583231}
	old := s.now().Add(-24 * time.Hour)
	for i := range f.Labels {
		fillID(&f.Labels[i].ID, s.id)
	}
	comment := func(c *Comment) {
		fillID(&c.ID, s.id)
		def(&c.Author, stranger)
		def(&c.CreatedAt, old)
		def(&c.UpdatedAt, c.CreatedAt)
	}
	for _, i := range f.Issues {
		fillID(&i.ID, s.id)
		fillID(&i.Number, s.number)
		def(&i.State, "open")
		def(&i.Author, stranger)
		def(&i.CreatedAt, old)
		def(&i.UpdatedAt, i.CreatedAt)
		for _, c := range i.Comments {
			comment(c)
		}
		for k, l := range i.Labels {
			i.Labels[k] = s.label(l).Name
		}
		if p := i.Pull; p != nil {
			def(&p.Base.Ref, f.Repo.DefaultBranch)
			def(&p.Base.SHA, strings.Repeat("b", 40))
			def(&p.Head.Ref, fmt.Sprintf("branch-%d", i.Number))
			def(&p.Head.SHA, strings.Repeat("a", 40))
			for k := range p.Files {
				def(&p.Files[k].Status, "modified")
			}
			for _, r := range p.Reviews {
				fillID(&r.ID, s.id)
				def(&r.State, "COMMENTED")
				def(&r.CommitID, p.Head.SHA)
				def(&r.Author, stranger)
				def(&r.SubmittedAt, old)
			}
			for _, d := range p.Comments {
				fillID(&d.ID, s.id)
				def(&d.CommitID, p.Head.SHA)
				def(&d.Side, "RIGHT")
				def(&d.Subject, "line")
				def(&d.Author, stranger)
				def(&d.CreatedAt, old)
				def(&d.UpdatedAt, d.CreatedAt)
			}
		}
	}
	for _, k := range f.Checks {
		fillID(&k.ID, s.id)
		def(&k.Author, stranger)
		def(&k.At, old)
	}
	for i := range f.Categories {
		fillID(&f.Categories[i].ID, s.id)
	}
	for _, d := range f.Discussions {
		fillID(&d.ID, s.id)
		fillID(&d.Number, s.number)
		def(&d.Author, stranger)
		def(&d.CreatedAt, old)
		def(&d.UpdatedAt, d.CreatedAt)
		for _, c := range d.Comments {
			comment(c)
		}
	}
}

func def[T comparable](p *T, v T) {
	if *p == *new(T) {
		*p = v
	}
}

func fillID[T cmp.Ordered](p *T, next func() T) {
	if *p == *new(T) {
		*p = next()
	}
}
