package access

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/store"
	"github.com/agent-airlock/airlock/internal/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }

func open(t *testing.T, location string) *Tokens {
	t.Helper()
	s, err := store.Open(t.Context(), location, Tables)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return New(s)
}

func TestTokens(t *testing.T) {
	storetest.Each(t, func(t *testing.T, location string) {
		ctx := t.Context()
		tokens := open(t, location)
		if some, err := tokens.Any(ctx); some || err != nil {
			t.Errorf("a new store has a token: %v", err)
		}
		secret, err := tokens.Add(ctx, "ci", Run, Decide)
		if err != nil || !strings.HasPrefix(secret, prefix) || len(secret) < 50 {
			t.Fatalf("%q, %v", secret, err)
		}
		g, ok, err := tokens.Check(ctx, secret)
		if err != nil || !ok || g.Name != "ci" || !g.Allows(Run) || !g.Allows(Decide) || !g.Allows(Read) || g.Allows(Admin) {
			t.Errorf("%+v, %v, %v", g, ok, err)
		}
		for _, wrong := range []string{"", secret + "x", secret[:len(secret)-1], strings.ToLower(secret), hash(secret)} {
			if _, ok, _ := tokens.Check(ctx, wrong); ok {
				t.Errorf("%q is accepted", wrong)
			}
		}
		if _, err := tokens.Add(ctx, "ci", Read); !IsRefusal(err) {
			t.Error("two tokens have one name")
		}
		for _, name := range []string{"", "a b", "-a", strings.Repeat("a", 64), "a\n"} {
			if _, err := tokens.Add(ctx, name, Read); !IsRefusal(err) {
				t.Errorf("a token is called %q", name)
			}
		}
		if _, err := tokens.Add(ctx, "none"); !IsRefusal(err) {
			t.Error("a token has no scope")
		}
		list, err := tokens.List(ctx)
		if err != nil || len(list) != 1 || list[0].Name != "ci" || len(list[0].Scopes) != 2 || time.Since(list[0].Created) > time.Hour {
			t.Errorf("%+v, %v", list, err)
		}
		var stored string
		if err := tokens.store.QueryRow(ctx, `SELECT hash FROM tokens`).Scan(&stored); err != nil || strings.Contains(stored, secret[len(prefix):]) {
			t.Errorf("the token itself is stored: %v", err)
		}
		if err := tokens.Revoke(ctx, "ci"); err != nil {
			t.Fatal(err)
		}
		if _, ok, _ := tokens.Check(ctx, secret); ok {
			t.Error("a revoked token is accepted")
		}
		if err := tokens.Revoke(ctx, "ci"); !IsRefusal(err) {
			t.Error("a token is revoked twice")
		}
		tokens.store.Close()
		if _, err := tokens.Add(ctx, "late", Run); err == nil || IsRefusal(err) {
			t.Errorf("a store that cannot be used counts as a mistake of the caller's: %v", err)
		}
	})
}

func TestScopes(t *testing.T) {
	named, err := ScopesNamed([]string{"read", "run", "decide", "admin"})
	if err != nil || len(named) != 4 {
		t.Fatalf("%v, %v", named, err)
	}
	for _, s := range named {
		g := Grant{Name: "x", Scopes: []Scope{s}}
		if !g.Allows(s) || !g.Allows(Read) {
			t.Errorf("%s does not allow itself, or reading", s)
		}
		for _, other := range scopes {
			if g.Allows(other) != (other == s || other == Read || s == Admin) {
				t.Errorf("%s allows %s: %v", s, other, g.Allows(other))
			}
		}
	}
	if _, err := ScopesNamed([]string{"read", "root"}); err == nil {
		t.Error("root is a scope")
	}
	if (Grant{}).Allows(Read) {
		t.Error("a grant without scopes allows reading")
	}
}

// TestRevokingReachesOtherProcesses asserts that a process which has read the tokens accepts one
// for no longer than refresh after another process has revoked it.
func TestRevokingReachesOtherProcesses(t *testing.T) {
	location := t.TempDir() + "/store.db"
	here, there := open(t, location), open(t, location)
	secret, err := here.Add(t.Context(), "ci", Run)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := there.Check(t.Context(), secret); !ok || err != nil {
		t.Fatal("the token is not accepted", err)
	}
	if err := here.Revoke(t.Context(), "ci"); err != nil {
		t.Fatal(err)
	}
	there.mu.Lock()
	there.known.read = there.known.read.Add(-refresh)
	there.mu.Unlock()
	if _, ok, _ := there.Check(t.Context(), secret); ok {
		t.Error("a token is accepted more than a second after it was revoked")
	}
}
