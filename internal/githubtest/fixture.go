package githubtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Fixture is everything on the server: what it starts with, and what State
// returns. As JSON it is the file that the githubserver command reads. Missing
// ids, numbers, authors and times are filled in.
type Fixture struct {
	Repo        Repo          `json:"repo"`
	Viewer      Account       `json:"viewer"`           // owner of the tokens that have no account of their own
	Tokens      []Token       `json:"tokens,omitempty"` // none: every token is accepted and may do everything
	Labels      []Label       `json:"labels,omitempty"`
	Issues      []*Issue      `json:"issues,omitempty"` // pull requests too: those with Pull
	Categories  []Category    `json:"categories,omitempty"`
	Discussions []*Discussion `json:"discussions,omitempty"`
	Uploads     []*Upload     `json:"uploads,omitempty"`
	Files       []StoredFile  `json:"files,omitempty"`
	Checks      []*Check      `json:"checks,omitempty"`
}

// Repo is the one repository.
type Repo struct {
	ID                 int64  `json:"id"`
	Owner              string `json:"owner"`
	Name               string `json:"name"`
	DefaultBranch      string `json:"default_branch,omitempty"`
	Private            bool   `json:"private,omitempty"`
	Archived           bool   `json:"archived,omitempty"`
	NoIssues           bool   `json:"no_issues,omitempty"`
	NoDiscussions      bool   `json:"no_discussions,omitempty"`
	NoAdvancedSecurity bool   `json:"no_advanced_security,omitempty"`
	// Protected and Ruled are names and patterns of branches that only pull requests may change.
	// Branch protection covers Protected and a ruleset covers Ruled: GitHub's messages differ.
	Protected []string `json:"protected,omitempty"`
	Ruled     []string `json:"ruled,omitempty"`
	NoForce   bool     `json:"no_force,omitempty"` // a ruleset for all branches forbids force pushes
	// Teams are the slugs of the owner's teams that can be asked for reviews.
	Teams []string `json:"teams,omitempty"`
	// Collaborators can be asked for reviews.
	Collaborators []Account `json:"collaborators,omitempty"`
	// Permissions are what users may do, by login: "admin", "write" or "read". A user who is not
	// listed has "read" in a public repository and "none" in a private one.
	Permissions map[string]string `json:"permissions,omitempty"`
	// WorkflowToken is what the tokens of workflows may do by default: "read" (also "") or
	// "write". Secrets are the names of the secrets for workflows.
	WorkflowToken string   `json:"workflow_token,omitempty"`
	Secrets       []string `json:"secrets,omitempty"`
	// NoPullsByActions is the setting that keeps the token of a workflow from
	// opening pull requests. NoDrafts stands for a GitHub plan that has no draft pull requests.
	NoPullsByActions bool `json:"no_pulls_by_actions,omitempty"`
	NoDrafts         bool `json:"no_drafts,omitempty"`
}

// Account is a user or a bot, with the login as REST spells it: "name[bot]".
type Account struct {
	Login string `json:"login"`
	ID    int64  `json:"id"`
}

// Token is a credential that the server knows.
type Token struct {
	Secret      string            `json:"secret"`
	Account     Account           `json:"account,omitzero"`
	Permissions map[string]string `json:"permissions,omitempty"` // issues: write, pull_requests: read, ...; nil allows everything
}

// Label is a label of the repository.
type Label struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// Issue is an issue or, with Pull, a pull request.
type Issue struct {
	ID          int64      `json:"id"`
	Number      int        `json:"number"`
	Title       string     `json:"title"`
	Body        string     `json:"body"`
	State       string     `json:"state"`
	StateReason string     `json:"state_reason,omitempty"`
	Labels      []string   `json:"labels,omitempty"`
	Author      Account    `json:"author,omitzero"`
	Locked      bool       `json:"locked,omitempty"`
	CreatedAt   time.Time  `json:"created_at,omitzero"`
	UpdatedAt   time.Time  `json:"updated_at,omitzero"`
	Comments    []*Comment `json:"comments,omitempty"`
	Edits       []Edit     `json:"edits,omitempty"`
	FirstBody   string     `json:"first_body,omitempty"` // before the first edit; set by the server if a request makes that edit
	Pull        *Pull      `json:"pull,omitempty"`
}

