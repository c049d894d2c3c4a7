package apply

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

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
		Author:    committer,
		When:      c.o.cfg.Run.StartedAt,
		Message: func(_ int, ch gitrepo.Change) string {
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
