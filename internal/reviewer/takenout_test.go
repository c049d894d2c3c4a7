package reviewer

import (
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/changes"
)

// replaced returns a file whose text was base and is replaced, from its first line to its last, by
// head. If head is "", the file is deleted.
func replaced(path, base, head string) File {
	prefixed := func(sign, text string) (lines string, n int) {
		for line := range strings.Lines(text) {
			lines += sign + line
			n++
		}
		return lines, n
	}
	minus, old := prefixed("-", base)
	plus, now := prefixed("+", head)
	return File{Path: path, Text: head, Deleted: head == "", Changed: []changes.Span{{First: 1, Last: max(now, 1)}},
		Patch: fmt.Sprintf("@@ -1,%d +%d,%d @@\n%s%s", old, min(now, 1), now, minus, plus)}
}

func takenOut(t *testing.T, files ...File) string {
	t.Helper()
	var got []string
	for _, s := range security(t, Config{}, files...).Silences {
		if s.TakesOut {
			got = append(got, fmt.Sprintf("%s:%d %s (%s)", s.Path, s.Line, s.Text, s.Tool))
		}
	}
	return strings.Join(got, "\n")
}

// TestWeakenedConfigurationIsListed asserts that settings which a change takes out of a tool's
// configuration, or weakens there, are listed, and that settings which it moves, tightens or adds
// are not.
func TestWeakenedConfigurationIsListed(t *testing.T) {
	for _, c := range []struct{ path, base, head, want string }{
		{"tsconfig.json", "{\n  \"compilerOptions\": {\n    \"target\": \"es2019\",\n    \"strict\": true\n  }\n}\n", "{\n  \"compilerOptions\": {\n    \"target\": \"es2022\"\n  }\n}\n",
			"tsconfig.json:1 \"strict\": true (TypeScript)"},
		{".golangci.yml", "linters:\n  enable:\n    - errcheck\n    - gosec\n", "linters:\n  enable:\n    - gosec\n", ".golangci.yml:1 - errcheck (golangci-lint)"},
		{".golangci.yml", "linters:\n  enable:\n    - errcheck\n    - gosec\n", "linters:\n  enable:\n  - gosec\n  - errcheck\n  - bodyclose\n", ""},
		{".golangci.yml", "linters:\n  disable:\n    - errcheck\n", "linters:\n  enable:\n    - gosec\n", ""},
		// What is switched off, such as eqeqeq, is a silence of its own, without TakesOut.
		{".eslintrc.json", "{\n  \"rules\": {\n    \"no-eval\": \"error\",\n    \"semi\": \"warn\",\n    \"eqeqeq\": 2\n  }\n}\n", "{\n  \"rules\": {\n    \"no-eval\": \"warn\",\n    \"semi\": \"error\",\n    \"eqeqeq\": \"off\"\n  }\n}\n",
			".eslintrc.json:1 \"no-eval\": \"error\", now \"no-eval\": \"warn\", (ESLint)"},
		{"eslint.config.js", "import js from '@eslint/js';\nexport default [\n  js.configs.recommended,\n];\n", "export default [\n];\n", "eslint.config.js:1 js.configs.recommended, (ESLint)"},
		{".rubocop.yml", "require:\n  - rubocop-rspec\nMetrics/MethodLength:\n  Max: 10\nLayout/LineLength:\n  Max: 120\n", "Metrics/MethodLength:\n  Max: 50\nLayout/LineLength:\n  Max: 100\n",
			".rubocop.yml:1 - rubocop-rspec (RuboCop)\n.rubocop.yml:1 Max: 10, now Max: 50 (RuboCop)"},
		{"pyproject.toml", "[project]\nversion = \"1\"\n[tool.ruff.lint]\nselect = [\"E\", \"S\"]\nextend-select = [\"B\"]\n[tool.coverage.report]\nfail_under = 90\n", "[project]\nversion = \"2\"\n[tool.ruff.lint]\nselect = [\"E\"]\nextend-select = [\"B\", \"C\"]\n[tool.coverage.report]\nfail_under = 80\n",
			"pyproject.toml:1 select = [\"E\", \"S\"], now select = [\"E\"] (a linter of Python)\npyproject.toml:1 fail_under = 90, now fail_under = 80 (a linter of Python)"},
		{"pyproject.toml", "[tool.coverage.report]\nfail_under = 80\n", "[tool.coverage.report]\nfail_under = 90\n", ""},
		{".pylintrc", "[DESIGN]\nmax-branches=12\nmax-statements=50\n", "[DESIGN]\nmax-branches=100\nmax-statements=40\n", ".pylintrc:1 max-branches=12, now max-branches=100 (a linter of Python)"},
		{"package.json", "{\n  \"version\": \"1\",\n  \"scripts\": {\n    \"test\": \"jest\",\n    \"start\": \"node .\"\n  },\n  \"dependencies\": {\n    \"a\": \"1\"\n  }\n}\n", "{\n  \"version\": \"2\",\n  \"scripts\": {\n    \"test\": \"true\",\n    \"start\": \"node a\"\n  }\n}\n",
			"package.json:1 \"test\": \"jest\", now \"test\": \"true\", (a tool of JavaScript)"},
		{"Makefile", "test: build\n\tgo test ./...\nclean:\n\trm -r out\n", "test: build\n\ttrue\nclean:\n\trm -rf out\n", "Makefile:1 go test ./... (a task that checks)"},
		{".nycrc", "{\n  \"lines\": 90\n}\n", "{\n  \"lines\": 10\n}\n", ".nycrc:1 \"lines\": 90, now \"lines\": 10 (the tests' coverage)"},
		{".github/workflows/ci.yml", "jobs:\n  a:\n    steps:\n      - uses: actions/checkout@v4\n      - run: npm test\n", "jobs:\n  a:\n    steps:\n      - uses: actions/checkout@v5\n", ".github/workflows/ci.yml:1 - run: npm test (the workflow of CI)"},
		{"pom.xml", "<plugin>\n<artifactId>maven-checkstyle-plugin</artifactId>\n</plugin>\n<version>1</version>\n", "<version>2</version>\n", "pom.xml:1 <artifactId>maven-checkstyle-plugin</artifactId> (a tool of Java)"},
		{"Cargo.toml", "[package]\nname = \"a\"\n[lints.rust]\nunsafe_code = \"forbid\"\n", "[package]\nname = \"b\"\n", "Cargo.toml:1 unsafe_code = \"forbid\" (Clippy)"},
		{".eslintignore", "dist\n", "", ""},
		{".flake8", "[flake8]\nmax-line-length = 80\n", "", ".flake8:0 the file, with 1 setting (a linter of Python)"},
		{"package.json", "{\n  \"name\": \"a\"\n}\n", "", ""},
		{"a.txt", "test: true\n", "nothing\n", ""},
	} {
		if diff := gocmp.Diff(c.want, takenOut(t, replaced(c.path, c.base, c.head))); diff != "" {
			t.Errorf("%s\n%s(-want +got):\n%s", c.path, c.head, diff)
		}
	}
}

