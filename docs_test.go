package airlock_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSecurityNamesTestsThatExist asserts that each rule of docs/security.md is held
// by tests, and that they are where it says.
func TestSecurityNamesTestsThatExist(t *testing.T) {
	raw, err := os.ReadFile("docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	word := regexp.MustCompile("`([^`]+)`")
	rules := 0
	for line := range strings.Lines(string(raw)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 3 || !regexp.MustCompile(`^\| (R\d+|–)$`).MatchString(cells[0]) {
			continue
		}
		rules++
		file, source, named := "", "", 0
		for _, m := range word.FindAllStringSubmatch(cells[2], -1) {
			if strings.HasSuffix(m[1], ".go") {
				text, err := os.ReadFile(filepath.FromSlash(m[1]))
				if err != nil {
					t.Errorf("%s: %v", cells[0], err)
				}
				file, source = m[1], string(text)
				continue
			}
			if strings.HasPrefix(m[1], "Test") {
				if named++; !strings.Contains(source, "\nfunc "+m[1]+"(t *testing.T)") {
					t.Errorf("%s: there is no %s in %s", cells[0], m[1], file)
				}
			}
		}
		if named == 0 {
			t.Errorf("%s names no test", cells[0])
		}
	}
	if rules < 12 {
		t.Errorf("docs/security.md has %d rules", rules)
	}
}

// TestDocumentsLinkToWhatExists follows every relative link of every document.
func TestDocumentsLinkToWhatExists(t *testing.T) {
	paths, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)
	for _, path := range append(paths, "README.md", "CONTRIBUTING.md", "CHANGELOG.md") {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(raw), -1) {
			if strings.Contains(m[1], ":") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s links to %s: %v", path, m[1], err)
			}
		}
	}
}

// TestWorkflowsPinActions holds every third-party action of our workflows to a commit:
// a tag can be moved to another one.
func TestWorkflowsPinActions(t *testing.T) {
	paths, err := filepath.Glob(".github/workflows/*.yml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%q, %v", paths, err)
	}
	uses := regexp.MustCompile(`(?m)^\s*(?:- )?uses: *(\S+)(.*)$`)
	pinned := regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`)
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range uses.FindAllStringSubmatch(string(raw), -1) {
			if strings.HasPrefix(m[1], "./") || strings.HasPrefix(m[1], "docker://ghcr.io/agent-airlock/") {
				continue
			}
			if !pinned.MatchString(m[1]) || !regexp.MustCompile(`^ # v\d+\.\d+\.\d+$`).MatchString(m[2]) {
				t.Errorf("%s: %s%s: pin it by commit, with the version in a comment", path, m[1], m[2])
			}
		}
	}
}
