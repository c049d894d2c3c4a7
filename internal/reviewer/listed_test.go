package reviewer

import (
	"strings"
	"testing"
)

// listedLanguages are, for each language, a file with a function that answers a request. A body
// takes the place of BODY, and the sink, which makes SQL of s, that of SINK in the body.
var listedLanguages = map[string]struct{ file, around, sink string }{
	"python":     {"a.py", "from flask import request\nCOLUMNS = (\"a\", \"b\")\nTABLE = {\"x\": \"a\", \"y\": \"b\"}\n\ndef f(db):\nBODY\n", `    db.execute(f"SELECT a FROM t ORDER BY {s}")`},
	"javascript": {"a.ts", "const COLUMNS = ['a', 'b'] as const;\nconst TABLE: Record<string, string> = { x: 'a', y: 'b' };\nconst pairs = new Map([['x', 'a']]);\napp.get('/a', (req, res) => {\nBODY\n});\n", "  db.query(`SELECT a FROM t ORDER BY ${s}`);"},
	"go":         {"a.go", "package a\n\nvar columns = []string{\"a\", \"b\"}\nvar table = map[string]string{\"x\": \"a\"}\nvar allowed = map[string]bool{\"a\": true}\n\nfunc f(w http.ResponseWriter, r *http.Request) {\nBODY\n}\n", "\tdb.Query(\"SELECT a FROM t ORDER BY \" + s)"},
	"ruby":       {"a.rb", "class AController\n  COLUMNS = %w[a b].freeze\n  TABLE = { \"x\" => \"a\", y: \"b\" }.freeze\n  def f\nBODY\n  end\nend\n", "    T.order(\"#{s} desc\")"},
	"java":       {"A.java", "class A {\n  static final Set<String> COLUMNS = Set.of(\"a\", \"b\");\n  static final Map<String, String> TABLE = Map.of(\"x\", \"a\");\n  void f(@RequestParam String k) {\nBODY\n  }\n}\n", "    jdbc.queryForList(\"SELECT a FROM t ORDER BY \" + s);"},
	"rust":       {"a.rs", "const COLUMNS: [&str; 2] = [\"a\", \"b\"];\nasync fn f(Query(q): Query<Q>) {\nBODY\n}\n", "    sqlx::query(&format!(\"SELECT a FROM t ORDER BY {}\", s)).fetch_all(&pool).await;"},
}