// TestBoundsThatAreLoosened asserts that a change of a number is listed unless the new one certainly
// asks for as much: a lower one where it is the most that passes, a higher one where it is the least.
func TestBoundsThatAreLoosened(t *testing.T) {
	for _, c := range []struct {
		path, config   string // {} stands for the number
		stricter, less string // "" where no number is certainly stricter
	}{
		{".golangci.yml", "linters-settings:\n  gocyclo:\n    min-complexity: {}\n", "10", "50"},
		{".golangci.yml", "linters:\n  settings:\n    dupl:\n      threshold: {}\n", "10", "1000"},
		{".golangci.yml", "linters:\n  settings:\n    funlen:\n      lines: {}\n", "10", "600"},
		{".golangci.yml", "linters:\n  settings:\n    funlen:\n      statements: {}\n", "10", "-1"},
		{".golangci.yml", "linters:\n  settings:\n    lll:\n      line-length: {}\n", "10", "600"},
		{".golangci.yml", "linters:\n  settings:\n    goconst:\n      min-len: {}\n", "", "50"},
		{".golangci.yml", "linters:\n  settings:\n    varnamelen:\n      min-name-length: {}\n", "", "2"},
		{".golangci.yml", "issues:\n  max-same-issues: {}\n", "", "3"},
		{".golangci.toml", "[linters.settings.cyclop]\nmax-complexity = {}\n", "10", "50"},
		{"clippy.toml", "cognitive-complexity-threshold = {}\n", "10", "50"},
		{"clippy.toml", "too-many-lines-threshold = {}\n", "", "500"},
		{".flake8", "[flake8]\nmax-complexity = {}\n", "10", "0"},
		{".pylintrc", "[SIMILARITIES]\nmin-similarity-lines={}\n", "", "500"},
		{".pylintrc", "[DESIGN]\nmax-statements={}\n", "10", "500"},
		{".rubocop.yml", "Style/NumericLiterals:\n  MinDigits: {}\n", "", "50"},
		{"detekt.yml", "complexity:\n  LongMethod:\n    threshold: {}\n", "", "500"},
		{"codecov.yml", "coverage:\n  status:\n    project:\n      default:\n        threshold: {}%\n", "", "30"},
		{".nycrc", "{\n  \"branches\": {}\n}\n", "30", "10"},
		{"jest.config.js", "module.exports = {\n  coverageThreshold: {\n    global: {\n      lines: {},\n    },\n  },\n};\n", "30", "10"},
		{"pyproject.toml", "[tool.coverage.report]\nfail_under = {}\n", "30", "10"},
		{"setup.cfg", "[coverage:report]\nfail_under = {}\n", "30", "10"},
		{"vitest.config.ts", "  coverage: { lines: {}, branches: 10 },\n", "", "30"},
	} {
		with := func(number string) string { return strings.ReplaceAll(c.config, "{}", number) }
		if c.stricter != "" {
			if got := takenOut(t, replaced(c.path, with("20"), with(c.stricter))); got != "" {
				t.Errorf("%s, from 20 to %s: %s", c.config, c.stricter, got)
			}
		}
		if got := takenOut(t, replaced(c.path, with("20"), with(c.less))); !strings.Contains(got, ", now ") {
			t.Errorf("%s, from 20 to %s: %q", c.config, c.less, got)
		}
	}
}

