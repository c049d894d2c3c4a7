package reviewer

import (
	"slices"
	"testing"
)

// TestWhatRealChangesShowed asserts that the kinds of code that were wrongly reported in changes of
// real projects are not reported by default, and that similar but weak code is reported.
func TestWhatRealChangesShowed(t *testing.T) {
	const (
		java       = "java/sql-injection"
		shell      = "javascript/command-injection"
		rust       = "rust/tls-verification"
		credential = "hard-coded-credential"
	)
	for name, c := range map[string]struct {
		path, code, rule string
		want             bool
	}{
		"a query of a field":              {"A.java", "class A {\n  private String table;\n  void f(Statement s) throws E {\n    s.executeQuery(\"SELECT a FROM b WHERE c = '\" + table + \"'\");\n  }\n}\n", java, false},
		"a query of a record's member":    {"A.java", "class A {\n  void f(Statement s, TablePath path) throws E {\n    String sql = String.format(\"SELECT a FROM b WHERE c = '%s'\", path.getName());\n    s.executeQuery(sql);\n  }\n}\n", java, false},
		"a query of a parameter":          {"A.java", "class A {\n  void f(Statement s, String name) throws E {\n    String sql = String.format(\"SELECT a FROM b WHERE c = '%s'\", name);\n    s.executeQuery(sql);\n  }\n}\n", java, true},
		"a query of a request's field":    {"A.java", "class A {\n  void f(Statement s, HttpServletRequest request) throws E {\n    s.executeQuery(\"SELECT a FROM b WHERE c = '\" + request.getParameter(\"c\") + \"'\");\n  }\n}\n", java, true},
		"a name that is only quoted":      {"A.java", "class A {\n  private String kind;\n  void f(Statement s, String name) throws E {\n    log(\"name\");\n    s.executeQuery(\"SELECT name FROM b WHERE c = '\" + kind + \"'\");\n  }\n}\n", java, false},
		"a directory of its own":          {"a.js", "const { exec } = require('child_process');\nasync function f() {\n  const dir = await mkdtemp(join(tmpdir(), 'a-'));\n  exec(`rm -rf ${dir}`);\n}\n", shell, false},
		"the environment in a command":    {"a.js", "const { exec } = require('child_process');\nexports.dump = (done) => exec(`pg_dump ${process.env.DATABASE_URL}`, done);\n", shell, false},
		"a parameter in a command":        {"a.ts", "import { exec } from 'child_process';\nexport const remove = async (name: string): Promise<void> => {\n  await exec(`docker rm ${name}`);\n};\n", shell, true},
		"a record's field in a command":   {"a.ts", "import { exec } from 'child_process';\nexport async function remove(app: App) {\n  const dir = join(ROOT, app.name);\n  exec(`rm -rf ${dir}`);\n}\n", shell, true},
		"an object's field in a command":  {"a.ts", "import { exec } from 'child_process';\nclass A {\n  remove() {\n    exec(`rm -rf ${this.dir}`);\n  }\n}\n", shell, true},
		"a setting for a client":          {"src/a.rs", "fn f(e: &Endpoint) {\n    let b = if e.skip_tls_verify {\n        Client::builder().danger_accept_invalid_certs(true)\n    } else {\n        Client::builder()\n    };\n}\n", rust, false},
		"a client":                        {"src/a.rs", "fn f(e: &Endpoint) {\n    if e.traced {\n        let b = Client::builder().danger_accept_invalid_certs(true);\n    }\n}\n", rust, true},
		"a password in a module of tests": {"src/a.rs", "fn f() {}\n\n#[cfg(test)]\nmod tests {\n    const PASSWORD: &str = \"hunter2\";\n}\n", credential, false},
		"a password before such a module": {"src/a.rs", "const PASSWORD: &str = \"hunter2\";\n\n#[cfg(test)]\nmod tests {\n    fn f() {}\n}\n", credential, true},
		"a module of the program":         {"src/a.rs", "#[cfg(unix)]\nmod a {\n    const PASSWORD: &str = \"hunter2\";\n}\n", credential, true},
		"a file of the program":           {"config/a.rb", "x = `cat #{Rails.root}/REVISION`\n", "ruby/command-injection", false},
		"a class that a request names":    {"app/controllers/a.rb", "def f\n  params[:type].constantize.find(1)\nend\n", "ruby/code-injection", false},
		"code that a request sends":       {"app/controllers/a.rb", "def f\n  eval(params[:code])\nend\n", "ruby/code-injection", true},
		"a token of which a date is read": {"a.py", "import jwt\nexpires = jwt.decode(token, options={'verify_signature': False})['exp']\n", "python/unverified-token", false},
		"a token without a signature":     {"a.py", "import jwt\nclaims = jwt.decode(token, None, algorithms=['none'])\n", "python/unverified-token", true},
		"a symbol in a query":             {"app/controllers/a.rb", "def f\n  scope.group(params[:field].to_sym).count\nend\n", "ruby/sql-injection", false},
		"a token in a manual":             {"docs/a.md", "token = \"s.0ufRo6XEGU2j" + "OqnIr7OlFYP5\"\n", secretRule, false},
		"a token in a test":               {"pkg/vault_test.go", "const token = \"s.0ufRo6XEGU2j" + "OqnIr7OlFYP5\"\n", secretRule, false},
		"a hash that tells entries apart": {"a.js", "const dedupToken = crypto.createHash('sha1').update(id).digest('hex');\n", "javascript/weak-hash", false},
		"a hash that signs":               {"a.js", "const signature = crypto.createHash('sha1').update(secret + text).digest('hex');\n", "javascript/weak-hash", true},
		"a token in settings":             {"deploy/a.tf", "token = \"s.0ufRo6XEGU2j" + "OqnIr7OlFYP5\"\n", secretRule, true},
		"a command as it was given":       {"a.py", "import subprocess\ndef run(command):\n    subprocess.run(f\"chcp 65001 && {command}\", shell=True)\n", "python/command-injection", false},
		"an argument of a command":        {"a.py", "import subprocess\ndef run(name):\n    subprocess.run(f\"ffmpeg -i {name}\", shell=True)\n", "python/command-injection", true},
	} {
		rules := rulesOf(security(t, Config{}, File{Path: c.path, Text: c.code}).Findings)
		if found := slices.Contains(rules, c.rule); found != c.want {
			t.Errorf("%s: found %v, want %s among them: %v", name, rules, c.rule, c.want)
		}
	}
}
