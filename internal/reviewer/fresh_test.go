package reviewer

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/finding"
)

// TestWhatFreshDrawsShowedOfWeaknesses asserts that the kinds of code that were found wrongly in
// the fresh draws (testdata/draws.yaml) are accepted, and that similar but weak code is found.
func TestWhatFreshDrawsShowedOfWeaknesses(t *testing.T) {
	for _, c := range []struct {
		name, path, rule, code string
		want                   bool
	}{
		{"a hash that a protocol asks for", "a.go", "go/weak-hash", "func subsonicToken(user User, salt string) [16]byte {\n\treturn md5.Sum([]byte(user.Password + salt))\n}\n", false},
		{"a hash of a password", "a.go", "go/weak-hash", "func token(user User, salt string) [16]byte {\n\treturn md5.Sum([]byte(user.Password + salt))\n}\n", true},
		{"the start of a hash for a service", "a.py", "python/weak-hash", "def f(password):\n    return ask(hashlib.sha1(password).hexdigest()[:5])\n", false},
		{"a program by its name", "A.java", "java/command-injection", "class A { void f(String program) { Runtime.getRuntime().exec(program); } }\n", false},
		{"a name in a command line", "A.java", "java/command-injection", "class A { void f(String name) { Runtime.getRuntime().exec(\"rm \" + name); } }\n", true},
		{"a command after a condition", "a.js", "javascript/command-injection", "app.get('/a', (req, res) => child_process.exec(ok && req.query.q));\n", true},
		{"a command after a comparison", "a.js", "javascript/command-injection", "app.get('/a', (req, res) => child_process.exec(n === 1 && req.query.q));\n", true},
		{"a command after a condition in Ruby", "a.rb", "ruby/command-injection", "def a\n  system(ok && params[:q])\nend\n", true},
		{"what a condition gives after a request", "a.js", "javascript/command-injection", "app.get('/a', (req, res) => child_process.exec(req.query.q && 'ls'));\n", false},
		{"a comparison after a condition", "a.js", "javascript/command-injection", "app.get('/a', (req, res) => child_process.exec(ok && req.query.q === 'a'));\n", false},
		{"a tag by its name", "a.py", "python/xss", "def f(tag):\n    return format_html(f'<{tag}></{tag}>')\n", false},
		{"a text in a tag", "a.py", "python/xss", "def f(text):\n    return format_html(f'<p>{text}</p>')\n", true},
		{"a function, evaluated from its own source", "a.js", "javascript/code-injection", "const g = eval('(' + f.toString() + ')');\n", false},
		{"a text as a function", "a.js", "javascript/code-injection", "const g = eval('(' + f + ')');\n", true},
		{"a hash of files in a directory", "a.rb", "ruby/weak-hash", "data = read(Dir.pwd)\nDigest::SHA1.hexdigest(data)\n", false},
		{"a protocol that only a comment names", "a.go", "go/weak-hash", "func token(user User) [16]byte {\n\t// gravatar, etag\n\treturn md5.Sum([]byte(user.Password))\n}\n", true},
		{"a setting that only a comment names", "a.py", "python/tls-verification", "def f():\n    # insecure = {\n    ctx.verify_mode = ssl.CERT_NONE\n", true},
		{"a package that evaluates expressions", "src/expression/a.py", "python/code-injection", "def f(text):\n    return eval(text)\n", false},
		{"a request in such a package", "src/expression/a.py", "python/code-injection", "def f():\n    return eval(request.args['a'])\n", true},
		{"a function that evaluates expressions", "A.java", "java/code-injection", "import ognl.Ognl;\nclass A { Object parseExpression(String text) { return Ognl.parseExpression(text); } }\n", false},
		{"a function whose name does not say that it evaluates", "A.java", "java/code-injection", "import ognl.Ognl;\nclass A { Object show(String text) { return Ognl.parseExpression(text); } }\n", true},
		{"a script of developers", "scripts/a.js", "javascript/command-injection", "child_process.execSync(`git push origin ${branch}`);\n", false},
		{"the scripts of a page", "app/scripts/a.js", "javascript/command-injection", "child_process.execSync(`git push origin ${branch}`);\n", true},
		{"a program about books", "src/main/java/com/shop/book/A.java", "java/sql-injection", "class A { void f(String id) { st.executeQuery(\"SELECT a FROM b WHERE c = \" + id); } }\n", true},
		{"a program that a generator began", "src/main/java/com/example/demo/A.java", "java/sql-injection", "class A { void f(String id) { st.executeQuery(\"SELECT a FROM b WHERE c = \" + id); } }\n", true},
		{"an example in Java", "examples/a/src/main/java/com/acme/A.java", "java/sql-injection", "class A { void f(String id) { st.executeQuery(\"SELECT a FROM b WHERE c = \" + id); } }\n", false},
		{"a script of the program", "lib/a.js", "javascript/command-injection", "child_process.execSync(`git push origin ${branch}`);\n", true},
		{"a clause that the program makes", "a.js", "javascript/sql-injection", "db.exec('DELETE FROM a WHERE b < ' + Database.sqlHourOffset());\n", false},
		{"a name in the same place", "a.js", "javascript/sql-injection", "db.exec('DELETE FROM a WHERE b < ' + name);\n", true},
		{"a number by its type", "A.java", "java/sql-injection", "class A { void f(int id) { st.executeQuery(\"SELECT a FROM b WHERE c = \" + id); } }\n", false},
		{"a text by its type", "A.java", "java/sql-injection", "class A { void f(String id) { st.executeQuery(\"SELECT a FROM b WHERE c = \" + id); } }\n", true},
		{"a number by its type in Python", "a.py", "python/sql-injection", "def f(x: int):\n    cur.execute(f'SELECT a FROM b WHERE c = {x}')\n", false},
		{"a text by its type in Python", "a.py", "python/sql-injection", "def f(x: str):\n    cur.execute(f'SELECT a FROM b WHERE c = {x}')\n", true},
		{"a limit that a method gives", "a.py", "python/sql-injection", "def f(self):\n    db.scalar('select count() from a where b in %s' % self.limit())\n", false},
		{"a limit that a method makes of a name", "a.py", "python/sql-injection", "def f(self, name):\n    db.scalar('select count() from a where b in %s' % self.limit(name))\n", true},
		{"the key of a record", "a.rb", "ruby/sql-injection", "id = row[\"id\"]\ndb.query(\"DELETE FROM a WHERE b <= #{id}\")\n", false},
		{"the key that a request sends", "a.rb", "ruby/sql-injection", "id = params[\"id\"]\ndb.query(\"DELETE FROM a WHERE b <= #{id}\")\n", true},
		{"a moment in a here-document", "a.rb", "ruby/sql-injection", "db.query <<-SQL\n  SELECT a FROM b WHERE c >= '#{start_at}'\nSQL\n", false},
		{"a name in a here-document", "a.rb", "ruby/sql-injection", "db.query <<-SQL\n  SELECT a FROM b WHERE c >= '#{name}'\nSQL\n", true},
		{"params that a caller gives", "a.rb", "ruby/path-traversal", "def self.run(params)\n  File.read(params[:profile])\nend\n", false},
		{"params of a request", "a.rb", "ruby/path-traversal", "def run\n  File.read(params[:profile])\nend\n", true},
		{"markup that a function makes", "a.js", "javascript/xss", "el.innerHTML = '<div>' + makeRowHtml(row) + '</div>';\n", false},
		{"a class and a width", "a.js", "javascript/xss", "el.innerHTML = `<p class=\"${kind.className}\" style=\"width:${width}\">a</p>`;\n", false},
		{"minutes and seconds", "a.js", "javascript/xss", "const m = Math.floor(time / 60);\nconst s = String(time % 60).padStart(2, '0');\nel.innerHTML = `<b>${m}:${s}</b>`;\n", false},
		{"a title", "a.js", "javascript/xss", "el.innerHTML = '<div>' + item.DisplayTitle + '</div>';\n", true},
		{"a frame of an allowed origin", "a.ts", "javascript/xss", "f(u: string) {\n  if (!allowedOrigins.has(new URL(u).origin)) return '';\n  return this.sanitizer.bypassSecurityTrustResourceUrl(u);\n}\n", false},
		{"a frame of any origin", "a.ts", "javascript/xss", "f(u: string) {\n  return this.sanitizer.bypassSecurityTrustResourceUrl(u);\n}\n", true},
		{"an address in the settings", "a.js", "javascript/ssrf", "request({ url: Settings.apis.spelling.url + req.url });\nrequest(Settings.apis.url + req.url);\n", false},
		{"verification that a setting switches off", "a.py", "python/tls-verification", "def f(verify):\n    if not verify:\n        ctx.verify_mode = ssl.CERT_NONE\n", false},
		{"verification that is off", "a.py", "python/tls-verification", "def f():\n    if ready:\n        ctx.verify_mode = ssl.CERT_NONE\n", true},
		{"a choice of verification", "a.rb", "ruby/tls-verification", "http.verify_mode = strict ? OpenSSL::SSL::VERIFY_PEER : OpenSSL::SSL::VERIFY_NONE\n", false},
		{"no verification", "a.rb", "ruby/tls-verification", "http.verify_mode = OpenSSL::SSL::VERIFY_NONE\n", true},
		{"a document that nothing was read into", "A.java", "java/xxe", "class A {\n  Document empty() { return DocumentBuilderFactory.newInstance().newDocumentBuilder().newDocument(); }\n  void copy() { copier.read(from); }\n}\n", false},
		{"a document that is read", "A.java", "java/xxe", "class A {\n  Document read(InputStream in) { return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(in); }\n}\n", true},
		{"the one bit of Windows", "fs_windows.go", "go/file-mode", "func f(name string) { os.Chmod(name, 0o666) }\n", false},
		{"the bits of others", "fs.go", "go/file-mode", "func f(name string) { os.Chmod(name, 0o666) }\n", true},
		{"a request of a plugin", "a.go", "go/ssrf", "func send(ctx context.Context, request host.HTTPRequest) {\n\thttp.NewRequestWithContext(ctx, \"GET\", request.URL, nil)\n}\n", false},
		{"a file that is checked", "a.py", "python/path-traversal", "def f():\n    name = request.args['a']\n    if name in os.listdir(root):\n        open(os.path.join(root, name))\n", false},
		{"a file that is not", "a.py", "python/path-traversal", "def f():\n    name = request.args['a']\n    if ready:\n        open(os.path.join(root, name))\n", true},
		{"which request is the newest", "a.js", "javascript/weak-random", "const fetchToken = Math.random().toString(36);\n", false},
		{"a token of a session", "a.js", "javascript/weak-random", "const sessionToken = Math.random().toString(36);\n", true},
		{"words in the place of a key", "spec/a.js", secretRule, "mask('sk_live" + "_extremely_secret_value');\n", false},
		{"a service that a test starts", "docker-compose.yaml", secretRule, "URL: \"postgresql://postgres:FmTKs5vX52ufKR1r" + "d8tn4MoSP7zvCJwb@postgres/postgres\"\n", false},
		{"an issuer's token where services are started", ".github/workflows/a.yml", secretRule, "KEY: sk_live" + "_4eC39HqLyjWDarjtT1zdp7dcAb93jQ\n", true},
		{"a service that people use", "deploy.yaml", secretRule, "URL: \"postgresql://postgres:FmTKs5vX52ufKR1r" + "d8tn4MoSP7zvCJwb@db.internal/postgres\"\n", true},
		{"the program's own path", "a.rb", "ruby/command-injection", "list = `#{cargo} install --list`\n", false},
		{"a name after the program", "a.rb", "ruby/command-injection", "list = `#{cargo} install #{name}`\n", true},
		{"verification that an option switches off", "a.js", "javascript/tls-verification", "function f() {\n  if (!this.rejectUnauthorized) {\n    o.tls = { rejectUnauthorized: false };\n  }\n}\n", false},
		{"verification that is off without an option", "a.js", "javascript/tls-verification", "function f() {\n  if (ready) {\n    o.tls = { rejectUnauthorized: false };\n  }\n}\n", true},
		{"the number of a process", "a.rb", "ruby/command-injection", "`pargs -a #{real_pid} | grep a`\n", false},
		{"a literal of SQL", "a.py", "python/sql-injection", "def f(x):\n    db.execute(f'SELECT a FROM b WHERE c = {literal_string(x)}')\n", false},
		{"a certificate that is validated if asked for", "a.py", "python/tls-verification", "def f(r):\n    if not r.validate_cert:\n        ctx.verify_mode = ssl.CERT_NONE\n", false},
		{"a text that is too short for a key", "a_test.go", secretRule, "const wrong = `-----BEGIN PRIVATE " + "KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC=\n-----END PRIVATE " + "KEY-----`\n", false},
		{"the first line of a key in a detector", "scan.json", secretRule, `{"regex": "-----BEGIN PRIVATE ` + `KEY-----"}, "8c6469ccd4deab89a9f6c6317f84c7deec651210136c3d0462cae45808224e88": {"page": "/wiki/spaces/TEAM/pages/30154387/List+of+Experiments", "regex": "-----BEGIN PRIVATE ` + `KEY-----"}`, false},
		{"a key that a program joins", "keys.js", secretRule, "const key = '-----BEGIN EC PRIVATE " + "KEY-----\\n' +\n  'MHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtLYX5CB04fSeQ6tF1aY/PuoAoGCCqGSM49\\n' +\n  'AwEHoUQDQgAEPR3tU2Fta9ktY+6P9G0cWO+0kETA6SFs38GecTyudlHz6xvCdz8q\\n' +\n  '-----END EC PRIVATE " + "KEY-----';\n", true},
		{"a token with a made-up workspace number", "a.py", secretRule, "# slack://xoxb" + "-1234-1234-4ddbc191d40ee098cbaae6f3523ada2d\n", false},
		{"a token of a workspace", "a.py", secretRule, "# slack://xoxb" + "-263594206564-263594206564-FGqddMF8t08v8N7Oq4i57vs1\n", true},
		{"a condition that binds its value", "a.go", "go/sql-injection", "import \"gorm.io/gen\"\n\nfunc f(c *gin.Context) {\n\ts.Where(s.ID.Eq(c.Param(\"id\"))).First()\n}\n", false},
		{"a condition that a request sends", "a.go", "go/sql-injection", "import \"gorm.io/gorm\"\n\nfunc f(c *gin.Context) {\n\tdb.Where(c.Query(\"filter\")).First(&a)\n}\n", true},
		{"an action of a list", "a.rb", "ruby/code-injection", "def power\n  return invalid unless ACTIONS.include?(params[:action])\n  host.power.send(params[:action].to_sym)\nend\n", false},
		{"an action of a request", "a.rb", "ruby/code-injection", "def power\n  return invalid unless allowed\n  host.power.send(params[:action].to_sym)\nend\n", true},
		{"a root password in docker-compose.yaml", "docker-compose.yaml", "hard-coded-credential", "MYSQL_ROOT_PASSWORD: toor\n", false},
	} {
		if found := slices.Contains(findingRules(t, c.path, SecurityReview, c.code), c.rule); found != c.want {
			t.Errorf("%s: %s found: %v, want %v", c.name, c.rule, found, c.want)
		}
	}
}

