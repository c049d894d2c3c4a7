package reviewer

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/secrets"
)

// high has only rules of high precision.
var high = Config{MinPrecision: finding.PrecisionHigh}

// TestPrecisionSelectsForms asserts which forms of a rule each precision has, and what naming a rule
// changes.
func TestPrecisionSelectsForms(t *testing.T) {
	const (
		rule  = "javascript/sql-injection"
		sent  = "db.query('SELECT a FROM b WHERE c = ' + req.query.c);\n"
		built = "db.query('SELECT a FROM b WHERE c = ' + c);\n"
		fixed = "libxmljs.parseXml(text, { noent: true });\n"
	)
	for name, c := range map[string]struct {
		config Config
		code   string
		found  bool
	}{
		"what a request sends":               {Config{}, sent, true},
		"what a request sends, high":         {high, sent, true},
		"what a request sends, off":          {Config{Off: []string{rule}}, sent, false},
		"what a request sends, another only": {Config{Only: []string{"secret"}}, sent, false},
		"what is built":                      {Config{}, built, true},
		"what is built, medium":              {Config{MinPrecision: finding.PrecisionMedium}, built, true},
		"what is built, high":                {high, built, false},
		"what is built, high, on":            {Config{MinPrecision: finding.PrecisionHigh, On: []string{rule}}, built, true},
		"what is built, high, only":          {Config{MinPrecision: finding.PrecisionHigh, Only: []string{rule}}, built, true},
		"what is built, on and off":          {Config{On: []string{rule}, Off: []string{rule}}, built, false},
		"what is constant, high":             {high, fixed, true},
	} {
		if found := len(security(t, c.config, File{Path: "a.js", Text: c.code}).Findings) > 0; found != c.found {
			t.Errorf("%s: found: %v, want %v", name, found, c.found)
		}
	}
}

// TestPrecisionSelectsRules asserts at which least precision a rule is used.
func TestPrecisionSelectsRules(t *testing.T) {
	for rule, c := range map[string]struct {
		code string
		from finding.Precision // the highest at which it is used
	}{
		"conflict-marker": {"<<<<<<< a\n=======\n>>>>>>> b\n", finding.PrecisionVeryHigh},
		"debug-output":    {"console.log('here');\n", finding.PrecisionMedium},
		"print-call":      {"console.log('The server has started');\n", finding.PrecisionLow},
	} {
		code := c.code
		for _, least := range Precisions() {
			found := len(codeReview(t, Config{MinPrecision: least}, File{Path: "lib/a.js", Text: code}).Findings) > 0
			if want := least.Rank() <= c.from.Rank(); found != want {
				t.Errorf("%s at %s: found: %v, want %v", rule, least, found, want)
			}
		}
		if len(codeReview(t, Config{On: []string{rule}}, File{Path: "lib/a.js", Text: code}).Findings) == 0 {
			t.Errorf("%s is not found although it is on", rule)
		}
	}
}

