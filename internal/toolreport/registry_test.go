package toolreport

import (
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
			t.Errorf("row %q is incomplete or a duplicate", r.name)
		}
		seen[r.name] = true
		c := newCollector(Tool{}, newPlaces(Tool{}), r.name)
		for _, part := range r.open(c) {
			tr, ok := part.(*textReader)
			if !ok {
				continue
			}
			if len(tr.patterns().efms) != len(tr.formats) {
				t.Errorf("%s: %d of %d patterns compile", r.name, len(tr.patterns().efms), len(tr.formats))
			}
			if tr.patterns().rule != nil && (tr.patterns().rule.SubexpIndex("rule") < 0 || tr.patterns().rule.SubexpIndex("message") < 0) {
				t.Errorf("%s: the rule's pattern lacks a group", r.name)
			}
		}
	}
}

// TestPatterns compiles the patterns that are otherwise compiled only when their tool's
// output is read.
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
