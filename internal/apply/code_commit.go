package apply

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// stay puts the changes onto the very commit that they were made from, if the base
// branch has it. Another commit would bring along what nobody has judged: those of
// a fork in the merge commit of its pull request, or those of an agent that names
// one of its own as the base of its patch.
func (c *coder) stay(st *codeState) error {
	if c.o.deps.GitHub == nil || st.series.Base == st.onto {
		st.onto = st.series.Base
		return nil
	}
	cmp, err := c.o.deps.GitHub.Compare(c.o.ctx, c.o.repo, st.onto, st.series.Base)
	if err != nil && !isKind(err, githubapi.NotFound) {
		return err
	}
	if err != nil || cmp.MergeBase != st.series.Base {
		st.note(fmt.Sprintf("the commit %.7s, which the changes were made from, is not on the branch %q: they were put onto where that is, in spite of rebase: false", st.series.Base, st.base))
		return nil
	}
	st.onto = st.series.Base
	return nil
}

// carry puts the changes onto where they go, and holds the result against the
// rules.
func (c *coder) carry(e *entry, st *codeState) error {
	ctx, repo := c.o.ctx, c.code.Repo
	if st.onto == "" {
		st.onto = st.series.Base // without a token: as if nothing had moved
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
		st.patch = c.seriesPatch(st)
		st.refuse(Failed, CodeConflict, fmt.Sprintf("the changes do not fit %s any more: %s; let the agent work on the present commit, or apply the patch by hand (git am --3way)", c.where(st), conflict.Error()))
		return nil
	case err != nil:
		return err
	}
	if st.carried.Moved {
		st.note(fmt.Sprintf("the changes were made from %.7s and put onto %s, which is at %.7s", st.series.Base, c.where(st), st.onto))
	}
	if n := len(st.carried.Dropped); n > 0 {
		st.note(fmt.Sprintf("%s holds %s of these changes already", c.where(st), text.Count(n, "commit")))
	}
	if st.tip() == st.onto {
		st.refuse(Adopted, "", c.where(st)+" holds these changes already").refusal.unchanged = true
		return nil
	}
	if st.changes, err = repo.TreeChanges(ctx, st.onto, st.tip()); err != nil {
		return err
	}
	if err := c.judge(e, st); err != nil || st.refusal != nil {
		return err
	}
	return c.same(st)
}

// same recognises a branch of an earlier run that holds the very same files: there
// is nothing to push, and no reason to make anybody look again.
func (c *coder) same(st *codeState) error {
	if st.expect == "" || st.expect == st.onto {
		return nil
	}
	is, err := c.code.Repo.Commit(c.o.ctx, st.expect)
	if err != nil {
		return err
	}
	wanted, err := c.code.Repo.Commit(c.o.ctx, st.tip())
	if err != nil {
		return err
	}
	if is.Tree == wanted.Tree {
		st.pushed, st.carried.Tip = true, st.expect
		st.note(fmt.Sprintf("the branch %q holds the same files already, so nothing was pushed", st.branch))
	}
	return nil
}

// where names what the changes go onto.
func (c *coder) where(st *codeState) string {
	if st.base != "" {
		return fmt.Sprintf("the branch %q", st.base)
	}
	return fmt.Sprintf("the branch %q", st.branch)
}

// maxMessage is how long a commit message may be, in bytes; maxName the same for
// a name. git has no limit, but whoever reads a log has.
const (
	maxMessage = 32 << 10
	maxName    = 100
)

// style says how the commits of an item are made. Everything in it follows from
// the item and the workflow run, so that a later attempt makes the same commits.
func (c *coder) style(e *entry, st *codeState) gitrepo.Style {
	committer := committerOf(c.o.s.viewer)
	last := trailer(st.stable, e.key)
	return gitrepo.Style{
		Committer: committer,
		When:      c.o.cfg.Run.StartedAt,
		Message: func(ch gitrepo.Change) string {
			message, disarmed := c.message(ch.Message, fallbackMessage(e.item))
			if disarmed {
				st.note("words that keep workflows from running were made inert in a commit message")
			}
			return suffixed(message, e.settings.Changes.CommitTitleSuffix) + "\n\n" + last + "\n"
		},
		AuthorOf: func(ch gitrepo.Change) gitrepo.Person { return c.author(ch.Author, committer) },
	}
}

// suffixed ends the first line of a message with what the owner wants there.
func suffixed(message, suffix string) string {
	title, rest, _ := strings.Cut(message, "\n")
	if suffix == "" || strings.HasSuffix(title, suffix) {
		return message
	}
	return strings.TrimRight(title+suffix+"\n"+rest, "\n")
}

// note adds a note once.
func (st *codeState) note(text string) {
	for _, n := range st.notes {
		if n == text {
			return
		}
	}
	st.notes = append(st.notes, text)
}

