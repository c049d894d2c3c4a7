// Package sanitize turns text that an agent wrote into text that is safe to
// publish: for Markdown bodies, one-line titles, labels and plain text.
//
// Two goals weigh the same. First, nothing acts unless the agent is allowed it: mentions, closing
// words, links, HTML, hidden text and commands. Second, people read what the agent wrote: code is
// kept, and text that is made inert looks as before.
//
// A body is read as GitHub reads it, by package markdown. But browsers, mail
// programs, bots and renderers of other versions of CommonMark read it too; this
// package calls all of them readers. Where they could disagree about what acts,
// the text is edited so that they agree.
//
// Every function is idempotent, takes time linear in its input, and never panics.
package sanitize

import (
	"fmt"
	"strings"
	"sync"
)

// Config is what an agent's text may do. The zero value allows only links to
// GitHub's own hosts, and all references.
type Config struct {
	// AllowedDomains are hosts to which links may lead, in addition to
	// DefaultDomains and ServerHost; their subdomains are included. "example.org",
	// "*.example.org" and "https://example.org" mean the same.
	AllowedDomains []string
	// AllowedMentions are users ("octocat") and teams ("org/team") that a text
	// may mention; a leading @ and the letter case are ignored.
	AllowedMentions []string
	// MaxMentions is how many of them one text may mention, the first ones; 0 means any
	// number.
	MaxMentions int
	// ClosingWords allows "fixes #12" and the like to close issues. MaxClosingWords is how
	// many of them may act in one text, the first ones; 0 means any number.
	ClosingWords    bool
	MaxClosingWords int
	// References are the repositories to whose issues, pull requests and discussions texts
	// may refer: "repo" for Repository, "owner/name", "owner/*" or "*". Nil allows all.
	References []string
	// Repository is the one that texts are published in, as owner/name; "" if it is not
	// known.
	Repository string
	// ServerHost is the GitHub server's own host; empty means github.com.
	ServerHost string
	// MaxBodyUTF16 limits a body, in UTF-16 code units. A longer one is cut between
	// blocks, with a visible note. Zero means no limit.
	MaxBodyUTF16 int
}

// Sanitizer cleans texts according to one Config. It is immutable and safe
// for concurrent use.
type Sanitizer struct {
	hosts       map[string]bool
	mentions    map[string]bool
	maxMentions int  // names in a text, 0 for any number
	closing     bool // closing words may act
	maxClosing  int  // how many of them in a text, 0 for any number
	refs        references
	maxBody     int

	passes sync.Pool // of *pass: buffers for reading bodies
}

// New returns a Sanitizer. It fails if an allowed domain or ServerHost is not a host name, an allowed
// mention not the name of a user or team, or an allowed reference not a repository.
func New(cfg Config) (*Sanitizer, error) {
	s := &Sanitizer{
		hosts:       make(map[string]bool, len(cfg.AllowedDomains)+8),
		mentions:    make(map[string]bool, len(cfg.AllowedMentions)),
		maxMentions: cfg.MaxMentions,
		closing:     cfg.ClosingWords,
		maxClosing:  cfg.MaxClosingWords,
		maxBody:     cfg.MaxBodyUTF16,
	}
	var err error
	if s.refs, err = newReferences(cfg.References, cfg.Repository, cfg.ServerHost); err != nil {
		return nil, err
	}
	for _, d := range DefaultDomains() {
		s.hosts[d] = true
	}
	if cfg.ServerHost != "" {
		host, ok := configuredHost(cfg.ServerHost)
		if !ok {
			return nil, fmt.Errorf("the host %q of the GitHub server, which GITHUB_SERVER_URL or GITHUB_API_URL names, is not one that links can be compared with; give the server a name of letters, digits and hyphens, such as github.example.org", cfg.ServerHost)
		}
		s.hosts[host] = true
	}
	for _, d := range cfg.AllowedDomains {
		host, ok := configuredHost(d)
		if !ok {
			return nil, fmt.Errorf(`allowed domain %q: write a host name such as "example.org"`, d)
		}
		s.hosts[host] = true
	}
	for _, m := range cfg.AllowedMentions {
		name := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(m), "@"))
		if !isMentionName(name) {
			return nil, fmt.Errorf("allowed mention %q is not a user (octocat) or a team (org/team)", m)
		}
		s.mentions[name] = true
	}
	return s, nil
}

// DefaultDomains returns the hosts to which links may always lead.
func DefaultDomains() []string {
	return []string{
		"github.com", "github.io", "githubusercontent.com",
		"githubassets.com", "github.dev", "codespaces.new",
	}
}

// As cleans a text that a user calls a body, a title, a label or plain. The error is about that
// name, or about the label.
func (s *Sanitizer) As(name, text string) (out string, notes []Note, err error) {
	switch name {
	case "body":
		out, notes = s.Body(text)
	case "title":
		out, notes = s.Title(text)
	case "plain":
		out, notes = s.Plain(text)
	case "label":
		return s.Label(strings.TrimRight(text, "\r\n"))
	default:
		err = fmt.Errorf("--as %q: it must be body, title, label or plain", name)
	}
	return out, notes, err
}

// closes reports whether a closing word may act, in a text in which n of them act already.
func (s *Sanitizer) closes(n int) bool {
	return s.closing && (s.maxClosing == 0 || n < s.maxClosing)
}
