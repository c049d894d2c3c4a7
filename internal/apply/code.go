package apply

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// Code is how items that carry code get at the agent's changes and at the
// repository that these go to.
type Code struct {
	// Repo holds the objects. It is our own: what is done there changes nothing
	// that anybody sees.
	Repo *gitrepo.Repo
	// Series reads what the agent changed. bases are the commits that Repo has of
	// those that the items go onto: the changes may have been made from one of them.
	Series func(ctx context.Context, bases []string) (gitrepo.Series, error)
	// File is the name of the patch or bundle that holds the changes; "" where they
	// are those of a workspace.
	File string
	// Bases are commits that the changes may have been made from; those that Repo
	// lacks are fetched.
	Bases []string
	// Connect opens the repository at the address that GitHub gives for cloning; nil
	// without a token.
	Connect func(cloneURL string) (*gitrepo.Remote, error)
}

// codeState is what is known of an item that carries code, before anything is
// written: the changes as commits where they belong, held against every rule.
type codeState struct {
	// refusal is why the item is not done; nil when it may be.
	refusal *refusal
	// stable is the key by which a later run of the workflow finds this again.
	stable string
	// branch is where the commits go, and onto the commit they are put onto.
	branch, onto string
	// base is the branch that a pull request is opened against.
	base    string
	series  gitrepo.Series
	carried gitrepo.Transplanted
	changes []gitrepo.TreeChange // from onto to the last commit
	notes   []string
	// expect is where the branch is; "" where it is not there yet.
	expect string
	// replace says that what is on the branch gives way: only commits of ours.
	replace bool
	// pushed says that the branch holds this item's commits already.
	pushed bool
	// pull is the open pull request of the branch; of push-to-branch, the one that
	// is pushed to.
	pull *githubapi.Pull
	// patch holds the changes for whoever has to take them by hand.
	patch []byte
	// asIssue says that the refused changes become an issue.
	asIssue bool
}

// refusal is the outcome of an item that was decided before the plan.
type refusal struct {
	state         State
	code, message string
	// unchanged says that there was nothing to deliver.
	unchanged bool
}

func (st *codeState) refuse(s State, code, message string) *codeState {
	st.refusal = &refusal{state: s, code: code, message: message}
	return st
}

// tip is the last commit, which the branch is to point to.
func (st *codeState) tip() string { return st.carried.Tip }

// stableKey is the key of what a later run of the same workflow finds again:
// SHA-256 over the repository's id, the workflow's file, the job, its place in a
// matrix, the step, the kind, what triggered the workflow, and the ordinal (from 0)
// among the items of the kind. Jobs of a matrix and steps of a job would replace
// each other's branches otherwise.
func stableKey(run event.Run, ev event.Event, kind safeoutput.Kind, ordinal int) string {
	trigger := "repository"
	if ev.Number != 0 {
		trigger = "#" + strconv.Itoa(ev.Number)
	}
	h := sha256.New()
	writeField(h, "stable")
	writeField(h, strconv.FormatInt(ev.Repo.ID, 10))
	writeField(h, run.WorkflowPath)
	writeField(h, run.Job)
	writeField(h, run.Step)
	writeField(h, strconv.Itoa(run.MatrixIndex))
	writeField(h, string(kind))
	writeField(h, trigger)
	writeField(h, strconv.Itoa(ordinal))
	return hex.EncodeToString(h.Sum(nil))
}

// coder prepares the items that carry code. It reads GitHub, fetches into the
// repository of our own, and makes the commits there; nothing leaves it.
type coder struct {
	o      *observer
	code   *Code
	series *gitrepo.Series // read once, for all items
	// given are the branches that items before get: they are not free any more.
	given []string
}

// code prepares every item that carries code: where it goes, what it changes
// there, and whether it may. Nothing is pushed that did not pass here.
func (o *observer) code() error {
	if len(o.need.code) == 0 {
		return nil
	}
	o.s.code = map[int]*codeState{}
	c := &coder{o: o, code: o.deps.Code}
	if c.code != nil && c.code.Repo != nil {
		if err := c.connect(); err != nil {
			return c.unconnected(err)
		}
	}
	for _, e := range o.need.code {
		st := &codeState{stable: stableKey(o.cfg.Run, o.ev, e.kind, e.ordinal)}
		o.s.code[e.index] = st
		if c.code == nil || c.code.Repo == nil {
			st.refuse(Failed, CodeNoClone, "the changes are not at hand: check the repository out in this job (actions/checkout), or name the patch or bundle that holds them (changes)")
			continue
		}
		if err := c.prepare(e, st); err != nil {
			if fatal := o.fatal(err); fatal != nil {
				return fatal
			}
			code, message := failure(err, e.permissions())
			st.refuse(Failed, code, message)
		}
		st.mask(o.cfg)
	}
	return nil
}

// prepare fills in the state of one item. An error is one of GitHub's; what is
// wrong with the item or the changes is a refusal.
func (c *coder) prepare(e *entry, st *codeState) error {
	if err := c.place(e, st); err != nil {
		return err
	}
	if st.refusal != nil {
		c.spare(st)
		return nil
	}
	if err := c.fetch(st.onto); err != nil {
		return err
	}
	if err := c.read(st); err != nil || st.refusal != nil {
		return err
	}
	if len(st.series.Changes) == 0 {
		c.unchanged(e, st)
		return nil
	}
	if e.settings.Changes.StayOnBase {
		if err := c.stay(st); err != nil {
			return err
		}
	}
	return c.carry(e, st)
}