// committerOf is who commits: the token's own account, with the address by which
// GitHub recognises it. The account of GITHUB_TOKEN shows as a bot.
func committerOf(viewer githubapi.Actor) gitrepo.Person {
	if viewer.DatabaseID == 0 {
		return gitrepo.Person{Name: "Airlock", Email: "airlock@localhost"}
	}
	login := viewer.Login
	if viewer.DatabaseID == actionsBot && !strings.HasSuffix(login, "[bot]") {
		login += "[bot]"
	}
	return gitrepo.Person{Name: login, Email: fmt.Sprintf("%d+%s@users.noreply.github.com", viewer.DatabaseID, login)}
}

// actionsBot is the id of the account github-actions[bot], which GITHUB_TOKEN
// belongs to.
const actionsBot = 41898282

// fallbackMessage is the message of a change that has none of its own: what is
// not committed yet.
func fallbackMessage(item safeoutput.Item) string {
	switch it := item.(type) {
	case *safeoutput.CreatePullRequest:
		return it.Title
	case *safeoutput.PushToBranch:
		if strings.TrimSpace(it.Message) != "" {
			return it.Message
		}
	}
	return "Apply an agent's changes"
}

// message cleans a commit message as plain text. Trailers of ours that others
// wrote are taken out, since by them we recognise our own commits.
func (c *coder) message(text, fallback string) (clean string, disarmed bool) {
	if strings.TrimSpace(text) == "" {
		text = fallback
	}
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "\n\n(The rest of this message was cut.)"
	}
	text, _ = c.o.cfg.Sanitizer.Plain(text)
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), strings.ToLower(trailerName)+":") {
			lines = append(lines, strings.TrimRight(line, " \t\r"))
		}
	}
	text = strings.TrimSpace(strings.Join(lines, "\n"))
	if text == "" {
		text = "Apply an agent's changes"
	}
	return startable(text)
}

// mailAddress is what a commit's author may have as an address: nothing that ends
// or continues the line that git keeps it in.
var mailAddress = regexp.MustCompile(`^[A-Za-z0-9.!#$%&'*+/=?^_{|}~\[\]-]{1,64}@[A-Za-z0-9.-]{1,190}$`)

// author keeps the author of a change, cleaned. One without a usable name or
// address is the committer.
func (c *coder) author(p, committer gitrepo.Person) gitrepo.Person {
	name, _ := c.o.cfg.Sanitizer.Plain(p.Name)
	name = strings.Map(func(r rune) rune {
		if r == '<' || r == '>' {
			return -1
		}
		return r
	}, name)
	name = shorten(name, maxName)
	if strings.Trim(name, " .,:;\"'\\") == "" || !mailAddress.MatchString(p.Email) {
		return committer
	}
	return gitrepo.Person{Name: name, Email: p.Email}
}

// trailerName begins the line of a commit message that says which item the
// commit belongs to: the first 16 digits of the stable key, and of the item's.
const trailerName = "Airlock-Item"

// trailer is the line that ends every commit message of an item.
func trailer(stable, key string) string {
	return trailerName + ": " + stable[:16] + "-" + key[:16]
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

// ofItem reports whether one of the commits was made for the item itself.
func ofItem(commits []githubapi.Commit, stable, key string) bool {
	for _, c := range commits {
		if trailerOf(c.Message) == stable[:16]+"-"+key[:16] {
			return true
		}
	}
	return false
}

// allOfSeries reports whether every commit was made for what has the stable key,
// in whichever workflow run, and is as we made it. Without commits nothing is known.
func allOfSeries(commits []githubapi.Commit, stable string, committer gitrepo.Person) bool {
	for _, c := range commits {
		if !strings.HasPrefix(trailerOf(c.Message), stable[:16]+"-") || !madeBy(c, committer) {
			return false
		}
	}
	return len(commits) > 0
}

// madeBy reports whether we committed it. Who amends or rebases a commit keeps its
// message, and with it our line, and becomes its committer. Of a commit that GitHub
// made for us, GitHub is, and has signed it.
func madeBy(c githubapi.Commit, committer gitrepo.Person) bool {
	return c.Committer.Email == committer.Email || c.Committer.Email == githubEmail && c.Verified
}

// githubEmail is the address of GitHub itself as a committer.
const githubEmail = "noreply@github.com"

// skipCommands are the words in a commit message that keep GitHub from starting
// workflows: an agent may not switch off the checks of its own changes. See
// GitHub's documentation on skipping workflow runs.
var skipCommands = regexp.MustCompile(`(?i)\[(skip ci|ci skip|no ci|skip actions|actions skip)\]`)

// skipTrailer is the other form, a line of its own.
var skipTrailer = regexp.MustCompile(`(?im)^(skip-checks):`)

// startable makes what switches off workflows in a message inert, readable as
// before.
func startable(message string) (clean string, changed bool) {
	clean = skipCommands.ReplaceAllString(message, "($1)")
	clean = skipTrailer.ReplaceAllString(clean, "$1 :")
	return clean, clean != message
}