// TestFormsThatAreOffByDefault asserts which code is found only at low precision, because real changes
// have it mostly for good reasons, and that similar code is found by default. The rule large-binary
// has to be switched on as well.
func TestFormsThatAreOffByDefault(t *testing.T) {
	firstLine := []changes.Span{{First: 1, Last: 1}} // it switches the test off; only it is new
	for _, c := range []struct {
		name, rule string
		file       File
		byDefault  bool
	}{
		{"a test that is switched off", "disabled-test", File{Path: "test_a.py", Text: "@pytest.mark.skip\ndef test_a():\n    f()\n", Changed: firstLine}, true},
		{"a test that is switched off with a word", "disabled-test", File{Path: "test_a.py", Text: "@unittest.skip(\n    'broken')\ndef test_a():\n    f()\n", Changed: []changes.Span{{First: 1, Last: 2}}}, true},
		{"a new test that is off", "disabled-test", File{Path: "test_a.py", Text: "@pytest.mark.skip\ndef test_a():\n    f()\n", Changed: []changes.Span{{First: 1, Last: 3}}}, false},
		{"a test in Rust that is switched off", "disabled-test", File{Path: "tests/a.rs", Text: "#[ignore]\n#[test]\nfn a() {\n    f();\n}\n", Changed: firstLine}, true},
		{"a new file of tests", "disabled-test", File{Path: "a.test.js", Text: "xit('a', () => {\n  f();\n});\n"}, false},
		{"a hash of a secret", "go/weak-hash", File{Path: "a.go", Text: "func f(secret []byte) [16]byte {\n\treturn md5.Sum(secret)\n}\n"}, false},
		{"a hash of a password", "go/weak-hash", File{Path: "a.go", Text: "func f(password []byte) [16]byte {\n\treturn md5.Sum(password)\n}\n"}, true},
		{"a list in a query", "java/sql-injection", File{Path: "A.java", Text: "class A { void f(String ids) { st.executeQuery(\"SELECT a FROM b WHERE c IN (\" + ids + \")\"); } }\n"}, false},
		{"a text in a query", "java/sql-injection", File{Path: "A.java", Text: "class A { void f(String id) { st.executeQuery(\"SELECT a FROM b WHERE c IN ('\" + id + \"')\"); } }\n"}, true},
		{"a full loader", "python/unsafe-deserialization", File{Path: "a.py", Text: "import yaml\n\ndef f(text):\n    return yaml.load(text, Loader=yaml.FullLoader)\n"}, false},
		{"an unsafe loader", "python/unsafe-deserialization", File{Path: "a.py", Text: "import yaml\n\ndef f(text):\n    return yaml.load(text, Loader=yaml.UnsafeLoader)\n"}, true},
		{"a large file", "large-binary", File{Path: "a.png", Binary: true, Size: 8 << 20}, false},
	} {
		for _, least := range []finding.Precision{"", finding.PrecisionLow} {
			config := Config{MinPrecision: least}
			if least == finding.PrecisionLow {
				config.On = []string{"large-binary"}
			}
			result := security(t, config, c.file)
			found := slices.Contains(rulesOf(append(result.Findings, codeReview(t, config, c.file).Findings...)), c.rule)
			if want := c.byDefault || least != ""; found != want {
				t.Errorf("%s, at least %q: found: %v", c.name, least, found)
			}
		}
	}
}

