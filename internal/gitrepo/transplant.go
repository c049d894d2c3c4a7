package gitrepo

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/agent-airlock/airlock/internal/text"
)

// Change is one commit of a series: the step from one tree to the next.
type Change struct {
	Before, After string // ids of trees that the Repo can read
	Author        Person // zero: unknown
	Message       string // as it was written, not cleaned; "": none
}

// Series is a list of an agent's changes, oldest first. The first change begins with the tree of
// Base, every other one with the tree at which the change before it ended. No change is empty. In a
// series without changes, the agent changed nothing.
type Series struct {
	Base    string // the commit that the series was made from
	Changes []Change
	Joined  bool // the agent made several commits, which could not be kept apart
	// Notes describe what was left out, and why. Names of files in them are quoted.
	Notes []string
}

// Trees returns the trees before, between and after the changes of a series, which must have
// some.
func (s Series) Trees() []string {
	trees := []string{s.Changes[0].Before}
	for _, c := range s.Changes {
		trees = append(trees, c.After)
	}
	return trees
}

// Conflict is the error of a change that does not fit the commit that it is put on.
type Conflict struct {
	Change int      // its index in the series
	Paths  []string // the files concerned, as far as they are known
	Detail string   // one line, in plain words
}

// Error implements error in one line.
func (c *Conflict) Error() string {
	message := fmt.Sprintf("change %d does not fit", c.Change+1)
	if len(c.Paths) > 0 {
		message += " in " + text.QuoteList(c.Paths)
	}
	if c.Detail != "" {
		message += ": " + c.Detail
	}
	return message
}

// Where describes in one line which files do not fit, and why, as far as that is known.
func (c *Conflict) Where() string {
	parts := []string{text.QuoteList(c.Paths), c.Detail}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
}

// Transplanted is a series as commits on a base.
type Transplanted struct {
	Tip     string   // the last commit; the base itself if there are none
	Commits []string // oldest first
	Moved   bool     // the base is not the one that the series was made from
	Dropped []int    // indexes of changes that the base contains already
}

// Transplant makes commits of a series on the commit onto. If the tree so far is the one that a
// change begins or ends with, the next tree is the one that it ends with. Otherwise the change is
// merged, three-way and with renames, as git rebase would do. If a change does not fit, the error
// is a *Conflict, and no commits are returned.
func (r *Repo) Transplant(ctx context.Context, s Series, onto string, style Style) (Transplanted, error) {
	base, err := r.Commit(ctx, onto)
	if err != nil {
		return Transplanted{}, err
	}
	if style.When.IsZero() {
		style.When = base.When
	}
	result := Transplanted{Tip: onto, Moved: onto != s.Base}
	tree := base.Tree
	for i, c := range s.Changes {
		if !IsObjectID(c.Before) || !IsObjectID(c.After) {
			return Transplanted{}, fmt.Errorf("change %d of the series names no trees", i+1)
		}
		next := c.After
		if tree != c.Before && tree != c.After {
			if next, err = r.mergeChange(ctx, c, tree); err != nil {
				if conflict, ok := errors.AsType[*Conflict](err); ok {
					conflict.Change = i
				}
				return Transplanted{}, err
			}
		}
		if next == tree {
			result.Dropped = append(result.Dropped, i)
			continue
		}
		commit := newCommit{tree: next, parents: []string{result.Tip}, author: style.author(c), committer: style.Committer, when: style.When, message: style.message(c)}
		if result.Tip, err = r.makeCommit(ctx, commit); err != nil {
			return Transplanted{}, err
		}
		result.Commits = append(result.Commits, result.Tip)
		tree = next
	}
	return result, nil
}

// newCommit is a commit to be made.
type newCommit struct {
	tree              string
	parents           []string
	author, committer Person
	when              time.Time
	message           string
}

