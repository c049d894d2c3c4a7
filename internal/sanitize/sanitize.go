// Package sanitize turns text that an agent wrote into text that is safe to
// publish: for Markdown bodies, one-line titles, labels and plain text.
//
// Two goals weigh the same. Nothing acts that the agent may not make act
// (mentions, closing words, links, HTML, hidden text, commands), and what
// people read stays what the agent wrote: code is kept byte for byte, and
// whatever is made inert looks as before.
//
// Every function is idempotent and linear in its input, and never panics.
package sanitize

import (
	"fmt"
	"strings"
	"sync"
)

// Config says what an agent's text may do. The zero value allows nothing but
// links to GitHub's own hosts.
type Config struct {
	// AllowedDomains are hosts that links may lead to, beside DefaultDomains
	// and ServerHost; their subdomains are included. "example.org",
	// "*.example.org" and "https://example.org" mean the same.
	AllowedDomains []string
	// AllowedMentions are users ("octocat") and teams ("org/team") that a text
	// may mention; a leading @ and the letter case are ignored.
	AllowedMentions []string
	// ClosingWords allows "fixes #12" and its like to close issues.
	ClosingWords bool
	// ServerHost is the GitHub server's own host; empty means github.com.
	ServerHost string
	// MaxBodyUTF16 limits a body, in UTF-16 units; a longer one is cut between
	// blocks with a visible note. Zero means no limit.
	MaxBodyUTF16 int
}

// Sanitizer cleans texts according to one Config. It is immutable and safe
// for concurrent use.
type Sanitizer struct {
	hosts    map[string]bool
	mentions map[string]bool
	closing  bool
	maxBody  int

	passes sync.Pool // of *pass: buffers for reading bodies
}

// New makes a Sanitizer. It fails when an allowed domain or an allowed mention
// is not a host name, or not a user or team name.
func New(cfg Config) (*Sanitizer, error) {
	s := &Sanitizer{
		hosts:    make(map[string]bool, len(cfg.AllowedDomains)+8),
		mentions: make(map[string]bool, len(cfg.AllowedMentions)),
		closing:  cfg.ClosingWords,
		maxBody:  cfg.MaxBodyUTF16,
	}
	for _, d := range DefaultDomains() {
		s.hosts[d] = true
	}
	if cfg.ServerHost != "" {
		host, err := domainEntry(cfg.ServerHost)
		if err != nil {
			return nil, fmt.Errorf("server host %q: %w", cfg.ServerHost, err)
		}
		s.hosts[host] = true
	}
	for _, d := range cfg.AllowedDomains {
		host, err := domainEntry(d)
		if err != nil {
			return nil, fmt.Errorf("allowed domain %q: %w", d, err)
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

// DefaultDomains are the hosts that links may always lead to.
func DefaultDomains() []string {
	return []string{
		"github.com", "github.io", "githubusercontent.com",
		"githubassets.com", "github.dev", "codespaces.new",
	}
}
