package apply

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// stay puts the changes onto the commit that they were made from, if the base branch has it or
// there is no token to ask GitHub with. A commit that the base branch lacks could bring unchecked
// changes. They could be a fork's, from the merge commit of its pull request, or an agent's, if it
// names a commit of its own as the base of its patch.
func (c *codePreparer) stay(st *codeState) error {
	if c.o.deps.GitHub == nil || st.series.Base == st.onto {
		st.onto = st.series.Base
		return nil
	}
	diff, err := c.o.deps.GitHub.Compare(c.o.ctx, c.o.repo, st.onto, st.series.Base)
	if err != nil && !isKind(err, githubapi.NotFound) {
		return err
	}
	if err != nil || diff.MergeBase != st.series.Base {
		st.note(fmt.Sprintf("the commit %.7s, which the changes were made from, is not on the branch %q: they were put on top of that branch, in spite of rebase: false", st.series.Base, st.base))
		return nil
	}
	st.onto = st.series.Base
	return nil
}

// carry puts the changes where they go, and checks the result against the rules.
func (c *codePreparer) carry(e *entry, st *codeState) error {
	ctx, repo := c.o.ctx, c.code.Repo
	if st.onto == "" {
		st.onto = st.series.Base // without a token: as if no branch had moved
	}
	if st.onto == "" {
		st.refuse(Failed, CodeNoBase, "the commit that the changes were made from is not known; name it (changes-base)")
		return nil
	}
	var err error
	st.carried, err = repo.Transplant(ctx, st.series, st.onto, c.style(e, st))
	var conflict *gitrepo.Conflict
	switch {
	case errors.As(err, &conflict):
		c.keepPatchOf(st, st.series, false)
		where, remedy := c.targetBranch(st), "let the agent work on the current commit"
		if st.base != "" && st.expect != "" && !st.replace { // see chooseReplaced
			where = fmt.Sprintf("the commit %.7s, at which the branch %q began", st.onto, st.branch)
			remedy = fmt.Sprintf("merge the branch %q into that one", st.base)
		}
		st.refuse(Failed, CodeConflict, fmt.Sprintf("the changes no longer apply to %s: %s; %s, or apply the patch by hand (git am --3way)", where, conflict.Error(), remedy))
		return nil
	case err != nil:
		return err
	}
	if st.carried.Moved && st.shared == nil {
		st.note(fmt.Sprintf("the changes were made from %.7s and put onto %s, which is at %.7s", st.series.Base, c.targetBranch(st), st.onto))
	}
	if n := len(st.carried.Dropped); n > 0 {
		st.note(fmt.Sprintf("%s contains %s of these changes already", c.targetBranch(st), text.Count(n, "commit")))
	}
	if st.tip() == st.onto {
		st.refuse(Adopted, "", c.targetBranch(st)+" contains these changes already")
		return nil
	}
	if st.shared != nil {
		if err := c.join(e, st); err != nil || st.refusal != nil || st.pushed {
			return err
		}
	}
	if st.changes, err = repo.TreeChanges(ctx, st.onto, st.tip()); err != nil {
		return err
	}
	if len(st.changes) == 0 {
		commits := "the commits"
		if n := len(st.carried.Commits); n > 1 { // 1 where they were put together
			commits = fmt.Sprintf("the %d commits", n)
		}
		c.unchanged(e, st, "there are no changes: "+commits+" take back all that they change")
		return nil
	}
	if err := c.divide(e, st); err != nil || st.refusal != nil {
		return err
	}
	if err := c.check(e, st); err != nil || st.refusal != nil {
		return err
	}
	if push, ok := e.item.(*safeoutput.PushToBranch); ok && !text.IsBlank(push.Message) && !st.worded {
		st.note("the item's message is used nowhere, because every change is committed already, with a message of its own")
	}
	return c.recognise(st)
}

// recognise keeps the branch of an earlier run if it contains the same files: there is nothing to
// push, and nobody has to review it again.
func (c *codePreparer) recognise(st *codeState) error {
	if st.expect == "" || st.expect == st.onto {
		return nil
	}
	current, err := c.code.Repo.Commit(c.o.ctx, st.expect)
	if err != nil {
		return err
	}
	wanted, err := c.code.Repo.Commit(c.o.ctx, st.tip())
	if err != nil {
		return err
	}
	if current.Tree == wanted.Tree {
		st.pushed, st.carried.Tip = true, st.expect
		st.note(fmt.Sprintf("the branch %q contains the same files already, so nothing was pushed", st.branch))
	}
	return nil
}

// targetBranch names the branch that the changes go onto.
func (c *codePreparer) targetBranch(st *codeState) string {
	return fmt.Sprintf("the branch %q", cmp.Or(st.base, st.branch))
}

// The longest commit message, in bytes, and the longest name, in characters. git has no limits,
// but people who read a log do.
const (
	maxMessage = 32 << 10
	maxName    = 100
)