// TestPrecisionOfSecrets asserts that a secret in the form of its issuer has high precision. Half of a
// credential, and a secret that only its place shows, have medium precision.
func TestPrecisionOfSecrets(t *testing.T) {
	const (
		id  = "aws_access_key_id = AKIA" + "Z7QVTB3N4KXWMJ2R\n"
		key = "aws_secret_access_key = wJalrXUtnFEMI" + "K7MDENGbPxRfiCYzR4mQ9pLs2vT\n"
	)
	for name, c := range map[string]struct {
		text         string
		high, medium int
	}{
		"an issuer's token":                  {"t = '" + credential() + "'\n", 1, 1},
		"the number of a key":                {id, 0, 1},
		"a key":                              {key, 0, 1},
		"a key and its number":               {id + key, 2, 2},
		"the number of a key in a signature": {"https://files.example/a?X-Amz-Credential=AKIA" + "Z7QVTB3N4KXWMJ2R%2F20250829%2Fus-east-1%2Fs3%2Faws4_request\n", 0, 0},
		"a number without its key":           {"accessKey: LTAI" + "5tCnKso2uG3kJ5gRav88\naccessSecret: X\n", 0, 0},
		"a number with its key":              {"accessKey: LTAI" + "5tCnKso2uG3kJ5gRav88\naccessSecret: fGJ5SNXL7P1NH" + "NRmJ7DJaMJGPyE55C\n", 1, 1},
		"a password in an address":           {"u = 'https://app:kqW7vN2xLp9R@files.internal/'\n", 0, 1},
		"a password of basic authentication": {"Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("app:kqW7vN2xLp9R")) + "\n", 0, 1},
	} {
		f := File{Path: "deploy/settings", Text: c.text}
		secretsIn := func(found []finding.Finding) (n int) {
			for _, f := range found {
				if f.Rule == secretRule {
					n++
				}
			}
			return n
		}
		if precise, all := secretsIn(security(t, high, f).Findings), secretsIn(security(t, Config{}, f).Findings); precise != c.high || all != c.medium {
			t.Errorf("%s: %d of high precision and %d by default, want %d and %d", name, precise, all, c.high, c.medium)
		}
	}
}

// TestPlacesOfSecrets asserts that a key in an issuer's form has high precision in code, and medium
// precision where people invent such keys. A private key has high precision, unless it is in a copied
// library or its content contradicts its title.
func TestPlacesOfSecrets(t *testing.T) {
	token := "t = '" + credential() + "'\n"
	key := testKey(t)
	for name, c := range map[string]struct {
		file File
		high int
	}{
		"a token in code":                    {File{Path: "lib/a.py", Text: token}, 1},
		"a token in a test":                  {File{Path: "tests/test_a.py", Text: token}, 0},
		"a token in an example":              {File{Path: "examples/a.py", Text: token}, 0},
		"a token in a comment":               {File{Path: "lib/a.py", Text: "# " + token}, 0},
		"a private key":                      {File{Path: "deploy/a.pem", Text: key}, 1},
		"a private key in a test":            {File{Path: "tests/a.pem", Text: key}, 1},
		"a private key of a copied library":  {File{Path: "vendor/a/a.pem", Text: key, Vendored: true}, 0},
		"a token in a manual":                {File{Path: "docs/html/a.txt", Text: token}, 0},
		"a private key in lines of code":     {File{Path: "a.js", Text: "k = " + strings.ReplaceAll("'"+strings.ReplaceAll(key, "\n", "\\n' +\n'")+"';\n", "'' +\n", "")}, 1},
		"a private key that is cut":          {File{Path: "a.pem", Text: strings.Replace(key, "MC4CAQAwBQYDK2VwBCIEI", "MIIEvQIBADANBgkqhkiG9", 1)}, 0},
		"a certificate called a private key": {File{Path: "a_test.go", Text: strings.ReplaceAll(testCertificate(t), "CERTIFICATE", "RSA PRIVATE KEY")}, 0},
	} {
		for _, least := range []Config{{}, high} {
			want := 1
			if least.MinPrecision != "" {
				want = c.high
			}
			if found := security(t, least, c.file).Findings; len(found) != want {
				t.Errorf("%s, at least %q: %d secrets, want %d", name, least.MinPrecision, len(found), want)
			}
		}
	}
}

// testKey returns a private key that nobody uses.
func testKey(t *testing.T) string {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// testCertificate returns a certificate that nobody uses.
func testCertificate(t *testing.T) string {
	t.Helper()
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(nil, template, template, public, key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// TestPrecisionOfFocus asserts that a focus on a test has high precision where the file shows a test
// that does not run, and medium precision elsewhere and in Ruby.
func TestPrecisionOfFocus(t *testing.T) {
	for name, c := range map[string]struct {
		path, code string
		high       int
	}{
		"one of two tests":             {"a.test.js", "it.only('a', () => {});\nit('b', () => {});\n", 1},
		"the only test":                {"a.test.js", "describe('a', () => {\n  it.only('b', () => {});\n});\n", 0},
		"each test":                    {"a.test.js", "it.only('a', () => {});\nit.only('b', () => {});\n", 0},
		"the only group":               {"a.test.js", "describe.only('a', () => {\n  it('b', () => {});\n});\n", 0},
		"one of two groups":            {"a.test.js", "describe.only('a', () => {\n  it('b', () => {});\n});\ndescribe('c', () => {\n  it('d', () => {});\n});\n", 1},
		"one of two tests in Ruby":     {"spec/a_spec.rb", "it 'a', :focus do\n  f\nend\nit 'b' do\n  f\nend\n", 0},
		"one of two tests with Ginkgo": {"a_test.go", "var _ = Describe(\"a\", func() {\n\tFIt(\"b\", f)\n\tIt(\"c\", f)\n})\n", 1},
	} {
		for _, least := range []Config{{}, high} {
			found := 0
			for _, f := range codeReview(t, least, File{Path: c.path, Text: c.code}).Findings {
				if f.Rule == "focused-test" {
					found++
				}
			}
			if least.MinPrecision == "" && found == 0 || least.MinPrecision != "" && found != c.high {
				t.Errorf("%s, at least %q: %d findings, want %d at high precision and some by default", name, least.MinPrecision, found, c.high)
			}
		}
	}
}

// TestPrecisionOfExpressions asserts that a stranger's text in a script has high precision if the text
// comes with an event that strangers cause and that gives the run rights, and medium precision
// otherwise.
func TestPrecisionOfExpressions(t *testing.T) {
	for name, c := range map[string]struct {
		on, expression string
		high           int
	}{
		"a comment":                         {"issue_comment", "github.event.comment.body", 1},
		"a comment in a list of events":     {"[push, issue_comment]", "github.event.comment.body", 1},
		"a comment in an object of events":  {"{issue_comment: {types: [created]}}", "github.event.comment.body", 1},
		"a comment without its event":       {"[push, pull_request]", "github.event.comment.body", 0},
		"a branch of a request with rights": {"pull_request_target", "github.head_ref", 1},
		"a branch of a request":             {"pull_request", "github.head_ref", 0},
		"a message of a commit":             {"push", "github.event.head_commit.message", 0},
	} {
		flow := "on: " + c.on + "\njobs:\n  a:\n    steps:\n    - run: echo ${{ " + c.expression + " }}\n"
		f := File{Path: ".github/workflows/a.yml", Text: flow}
		if found := security(t, Config{}, f).Findings; len(found) != 1 {
			t.Errorf("%s: %+v", name, found)
		}
		if found := security(t, high, f).Findings; len(found) != c.high {
			t.Errorf("%s, at least high: %+v", name, found)
		}
	}
}

// TestRulesHaveThePrecisionOfTheirForms asserts that the precision of a rule, which code scanning
// shows, is that of the forms that are used.
func TestRulesHaveThePrecisionOfTheirForms(t *testing.T) {
	for name, c := range map[string]struct {
		config Config
		want   map[string]finding.Precision // "" for a rule that is not used
	}{
		"default": {Config{}, map[string]finding.Precision{"go/sql-injection": finding.PrecisionMedium, "debug-output": finding.PrecisionMedium, "print-call": ""}},
		"high":    {high, map[string]finding.Precision{"go/sql-injection": finding.PrecisionHigh, "debug-output": "", "print-call": ""}},
		"low":     {Config{MinPrecision: finding.PrecisionLow}, map[string]finding.Precision{"print-call": finding.PrecisionLow}},
		"named":   {Config{MinPrecision: finding.PrecisionHigh, On: []string{"go/sql-injection", "print-call"}}, map[string]finding.Precision{"go/sql-injection": finding.PrecisionMedium, "print-call": finding.PrecisionLow}},
	} {
		r := newReviewer(t, c.config)
		for id, want := range c.want {
			var got finding.Precision
			for _, rule := range r.Rules() {
				if rule.ID == id {
					got = rule.Precision
				}
			}
			if got != want {
				t.Errorf("%s: %s has precision %q, want %q", name, id, got, want)
			}
		}
	}
}

// TestNewRefusesAnUnknownPrecision asserts that a mistyped precision is an error and not the
// default.
func TestNewRefusesAnUnknownPrecision(t *testing.T) {
	if _, err := New(Config{MinPrecision: "all"}, secrets.New(nil)); err == nil {
		t.Error("no error")
	}
}

// TestWhatIsFoundByDefault asserts that the vulnerabilities of spec 000's examples are found. It
// also asserts that a query in each language, and a command in each but TypeScript, is found if it
// has a parameter, although no request is seen to send it.
func TestWhatIsFoundByDefault(t *testing.T) {
	for name, c := range map[string]struct {
		path, code string
		severity   finding.Severity
	}{
		"user input concatenated into a query": {"src/database.ts", "export async function find(req: Request) {\n  return db.query(`SELECT * FROM users WHERE name = '${req.query.name}'`);\n}\n", finding.Critical},
		"a key in the code":                    {"src/config.ts", "export const apiKey = 'sk_live" + "_4eC39HqLyjWDarjtT1zdp7dcAb93jQ';\n", finding.Critical},
		"a query in TypeScript":                {"src/database.ts", "export function find(name: string) {\n  return db.query(\"SELECT * FROM users WHERE name = '\" + name + \"'\");\n}\n", finding.High},
		"a query in JavaScript":                {"src/database.js", "exports.find = (name) => db.query(`SELECT * FROM users WHERE name = '${name}'`);\n", finding.High},
		"a query in Python":                    {"app/users.py", "def find(cursor, name):\n    cursor.execute(f\"SELECT * FROM users WHERE name = '{name}'\")\n", finding.High},
		"a query in Go":                        {"users.go", "package users\n\nfunc find(db *sql.DB, name string) {\n\tdb.Query(\"SELECT * FROM users WHERE name = '\" + name + \"'\")\n}\n", finding.High},
		"a query in Java":                      {"src/Users.java", "class Users {\n  void find(Statement s, String name) throws Exception {\n    s.executeQuery(\"SELECT * FROM users WHERE name = '\" + name + \"'\");\n  }\n}\n", finding.High},
		"a query in Ruby":                      {"app/models/user.rb", "def self.find_by(name)\n  where(\"name = '#{name}'\")\nend\n", finding.High},
		"a query in Rust":                      {"src/users.rs", "fn find(conn: &Connection, name: &str) {\n    conn.execute(&format!(\"SELECT * FROM users WHERE name = '{}'\", name), []);\n}\n", finding.High},
		"a command in JavaScript":              {"src/ping.js", "const { exec } = require('child_process');\nexports.ping = (host) => exec('ping ' + host);\n", finding.High},
		"a command in Python":                  {"app/ping.py", "import os\ndef ping(host):\n    os.system('ping ' + host)\n", finding.High},
		"a command in Go":                      {"ping.go", "package ping\n\nfunc ping(host string) {\n\texec.Command(\"sh\", \"-c\", \"ping \"+host).Run()\n}\n", finding.High},
		"a command in Java":                    {"src/Ping.java", "class Ping {\n  void ping(String host) throws Exception {\n    Runtime.getRuntime().exec(\"ping \" + host);\n  }\n}\n", finding.High},
		"a command in Ruby":                    {"app/ping.rb", "def ping(host)\n  system(\"ping #{host}\")\nend\n", finding.High},
		"a command in Rust":                    {"src/ping.rs", "fn ping(host: &str) {\n    Command::new(\"sh\").arg(\"-c\").arg(format!(\"ping {}\", host)).spawn();\n}\n", finding.High},
	} {
		found := security(t, Config{}, File{Path: c.path, Text: c.code}).Findings
		if len(found) != 1 || found[0].Severity.Rank() < c.severity.Rank() {
			t.Errorf("%s: %+v, want one of severity %s or more", name, found, c.severity)
		}
	}
}
