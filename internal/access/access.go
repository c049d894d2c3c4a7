// Package access keeps the tokens of the coordinator's API, and what each allows. Of a token itself
// only a hash is kept.
package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/store"
)

// Scope is what a token allows.
type Scope string

const (
	// Read sees agents, runs and their output.
	Read Scope = "read"
	// Run starts and stops runs, and reads.
	Run Scope = "run"
	// Decide decides on what a loop has escalated, and reads. Run does not include it, because
	// whoever starts a loop must not approve its result.
	Decide Scope = "decide"
	// Admin does everything; only it registers agents, whose commands the server runs.
	Admin Scope = "admin"
)

// scopes are all there are.
var scopes = []Scope{Read, Run, Decide, Admin}

// ScopesNamed returns the scopes of those names.
func ScopesNamed(names []string) (list []Scope, err error) {
	for _, name := range names {
		if !slices.Contains(scopes, Scope(name)) {
			return nil, fmt.Errorf("%q is not read, run, decide or admin", name)
		}
		list = append(list, Scope(name))
	}
	return list, nil
}

// Grant is what somebody may do, and under which name.
type Grant struct {
	Name   string
	Scopes []Scope

	// The rest is for Tokens.Holds.
	token, session string // the hashes of the grant's token and session; "" for none
	tokenless      bool   // see WithoutToken
}

// Allows reports whether the grant includes a scope.
func (g Grant) Allows(s Scope) bool {
	return slices.Contains(g.Scopes, s) || slices.Contains(g.Scopes, Admin) || s == Read && len(g.Scopes) > 0
}

// Tables are the tables of tokens.
var Tables = store.Schema{Package: "access", Steps: []store.Step{store.Both(`
CREATE TABLE tokens (
	name TEXT PRIMARY KEY,
	hash TEXT NOT NULL UNIQUE,
	scopes TEXT NOT NULL,
	created BIGINT NOT NULL
)`), store.Both(`
CREATE TABLE sessions (
	hash TEXT PRIMARY KEY,
	token TEXT NOT NULL,
	expires BIGINT NOT NULL
);
CREATE INDEX sessions_by_token ON sessions (token);
CREATE INDEX sessions_by_end ON sessions (expires)`)}}

// refresh is how long Tokens uses what it has read from the store before it reads the store again.
// After that time, a token that another process has revoked is refused.
const refresh = time.Second

// Tokens keeps the tokens of a store that was opened with Tables. It is safe for concurrent use.
type Tokens struct {
	store *store.Store

	mu       sync.Mutex
	known    snapshot[Grant]
	sessions snapshot[bool] // true for those that have not ended
	failed   error          // why the store could not be read the last time, or nil
	tried    time.Time      // when that was
}

// snapshot is what was read of a table, by the hashes of tokens or sessions.
type snapshot[T any] struct {
	entries map[string]T // nil if they have to be read again
	read    time.Time
}

// refusal is an error about what was asked for.
type refusal string

// Error implements error.
func (r refusal) Error() string { return string(r) }

// IsRefusal reports whether an error is about what was asked for, so that nothing has failed.
func IsRefusal(err error) bool {
	_, ok := errors.AsType[refusal](err)
	return ok
}

// New returns the tokens of a store.
func New(s *store.Store) *Tokens { return &Tokens{store: s} }

// prefix marks tokens, so that scanners for secrets can find one that got lost.
const prefix = "airlock_"

