package reviewer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestHighPrecisionAsksForWhatArrivesAsItIs asserts that each row is found by default, and at high
// precision only if nothing, such as a call or a condition, may have changed or checked what a request
// sends. At high precision, a request that sends an entire query is not found either: to run such
// queries may be what the program is for.
func TestHighPrecisionAsksForWhatArrivesAsItIs(t *testing.T) {
	for _, c := range []struct {
		name, path, rule, code string
		high                   bool
	}{
		{"a part of a query", "a.js", "javascript/sql-injection", "function f(req, res) {\n  db.query(`SELECT a FROM b WHERE c = '${req.query.c}'`);\n}\n", true},
		{"a part of a query in an arrow function", "a.ts", "javascript/sql-injection", "app.get('/a', async (req: Request, res: Response) => {\n  const c = req.query.c;\n  const sql = \"SELECT a FROM b WHERE c = '\" + c + \"'\";\n  return await db.query(sql);\n});\n", true},
		{"a member that is taken apart", "a.js", "javascript/sql-injection", "function f(req, res) {\n  const { c } = req.body;\n  db.query('SELECT a FROM b WHERE c = ' + c);\n}\n", true},
		{"a condition", "a.js", "javascript/sql-injection", "function f(req, res) {\n  const c = req.query.c;\n  if (!isName(c)) return;\n  db.query(`SELECT a FROM b WHERE c = '${c}'`);\n}\n", false},
		{"a condition about the request's own member", "a.js", "javascript/sql-injection", "function f(req, res) {\n  if (!isName(req.query.c)) return;\n  db.query(`SELECT a FROM b WHERE c = '${req.query.c}'`);\n}\n", false},
		{"a function that is given the request", "a.js", "javascript/sql-injection", "function f(req, res) {\n  check(req);\n  db.query(`SELECT a FROM b WHERE c = '${req.query.c}'`);\n}\n", false},
		{"a function that is given the request's parameters", "a.js", "javascript/sql-injection", "function f(req, res) {\n  check(req.query);\n  db.query(`SELECT a FROM b WHERE c = '${req.query.c}'`);\n}\n", false},
		{"a check in the route", "a.js", "javascript/sql-injection", "app.get('/a', validate(rules), (req, res) => {\n  db.query(`SELECT a FROM b WHERE c = '${req.query.c}'`);\n});\n", false},
		{"a call", "a.js", "javascript/sql-injection", "function f(req, res) {\n  db.query(`SELECT a FROM b WHERE c = '${strip(req.query.c)}'`);\n}\n", false},
		{"a choice", "a.js", "javascript/sql-injection", "function f(req, res) {\n  const c = isName(req.query.c) ? req.query.c : names[0];\n  db.query('SELECT a FROM b ORDER BY ' + c);\n}\n", false},
		{"a list", "a.js", "javascript/sql-injection", "function f(req, res) {\n  const c = words[req.query.c] || req.query.c;\n  db.query('SELECT a FROM b ORDER BY ' + c);\n}\n", false},
		{"all of a query", "a.js", "javascript/sql-injection", "function f(req, res) {\n  db.query(req.body.sql);\n}\n", false},
		{"all of the code", "a.js", "javascript/code-injection", "function f(req, res) {\n  eval(req.body.code);\n}\n", true},
		{"a part of a command", "a.py", "python/command-injection", "import os\nfrom flask import request\n\ndef f():\n    host = request.args.get('host')\n    os.system(f'ping {host}')\n", true},
		{"a format", "a.py", "python/sql-injection", "def f(request):\n    cursor.execute(\"SELECT a FROM b WHERE c = '%s'\" % request.GET['c'])\n", true},
		{"a format's method", "a.py", "python/sql-injection", "def f(request):\n    c = request.GET['c']\n    cursor.execute(\"SELECT a FROM b WHERE c = '{}'\".format(c))\n", true},
		{"a place in a route", "a.py", "python/sql-injection", "@app.route('/a/<c>')\ndef f(c):\n    cursor.execute(\"SELECT a FROM b WHERE c = '%s'\" % c)\n", true},
		{"a place in a route that is compared", "a.py", "python/sql-injection", "@app.route('/a/<c>')\ndef f(c):\n    if c < FIRST:\n        abort(404)\n    cursor.execute(\"SELECT a FROM b WHERE c = '%s'\" % c)\n", false},
		{"a decorator that checks", "a.py", "python/sql-injection", "@app.route('/a/<c>')\n@validated(rules)\ndef f(c):\n    cursor.execute(\"SELECT a FROM b WHERE c = '%s'\" % c)\n", false},
		{"a formatted query", "a.go", "go/sql-injection", "package a\n\nfunc f(w http.ResponseWriter, r *http.Request) {\n\tname := r.URL.Query().Get(\"name\")\n\tq := fmt.Sprintf(\"SELECT a FROM b WHERE c = '%s'\", name)\n\tdb.Query(q)\n}\n", true},
		{"a name that is compared", "a.go", "go/sql-injection", "package a\n\nfunc f(w http.ResponseWriter, r *http.Request) {\n\tname := r.URL.Query().Get(\"name\")\n\tif name < first {\n\t\treturn\n\t}\n\tdb.Query(fmt.Sprintf(\"SELECT a FROM b WHERE c = '%s'\", name))\n}\n", false},
		{"a parameter", "A.java", "java/sql-injection", "class A { void f(@RequestParam String c) {\n  jdbc.query(\"SELECT a FROM b WHERE c = '\" + c + \"'\");\n} }\n", true},
		{"a request's parameter", "A.java", "java/sql-injection", "class A { void f(HttpServletRequest request) {\n  String c = request.getParameter(\"c\");\n  jdbc.query(\"SELECT a FROM b WHERE c = '\" + c + \"'\");\n} }\n", true},
		{"a parameter that is cleaned", "A.java", "java/sql-injection", "class A { void f(@RequestParam String c) {\n  c = clean(c);\n  jdbc.query(\"SELECT a FROM b WHERE c = '\" + c + \"'\");\n} }\n", false},
		{"a parameter in Ruby", "a.rb", "ruby/sql-injection", "def f\n  User.where(\"name = '#{params[:name]}'\")\nend\n", true},
		{"a method in Ruby", "a.rb", "ruby/sql-injection", "def f\n  User.where(\"name = '#{params[:name].tame}'\")\nend\n", false},
	} {
		for _, least := range []Config{{}, high} {
			found := slices.Contains(rulesOf(security(t, least, File{Path: c.path, Text: c.code}).Findings), c.rule)
			if want := c.high || least.MinPrecision == ""; found != want {
				t.Errorf("%s, at least %q: found: %v", c.name, least.MinPrecision, found)
			}
		}
	}
}

// TestFollowingOperandsIsBounded asserts that names which are given long sums of each other do not
// take long, and that a query made of them is not found at high precision.
func TestFollowingOperandsIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("function f(req, res) {\n  const a0 = res.a;\n")
	for n := 1; n < 6; n++ {
		fmt.Fprintf(&b, "  const a%d = %sa%d;\n", n, strings.Repeat(fmt.Sprintf("a%d + ", n-1), 150), n-1)
	}
	b.WriteString("  db.query('SELECT a FROM b WHERE c = ' + a5 + req.query.c);\n}\n")
	if found := security(t, high, File{Path: "a.js", Text: b.String()}).Findings; len(found) > 0 {
		t.Errorf("%+v", found)
	}
}