// TestWhatAChangeSaysOfItselfHidesNothing asserts that a change cannot exempt its own lines from
// the search for weaknesses. The beginning of a copied library, or the joined lines of a packed
// script, exempts a file only if the base has it.
func TestWhatAChangeSaysOfItselfHidesNothing(t *testing.T) {
	const weakness = "child_process.execSync(`git push origin ${branch}`);\n"
	long := strings.Repeat("call("+strings.Repeat("a, ", 60)+"1);\n", 30)
	for name, head := range map[string]string{
		"made by a compiler": "Object.defineProperty(exports, '__esModule', { value: true });\n",
		"a long library":     "/*! a v1.2.3 | MIT License */\n" + strings.Repeat("a();\n", longestFile),
		"packed":             long,
	} {
		text := head + weakness
		last := strings.Count(text, "\n")
		for what, c := range map[string]struct {
			changed []changes.Span
			want    bool
		}{
			"a new file":      {nil, true},
			"its last line":   {[]changes.Span{{First: last, Last: last}}, false},
			"its first lines": {[]changes.Span{{First: 1, Last: last - 1}}, true},
		} {
			result := security(t, everyRule(t), File{Path: "lib/a.js", Text: text, Changed: c.changed})
			found := slices.Contains(rulesOf(append(result.Findings, result.Unchanged...)), "javascript/command-injection")
			if found != c.want || (len(result.Skipped) == 0) != c.want {
				t.Errorf("%s, %s: found: %v, left out: %v; want it found: %v", name, what, found, result.Skipped, c.want)
			}
		}
	}
}
