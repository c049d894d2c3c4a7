package reviewer

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/finding"
)

// TestValues asserts the model in value.go: what is known of an expression. The first ten
// are the examples in its comment.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		language, expression string
		text                 string // with _ for a hole, and 0 for a harmless value that is not known
		literal, changing    bool
	}{
		{"javascript", `"SELECT a"`, "SELECT a", true, false},
		{"javascript", `name`, "_", false, true},
		{"javascript", `"SELECT " + name`, "SELECT _", true, true},
		{"javascript", "`ls ${dir}`", "ls _", true, true},
		{"javascript", `"LIMIT " + parseInt(n)`, "LIMIT 0", true, false},
		{"javascript", `"FROM " + TABLE`, "FROM TABLE", true, false},
		{"javascript", `12`, "12", false, false},
		{"javascript", `TABLE`, "TABLE", false, false},
		{"javascript", `user.length`, "0", false, false},
		{"javascript", `ids.map(() => "?").join(",")`, "0", false, false},
		// Operators.
		{"javascript", `a ? "x" : b`, "_", false, true},
		{"javascript", `a ? "x" + b : "y"`, "x_", true, true},
		{"javascript", `name || "x"`, "_", false, true},
		{"javascript", `"x" || name`, "_", false, true},
		{"javascript", `name == "x"`, "0", false, false},
		{"javascript", `!name`, "_", false, true},
		{"python", `"x" if a else "y" + b`, "y_", true, true},
		{"python", `"%s and %d" % (a, b)`, "_ and 0", true, true},
		{"ruby", `"x" if a`, "x", true, false},
		{"ruby", `case a when 1 then "x" else b end`, "_", false, true},
		{"ruby", `case a when 1 then "x" else "y" end`, "0", false, false},
		// Operands.
		{"javascript", `["a", "b"]`, "0", false, false},
		{"javascript", `["a", b]`, "_", false, true},
		{"javascript", `["ls", dir].join(" ")`, "ls_", true, true},
		{"javascript", "html`a ${b}`", "a 0", true, false},
		{"javascript", "html`a ${raw(b)}`", "a _", true, true},
		{"javascript", `Table.NAME`, "NAME", false, false},
		{"javascript", `table.name`, "_", false, true},
		{"go", `[]string{"a"}`, "0", false, false},
		{"rust", `format!("a {}", b)`, "a _", true, true},
		{"rust", `format!("a {b}")`, "a _", true, true},
		// Calls.
		{"javascript", `"a".concat(b)`, "a_", true, true},
		{"javascript", `" a ".trim()`, " a ", true, false},
		{"javascript", `args.join(" ")`, "_ _", true, true},
		{"javascript", `args.join(",")`, "_", false, true},
		{"python", `"a {}".format(b)`, "a _", true, true},
		{"python", `" ".join(shlex.quote(a) for a in b)`, "0", false, false},
		{"go", `fmt.Sprintf("a %s %d", b, c)`, "a _ 0", true, true},
		{"go", `strings.Join(args, " ")`, "_ ", true, true},
		{"go", `strconv.Itoa(a)`, "0", false, false},
	} {
		built, err := builtIn()
		if err != nil {
			t.Fatal(err)
		}
		s := scan("a", c.expression, languageNamed(c.language))
		e := &evaluator{source: s, pack: built.packs[c.language], scope: newScopes(s, built.packs[c.language])}
		v := e.valueOf(extent{0, len(s.tokens)})
		if got := strings.ReplaceAll(v.text, hole, "_"); got != c.text || v.literal != c.literal || v.changing != c.changing {
			t.Errorf("%s in %s: got %q, literal %v, changing %v; want %q, %v, %v", c.expression, c.language, got, v.literal, v.changing, c.text, c.literal, c.changing)
		}
	}
}

// TestNamesHaveTheirValues asserts what is known of a name at the end of a text.
func TestNamesHaveTheirValues(t *testing.T) {
	for _, c := range []struct {
		path, code, want string // with _ for a hole
	}{
		{"a.js", `let x = "a"; x += b; f(x)`, "a_"},
		{"a.js", `const { x } = req.query; f(x)`, "_"},
		{"a.js", `for (const x of ["a", "b"]) f(x)`, "0"},
		{"a.js", `const l = ["a", "b"]; for (const x of l) f(x)`, "0"},
		{"a.js", `const l = ["a", b]; for (const x of l) f(x)`, "_"},
		{"a.js", `function g(x) { x = "a" } f(x)`, "_"},
		{"a.js", `let x = []; x.push("ls " + b); f(x)`, "ls _"},
		{"a.py", "x: str = 'a'\nf(x)", "a"},
		{"a.py", "x, y = g()\nf(x)", "_"},
		{"a.go", "var x strings.Builder\nx.WriteString(\"a\" + b)\nf(x)", "a_"},
		{"a.rb", "x = 'a'\nx << b\nf(x)", "a_"},
	} {
		built, err := builtIn()
		if err != nil {
			t.Fatal(err)
		}
		s := scan(c.path, c.code, languageOf(c.path))
		m := &matcher{evaluator: &evaluator{source: s, pack: built.packs[s.lang.name], scope: newScopes(s, built.packs[s.lang.name])}, selects: func(*Rule, finding.Precision) bool { return true }, aliases: map[string][]string{}}
		for i := range s.tokens {
			m.visit(i)
		}
		last := len(s.tokens) - 2
		if got := strings.ReplaceAll(m.valueOf(extent{last, last + 1}).text, hole, "_"); got != c.want {
			t.Errorf("%s: got %q, want %q", c.code, got, c.want)
		}
	}
}

// TestFilesThatAreCutOff reviews the beginnings of files: nothing may look past the end.
func TestFilesThatAreCutOff(t *testing.T) {
	codes := map[string]string{
		"a.js":   "x = [a].join(' '); try { f(`a ${b}`) } catch (e) {} import { exec as run } from 'vm'; const { a: c } = require('vm').d; x ? y : z",
		"a.py":   "def f(a: str):\n    try:\n        x = f'{a}' % b if c else d\n    except Exception:\n        pass\nauth=('a', 'b')\n",
		"a.rb":   "begin\n  x = <<~SQL + `ls #{a}` if b\n    a #{c}\n  SQL\nrescue => e\n  nil\nend\nit 'a' do\n  skip 'b' unless c\nend\n",
		"a.go":   "func f(t *testing.T) {\n\tt.Skip()\n\tx := []string{\"a\", b}\n\tif err != nil {\n\t}\n}\n",
		"a.rs":   "fn f() { if let Err(_) = g('a', 'b') {} dbg!(x); #[ignore] let a: &str = format!(\"a {b}\"); }",
		"A.java": "class A { void f(@RequestParam String a) throws B { try { g(a); } catch (C ignored) {} getConnection(a, \"b\", \"c\"); } }",
	}
	for path, code := range codes {
		for n := range len(code) {
			f := File{Path: path, Text: code[:n]}
			security(t, everyRule(t), f)
			codeReview(t, everyRule(t), f)
		}
	}
}