// style describes how the commits of an item are made. It follows from the item and the
// workflow run, so that a later attempt makes the same commits.
func (c *codePreparer) style(e *entry, st *codeState) gitrepo.Style {
	committer := committerOf(c.o.s.viewer.Actor, c.o.cfg.host())
	last := trailer(st.key, e.key)
	return gitrepo.Style{
		Committer: committer,
		When:      c.o.cfg.Run.StartedAt,
		Message: func(ch gitrepo.Change) string {
			fallback := fallbackMessage(e.item)
			if text.IsBlank(ch.Message) || strings.HasPrefix(ch.Message, strings.TrimSpace(fallback)) { // the message of the method summary begins with it
				st.worded = true
			}
			message, notes := c.message(ch.Message, fallback)
			for _, n := range notes {
				st.note(n)
			}
			return suffixed(message, e.settings.Changes.CommitTitleSuffix) + "\n\n" + last + "\n"
		},
		AuthorOf: func(ch gitrepo.Change) gitrepo.Person { return c.author(ch.Author, committer) },
	}
}

// suffixed returns a message with the owner's suffix at the end of its first line.
func suffixed(message, suffix string) string {
	title, rest, _ := strings.Cut(message, "\n")
	if suffix == "" || strings.HasSuffix(title, suffix) {
		return message
	}
	return strings.TrimRight(title+suffix+"\n"+rest, "\n")
}

// committerOf returns the committer: the token's own account, with the address by which the server
// of that host recognises it, or Airlock if the account is not known. The account of GITHUB_TOKEN is
// shown as a bot.
func committerOf(viewer githubapi.Actor, host string) gitrepo.Person {
	if viewer.DatabaseID == 0 {
		return gitrepo.Person{Name: "Airlock", Email: "airlock@localhost"}
	}
	login := viewer.Login
	if viewer.DatabaseID == actionsBot {
		login = actionsLogin
	}
	return gitrepo.Person{Name: login, Email: fmt.Sprintf("%d+%s@%s%s", viewer.DatabaseID, login, mailHost, host)}
}

// mailHost begins the host of an account's address that receives no mail.
const mailHost = "users.noreply."

// The account that GITHUB_TOKEN belongs to, and its name as REST spells it.
const (
	actionsBot   = 41898282
	actionsLogin = "github-actions[bot]"
)

// defaultMessage is the commit message where neither the agent nor the item has one.
const defaultMessage = "Apply an agent's changes"

// fallbackMessage returns the commit message for a change without a message, such as one that the
// agent did not commit.
func fallbackMessage(item safeoutput.Item) string {
	switch it := item.(type) {
	case *safeoutput.CreatePullRequest:
		return it.Title
	case *safeoutput.PushToBranch:
		return it.Message
	}
	return ""
}

// message cleans a commit message as plain text. It removes lines that an agent may not write:
// those by which Airlock recognises its own commits, and credits. If nothing is left, it takes the
// fallback, cleaned too, or defaultMessage. The notes are about credits, and about words that keep
// workflows from running.
func (c *codePreparer) message(message, fallback string) (clean string, notes []string) {
	if text.IsBlank(message) {
		message = fallback
	}
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + "\n\n(The rest of this message was cut.)"
	}
	message, _ = c.o.cfg.Sanitizer.Plain(message)
	message, credits := withoutCredits(message)
	if text.IsBlank(message) { // it said nothing else
		fallback, _ = c.o.cfg.Sanitizer.Plain(fallback)
		message, _ = withoutCredits(fallback)
	}
	if len(credits) > 0 {
		notes = append(notes, fmt.Sprintf("lines that name others as authors or reviewers were removed from a commit message, because an agent cannot speak for them: %s", text.QuoteList(credits)))
	}
	clean, disarmed := startable(cmp.Or(strings.TrimSpace(message), defaultMessage))
	if disarmed {
		notes = append(notes, "words that keep workflows from running were made inert in a commit message")
	}
	return clean, notes
}

var (
	// creditLine matches lines of a message that name others as responsible for a change. GitHub
	// shows the name after Co-authored-by as an author, and the name after On-behalf-of as an
	// organization. Checks of sign-offs believe Signed-off-by. Projects use the other words for
	// people who made, reviewed, tested or approved something.
	creditLine = lazyregexp.New(`(?i)^[\s\pZ]*((?:[a-z]+-and-)*(?:signed-off|co-authored|co-developed|co-committed|authored|committed|reviewed|acked|acknowledged|approved|tested|verified|reported|suggested|requested|helped|mentored|inspired|originally|merged|pair-programmed|also)(?:-[a-z]+)*-(?:by|with)|on-behalf-of)[\s\pZ]*:`)
	// addressLine matches any other line whose name ends in -by and whose value has an e-mail
	// address.
	addressLine = lazyregexp.New(`(?i)^[\s\pZ]*([a-z]+(?:-[a-z]+)*-by)[\s\pZ]*:.*<[^<>]*@[^<>]*>`)
	// ownLine matches a line like the trailer that ends each message of ours.
	ownLine = lazyregexp.New(`(?i)^[\s\pZ]*` + trailerName + `[\s\pZ]*:`)
)

