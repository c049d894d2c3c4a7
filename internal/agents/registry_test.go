package agents

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/agent-airlock/airlock/internal/store"
	"github.com/agent-airlock/airlock/internal/store/storetest"
	"github.com/google/go-cmp/cmp"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }

// TestPatchesAtOnce asserts that no concurrent change is lost: each makes a version, or is
// refused.
func TestPatchesAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, location string) {
		st, err := store.Open(t.Context(), location, Tables)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		r, err := New(st)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Add(t.Context(), []byte(`{"name":"ask","type":"agent","command":["ask"]}`)); err != nil {
			t.Fatal(err)
		}
		var changed atomic.Int64
		var patching sync.WaitGroup
		for range 8 {
			patching.Go(func() {
				for n := range 10 {
					if _, err := r.Patch(t.Context(), "ask", fmt.Appendf(nil, `{"max_attempts":%d}`, n+1)); err == nil {
						changed.Add(1)
					}
				}
			})
		}
		patching.Wait()
		if b, err := r.Get(t.Context(), "ask"); err != nil || b.Version != 1+changed.Load() || changed.Load() == 0 {
			t.Errorf("after %d changes the version is %d, %v", changed.Load(), b.Version, err)
		}
	})
}

func TestRegistry(t *testing.T) {
	storetest.Each(t, func(t *testing.T, location string) {
		ctx := t.Context()
		st, err := store.Open(ctx, location, Tables)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		fixed, err := BuiltIns()
		if err != nil {
			t.Fatal(err)
		}
		fromFile := mustParse(t, `{"name":"filed","type":"agent","command":["x"]}`)
		fromFile.Source = File
		r, err := New(st, append(fixed, fromFile)...)
		if err != nil {
			t.Fatal(err)
		}
		added, err := r.Add(ctx, []byte(crawler))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := r.Get(ctx, "web-crawler"); err != nil || cmp.Diff(added, got) != "" {
			t.Errorf("%v, %s", err, cmp.Diff(added, got))
		}
		if _, err := r.Add(ctx, []byte(`{"name":"ask","type":"agent","command":["ask"],"tags":["a","b"],"time_limit_seconds":5,"max_attempts":2,"output_schema":{"type":"object"}}`)); err != nil {
			t.Fatal(err)
		}
		patched, err := r.Patch(ctx, "ask", []byte(`{"command":["ask","--twice"],"output_schema":null}`))
		if err != nil || patched.Version != 2 {
			t.Errorf("%+v, %v", patched, err)
		}
		if got, err := r.Get(ctx, "ask"); err != nil || cmp.Diff(patched, got) != "" || got.OutputSchema != nil || got.Tags[1] != "b" {
			t.Errorf("%v, %s", err, cmp.Diff(patched, got))
		}
		var names []string
		list, err := r.List(ctx)
		for _, b := range list {
			names = append(names, b.Name+" "+string(b.Source))
		}
		want := []string{"acceptance built-in", "ask stored", "collect-output built-in", "filed file", "fix-loop built-in", "phase-validation built-in", "web-crawler stored"}
		if d := cmp.Diff(want, names); d != "" || err != nil {
			t.Errorf("%v, %s", err, d)
		}

		var exists *ExistsError
		for _, name := range []string{"ask", "filed", CollectOutput} {
			if _, err := r.Add(ctx, []byte(`{"name":"`+name+`","type":"agent","command":["x"]}`)); !errors.As(err, &exists) {
				t.Errorf("adding %s: %v", name, err)
			}
		}
		var readOnly *ReadOnlyError
		var notFound *NotFoundError
		for _, name := range []string{"filed", PhaseValidation} {
			if _, err := r.Patch(ctx, name, []byte(`{}`)); !errors.As(err, &readOnly) {
				t.Errorf("patching %s: %v", name, err)
			}
			if err := r.Remove(ctx, name); !errors.As(err, &readOnly) {
				t.Errorf("removing %s: %v", name, err)
			}
		}
		if _, err := r.Patch(ctx, "nobody", []byte(`{}`)); !errors.As(err, &notFound) {
			t.Errorf("patching nobody: %v", err)
		}
		// A terminal, the API and the tools show the same error, so it names the next step of each.
		if _, err := r.Get(ctx, "nobody"); !errors.As(err, &notFound) || !strings.Contains(err.Error(), "'airlock agents list', GET /agents and the tool list_agent_blueprints list") {
			t.Errorf("getting nobody: %v", err)
		}
		for asked, want := range map[string]string{"filled": `"filed"`, "Web_Crawler": `"web-crawler"`, "web-crawlers": `"web-crawler"`, "nobody": "", strings.Repeat("x", 1<<20): ""} {
			_, err := r.Get(ctx, asked)
			suggests := err != nil && strings.Contains(err.Error(), "did you mean "+want)
			if !errors.As(err, &notFound) || suggests != (want != "") {
				t.Errorf("getting %.80s: %v, want %s to be suggested", asked, err, want)
			}
		}
		var invalid *InvalidError
		if _, err := r.Patch(ctx, "ask", []byte(`{"type":"deterministic"}`)); !errors.As(err, &invalid) {
			t.Errorf("an invalid patch: %v", err)
		}
		if err := r.Remove(ctx, "ask"); err != nil {
			t.Error(err)
		}
		if err := r.Remove(ctx, "ask"); !errors.As(err, &notFound) {
			t.Errorf("removing twice: %v", err)
		}
		if _, err := New(st, fromFile, fromFile); err == nil {
			t.Error("two fixed agents have one name")
		}
	})
}
