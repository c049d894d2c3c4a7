package toolreport

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestRows(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range rows() {
		if r.name == "" || len(r.words) == 0 || r.open == nil || seen[r.name] {
			t.Errorf("row %q is incomplete, or there twice", r.name)
		}
		seen[r.name] = true
		c := newCollector(Tool{}, newPlaces(Tool{}), r.name)
		for _, part := range r.open(c) {
			tr, ok := part.(*textReader)
			if !ok {
				continue
			}
			if len(tr.efms) != len(tr.formats) {
				t.Errorf("%s: %d of %d patterns compile", r.name, len(tr.efms), len(tr.formats))
			}
			if tr.ruleExp != nil && (tr.ruleExp.SubexpIndex("rule") < 0 || tr.ruleExp.SubexpIndex("message") < 0) {
				t.Errorf("%s: the rule's pattern lacks a group", r.name)
			}
		}
	}
}

// TestPatterns compiles the patterns that only an output of their tool would compile.
func TestPatterns(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok || len(call.Args) != 2 {
				return true
			}
			name, ok := call.Fun.(*ast.Ident)
			expr, isLiteral := call.Args[1].(*ast.BasicLit)
			if !ok || name.Name != "containing" && name.Name != "starting" || !isLiteral {
				return true
			}
			source, err := strconv.Unquote(expr.Value)
			if err != nil {
				t.Fatal(err)
			}
			n++
			if _, err := regexp.Compile(source); err != nil {
				t.Errorf("%s: %v", file, err)
			}
			return true
		})
	}
	if n < 40 {
		t.Errorf("only %d patterns were found", n)
	}
}

func TestCommandsNameTools(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"npx eslint .": "eslint", "./node_modules/.bin/eslint src": "eslint", "yarn eslint .": "eslint", "pnpm exec eslint .": "eslint", "NODE_ENV=test npx --no eslint": "eslint",
		"node node_modules/.bin/jest --ci": "jest", "node /src/node_modules/.bin/vitest run": "vitest",
		"go vet ./...": "go vet", "go test -race ./...": "go test", "/usr/local/go/bin/go test ./...": "go test", "go tool golangci-lint run": "golangci-lint",
		"gofmt -l .": "gofmt", "golangci-lint run": "golangci-lint", "golangci-lint.exe run": "golangci-lint",
		"python -m pytest -v": "pytest", "python3.12 -m unittest": "unittest", "poetry run black --check .": "black", "uv run ruff check .": "ruff", "pytest": "pytest",
		"bundle exec rspec": "rspec", "rubocop": "rubocop", "rake test": "minitest", "bin/rails test": "minitest",
		"cargo test --workspace": "cargo test", "cargo clippy": "cargo", "cargo fmt --check": "rustfmt", "cargo --locked build": "cargo",
		"mvn -B test": "maven", "./mvnw verify": "maven", "./gradlew test": "gradle", "gradle check": "gradle",
		"sh -c 'eslint . && tsc'": "eslint tsc", "npx prettier --check . || true": "prettier", "cd web; npx mocha": "mocha",
		"node --test": "node tap", "npm test": "", "make eslint": "", "echo jest": "", "cat eslint": "", "node server.js": "", "": "",
	} {
		var got []string
		for _, r := range rows() {
			if r.isNamedBy(strings.Fields(command)) {
				got = append(got, r.name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q names %v, want %s", command, got, want)
		}
	}
}

func TestPlaceIn(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{"a.go:3: x": 4, "a.ts(3,4): x": 4, "no place": -1, "": -1, ":3": -1, "a:b:1": -1, "A.java:[4,5] x": 7, "a.ts:3:4 - x": 4, "10:20:30 at": -1, "a.go:3": -1, "a.go:3:4": -1, "a.go:3:4:": 4, "x(1)": 1, "12:30: a.go:3: x": 2} {
		if got := placeIn(line); got != want {
			t.Errorf("%q: %d, want %d", line, got, want)
		}
	}
}

func TestLinesKeepNoMoreThanTheirLimit(t *testing.T) {
	t.Parallel()
	var got []string
	l := lines{to: func(line string) { got = append(got, line) }}
	for range maxLine/1000 + 100 {
		l.write([]byte(strings.Repeat("x", 1000)))
	}
	if cap(l.part) > 2*maxLine {
		t.Errorf("%d bytes are kept", cap(l.part))
	}
	l.write([]byte("\nnext\nlast"))
	l.end()
	if len(got) != 3 || len(got[0]) != maxLine || got[1] != "next" || got[2] != "last" {
		t.Errorf("%d lines", len(got))
	}
}

// TestExcerptsBeginWithTheFile checks that an excerpt of a formatter's diff names its
// file, however long it is.
func TestExcerptsBeginWithTheFile(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 60 {
		lines = append(lines, fmt.Sprintf("+line %d", i))
	}
	body := strings.Join(lines, "\n")
	for _, c := range []struct{ name, output, want string }{
		{"gofmt", "a.go\ndiff a.go.orig a.go\n--- a.go.orig\n+++ a.go\n@@ -1,0 +1,60 @@\n" + body, "--- a.go.orig\n+++ a.go\n@@ -1,0 +1,60 @@\n+line 0\n"},
		{"rustfmt", "Diff in src/lib.rs:1:\n" + body, "Diff in src/lib.rs:1:\n+line 0\n"},
		{"no diff", "words\n@@ -1 +1 @@\n" + body, "+line 40\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var e excerpt
			for line := range strings.SplitSeq(c.output, "\n") {
				e.line(line)
			}
			got := e.text()
			if !strings.HasPrefix(got, c.want) || !strings.HasSuffix(got, "+line 59") {
				t.Errorf("the excerpt is\n%s", got)
			}
		})
	}
}