// Edit is a change of an issue's title, body or state.
type Edit struct {
	Field  string    `json:"field"` // title, body, state
	To     string    `json:"to,omitempty"`
	Editor Account   `json:"editor,omitzero"`
	At     time.Time `json:"at,omitzero"`
}

// Comment is a comment on an issue, a pull request or a discussion.
type Comment struct {
	ID        int64     `json:"id"`
	Body      string    `json:"body"`
	Author    Account   `json:"author,omitzero"`
	CreatedAt time.Time `json:"created_at,omitzero"`
	UpdatedAt time.Time `json:"updated_at,omitzero"`
	// Minimized is why the comment is hidden, "" if it is not.
	Minimized string     `json:"minimized,omitempty"`
	Reactions []Reaction `json:"reactions,omitempty"`
}

// Reaction is an account's reaction to a comment.
type Reaction struct {
	ID        int64     `json:"id"`
	Content   string    `json:"content"` // such as +1
	User      Account   `json:"user"`
	CreatedAt time.Time `json:"created_at"`
}

// Pull is what a pull request has in addition to what an issue has.
type Pull struct {
	Head    Branch     `json:"head"`
	Base    Branch     `json:"base"`
	Draft   bool       `json:"draft,omitempty"`
	Merged  bool       `json:"merged,omitempty"`
	Files   []File     `json:"files,omitempty"`   // files that the head changes
	Earlier []Revision `json:"earlier,omitempty"` // earlier heads, which are still commits of the pull request
	// Closes are the numbers of the issues that the pull request closes.
	Closes   []int          `json:"closes,omitempty"`
	Asked    []string       `json:"asked,omitempty"` // logins of the users who were asked for a review
	Teams    []string       `json:"teams,omitempty"` // slugs of the teams that were asked for a review
	Reviews  []*Review      `json:"reviews,omitempty"`
	Comments []*DiffComment `json:"comments,omitempty"`
}

// Revision is a commit of a pull request with the diff as it was then.
type Revision struct {
	SHA   string `json:"sha"`
	Files []File `json:"files,omitempty"`
}

// Branch is the head or the base of a pull request.
type Branch struct {
	Ref  string `json:"ref"`
	SHA  string `json:"sha"`
	Fork string `json:"fork,omitempty"` // owner/name, when it is not the repository itself; "deleted" for a fork that is gone
}

// File is a file that a pull request changes.
type File struct {
	Path         string `json:"path"`
	PreviousPath string `json:"previous_path,omitempty"`
	Status       string `json:"status,omitempty"` // default modified
	Patch        string `json:"patch,omitempty"`  // hunks; empty for a binary file
}

// Review is a review of a pull request.
type Review struct {
	ID          int64     `json:"id"`
	State       string    `json:"state"`
	Body        string    `json:"body"`
	CommitID    string    `json:"commit_id"`
	Author      Account   `json:"author,omitzero"`
	SubmittedAt time.Time `json:"submitted_at,omitzero"`
}

