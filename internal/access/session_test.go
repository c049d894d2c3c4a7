package access

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/store/storetest"
)

func TestSessions(t *testing.T) {
	storetest.Each(t, func(t *testing.T, location string) {
		ctx := t.Context()
		tokens := open(t, location)
		token, err := tokens.Add(ctx, "ann", Run)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, ok, err := tokens.SignIn(ctx, "airlock_wrong"); ok || err != nil {
			t.Errorf("an unknown token: begins a session: %v, %v", ok, err)
		}
		first, g, ok, err := tokens.SignIn(ctx, token)
		if err != nil || !ok || g.Name != "ann" || len(first) < 50 || strings.Contains(first, token) {
			t.Fatalf("%q, %+v, %v, %v", first, g, ok, err)
		}
		second, _, _, err := tokens.SignIn(ctx, token)
		if err != nil || second == first {
			t.Fatalf("%q and %q, %v", first, second, err)
		}
		for _, wrong := range []string{"", token, first + "x", hash(first)} {
			if _, ok, err := tokens.CheckSession(ctx, wrong); ok || err != nil {
				t.Errorf("%q is a session: %v", wrong, err)
			}
		}
		other := open(t, location)
		if g, ok, err := other.CheckSession(ctx, first); !ok || err != nil || !g.Allows(Run) || g.Allows(Decide) {
			t.Errorf("another server of the store: %+v, %v, %v", g, ok, err)
		}
		if err := tokens.SignOut(ctx, first); err != nil {
			t.Fatal(err)
		}
		if _, ok, _ := other.CheckSession(ctx, first); ok {
			t.Error("a session lives on after it was ended")
		}
		if _, ok, _ := other.CheckSession(ctx, second); !ok {
			t.Error("ending a session ended another one")
		}
		if _, err := tokens.store.Exec(ctx, `UPDATE sessions SET expires = `+tokens.store.Now()); err != nil {
			t.Fatal(err)
		}
		if _, ok, _ := tokens.CheckSession(ctx, second); ok {
			t.Error("a session outlives its time")
		}
		if _, _, _, err := tokens.SignIn(ctx, token); err != nil {
			t.Fatal(err)
		}
		var n int
		count := func() int {
			if err := tokens.store.QueryRow(ctx, `SELECT count(*) FROM sessions`).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		if count() != 1 {
			t.Errorf("%d sessions are kept after their time", n-1)
		}
		for range maxSessions + 5 {
			if _, _, _, err := tokens.SignIn(ctx, token); err != nil {
				t.Fatal(err)
			}
		}
		if count() != maxSessions {
			t.Errorf("a token has %d sessions", n)
		}
		third, _, _, err := tokens.SignIn(ctx, token)
		if err != nil {
			t.Fatal(err)
		}
		if err := tokens.Revoke(ctx, "ann"); err != nil {
			t.Fatal(err)
		}
		if _, ok, _ := tokens.CheckSession(ctx, third); count() != 0 || ok {
			t.Errorf("a session outlives its token; %d are left", n)
		}
	})
}
