package airlock_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// TestSecurityNamesTestsThatExist asserts that docs/security.md names tests for each rule, and that
// these tests exist. After "Held by:" each item of the list names a file, and tests in it or "all
// tests".
func TestSecurityNamesTestsThatExist(t *testing.T) {
	raw, err := os.ReadFile("docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(raw), "\n## Rules\n")
	text, _, found := strings.Cut(text, "\n## ")
	if !found {
		t.Fatal("docs/security.md has no section of rules")
	}
	item := regexp.MustCompile("(?s)^`([^`]+\\.go)`: (.+)$")
	test := regexp.MustCompile("^`(Test\\w+)`$")
	numbered := 0
	sections := strings.Split(text, "\n### ")[1:]
	for _, section := range sections {
		title, body, _ := strings.Cut(section, "\n")
		rule, _, hasTitle := strings.Cut(title, ": ")
		if !hasTitle {
			t.Errorf("the rule %q has no name before a colon", title)
		}
		if strings.HasPrefix(rule, "R") && strings.Trim(rule[1:], "0123456789") == "" {
			if numbered++; rule != fmt.Sprintf("R%d", numbered) {
				t.Errorf("rule %s stands where R%d should", rule, numbered)
			}
		}
		statement, list, _ := strings.Cut(body, "\nHeld by:\n")
		if strings.TrimSpace(statement) == "" {
			t.Errorf("%s says nothing", rule)
		}
		items := strings.Split(list, "\n- ")[1:]
		if len(items) == 0 {
			t.Errorf("%s names no test", rule)
		}
		for _, text := range items {
			m := item.FindStringSubmatch(strings.Join(strings.Fields(text), " "))
			if m == nil {
				t.Errorf("%s: write `FILE`: `TEST`, ... instead of %q", rule, text)
				continue
			}
			source, err := os.ReadFile(filepath.FromSlash(m[1]))
			if err != nil {
				t.Errorf("%s: %v", rule, err)
				continue
			}
			if m[2] == "all tests" {
				if !strings.Contains(string(source), "\nfunc Test") {
					t.Errorf("%s: there are no tests in %s", rule, m[1])
				}
				continue
			}
			for name := range strings.SplitSeq(m[2], ", ") {
				n := test.FindStringSubmatch(name)
				if n == nil || !strings.Contains(string(source), "\nfunc "+n[1]+"(t *testing.T)") {
					t.Errorf("%s: there is no %s in %s", rule, name, m[1])
				}
			}
		}
	}
	if numbered < 15 || len(sections) < 21 {
		t.Errorf("docs/security.md has %d rules, %d of them with a number; a rule is missing", len(sections), numbered)
	}
}

// documents returns the paths of all Markdown documents outside of testdata, node_modules and hidden
// directories other than .github.
func documents(t *testing.T) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		hidden := strings.HasPrefix(entry.Name(), ".") && path != "." && entry.Name() != ".github"
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (hidden || entry.Name() == "testdata" || entry.Name() == "node_modules"):
			return filepath.SkipDir
		case !entry.IsDir() && strings.HasSuffix(path, ".md"):
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) < 40 {
		t.Fatalf("only %d documents were found", len(paths))
	}
	return paths
}

// TestDocumentsAreReadableAsText asserts that no line of a document is longer than 100
// characters. Table rows, code blocks and a word that cannot be broken, such as a link, may be
// longer; but no cell of a table has more than 200 characters, not counting backticks.
func TestDocumentsAreReadableAsText(t *testing.T) {
	const maxLine, maxCell = 100, 200
	marker := regexp.MustCompile(`^([-*+>]|\d+\.)\s+`)
	for _, path := range documents(t) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		inCode, number := false, 0
		for line := range strings.Lines(string(raw)) {
			number++
			line = strings.TrimRight(line, "\r\n")
			text := strings.TrimSpace(line)
			switch {
			case strings.HasPrefix(text, "```"):
				inCode = !inCode
			case inCode:
			case strings.HasPrefix(text, "|"):
				for cell := range strings.SplitSeq(strings.ReplaceAll(text, `\|`, "¦"), "|") {
					if n := utf8.RuneCountInString(strings.ReplaceAll(strings.TrimSpace(cell), "`", "")); n > maxCell {
						t.Errorf("%s:%d: a cell of the table has %d characters, more than %d: say it below the table", path, number, n, maxCell)
					}
				}
			case utf8.RuneCountInString(line) > maxLine && strings.ContainsAny(marker.ReplaceAllString(text, ""), " \t"):
				t.Errorf("%s:%d: the line has %d characters, more than %d", path, number, utf8.RuneCountInString(line), maxLine)
			}
		}
		if inCode {
			t.Errorf("%s: a code block does not end", path)
		}
	}
}

