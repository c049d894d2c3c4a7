package tree

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestSeriesIsJudgedAsEachOfItsCommits compares JudgeSeries with Judge of each commit's tree, for
// random commits that add, change, move and remove files and links.
func TestSeriesIsJudgedAsEachOfItsCommits(t *testing.T) {
	names := []string{"a", "A", "b/c", "B/d", "b", "docs/x", "docs/X", ".github/y", "CLAUDE.md", "aux.c", "l", "m/n", "é", "e\u0301"}
	targets := []string{"a", "../out", "b/c", "docs/x", "l", "m/n", "/etc/passwd", "docs"}
	found := map[bool]int{}
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		files, links := map[string]string{}, map[string]string{} // path → content, or target
		// changeAny adds, changes or removes a file or link, and returns the change.
		changeAny := func() Change {
			path := names[r.IntN(len(names))]
			c := Change{Path: path, OldOID: files[path]}
			if c.OldOID != "" {
				c.OldMode = modeFile
			}
			if target, ok := links[path]; ok {
				c.OldMode, c.OldOID = modeLink, "to "+target
			}
			delete(files, path)
			delete(links, path)
			switch r.IntN(4) {
			case 0: // removed
			case 1:
				c.NewMode, c.Link = modeLink, targets[r.IntN(len(targets))]
				c.NewOID = "to " + c.Link
				links[path] = c.Link
			default:
				c.NewMode, c.NewOID, c.Size = modeFile, fmt.Sprint("content ", r.IntN(5)), 10
				files[path] = c.NewOID
			}
			return c
		}
		for range r.IntN(8) {
			changeAny()
		}
		paths := func() []string {
			all := slices.AppendSeq(slices.Collect(maps.Keys(files)), maps.Keys(links))
			slices.Sort(all)
			return all
		}
		s := Series{Paths: paths(), Links: maps.Clone(links)}
		want, wantCommit := []Violation(nil), Together
		for i := range 4 {
			var changes []Change
			for range 1 + r.IntN(2) {
				c := changeAny()
				if c.OldOID != c.NewOID && !slices.ContainsFunc(changes, func(d Change) bool { return d.Path == c.Path }) {
					changes = append(changes, c)
				} else if len(changes) > 0 && c.Path == changes[0].Path { // changed twice: one change from the first state to the last
					changes[0].NewMode, changes[0].NewOID, changes[0].Link, changes[0].Size = c.NewMode, c.NewOID, c.Link, c.Size
				}
			}
			s.Commits = append(s.Commits, changes)
			if want == nil {
				want, wantCommit = Judge(Config{}, Tree{Changes: changes, Paths: paths(), Links: maps.Clone(links)}), i
			}
		}
		commit, got := JudgeSeries(Config{}, s)
		if len(want) == 0 {
			wantCommit = Together
		}
		found[len(want) > 0]++
		if commit != wantCommit || fmt.Sprint(rulesOf(got)) != fmt.Sprint(rulesOf(want)) {
			t.Fatalf("seed %d: commit %d: %v\nwant commit %d: %v\n%+v", seed, commit, got, wantCommit, want, s)
		}
	}
	if found[true] < 100 || found[false] < 100 {
		t.Errorf("series with and without violations: %v, want 100 of each", found)
	}
}

// rulesOf returns the rule and the path of each violation, adjacent repetitions once.
func rulesOf(violations []Violation) (list []string) {
	for _, v := range violations {
		list = append(list, v.Rule+" "+v.Path)
	}
	return slices.Compact(list)
}

// TestSumOfASeries asserts what counts against the limits: each content once, each file once
// however often it moves, and the messages.
func TestSumOfASeries(t *testing.T) {
	add := func(path, content string) Change {
		return Change{Path: path, NewMode: modeFile, NewOID: content, Size: 1000}
	}
	remove := func(path, content string) Change {
		return Change{Path: path, OldMode: modeFile, OldOID: content}
	}
	edit := func(path, before, after string) Change {
		return Change{Path: path, OldMode: modeFile, OldOID: before, NewMode: modeFile, NewOID: after, Size: 1000}
	}
	for _, c := range []struct {
		name    string
		commits [][]Change
		files   int
		size    int64
	}{
		{"added and removed", [][]Change{{add("a", "x")}, {remove("a", "x")}}, 1, 1000},
		{"added twice", [][]Change{{add("a", "x")}, {remove("a", "x")}, {add("b", "x")}}, 2, 1000},
		{"moved twice", [][]Change{{remove("a", "x"), add("b", "x")}, {remove("b", "x"), add("c", "x")}}, 1, 0},
		{"edited and put back", [][]Change{{edit("a", "x", "y")}, {edit("a", "y", "x")}}, 1, 1000},
		{"onto a path that had another file", [][]Change{{edit("b", "p", "q")}, {remove("b", "q")}, {remove("a", "x"), add("b", "x")}}, 2, 1000},
		{"copied", [][]Change{{edit("a", "x", "y")}, {add("b", "x")}}, 2, 1000},
	} {
		if files, size := (Series{Commits: c.commits}).sum(); files != c.files || size != c.size {
			t.Errorf("%s: %d files, %d bytes, want %d and %d", c.name, files, size, c.files, c.size)
		}
	}
	long := Series{Commits: [][]Change{{add("a", "x")}, {remove("a", "x")}}, Messages: 2 << 20}
	if _, broken := JudgeSeries(Config{}, long); len(broken) != 1 || !strings.HasPrefix(broken[0].Message, RuleMaxSize) {
		t.Errorf("long messages: %v", broken)
	}
}