// DiffComment is a comment on a line or file of a pull request.
type DiffComment struct {
	ID        int64     `json:"id"`
	ReviewID  int64     `json:"review_id,omitempty"`
	Path      string    `json:"path"`
	Body      string    `json:"body"`
	Line      int       `json:"line,omitempty"`
	Side      string    `json:"side,omitempty"`
	StartLine int       `json:"start_line,omitempty"`
	StartSide string    `json:"start_side,omitempty"`
	Subject   string    `json:"subject_type,omitempty"` // line or file
	CommitID  string    `json:"commit_id"`
	Author    Account   `json:"author,omitzero"`
	CreatedAt time.Time `json:"created_at,omitzero"`
	UpdatedAt time.Time `json:"updated_at,omitzero"`
	// InReplyTo is the comment that it answers; 0 for the first of a thread.
	InReplyTo int64 `json:"in_reply_to,omitempty"`
	// Minimized is why it is hidden, in lower case; "" when it is not.
	Minimized string `json:"minimized,omitempty"`
}

// Category is a discussion category.
type Category struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	Slug       string `json:"slug"`
	Answerable bool   `json:"answerable,omitempty"`
}

// Discussion is a discussion.
type Discussion struct {
	ID         int64      `json:"id"`
	Number     int        `json:"number"`
	Title      string     `json:"title"`
	Body       string     `json:"body"`
	CategoryID int64      `json:"category_id"`
	Author     Account    `json:"author,omitzero"`
	Locked     bool       `json:"locked,omitempty"`
	CreatedAt  time.Time  `json:"created_at,omitzero"`
	UpdatedAt  time.Time  `json:"updated_at,omitzero"`
	Comments   []*Comment `json:"comments,omitempty"`
}

// Upload is a SARIF file that was handed to code scanning.
type Upload struct {
	ID        string          `json:"id"`
	CommitSHA string          `json:"commit_sha"`
	Ref       string          `json:"ref"`
	SARIF     json.RawMessage `json:"sarif"` // unpacked
	Errors    []string        `json:"errors,omitempty"`
	ReadyAt   time.Time       `json:"ready_at,omitzero"` // pending until then, then complete or, with errors, failed
}

// StoredFile is a file of the repository, for the contents endpoint.
type StoredFile struct {
	Path    string `json:"path"`
	Ref     string `json:"ref,omitempty"` // branch, tag or commit; empty: every ref
	Content string `json:"content"`
	Type    string `json:"type,omitempty"` // file (default), dir or symlink
}

// isAt reports whether the repository has the file at a ref; "" is the default branch.
func (f StoredFile) isAt(ref, defaultBranch string) bool {
	return f.Ref == "" || f.Ref == ref || ref == "" && f.Ref == defaultBranch
}

// ParseFixture reads a fixture file; unknown members are errors.
func ParseFixture(data []byte) (Fixture, error) {
	var f Fixture
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return Fixture{}, fmt.Errorf("the fixture cannot be read: %w", err)
	}
	return f, nil
}

// clone returns a deep copy.
func (f Fixture) clone() Fixture {
	data, err := json.Marshal(f)
	if err != nil {
		panic(err) // plain data always marshals
	}
	var c Fixture
	if err := json.Unmarshal(data, &c); err != nil {
		panic(err)
	}
	return c
}

// complete fills in what a fixture may leave out. New ids and numbers are greater than those that the
// fixture has.
func (s *Server) complete() {
	f := &s.state
	setDefault(&f.Repo.ID, 1)
	setDefault(&f.Repo.Owner, "octo")
	setDefault(&f.Repo.Name, "repo")
	setDefault(&f.Repo.DefaultBranch, "main")
	if f.Viewer == (Account{}) {
		f.Viewer = Account{Login: actionsBot, ID: 41898282}
	}
	s.skipUsed()
	stranger := Account{Login: "octocat", ID: 583231}
	old := s.now().Add(-24 * time.Hour)
	for i := range f.Labels {
		fillID(&f.Labels[i].ID, s.id)
	}
	comment := func(c *Comment) {
		fillID(&c.ID, s.id)
		setDefault(&c.Author, stranger)
		setDefault(&c.CreatedAt, old)
		setDefault(&c.UpdatedAt, c.CreatedAt)
	}
	for _, i := range f.Issues {
		fillID(&i.ID, s.id)
		fillID(&i.Number, s.number)
		setDefault(&i.State, "open")
		setDefault(&i.Author, stranger)
		setDefault(&i.CreatedAt, old)
		setDefault(&i.UpdatedAt, i.CreatedAt)
		for _, c := range i.Comments {
			comment(c)
		}
		for k, l := range i.Labels {
			i.Labels[k] = s.label(l).Name
		}
		if i.Pull != nil {
			s.completePull(i, stranger, old)
		}
	}
	for _, k := range f.Checks {
		fillID(&k.ID, s.id)
		setDefault(&k.Author, stranger)
		setDefault(&k.At, old)
	}
	for i := range f.Categories {
		fillID(&f.Categories[i].ID, s.id)
	}
	for _, d := range f.Discussions {
		fillID(&d.ID, s.id)
		fillID(&d.Number, s.number)
		setDefault(&d.Author, stranger)
		setDefault(&d.CreatedAt, old)
		setDefault(&d.UpdatedAt, d.CreatedAt)
		for _, c := range d.Comments {
			comment(c)
		}
	}
}