// TestDocumentsLinkToWhatExists follows every relative link of every document, and
// every link to a heading of a document of ours.
func TestDocumentsLinkToWhatExists(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)]*))?\)`)
	for _, path := range documents(t) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(raw), -1) {
			if strings.Contains(m[1], ":") {
				continue
			}
			target := path
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(path), filepath.FromSlash(m[1]))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", path, m[1], err)
				continue
			}
			if m[2] != "" && strings.HasSuffix(target, ".md") && !slices.Contains(headings(t, target), m[2]) {
				t.Errorf("%s links to %s#%s: there is no such heading", path, m[1], m[2])
			}
		}
	}
}

// headings returns the anchors that GitHub gives to the headings of a document.
func headings(t *testing.T, path string) []string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var anchors []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(string(raw), -1) {
		anchors = append(anchors, strings.ReplaceAll(regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return anchors
}

// TestWorkflowsPinActions asserts that our workflows name every third-party action by its commit,
// because a tag can be moved to another one, and its version in a comment.
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
			if strings.HasPrefix(m[1], "./") {
				continue
			}
			if !pinned.MatchString(m[1]) || !regexp.MustCompile(`^ # v\d+\.\d+\.\d+$`).MatchString(m[2]) {
				t.Errorf("%s: %s%s: pin it by commit, with the version in a comment", path, m[1], m[2])
			}
		}
	}
}

// TestReadmeListsEachKind compares the README's table of kinds with the kind table: every kind,
// in the same order, with its default limit.
func TestReadmeListsEachKind(t *testing.T) {
	raw, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| [^|]+ \\| (\\d+)[^|]* \\|$").FindAllStringSubmatch(string(raw), -1)
	for i, spec := range safeoutput.Kinds() {
		if want := []string{string(spec.Kind), strconv.Itoa(spec.DefaultMax)}; i >= len(rows) || !slices.Equal(rows[i][1:], want) {
			t.Fatalf("README.md: the table of kinds has no row for %s, with the limit %d, where the kind table has it", spec.Kind, spec.DefaultMax)
		}
	}
	if len(rows) != len(safeoutput.Kinds()) {
		t.Errorf("README.md: the table of kinds has %d rows for %d kinds", len(rows), len(safeoutput.Kinds()))
	}
}

// TestProjectLayoutHasTheLayers compares the table of packages in docs/project-layout.md with
// layers.
func TestProjectLayoutHasTheLayers(t *testing.T) {
	raw, err := os.ReadFile("docs/project-layout.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z/]+)` \\| .* \\| ([^|]+) \\|$").FindAllStringSubmatch(string(raw), -1) {
		documented[m[1]] = m[2]
	}
	name := regexp.MustCompile("`([^`]+)`")
	for _, layer := range layers {
		pkg := strings.TrimPrefix(layer.pkg, "internal/")
		row, ok := documented[pkg]
		delete(documented, pkg)
		switch {
		case !ok && (pkg == "cmd/airlock" || testSupport(pkg)):
			continue
		case !ok:
			t.Errorf("docs/project-layout.md has no row for %s", pkg)
			continue
		case layer.imports == "*":
			row = strings.Replace(row, "all", "`*`", 1)
		}
		var imports []string
		for _, m := range name.FindAllStringSubmatch(row, -1) {
			imports = append(imports, m[1])
		}
		want := strings.Fields(layer.imports)
		slices.Sort(imports)
		slices.Sort(want)
		if !slices.Equal(imports, want) {
			t.Errorf("docs/project-layout.md: the row of %s names %q, and layers_test.go %q", pkg, imports, want)
		}
	}
	for pkg := range documented {
		t.Errorf("docs/project-layout.md has a row for %s, and layers_test.go has none", pkg)
	}
}