// TestChosenFromAList asserts that a value which the program has chosen from a list of its own, or
// read as a number or the like, does not count as a request's, and that code which only looks as if
// it did so is found.
func TestChosenFromAList(t *testing.T) {
	t.Parallel()
	for language, cases := range map[string]map[bool][]string{ // bodies, by whether something is found
		"python": {
			false: {
				"    s = column(request.args['s'])\nSINK\n\ndef column(k):\n    if k == 'x':\n        return 'a'\n    return 'b'",
				"    from enum import Enum\n    s = Sort(request.args['s']).value\nSINK",
				"    s = request.args['s']\n    if s not in COLUMNS:\n        if strict:\n            return None\n        else:\n            raise ValueError(s)\nSINK",
				"    s = TABLE[request.args['s']]\nSINK",
				"    s = TABLE.get(request.args['s'], 'a')\nSINK",
				"    k = request.args['s']\n    s = TABLE.get(k) or 'a'\nSINK",
				"    m = {'x': 'a'}\n    s = m.get(request.args['s'], 'a')\nSINK",
				"    s = request.args['s']\n    if s not in COLUMNS:\n        abort(400)\nSINK",
				"    s = request.args['s']\n    if s and s not in COLUMNS:\n        log(s)\n        raise ValueError(s)\nSINK",
				"    s = request.args['s']\n    if not s or s not in self.columns: return None\nSINK",
				"    if request.args['s'] not in COLUMNS:\n        return None\n    s = request.args['s']\nSINK",
				"    s = request.args['s']\n    if s in COLUMNS:\n    SINK",
				"    s = request.args['s']\n    assert s in ('a', 'b')\nSINK",
				"    s = request.args['s']\n    if s != 'a' and s != 'b':\n        return None\nSINK",
			},
			true: {
				"    s = column(request.args['s'])\nSINK\n\ndef column(k):\n    if k == 'x':\n        return 'a'\n    return k",
				"    s = column(request.args['s'])\nSINK\n\ndef column(k):\n    return 'a ' + k",
				"    s = column(request.args['s'])\nSINK\n\ndef column(k):\n    return f'a {k}'",
				"    s = column(request.args['s'])\nSINK\n\ndef column(k):\n    return 'a' if k else k",
				"    s = column(request.args['s'])\nSINK\n\ndef column(k):\n    return 'a'\n\nclass B:\n    def column(k):\n        return k",
				"    from enum import Enum\n    s = sort(request.args['s']).value\nSINK",
				"    s = request.args['s']\n    if s not in COLUMNS:\n        if strict:\n            return None\n        log('odd')\nSINK",
				"    s = request.args['s']\n    if not s:\n        s = 'a'\nSINK",
				"    s = request.args.get('s')\n    if s is None:\n        s = 'a'\nSINK",
				"    k = request.args['s']\n    s = TABLE.get(k, k)\nSINK",
				"    s = request.args['s']\n    if s not in request.args.getlist('all'):\n        abort(400)\nSINK",
				"    s = request.args['s']\n    if s not in COLUMNS:\n        log('odd')\nSINK",
				"    s = request.args['s']\n    if s in COLUMNS:\n        return None\nSINK",
				"    s = request.args['s']\n    if s not in COLUMNS and strict:\n        abort(400)\nSINK",
				"    s = request.args['s']\n    if s not in COLUMNS:\n        abort(400)\n    s = request.args['t']\nSINK",
				"    s = request.args['s']\n    if s in COLUMNS:\n        pass\n    else:\n    SINK",
				"    s = request.args['s']\n    if s in COLUMNS:\n        pass\nSINK",
				"    s = request.args['s']\n    if s not in COLUMNS:\n    SINK\n        return None",
				"    s = request.args['s']\nSINK\n    if s not in COLUMNS:\n        return None",
				"    s = request.args['s']\n    if s in known:\n        return known[s]\nSINK",
				"    s = request.args['s']\n    if s == '':\n        return None\nSINK",
				"    s = request.args['s']\n    if 'x' not in s:\n        return None\nSINK",
				"    s = request.args['s']\n    if request.args['t'] not in COLUMNS:\n        return None\nSINK",
				"    m = {'x': request.args['s']}\n    s = m.get('x')\nSINK",
				"    m = {}\n    m['x'] = request.args['s']\n    s = m.get('x')\nSINK",
				"    m = {'x': 'a'}\n    m['y'] = request.args['s']\n    s = m.get('y')\nSINK",
				"    m = {'x': 'a'}\n    m.update(y=request.args['s'])\n    s = m.get('y')\nSINK",
			},
		},
		"javascript": {
			false: {
				"  const s = column(req.query.s);\n  function column(k: string): string {\n    switch (k) {\n      case 'x': return 'a';\n      default: return 'b';\n    }\n  }\nSINK",
				"  const s = ['a', 'b'].includes(req.query.s as string) ? req.query.s : 'a';\nSINK",
				"  const s = req.query.s as string;\n  if (!COLUMNS.includes(s as Column)) return;\nSINK",
				"  const q = { text: 'SELECT a FROM t WHERE b = $1', values: [req.query.s] };\n  db.query(q);\n  db.query({ text: 'SELECT a FROM t WHERE b = $1', values: [req.query.s] });",
				"  let s = req.query.s;\n  if (!s || !COLUMNS.includes(s)) {\n    s = 'a';\n  }\nSINK",
				"  const s = req.query.s;\n  switch (s) {\n    case 'a':\n    case 'b':\n      break;\n    default:\n      return res.status(400).end();\n  }\nSINK",
				"  const s = req.query.s;\n  switch (k) {\n    case 'b':\n      if (!COLUMNS.includes(s)) return;\nSINK\n" + strings.Repeat("    case 'a': break;\n", mostChanges) + "  }",
				"  const s = TABLE[req.query.s] ?? 'a';\nSINK",
				"  const s = TABLE[String(req.query.s)] || 'a';\nSINK",
				"  const s = pairs.get(req.query.s) ?? 'a';\nSINK",
				"  const s = COLUMNS.find((c) => c === req.query.s) ?? 'a';\nSINK",
				"  const s = req.query.s as string;\n  if (!COLUMNS.includes(s)) return res.status(400).end();\nSINK",
				"  const s = req.query.s;\n  if (!s || !COLUMNS.includes(s)) {\n    throw new Error('odd');\n  }\nSINK",
				"  const s = req.query.s;\n  if (!(s in TABLE)) return;\nSINK",
				"  const s = req.query.s;\n  if (!Object.hasOwn(TABLE, s)) return;\nSINK",
				"  if (!COLUMNS.includes(req.query.s)) return;\n  const s = req.query.s;\nSINK",
				"  const s = req.query.s;\n  if (COLUMNS.includes(s)) {\nSINK\n  }",
				"  const s = req.query.s;\n  if (s === 'a' || s === 'b') {\nSINK\n  }",
			},
			true: {
				"  const s = column(req.query.s);\n  function column(k) {\n    const g = () => { return 'a'; };\n    return g() + k;\n  }\nSINK",
				"  const s = column(req.query.s);\n  function column(k) {\n    if (!k) { return 'a'; }\n    return k;\n  }\nSINK",
				"  const s = column(req.query.s);\n  function column(k) {\n    return 'a '\n      + k;\n  }\nSINK",
				"  const s = column(req.query.s);\n  function column(k) {\n    if (!k) { return 'a'; }\n" + strings.Repeat("    log('x');\n", 100) + "    return k;\n  }\nSINK",
				"  const s = ['a', 'b'].includes(req.query.t as string) ? req.query.s : 'a';\nSINK",
				"  db.query({ text: 'SELECT a FROM t WHERE b = ' + req.query.s, values: [] });",
				"  const s = req.query.s;\n  if (!COLUMNS.includes(s)) {\n    if (strict) return;\n    log('odd');\n  }\nSINK",
				"  let s = req.query.s;\n  if (!s) {\n    s = 'a';\n  }\nSINK",
				"  const s = req.query.s;\n  switch (s) {\n    case 'a': break;\n    default: log('odd');\n  }\nSINK",
				"  const s = req.query.s;\n  switch (s) {\n    case other: break;\n    default: return;\n  }\nSINK",
				"  const s = TABLE[req.query.s] || req.query.s;\nSINK",
				"  const s = req.query.s;\n  if (!COLUMNS.includes(s)) log('odd');\nSINK",
				"  const s = req.query.s;\n  if (COLUMNS.includes(s)) return;\nSINK",
				"  const s = req.query.s;\n  if (!req.query.all.includes(s)) return;\nSINK",
				"  const s = req.query.s;\n  if (!s.includes('x')) return;\nSINK",
				"  const s = req.query.s;\n  if (COLUMNS.includes(s)) {\n    log(s);\n  } else {\nSINK\n  }",
				"  const s = req.query.s;\n  if (s || COLUMNS.includes(s)) {\nSINK\n  }",
				"  const s = req.query.s;\n  if (!s && !COLUMNS.includes(s)) return;\nSINK",
				"  const s = req.query.s;\n  if (!COLUMNS.includes(s)) next(new Error('odd'));\nSINK",
				"  const s = req.query.s;\n  if (typeof s !== 'string') return;\nSINK",
				"  const s = req.query.s;\n  if (s !== 'a' || req.query.t) {\nSINK\n  }",
				"  const made = { x: 'a' };\n  made.x = req.query.s;\n  const s = made.x;\nSINK",
				"  const made = { x: 'a' };\n  made[req.query.k] = req.query.s;\n  const s = made.x;\nSINK",
				"  const made = { x: req.query.s };\n  const s = made.x;\nSINK",
			},
		},
		"go": {
			false: {
				"\ts := column(r.FormValue(\"s\"))\nSINK\n}\n\nfunc column(k string) string {\n\tswitch k {\n\tcase \"x\":\n\t\treturn \"a\"\n\t}\n\treturn \"b\"",
				"\ts := r.FormValue(\"s\")\n\tswitch s {\n\tcase \"a\", \"b\":\n\tdefault:\n\t\thttp.Error(w, \"odd\", 400)\n\t\treturn\n\t}\nSINK",
				"\ts := r.FormValue(\"s\")\n\tswitch s {\n\tcase \"a\", \"b\":\n\tdefault:\n\t\ts = \"a\"\n\t}\nSINK",
				"\tswitch s := r.FormValue(\"s\"); s {\n\tcase \"a\", \"b\":\n\tSINK\n\t}",
				"\ts := table[r.FormValue(\"s\")]\nSINK",
				"\ts, ok := table[r.FormValue(\"s\")]\n\tif !ok {\n\t\ts = \"a\"\n\t}\nSINK",
				"\ts := r.FormValue(\"s\")\n\tif !slices.Contains(columns, s) {\n\t\thttp.Error(w, \"odd\", 400)\n\t\treturn\n\t}\nSINK",
				"\ts := r.FormValue(\"s\")\n\tif !allowed[s] {\n\t\treturn\n\t}\nSINK",
				"\ts := r.FormValue(\"s\")\n\tif s != \"a\" && s != \"b\" {\n\t\treturn\n\t}\nSINK",
				"\tif s := r.FormValue(\"s\"); slices.Contains(columns, s) {\n\tSINK\n\t}",
			},
			true: {
				"\ts := column(r.FormValue(\"s\"))\nSINK\n}\n\nfunc column(k string) string {\n\tif k == \"\" {\n\t\treturn \"a\"\n\t}\n\treturn \"a \" + k",
				"\ts := r.FormValue(\"s\")\n\tif !slices.Contains(columns, s) {\n\t\tif strict {\n\t\t\treturn\n\t\t}\n\t\tlog.Print(s)\n\t}\nSINK",
				"\ts := r.FormValue(\"s\")\n\tswitch s {\n\tcase \"\":\n\t\ts = \"a\"\n\t}\nSINK",
				"\ts := r.FormValue(\"s\")\n\tswitch s {\n\tcase \"a\":\n\tdefault:\n\t\tif strict {\n\t\t\treturn\n\t\t}\n\t}\nSINK",
				"\ts := r.FormValue(\"s\")\n\tswitch s {\n\tcase \"a\":\n\tdefault:\n\tSINK\n\t}",
				"\ts := r.FormValue(\"s\")\n\tif slices.Contains(columns, s) {\n\t\treturn\n\t}\nSINK",
				"\ts := r.FormValue(\"s\")\n\tif !slices.Contains(columns, r.FormValue(\"t\")) {\n\t\treturn\n\t}\nSINK",
				"\ts := r.FormValue(\"s\")\n\tif !strings.Contains(s, \"x\") {\n\t\treturn\n\t}\nSINK",
				"\ts := r.FormValue(\"s\")\n\tif s != \"a\" {\n\tSINK\n\t}",
				"\ts := r.FormValue(\"s\")\n\tif s == \"\" {\n\t\treturn\n\t}\nSINK",
			},
		},
		"ruby": {
			false: {
				"    s = case params[:s]\n        when \"x\", \"z\" then \"a\"\n        else \"b\"\n        end\nSINK",
				"    s = case params[:s]\n    when \"x\"\n      \"a\"\n    else\n      raise \"odd\"\n    end\nSINK",
				"    s = TABLE[params[:s]] || \"a\"\nSINK",
				"    s = TABLE.fetch(params[:s], \"a\")\nSINK",
				"    s = params[:s].presence_in(COLUMNS) || \"a\"\nSINK",
				"    s = params[:s]\n    return head(:bad_request) unless COLUMNS.include?(s)\nSINK",
				"    raise \"odd\" unless COLUMNS.include?(params[:s])\n    s = params[:s]\nSINK",
				"    s = params[:s]\n    raise \"odd\" if !COLUMNS.include?(s)\nSINK",
				"    s = params[:s]\n    unless COLUMNS.include?(s)\n      return\n    end\nSINK",
				"    s = params[:s]\n    if COLUMNS.include?(s)\n    SINK\n    end",
				"    s = params[:s]\n    return unless s.in?(COLUMNS)\nSINK",
				"    s = params[:s]\n    assert COLUMNS.include?(s)\nSINK",
			},
			true: {
				"    s = case params[:s]\n    when \"x\"\n      \"a\"\n    else\n      params[:s]\n    end\nSINK",
				"    s = case params[:s]\n        when \"x\" then \"a #{params[:t]}\"\n        end\nSINK",
				"    s = params[:s]\n    unless COLUMNS.include?(s)\n      return if strict?\n      log(s)\n    end\nSINK",
				"    s = TABLE.fetch(params[:s], params[:s])\nSINK",
				"    made = { y: params[:s] }\n    s = made.fetch(:y)\nSINK",
				"    made = {y:params[:s]}\n    s = made.fetch(:y)\nSINK",
				"    s = params[:s]\n    return if COLUMNS.include?(s)\nSINK",
				"    s = params[:s]\n    assert !COLUMNS.include?(s)\nSINK",
				"    s = params[:s]\n    log(s) unless COLUMNS.include?(s)\nSINK",
				"    s = params[:s]\n    return unless COLUMNS.include?(params[:t])\nSINK",
				"    s = params[:s]\n    return unless params[:all].include?(s)\nSINK",
				"    s = params[:s]\n    unless COLUMNS.include?(s)\n    SINK\n    end",
			},
		},
		"java": {
			false: {
				"    String s = column(k);\nSINK\n  }\n  static String column(String k) {\n    if (k.equals(\"x\")) { return \"a\"; }\n    return \"b\";",
				"    String s = column(k);\nSINK\n  }\n  static String column(String k) {\n    return switch (k) { case \"x\" -> \"a\"; default -> \"b\"; };",
				"    String s = k;\n    switch (s) {\n      case \"a\": break;\n      default: throw new IllegalArgumentException(s);\n    }\nSINK",
				"    String s = TABLE.get(k);\nSINK",
				"    String s = TABLE.getOrDefault(k, \"a\");\nSINK",
				"    String s = k;\n    if (!COLUMNS.contains(s)) {\n      throw new IllegalArgumentException();\n    }\nSINK",
				"    if (!COLUMNS.contains(k)) return;\n    String s = k;\nSINK",
				"    String s = switch (k) { case \"x\" -> \"a\"; default -> throw new IllegalStateException(); };\nSINK",
			},
			true: {
				"    String s = column(k);\nSINK\n  }\n  static String column(String k) {\n    return k.isEmpty() ? \"a\" : k;",
				"    String s = k;\n    if (s == null || s.isEmpty()) {\n      s = \"a\";\n    }\nSINK",
				"    String s = TABLE.getOrDefault(k, k);\nSINK",
				"    String s = k;\n    if (COLUMNS.contains(s)) {\n      return;\n    }\nSINK",
				"    String s = switch (k) { case \"x\" -> \"a\"; default -> k; };\nSINK",
			},
		},
		"rust": {
			false: {
				"    let s = q.s.parse::<Sort>().unwrap_or_default();\nSINK\n}\nenum Sort { A, B }\nfn g() {",
				"    let s: Sort = q.s.parse().unwrap();\nSINK\n}\nenum Sort { A, B }\nfn g() {",
				"    let s = q.s.parse::<i64>().unwrap();\nSINK",
				"    let s = q.s.trim().parse::<uuid::Uuid>()?;\nSINK",
				"    let s = match q.s { S::A => \"a\".to_string(), S::B => String::from(\"b\"), _ => { \"c\".into() } };\nSINK",
				"    let s = q.s;\n    if !COLUMNS.contains(&s.as_str()) {\n        return;\n    }\nSINK",
				"    let s = if q.s == \"a\" { \"a\" } else { \"b\" };\nSINK",
				"    let s = match q.s.as_str() { \"x\" => \"a\", _ => \"b\" };\nSINK",
				"    let s = q.s.as_str();\n    if !COLUMNS.contains(&s) {\n        return;\n    }\nSINK",
			},
			true: {
				"    let s = q.s.parse::<String>().unwrap();\nSINK",
				"    let s = q.s.parse::<PathBuf>()?.display();\nSINK",
				"    let s: String = q.s.parse().unwrap();\nSINK",
				"    let s = match q.s.as_str() { \"x\" => \"a\".to_string(), _ => { q.s.clone() } };\nSINK",
				"    let s = if q.s.is_empty() { \"a\" } else { &q.s };\nSINK",
				"    let s = match q.s.as_str() { \"x\" => \"a\", other => other };\nSINK",
				"    let s = q.s.as_str();\n    if COLUMNS.contains(&s) {\n        return;\n    }\nSINK",
			},
		},
	} {
		l := listedLanguages[language]
		for want, bodies := range cases {
			for _, body := range bodies {
				text := strings.Replace(l.around, "BODY", strings.Replace(body, "SINK", l.sink, 1), 1)
				found := false
				for _, f := range security(t, Config{}, File{Path: "app/" + l.file, Text: text}).Findings {
					found = found || strings.HasSuffix(f.Rule, "/sql-injection")
				}
				if found != want {
					t.Errorf("found: %t, want %t\n%s", found, want, text)
				}
			}
		}
	}
}

