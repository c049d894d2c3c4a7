package gitrepo

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode"
)

// remoteTimeout ends a fetch or a push that a server keeps alive.
const remoteTimeout = 15 * time.Minute

// gitRemote runs a command of git that talks to the remote; every exit code is an
// answer. The answer's stderr shows no secret.
//
// The token goes through a pipe that git's own credential helper reads when the
// server asks: not through arguments, the environment or a file, which other
// processes could read. The helper gives it to the remote's host only.
func (r *Repo) gitRemote(ctx context.Context, m *Remote, args ...string) (Output, error) {
	config, remove, err := r.scratchFile("config", m.config)
	if err != nil {
		return Output{}, err
	}
	defer remove()
	c := Call{AnyExit: true, Limit: 1 << 20, timeout: remoteTimeout, Env: []string{
		"GIT_ALLOW_PROTOCOL=" + m.url.Scheme,
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=include.path", "GIT_CONFIG_VALUE_0=" + config,
	}}
	if len(m.ca) > 0 {
		ca, remove, err := r.scratchFile("ca.pem", string(m.ca))
		if err != nil {
			return Output{}, err
		}
		defer remove()
		c.Env = append(c.Env, "GIT_SSL_CAINFO="+ca)
	}
	if m.noProxy != "" {
		c.Env = append(c.Env, "no_proxy="+m.noProxy, "NO_PROXY="+m.noProxy)
	}
	if !m.token.IsZero() {
		pipe, err := m.credential()
		if err != nil {
			return Output{}, err
		}
		defer pipe.Close()
		c.files = []*os.File{pipe}
	}
	a, err := r.Run(ctx, c, args...)
	a.Stderr = m.redact(a.Stderr)
	return a, err
}

// credential returns a pipe that holds a line as git's credential store has them.
func (m *Remote) credential() (*os.File, error) {
	line := (&url.URL{Scheme: m.url.Scheme, Host: m.url.Host, User: url.UserPassword("x-access-token", m.token.Reveal())}).String() + "\n"
	if len(line) > 4096 {
		return nil, fmt.Errorf("the token is too long") // for a pipe that nobody reads yet
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making a pipe for the token: %w", err)
	}
	_, err = io.WriteString(write, line)
	if closing := write.Close(); err == nil {
		err = closing
	}
	if err != nil {
		_ = read.Close()
		return nil, fmt.Errorf("writing the token to a pipe: %w", err)
	}
	return read, nil
}

// redact takes the secrets out of what git or the server said.
func (m *Remote) redact(text string) string {
	text = m.token.Redact(text)
	for _, h := range m.hidden {
		text = strings.ReplaceAll(text, h, "***")
	}
	return text
}

// said parts what git printed for people: its own lines and those of the server.
func said(stderr string) (own, server []string) {
	for _, line := range strings.FieldsFunc(stderr, func(c rune) bool { return c == '\n' || c == '\r' }) {
		words, fromServer := strings.CutPrefix(line, "remote:")
		switch line = oneLine(words); {
		case line == "" || strings.Contains(line, "credential storage lock"):
		case fromServer:
			server = append(server, line)
		default:
			own = append(own, line)
		}
	}
	return own, server
}

// oneLine makes text fit into a message: one line, without characters that act
// on a terminal, and at most 600 of them.
func oneLine(text string) string {
	text = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || c == '\u2028' || c == '\u2029' {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(text, "\uFFFD"))
	words := strings.Join(strings.Fields(text), " ")
	if runes := []rune(words); len(runes) > 600 {
		words = string(runes[:600]) + "..."
	}
	return words
}