var validName = lazyregexp.New(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$`)

// Add makes a token and returns it, which is the only time that it can be read.
func (t *Tokens) Add(ctx context.Context, name string, granted ...Scope) (token string, err error) {
	if !validName.MatchString(name) {
		return "", refusal(fmt.Sprintf("the name %q of a token must have 1 to 63 letters, digits, '.', '_' and '-', and begin with a letter or digit", name))
	}
	if len(granted) == 0 {
		return "", refusal("a token needs a scope: read, run, decide or admin")
	}
	var names []string
	for _, s := range granted {
		names = append(names, string(s))
	}
	token = prefix + rand.Text() + rand.Text()
	added, err := t.store.Exec(ctx, `INSERT INTO tokens (name, hash, scopes, created) VALUES ($1, $2, $3, `+t.store.Now()+`) ON CONFLICT (name) DO NOTHING`, name, hash(token), strings.Join(names, " "))
	if err == nil && added == 0 {
		err = refusal(fmt.Sprintf("there is a token called %s already: revoke it, or choose another name", name))
	}
	if err != nil {
		return "", err
	}
	t.forget()
	return token, nil
}

// Revoke removes a token: within a second, no server of the store accepts it any more.
func (t *Tokens) Revoke(ctx context.Context, name string) error {
	var removed int64
	err := t.store.Transact(ctx, func(tx store.Tx) (err error) {
		if _, err = tx.Exec(ctx, `DELETE FROM sessions WHERE token IN (SELECT hash FROM tokens WHERE name = $1)`, name); err != nil {
			return err
		}
		removed, err = tx.Exec(ctx, `DELETE FROM tokens WHERE name = $1`, name)
		return err
	})
	if err == nil && removed == 0 {
		err = refusal(fmt.Sprintf("there is no token %q: 'airlock token list' lists the tokens", name))
	}
	t.forget()
	return err
}

// Listed is a token as List shows it.
type Listed struct {
	Name    string    `json:"name"`
	Scopes  []Scope   `json:"scopes"`
	Created time.Time `json:"created_at"`
}

// List returns all tokens by name.
func (t *Tokens) List(ctx context.Context) ([]Listed, error) {
	list, err := store.List(ctx, t.store, func(r store.Row) (l Listed, err error) {
		var names string
		var created int64
		err = r.Scan(&l.Name, &names, &created)
		l.Scopes, l.Created = split(names), time.UnixMilli(created).UTC()
		return l, err
	}, `SELECT name, scopes, created FROM tokens ORDER BY name`)
	return append([]Listed{}, list...), err // never nil, which JSON would write as null
}

// Check returns what a token allows; ok is false for an unknown or revoked token.
func (t *Tokens) Check(ctx context.Context, token string) (g Grant, ok bool, err error) {
	known, err := t.load(ctx)
	if err != nil {
		return g, false, err
	}
	g, ok = known[hash(token)]
	return g, ok, nil
}

// Any reports whether there is a token.
func (t *Tokens) Any(ctx context.Context) (bool, error) {
	known, err := t.load(ctx)
	return len(known) > 0, err
}

// WithoutToken returns the grant of the server's own user, which is valid until there is a token.
func WithoutToken() Grant {
	return Grant{Name: "the server's user", Scopes: []Scope{Admin}, tokenless: true}
}

// Holds reports whether a grant is still valid: its token was not revoked, and its session has not
// ended. A change by another process is noticed after a second. A grant of WithoutToken is valid
// until there is a token; any other grant that does not come from Tokens is always valid.
func (t *Tokens) Holds(ctx context.Context, g Grant) (bool, error) {
	if g.token == "" && !g.tokenless {
		return true, nil
	}
	known, err := t.load(ctx)
	if err != nil {
		return false, err
	}
	if g.tokenless {
		return len(known) == 0, nil
	}
	if _, ok := known[g.token]; !ok || g.session == "" {
		return ok, nil
	}
	sessions, err := t.loadSessions(ctx)
	return sessions[g.session], err
}

// load returns what each token allows, by its hash.
func (t *Tokens) load(ctx context.Context) (map[string]Grant, error) {
	return current(ctx, t, &t.known, func(r store.Row) (key string, g Grant, err error) {
		var scopes string
		err = r.Scan(&g.Name, &key, &scopes)
		g.Scopes, g.token = split(scopes), key
		return key, g, err
	}, `SELECT name, hash, scopes FROM tokens`)
}

// current returns the entries of a snapshot, and first reads them again if they are too old.
func current[T any](ctx context.Context, t *Tokens, s *snapshot[T], scan func(store.Row) (key string, entry T, err error), query string) (map[string]T, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.entries != nil && time.Since(s.read) < refresh {
		return s.entries, nil
	}
	// Callers who have waited for a store that hangs must not all try in turn.
	if t.failed != nil && time.Since(t.tried) < refresh {
		return nil, t.failed
	}
	entries, began := map[string]T{}, time.Now()
	err := t.store.Query(context.WithoutCancel(ctx), func(r store.Row) error {
		key, entry, err := scan(r)
		entries[key] = entry
		return err
	}, query)
	t.failed, t.tried = err, time.Now()
	if err != nil {
		return nil, err
	}
	s.entries, s.read = entries, began
	return entries, nil
}

// forget makes the next lookup of a token or session read the store again.
func (t *Tokens) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known.entries, t.sessions.entries = nil, nil
}

// hash returns what is kept of a token. A fast hash is enough, because nobody can guess the 256
// random bits of a token.
func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// split reads scopes as the store has them.
func split(names string) (list []Scope) {
	for name := range strings.FieldsSeq(names) {
		list = append(list, Scope(name))
	}
	return list
}
