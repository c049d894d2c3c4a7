package apply

import (
	"context"
	"slices"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/policy/tree"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// Code gives access to the agent's changes and to the repository that they go to.
type Code struct {
	// Repo contains the objects. It is our own: nobody sees what is done there. nil: the
	// changes cannot be read, and Unusable says why.
	Repo     *gitrepo.Repo
	Unusable string
	// Series reads what the agent changed. bases are commits in Repo that items go onto; the
	// changes may have been made from one of them.
	Series func(ctx context.Context, bases []string) (gitrepo.Series, error) // required
	// File is the name of the patch or bundle that contains the changes; "" where they are
	// those of a workspace.
	File string
	// Bases are commits that the changes may have been made from. Those that Repo lacks are
	// fetched.
	Bases []string
	// Connect opens the repository at the address that GitHub gives for cloning; nil
	// without a token.
	Connect func(cloneURL string) (*gitrepo.Remote, error)
}

// problem returns why the changes cannot be read; "" where they can. c may be nil.
func (c *Code) problem() string {
	switch {
	case c == nil:
		return "the changes are not at hand: check the repository out in this job (actions/checkout), or name the patch or bundle that contains them (changes)"
	case c.Repo == nil:
		return "the changes cannot be read: " + c.Unusable
	}
	return ""
}

// codeState is what is known of an item that carries code, before anything is written. It has the
// changes as commits on their branch, and the result of checking them against every rule.
type codeState struct {
	refusal *refusal // the outcome, if it is decided already; nil if the item may be applied
	key     string   // the key by which a later run of the workflow finds the branch: see branchKey
	names   branchNames
	branch  string // the branch that the commits go to
	onto    string // the commit that they are put onto
	base    string // the branch that a pull request is opened against
	series  gitrepo.Series
	carried gitrepo.Transplanted
	changes []gitrepo.TreeChange // how the last commit differs from onto
	broken  []tree.Violation     // the rules about files that the changes break
	// steps are the changes that each commit makes to the commit before it; nil if there are too
	// many.
	steps   [][]gitrepo.TreeChange
	notes   []string
	expect  string // the commit that the branch is at; "" where it does not exist yet
	replace bool   // the branch contains only commits of ours, which are replaced
	pushed  bool   // the branch contains this item's commits already
	worded  bool   // a commit has the item's message
	// shared is set if the commits of our branch cannot be replaced: the changes go on top of them.
	shared *sharedBranch
	// pull is the open pull request of the branch; for push-to-branch, the one that is
	// pushed to.
	pull  *githubapi.Pull
	patch []byte // the changes, for people to apply by hand
	// makePatch makes patch from changes that may be pushed, with notes about what it leaves
	// out. It is nil where patch was made already, or cannot be made.
	makePatch func() (patch []byte, notes []string)
	asIssue   bool // the refused changes become an issue
}

// refusal is the outcome of an item that was decided before the plan.
type refusal struct {
	state         State
	code, message string
}

func (st *codeState) refuse(s State, code, message string) *codeState {
	st.refusal = &refusal{state: s, code: code, message: message}
	return st
}

// tip returns the last commit, which the branch is to point to.
func (st *codeState) tip() string { return st.carried.Tip }

// note adds a note once.
func (st *codeState) note(text string) {
	if !slices.Contains(st.notes, text) {
		st.notes = append(st.notes, text)
	}
}

// needCode adds what an item that carries code needs: its changes, and the list of issues if
// the changes may become one. If any item carries code, the observer also reads the token's
// account, which commits the changes.
func needCode(n *needs, e *entry) {
	n.code = append(n.code, e)
	if e.settings.Changes.FallbackIssue || e.settings.Changes.OnViolation != "" {
		n.list(listIssues, 0)
	}
}

// codePreparer prepares the items that carry code. It reads GitHub, fetches into our own
// repository, and makes the commits there. It pushes nothing.
type codePreparer struct {
	o      *observer
	code   *Code
	series *gitrepo.Series // read once, for all items
	taken  []string        // the branches of earlier items
}

// code prepares every item that carries code: it finds out where the changes go, what they change
// there, and whether they are allowed. Nothing is pushed that a codePreparer did not prepare.
func (o *observer) code() error {
	o.s.code = map[int]*codeState{}
	c := &codePreparer{o: o, code: o.deps.Code}
	defer c.saveWithheld()
	if len(o.need.code) == 0 {
		return nil
	}
	if c.code.problem() == "" {
		if err := c.connect(); err != nil {
			return c.refuseAll(err)
		}
	}
	seen := subjects{}
	for _, e := range o.need.code {
		subject, ordinal := seen.number(o.ev, e)
		st := &codeState{key: branchKey(o.cfg.Run, o.ev.Repo.ID, e.kind, subject, ordinal)}
		o.s.code[e.index] = st
		if problem := c.code.problem(); problem != "" {
			st.refuse(Failed, CodeNoClone, problem)
			continue
		}
		if err := c.prepare(e, st); err != nil {
			if fatal := o.fatal(err); fatal != nil {
				return fatal
			}
			code, message := failure(err, e.permissions())
			st.refuse(Failed, code, message)
			c.savePatch(st)
		}
		st.mask(o.cfg)
	}
	return nil
}

// prepare fills in the state of one item. If the item or its changes are wrong, it refuses the
// item. An error is about something else, such as GitHub.
func (c *codePreparer) prepare(e *entry, st *codeState) error {
	place := c.placePush
	if e.kind == safeoutput.KindCreatePullRequest {
		place = c.placePull
	}
	if err := place(e, st); err != nil {
		return err
	}
	if st.refusal != nil {
		if st.refusal.state != Adopted {
			c.savePatch(st)
		}
		return nil
	}
	if err := c.fetch(st.onto); err != nil {
		return err
	}
	if err := c.read(st); err != nil || st.refusal != nil {
		return err
	}
	if err := c.leaveOut(e, st); err != nil || st.refusal != nil {
		return err
	}
	if len(st.series.Changes) == 0 {
		c.unchanged(e, st, c.noChanges(st))
		return nil
	}
	if e.settings.Changes.StayOnBase {
		if err := c.stay(st); err != nil {
			return err
		}
	}
	err := c.carry(e, st)
	if err == nil {
		return nil
	}
	if code, message := failure(err, nil); code == CodeInternal { // an error of git about what the agent made
		st.refuse(Failed, CodeUnreadable, "the changes cannot be used: "+message)
		c.savePatch(st)
		return nil
	}
	return err
}
