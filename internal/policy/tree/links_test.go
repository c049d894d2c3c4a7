package tree

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestLinksStayInTheTree(t *testing.T) {
	for target, bad := range map[string]bool{
		"b": false, "./b": false, "../b": false, "x/../b": false, "../.gitignore": false, "no/such/file": false, ".": false, "..": false,
		"": true, "/": true, "/etc/passwd": true, "../../b": true, "x/../../../b": true, "../.git/config": true, ".GIT": true, "git~1": true,
		`\\host\share`: true, `C:\x`: true, "c:x": true, `..\..\b`: true, "../.. /b": true, ".../b": true, "b\x00c": true, strings.Repeat("x", 5000): true,
	} {
		got := broken(Config{}, Tree{Changes: newLink("d/link", target)})
		if want := map[bool][]string{true: {"link d/link"}}[bad]; !slices.Equal(got, want) {
			t.Errorf("%.40q breaks %q, not %q", target, got, want)
		}
	}
}

func TestLinksThroughLinks(t *testing.T) {
	ring := slices.Concat(newLink("a", "b"), newLink("b", "a"))
	var chain []Change
	for i := range 60 {
		chain = append(chain, newLink(fmt.Sprintf("l%02d", i), fmt.Sprintf("l%02d", i+1))...)
	}
	long := []string{} // l19 leads through maxHops links, l20 to l59; l00 to l18 lead through more
	for i := range 19 {
		long = append(long, fmt.Sprintf("link l%02d", i))
	}
	judgeCases(t, []treeCase{
		{"up through a link to a directory further up", Config{}, Tree{Changes: slices.Concat(newLink("a/b/up", "../.."), newLink("x", "a/b/up/.."))}, []string{"link x"}},
		{"through a link that was there", Config{}, Tree{Changes: newLink("x", "top/../y"), Links: map[string]string{"a/top": "..", "top": "."}}, []string{"link x"}},
		{"through a link of another case", Config{}, Tree{Changes: newLink("x", "TOP/.."), Links: map[string]string{"top": "."}}, []string{"link x"}},
		{"down through a link", Config{}, Tree{Changes: newLink("x", "far/../y"), Links: map[string]string{"far": "a/b/c"}}, nil},
		{"into git's files by two links", Config{}, Tree{Changes: slices.Concat(newLink("a", "."), newLink("b", "a/.git"))}, []string{"link b"}},
		{"a ring", Config{}, Tree{Changes: ring}, []string{"link a", "link b"}},
		{"a chain that is too long", Config{MaxFiles: -1}, Tree{Changes: chain}, long},
		{"a link that was there and now leads out", Config{}, Tree{Changes: newLink("a", "."), Links: map[string]string{"old": "a/../x"}}, []string{"link a"}},
		{"a link that was there and leads out since another is a directory", Config{}, Tree{Changes: append(added("far/f"), Change{Path: "far", OldMode: "120000"}), Links: map[string]string{"old": "far/../../x"}}, []string{"link far"}},
		{"a bad link that was there", Config{}, Tree{Changes: edited("f"), Links: map[string]string{"old": "/etc"}}, nil},
		{"a link that was taken away", Config{}, Tree{Changes: append(newLink("x", "top/../y"), Change{Path: "top", OldMode: "120000"}), Links: map[string]string{"top": "."}}, nil},
	})
}