// TestBoundsWithAnotherMeaning asserts that a least share of coverage that replaces a number below 0 is
// listed: to Jest and Vitest, that number is how many lines may be left uncovered.
func TestBoundsWithAnotherMeaning(t *testing.T) {
	config := "module.exports = {\n  coverageThreshold: {\n    global: {\n      lines: -10,\n    },\n  },\n};\n"
	for number, isListed := range map[string]bool{"-5": false, "5": true, "-50": true} {
		got := takenOut(t, replaced("jest.config.js", config, strings.Replace(config, "-10", number, 1)))
		if strings.Contains(got, ", now ") != isListed {
			t.Errorf("from -10 to %s: %q", number, got)
		}
	}
}

// TestConfigurationThatIsRenamed asserts that a configuration counts as gone under a name that its
// tool does not read.
func TestConfigurationThatIsRenamed(t *testing.T) {
	for name, want := range map[string]string{
		".golangci.bak":     ".golangci.yml:0 the file, with 1 setting (golangci-lint)",
		".golangci.yaml":    "",
		"old/.golangci.yml": ".golangci.yml:0 the file, with 1 setting (golangci-lint)",
	} {
		f := File{Path: name, Previous: ".golangci.yml", Text: "linters:\n  enable:\n    - gosec\n", Changed: []changes.Span{}}
		if got := takenOut(t, f); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestMuchThatIsTakenOut asserts that the rest of a long list is counted.
func TestMuchThatIsTakenOut(t *testing.T) {
	base := "linters:\n  enable:\n"
	for i := range 30 {
		base += fmt.Sprintf("    - linter%d\n", i)
	}
	got := strings.Split(takenOut(t, replaced(".golangci.yml", base, "linters:\n  enable:\n")), "\n")
	if len(got) != mostTakenOut+1 || got[mostTakenOut] != ".golangci.yml:1 22 lines more (golangci-lint)" {
		t.Errorf("%q", got)
	}
}

// TestTestsThatAreTakenOut asserts that a test is listed if a change deletes it, or moves it where
// no runner looks. It is not listed if the change moves it elsewhere, changes it or adds it.
func TestTestsThatAreTakenOut(t *testing.T) {
	for name, c := range map[string]struct {
		files []File
		want  string
	}{
		// In JavaScript, the name of a test.each is in a second pair of brackets, and is not looked for.
		"JavaScript":     {[]File{replaced("a.test.ts", "it('adds', f)\ntest.each([1])('x', f)\ndescribe('y', () => {\n  it(\"takes\", f)\n})\n", "it('adds', g)\n")}, "a.test.ts:1 1 test: takes (the test runner)"},
		"Go":             {[]File{replaced("a_test.go", "package a\n\nfunc TestA(t *testing.T) {}\n\nfunc TestB(t *testing.T) {}\n", "package a\n\nfunc TestB(t *testing.T) { t.Log() }\n")}, "a_test.go:1 1 test: TestA (the test runner)"},
		"moved":          {[]File{replaced("a_test.go", "package a\n\nfunc TestA(t *testing.T) {}\n", "package a\n"), replaced("b_test.go", "package a\n", "package a\n\nfunc TestA(t *testing.T) {}\n")}, ""},
		"a file":         {[]File{replaced("tests/test_a.py", "def test_a():\n    pass\n\nclass T:\n    async def test_b(self):\n        pass\n", "")}, "tests/test_a.py:0 2 tests: test_a, test_b (the test runner)"},
		"Ruby":           {[]File{replaced("a_spec.rb", "it 'adds' do\nend\nit \"takes\" do\nend\n", "it 'adds' do\nend\n")}, "a_spec.rb:1 1 test: takes (the test runner)"},
		"Java":           {[]File{replaced("ATest.java", "class ATest {\n  @Test\n  public void adds() {}\n  @Test(timeout = 1) void takes() {}\n}\n", "class ATest {\n  @Test\n  void adds() {}\n}\n")}, "ATest.java:1 1 test: takes (the test runner)"},
		"Rust":           {[]File{replaced("src/a.rs", "#[test]\nfn adds() {}\n#[tokio::test]\n#[ignore]\nasync fn takes() {}\n", "#[test]\nfn adds() {}\n")}, "src/a.rs:1 1 test: takes (the test runner)"},
		"renamed":        {[]File{{Path: "a_test.go.old", Previous: "a_test.go", Text: "package a\n\nfunc TestA(t *testing.T) {}\n", Changed: []changes.Span{}}}, "a_test.go.old:3 1 test: TestA (the test runner)"},
		"another name":   {[]File{{Path: "a_test.go", Text: "package a\n\nfunc TestB(t *testing.T) {\n\tf()\n}\n", Changed: []changes.Span{{First: 3, Last: 3}}, Patch: "@@ -3 +3 @@\n-func TestA(t *testing.T) {\n+func TestB(t *testing.T) {\n"}}, ""},
		"replaced":       {[]File{{Path: "a_test.go", Text: "package a\n\nfunc TestB(t *testing.T) {\n}\n", Changed: []changes.Span{{First: 3, Last: 3}}, Patch: "@@ -3,2 +3 @@\n-func TestA(t *testing.T) {\n-\tf()\n+func TestB(t *testing.T) {\n"}}, "a_test.go:3 1 test: TestA (the test runner)"},
		"with sources":   {[]File{replaced("ATest.java", "class ATest {\n  @ParameterizedTest\n  @EnumSource(A.class)\n  @Disabled\n  void takes(A a) {}\n}\n", "class ATest {\n}\n")}, "ATest.java:1 1 test: takes (the test runner)"},
		"moved away":     {[]File{{Path: "_old/a_test.go", Previous: "a_test.go", Text: "package a\n\nfunc TestA(t *testing.T) {}\n", Changed: []changes.Span{}}}, "_old/a_test.go:3 1 test: TestA (the test runner)"},
		"to a directory": {[]File{{Path: "src/__tests__/a.test.js", Previous: "test/a.test.js", Text: "it('a', f)\n", Changed: []changes.Span{}}}, ""},
		"same name":      {[]File{replaced("a.test.js", "it('a', f)\nit('a', g)\n", "it('a', f)\n")}, "a.test.js:1 1 test: a (the test runner)"},
		"a program":      {[]File{replaced("a.go", "package a\n\nfunc TestA(t T) {}\n", "package a\n")}, ""},
		"vendored":       {[]File{{Path: "vendor/a_test.go", Deleted: true, Vendored: true, Patch: "@@ -1 +0,0 @@\n-func TestA(t *testing.T) {}\n"}}, ""},
	} {
		if diff := gocmp.Diff(c.want, takenOut(t, c.files...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestBaseOfAFile asserts that the text before the change is found from the patch and the lines
// around its hunks, and that a patch which is cut off gives none.
func TestBaseOfAFile(t *testing.T) {
	f := File{Text: "a\nb\nC\nd\ne\nF\ng\n", Patch: "@@ -2,3 +2,2 @@ x\n b\n-c\n-c2\n+C\n@@ -7 +6 @@\n-f\n+F\n"}
	base, lines, ok := f.base()
	var now []int
	for _, l := range lines {
		now = append(now, l.now)
	}
	if base != "a\nb\nc\nc2\nd\ne\nf\ng\n" || fmt.Sprint(now) != "[1 2 3 3 4 5 6 7]" || !ok {
		t.Errorf("%q, %v, %v", base, lines, ok)
	}
	f.Patch = f.Patch[:len(f.Patch)-3]
	if _, _, ok := f.base(); ok {
		t.Error("a patch that is cut off gives a base")
	}
}