// TestTableWithManyLinks asserts that a table is not taken for constant if something that may change is
// put into it behind more links than are read.
func TestTableWithManyLinks(t *testing.T) {
	for _, n := range []int{1, 99, 100, 1000} {
		code := "const names = { a: {} };\nnames" + strings.Repeat(".a", n) + ".b = req.query.b;\neval(names[x]);\n"
		if got := security(t, Config{}, File{Path: "a.js", Text: code}).Findings; len(got) != 1 {
			t.Errorf("%d links: %v", n, got)
		}
	}
}

// TestChoiceAfterComparison asserts that a choice by a comparison has the value of what is chosen.
func TestChoiceAfterComparison(t *testing.T) {
	for file, code := range map[string]string{
		"a.js":   "app.get('/a', (req, res) => {\n  const s = a === b ? req.query.b : 'c';\n  eval(s);\n});\n",
		"b.js":   "app.get('/a', (req, res) => {\n  const s = a > 0 && b ? req.query.b : 'c';\n  eval(s);\n});\n",
		"a.rb":   "class AController\n  def f\n    s = a == b ? params[:s] : \"c\"\n    eval(s)\n  end\nend\n",
		"A.java": "class A {\n  void f(@RequestParam String k) {\n    String s = a == b ? k : \"c\";\n    jdbc.queryForList(\"SELECT a FROM t ORDER BY \" + s);\n  }\n}\n",
	} {
		if got := security(t, Config{}, File{Path: file, Text: code}).Findings; len(got) != 1 {
			t.Errorf("%s: %v", file, got)
		}
		safe := strings.NewReplacer("req.query.b", "'d'", "params[:s]", "\"d\"", "? k", "? \"d\"").Replace(code)
		if got := security(t, Config{}, File{Path: file, Text: safe}).Findings; len(got) != 0 {
			t.Errorf("%s, without a stranger's text: %v", file, got)
		}
	}
}