// skipUsed lets new ids and numbers begin above those that the state has.
func (s *Server) skipUsed() {
	f := &s.state
	s.nextID = max(s.nextID, 1000)
	used := func(id int64) { s.nextID = max(s.nextID, id) }
	comments := func(list []*Comment) {
		for _, c := range list {
			used(c.ID)
			for _, r := range c.Reactions {
				used(r.ID)
			}
		}
	}
	for _, i := range f.Issues {
		used(i.ID)
		s.nextNum = max(s.nextNum, i.Number)
		comments(i.Comments)
		if i.Pull != nil {
			for _, r := range i.Pull.Reviews {
				used(r.ID)
			}
			for _, d := range i.Pull.Comments {
				used(d.ID)
			}
		}
	}
	for _, d := range f.Discussions {
		used(d.ID)
		s.nextNum = max(s.nextNum, d.Number)
		comments(d.Comments)
	}
	for _, k := range f.Checks {
		used(k.ID)
	}
	for i := range f.Labels {
		used(f.Labels[i].ID)
	}
	for i := range f.Categories {
		used(f.Categories[i].ID)
	}
}

// completePull fills in what a fixture may leave out of a pull request. The author of a review or
// comment becomes stranger, and its time becomes old, if the fixture does not say them.
func (s *Server) completePull(i *Issue, stranger Account, old time.Time) {
	p := i.Pull
	setDefault(&p.Base.Ref, s.state.Repo.DefaultBranch)
	setDefault(&p.Base.SHA, strings.Repeat("b", 40))
	setDefault(&p.Head.Ref, fmt.Sprintf("branch-%d", i.Number))
	setDefault(&p.Head.SHA, strings.Repeat("a", 40))
	for k := range p.Files {
		setDefault(&p.Files[k].Status, "modified")
	}
	for _, r := range p.Reviews {
		fillID(&r.ID, s.id)
		setDefault(&r.State, "COMMENTED")
		setDefault(&r.CommitID, p.Head.SHA)
		setDefault(&r.Author, stranger)
		if r.State != pendingState {
			setDefault(&r.SubmittedAt, old)
		}
	}
	for _, d := range p.Comments {
		fillID(&d.ID, s.id)
		setDefault(&d.CommitID, p.Head.SHA)
		setDefault(&d.Side, "RIGHT")
		setDefault(&d.Subject, "line")
		setDefault(&d.Author, stranger)
		setDefault(&d.CreatedAt, old)
		setDefault(&d.UpdatedAt, d.CreatedAt)
	}
}

// setDefault sets what is zero to a value.
func setDefault[T comparable](p *T, v T) { *p = cmp.Or(*p, v) }

// fillID sets an id or a number that is missing to the next one.
func fillID[T cmp.Ordered](p *T, next func() T) {
	var zero T
	if *p == zero {
		*p = next()
	}
}