// makeCommit writes a commit and returns its id. It writes the object itself, because a series can
// have many commits and git would have to start for each. It only asks git whether the tree and the
// parents are there.
func (r *Repo) makeCommit(ctx context.Context, c newCommit) (string, error) {
	if err := r.Require(ctx, c.parents...); err != nil {
		return "", err
	}
	if err := r.requireTree(ctx, c.tree); err != nil {
		return "", err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", c.tree)
	for _, p := range c.parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	author, committer := c.author.clean(), c.committer.clean()
	date := fmt.Sprintf("%d +0000", max(c.when.Unix(), 0)) // git has no time before 1970
	fmt.Fprintf(&b, "author %s <%s> %s\n", author.Name, author.Email, date)
	fmt.Fprintf(&b, "committer %s <%s> %s\n", committer.Name, committer.Email, date)
	fmt.Fprintf(&b, "\n%s", c.message)
	oid, err := r.writeObject(object{kind: "commit", data: b.Bytes()})
	if err != nil {
		return "", fmt.Errorf("writing a commit: %w", err)
	}
	r.present.Store(oid, true)
	return oid, nil
}

// requireTree returns an error if the repository lacks a tree.
func (r *Repo) requireTree(ctx context.Context, oid string) error {
	kind := ""
	err := r.inspect(ctx, []string{oid}, func(h header) { kind = h.kind })
	if err == nil && kind != "tree" {
		err = fmt.Errorf("%s is not a tree of the clone%s: %s", oid, r.WhyMissing(), deepen)
	}
	return err
}

// Style is how commits are made. The same series, base and Style give the same commit
// ids.
type Style struct {
	Committer Person    // required
	When      time.Time // of author and committer, in UTC; zero: the time of the commit that the series is put on
	// Message returns the complete message of a commit, already clean; nil: the change's
	// own. An empty one is replaced.
	Message func(c Change) string
	// AuthorOf returns a commit's author; nil: the change's own. An unknown author is replaced by
	// the Committer.
	AuthorOf func(c Change) Person
}

// The message and the person of a commit that has none.
const (
	noMessage = "Change files"
	noName    = "unknown"
	noEmail   = "unknown@example.invalid" // git am needs one with an @
)

func (s Style) message(c Change) string {
	if s.Message != nil {
		return cleanMessage(s.Message(c))
	}
	return cleanMessage(c.Message)
}

// cleanMessage returns a message as git can store it, never an empty one.
func cleanMessage(message string) string {
	message = strings.ReplaceAll(strings.ToValidUTF8(message, "\uFFFD"), "\x00", "")
	if text.IsBlank(message) {
		message = noMessage
	}
	return strings.Trim(message, "\n") + "\n"
}

func (s Style) author(c Change) Person {
	author := c.Author
	if s.AuthorOf != nil {
		author = s.AuthorOf(c)
	}
	return cmp.Or(author, s.Committer)
}

// clean returns the person as git can write it: no character ends the name or the address
// early, and neither is empty.
func (p Person) clean() Person {
	name := strings.Trim(strings.Join(strings.FieldsFunc(strings.ToValidUTF8(p.Name, "\uFFFD"), notInName), " "), trimmedByGit)
	email := strings.Trim(strings.Join(strings.FieldsFunc(strings.ToValidUTF8(p.Email, "\uFFFD"), notInEmail), ""), trimmedByGit)
	if !strings.Contains(email, "@") {
		email = noEmail
	}
	return Person{cmp.Or(name, noName), email}
}

// trimmedByGit are the characters that git removes from both ends of a name.
const trimmedByGit = " .,:;<>\"\\'"

func notInName(c rune) bool {
	return c == '<' || c == '>' || unicode.IsSpace(c) || unicode.IsControl(c)
}

func notInEmail(c rune) bool { return notInName(c) || c == '(' || c == ')' }

// mergeChange applies the step from c.Before to c.After to another tree, and returns the id
// of the resulting tree. If the two do not fit together, the error is a *Conflict.
//
// git merge-tree merges commits, not trees, and in version 2.39 takes no merge base. So the three
// trees become commits, and that of c.Before is the parent of the two others.
func (r *Repo) mergeChange(ctx context.Context, c Change, tree string) (string, error) {
	commit := func(tree string, parents ...string) (string, error) {
		return r.makeCommit(ctx, newCommit{tree: tree, parents: parents, when: time.Unix(0, 0), message: "\n"})
	}
	base, err := commit(c.Before)
	if err != nil {
		return "", err
	}
	ours, err := commit(tree, base)
	if err != nil {
		return "", err
	}
	theirs, err := commit(c.After, base)
	if err != nil {
		return "", err
	}
	out, err := r.Run(ctx, Call{MaxExit: 1}, "merge-tree", "--write-tree", "-z", "--name-only", "--messages", ours, theirs)
	if err != nil {
		if _, broken := r.SeriesChanges(ctx, tree, c.Before, c.After); broken != nil {
			return "", broken // which describes a broken tree better than git does
		}
		return "", err
	}
	records := strings.Split(string(out.Stdout), "\x00")
	if out.ExitCode == 1 {
		return "", newConflict(records[1:], ours, theirs)
	}
	if !IsObjectID(records[0]) {
		return "", fmt.Errorf("git merge-tree answered %q", records[0])
	}
	return records[0], nil
}

// conflictWords explains git's stable names of conflicts.
var conflictWords = map[string]string{
	"contents":                     "both sides changed the same lines",
	"binary":                       "both sides changed a binary file",
	"modify/delete":                "one side changed what the other deleted",
	"file/directory":               "one side has a file where the other has a directory",
	"distinct modes":               "the two sides have different kinds of files there",
	"rename/rename":                "the two sides renamed it differently",
	"rename/delete":                "one side renamed what the other deleted",
	"rename involved in collision": "it is among renames that collide",
	"directory rename suggested":   "the other side renamed its directory",
}

// newConflict reads what merge-tree prints of a conflict: paths up to an empty record, then
// messages, each with a count, that many paths, a kind and a text.
func newConflict(records []string, commits ...string) *Conflict {
	c := &Conflict{}
	for i, rec := range records {
		if rec == "" {
			records = records[i+1:]
			break
		}
		if path := originalPath(rec, commits); !slices.Contains(c.Paths, path) {
			c.Paths = append(c.Paths, path)
		}
	}
	var kinds []string
	for len(records) > 1 {
		count, err := strconv.Atoi(records[0])
		if err != nil || count < 0 || count+3 > len(records) {
			break
		}
		kind, isConflict := strings.CutPrefix(strings.TrimSuffix(records[count+1], ")"), "CONFLICT (")
		kind = cmp.Or(conflictWords[kind], kind)
		if isConflict && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
		records = records[count+3:]
	}
	slices.Sort(kinds)
	c.Detail = strings.Join(kinds, "; ")
	return c
}

// originalPath removes the suffix of a path that git had to move elsewhere in the tree: "~" and one
// of the commits.
func originalPath(path string, commits []string) string {
	for _, oid := range commits {
		if before, _, ok := strings.Cut(path, "~"+oid); ok {
			return before
		}
	}
	return path
}