// withoutCredits removes the lines that credit others or look like Airlock's own, with their
// continuation lines. credits are the first words of the removed lines that credit others.
func withoutCredits(message string) (kept string, credits []string) {
	var lines []string
	removing := false
	for line := range strings.SplitSeq(message, "\n") {
		line = strings.TrimRight(line, " \t\r")
		found := creditLine.FindStringSubmatch(line)
		if found == nil {
			found = addressLine.FindStringSubmatch(line)
		}
		switch {
		case found != nil:
			removing = true
			if !slices.Contains(credits, found[1]) {
				credits = append(credits, found[1])
			}
		case ownLine.MatchString(line):
			removing = true
		case removing && line != "" && (line[0] == ' ' || line[0] == '\t'):
		default:
			removing = false
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n"), credits
}

// mailAddress matches addresses that can be written into a commit without ending or continuing the
// line of its author.
var mailAddress = lazyregexp.New(`^[A-Za-z0-9.!#$%&'*+/=?^_{|}~\[\]-]{1,64}@[A-Za-z0-9.-]{1,190}$`)

// author returns the author of a change, cleaned, or the committer if the name or the address
// cannot be used.
func (c *codePreparer) author(p, committer gitrepo.Person) gitrepo.Person {
	name, _ := c.o.cfg.Sanitizer.Plain(p.Name)
	name = strings.NewReplacer("<", "", ">", "").Replace(name)
	name = text.Truncate(text.OneLine(name), maxName)
	if strings.Trim(name, " .,:;\"'\\") == "" || !mailAddress.MatchString(p.Email) {
		return committer
	}
	return gitrepo.Person{Name: name, Email: p.Email}
}

// trailerName begins the line of a commit message that names the item of the commit: the first
// 16 digits of the branch's key, and of the item's.
const trailerName = "Airlock-Item"

// trailer returns the line that ends every commit message of an item.
func trailer(branchKey, key string) string {
	return trailerName + ": " + branchKey[:16] + "-" + key[:16]
}

// trailerOf returns the value of a commit message's trailer, "" without one.
func trailerOf(message string) string {
	lines := strings.Split(strings.TrimRight(message, " \t\r\n"), "\n")
	name, value, ok := strings.Cut(lines[len(lines)-1], ": ")
	if !ok || name != trailerName {
		return ""
	}
	return strings.TrimSpace(value)
}

// ofItem reports whether a commit was made for the item itself.
func ofItem(c githubapi.Commit, branchKey, key string) bool {
	return trailerOf(c.Message) == branchKey[:16]+"-"+key[:16]
}

// ofSeries returns the commits that were made for the branch's key, in any workflow run, and
// are as we made them.
func ofSeries(commits []githubapi.Commit, branchKey string, committer gitrepo.Person, host string) []githubapi.Commit {
	return slices.DeleteFunc(slices.Clone(commits), func(c githubapi.Commit) bool {
		return !strings.HasPrefix(trailerOf(c.Message), branchKey[:16]+"-") || !madeBy(c, committer, host)
	})
}

// hasTrailer reports whether one of the commits was made for the branch's key, even if
// somebody has changed it since.
func hasTrailer(commits []githubapi.Commit, branchKey string) bool {
	return slices.ContainsFunc(commits, func(c githubapi.Commit) bool { return strings.HasPrefix(trailerOf(c.Message), branchKey[:16]+"-") })
}

// madeBy reports whether Airlock made a commit. Somebody who amends or rebases a commit keeps its
// message, with Airlock's trailer, but becomes its committer. GitHub, or the server of that host, is
// itself the committer of a commit that it made for Airlock, and has signed it.
//
// Since an earlier workflow run, the account's name may have changed, or the host in its address:
// earlier versions of Airlock wrote github.com for each server.
func madeBy(c githubapi.Commit, committer gitrepo.Person, host string) bool {
	account, at, _ := strings.Cut(c.Committer.Email, "@")
	id, _, _ := strings.Cut(committer.Email, "+")
	switch {
	case c.Committer.Email == committer.Email, c.Committer.Email == "noreply@"+host && c.Verified:
		return true
	case at == mailHost+host:
		return strings.HasPrefix(account, id+"+")
	}
	return strings.HasPrefix(at, mailHost) && strings.HasPrefix(committer.Email, account+"@")
}

// skipCommands are the words in a commit message that keep GitHub from starting workflows. An
// agent may not switch off the checks of its own changes. See GitHub's documentation on
// skipping workflow runs.
var skipCommands = lazyregexp.New(`(?i)\[(skip ci|ci skip|no ci|skip actions|actions skip)\]`)

// skipTrailer matches the trailer skip-checks, which does the same, as loosely as git reads a
// trailer.
var skipTrailer = lazyregexp.New(`(?im)^[\s\pZ]*(skip-checks[\s\pZ]*:.*)$`)

// startable makes words that switch off workflows inert, but leaves them readable.
func startable(message string) (clean string, changed bool) {
	clean = skipCommands.ReplaceAllString(message, "($1)")
	clean = skipTrailer.ReplaceAllString(clean, "($1)")
	return clean, clean != message
}
