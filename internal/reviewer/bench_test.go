package reviewer

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/finding"
)

// hostile are texts of any size that are hard for a scanner or an evaluator.
var hostile = map[string]struct{ path, begin, repeat string }{
	"brackets":       {"a.js", "", "("},
	"mixed":          {"a.js", "", "([{"},
	"closing":        {"a.js", strings.Repeat("(", 1000), "}"},
	"templates":      {"a.js", "", "`${"},
	"f-strings":      {"a.py", "", "f\"{"},
	"lines":          {"a.py", strings.Repeat("(", 1000), "f\"{\n"},
	"calls":          {"a.js", "", "eval("},
	"queries":        {"a.js", "", "db.query(\"select a from b\"+"},
	"formats":        {"a.go", "", "fmt.Sprintf(\"%s\","},
	"assignments":    {"a.js", "", "a="},
	"growing":        {"a.js", "", "a+=a+'x';"},
	"sums":           {"a.js", "x=", "a+"},
	"choices":        {"a.js", "x=", "a?b:"},
	"python ifs":     {"a.py", "x=", "a if b else "},
	"dots":           {"a.js", "", "a."},
	"functions":      {"a.js", "", "function f(){"},
	"defs":           {"a.py", "", "def f(a):\n"},
	"arguments":      {"a.js", "eval(", "a,"},
	"heredocs":       {"a.rb", "", "<<~A\n"},
	"slashes":        {"a.js", "", "/"},
	"commands":       {"a.rb", "", "system a,"},
	"backticks":      {"a.rb", "", "`#{"},
	"percents":       {"a.rb", "", "x = %w[a %(b #{"},
	"marked safe":    {"a.rb", "", "(a).html_safe."},
	"growing text":   {"a.rb", "a = 'b'\n", "a.concat(a);"},
	"addresses":      {"a.js", "", "'://a1:"},
	"at signs":       {"a.js", "", "://a1:b1@"},
	"drivers":        {"a.js", "", "'a1@tcp("},
	"passwords":      {"a.js", "", "password='a1!',"},
	"lifetimes":      {"a.rs", "", "'a "},
	"quotes":         {"a.rs", "", "r#\""},
	"comments":       {"a.rs", "", "/*"},
	"statements":     {"a.js", "", "CREATE USER a PASSWORD 'Zebra+17' "},
	"switches":       {"a.js", "", "switch(a){case'b':"},
	"many cases":     {"a.js", "switch(a){", "case 'b':c;\n"},
	"cases":          {"a.rb", "", "x = case a\nwhen 'b' then "},
	"conditions":     {"a.js", "", "if(!a.has(b)){"},
	"ignores":        {"a.js", "", "/* airlock:ignore code-injection a reason */ eval(x);\n"},
	"findings":       {"a.js", "", "eval(x);\n"},
	"hashes":         {"a.py", "", "md5(password)\n"},
	"hash functions": {"a.py", "", "def f(a): return md5(password)\n"},
	"deep functions": {"a.js", "", "function f(){p=path.join(base,req.params.file);\n"},
	"paths":          {"a.js", "", "p=path.join(base,req.params.file);\n"},
	"settings":       {"a.js", "", "x({rejectUnauthorized:false});\n"},
	"nested blocks":  {"a.js", "", "if(a){x({rejectUnauthorized:false});\n"},
	"long heads":     {"a.js", "if(" + strings.Repeat("a,", 5000), "a){x({rejectUnauthorized:false})},\n"},
	"deep heads":     {"a.js", "function f(){" + strings.Repeat("if("+strings.Repeat("ab+", 120)+"c){", 50), "x({rejectUnauthorized:false});\n"},
	"typed":          {"a.js", "", "let a:b<c,"},
	"object chains":  {"a.js", "", "a({b:"},
	"lists":          {"a.js", "a=[];\n", "a.push('x'+a.join(' '));"},
	"aliases":        {"a.js", "", "const a=require('vm');"},
	"promises":       {"a.js", "a=", "promisify("},
	"imports":        {"a.js", "import ", "a,from 'vm';"},
	"types":          {"a.ts", "", "f():a<b,c|d[]{"},
	"marks":          {"a.rs", "", "#[ignore]\n"},
	"notes":          {"a.js", "", "// TODO\n"},
	"tries":          {"a.js", "", "try{a}catch{}return\n"},
	"endings":        {"a.js", "", "try{a.close()}catch{}"},
	"casts":          {"a.js", "try{", "(a).b("},
	"blocks":         {"a.js", strings.Repeat("try{", 5000), "}catch{}return;"},
	"classes":        {"a.js", "", "/["},
	"more classes":   {"a.rb", "", "[/"},
	"escapes":        {"a.rb", "", `\/`},
	"one line":       {"a.js", "", "eval(x);"},
	"indented":       {"a.js", strings.Repeat(" ", 10_000), "'https://a:Zebra17@h/' "},
	"handlers":       {"a.js", "try{a}", "catch(e){}"},
	"deep bodies":    {"a.js", "", "function f(){a;"},
	"attributes":     {"a.rs", "", "#[allow("},
	"directives":     {"a.js", "</a>", "//noqa\n"},
	"skips":          {"a.test.js", "/*" + strings.Repeat(" a", 5000) + " */\n", "it.skip('a');/**/"},
	"test modules":   {"a.rs", "", "#[cfg(test)]mod t{}let x=format!(\"select {}\",a);"},
	"defaults":       {"a.js", strings.Repeat("switch(a){default:b;", 1000), "}"},
	"tables":         {"a.js", "a=[1];a", ".a"},
	"prefixes":       {"a.js", "", "a='x'+a;"},
	"nested lists":   {"a.py", "", "a=[a];"},
	"constants":      {"a.py", "", "eval(a.BB+b.value);A.value;"},
	"debug output":   {"a.py", "", "ic(a);"},
	"packages":       {"a.go", "x=a.B;" + strings.Repeat("import(", 2000), ")"},
	"receivers":      {"a.go", "", "func f(r T){db.Query(\"a\"+r.x.y)\n"},
	"parameters":     {"A.java", "", "void f(a){x.executeQuery(\"a\"+b.c(d));"},
	"given":          {"a.js", "", "function f(a){eval('x'+a.b);"},
	"long names":     {"a.js", "function " + strings.Repeat("a", 10_000) + "(){", "eval(x);"},
	"long constants": {"a.js", "a=" + strings.Repeat("A", 10_000) + ";", "eval('x'+a+b);"},
}

// hostileText returns a file with a hostile text of n bytes.
func hostileText(name string, n int) File {
	h := hostile[name]
	t := h.begin + strings.Repeat(h.repeat, n/len(h.repeat)+1)
	return File{Path: h.path, Text: t[:n]}
}

// reviewHostile does everything that both reviews do with one file, whatever the file looks like, and
// returns its source.
func reviewHostile(tb testing.TB, r *Reviewer, f File) *source {
	s := scan(f.Path, f.Text, languageOf(f.Path))
	s.outsideTests(matchPack(s, packFor(tb, f.Path), func(*Rule, finding.Precision) bool { return true }))
	r.credentials(f, s)
	r.silencers.silences(&f, s)
	r.code(f)
	return s
}

func BenchmarkHostile(b *testing.B) {
	r := newReviewer(b, Config{})
	for name := range hostile {
		for _, n := range []int{100_000, 400_000} {
			f := hostileText(name, n)
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					reviewHostile(b, r, f)
				}
			})
		}
	}
}

// packFor returns the pack for a path.
func packFor(tb testing.TB, path string) *pack {
	built, err := builtIn()
	if err != nil {
		tb.Fatal(err)
	}
	return built.packs[languageOf(path).name]
}

// TestPartsOfAFileAreReadOnce checks that what is around calls is not read again for each call.
func TestPartsOfAFileAreReadOnce(t *testing.T) {
	for _, name := range []string{"hashes", "hash functions", "deep functions", "paths"} {
		f := hostileText(name, 60_000)
		p := packFor(t, f.Path)
		s := scan(f.Path, f.Text, languageOf(f.Path))
		m := newMatcher(s, p, func(*Rule, finding.Precision) bool { return true })
		nowhere, bytes := regexp.MustCompile("nowhere"), 0
		for i := range s.tokens {
			m.visit(i)
			m.aroundHas(nowhere, i, func(from, to int) string {
				bytes += to - from
				return m.sourceBetween(from, to)
			})
		}
		if calls := strings.Count(f.Text, "\n"); len(m.found) < calls {
			t.Errorf("%s: %d findings in %d calls", name, len(m.found), calls)
		}
		if bytes > 10*len(f.Text) {
			t.Errorf("%s: %d bytes of a file of %d are read for an expression", name, bytes, len(f.Text))
		}
		if len(m.readings) <= len(f.Text)/partLength+1 {
			t.Errorf("%s: nothing around a call was read", name)
		}
	}
}

// TestHeadsOfBlocksAreReadOnce checks that the heads of the blocks around calls are not read again for
// each call.
func TestHeadsOfBlocksAreReadOnce(t *testing.T) {
	f := hostileText("deep heads", 60_000)
	s := scan(f.Path, f.Text, languageOf(f.Path))
	m := newMatcher(s, packFor(t, f.Path), func(*Rule, finding.Precision) bool { return true })
	for i := range s.tokens {
		m.visit(i)
	}
	calls := strings.Count(f.Text, "\n")
	if len(m.found) < calls {
		t.Errorf("%d findings in %d calls", len(m.found), calls)
	}
	if most := 50 + calls + 1; len(m.heads) < 50 || len(m.heads) > most { // the blocks, and the object of each call
		t.Errorf("%d heads were read, want at most %d", len(m.heads), most)
	}
}

// TestHostileTextsEnd checks that a hostile text is scanned into ordered tokens and reviewed.
func TestHostileTextsEnd(t *testing.T) {
	r := newReviewer(t, Config{})
	for name := range hostile {
		f := hostileText(name, 25_000) // more than the longest beginning
		s := reviewHostile(t, r, f)
		for i, tok := range s.tokens {
			if tok.end < tok.start || tok.from > tok.to || int(tok.end) > len(f.Text) || i > 0 && tok.start < s.tokens[i-1].end {
				t.Fatalf("%s: token %d is %+v", name, i, tok)
			}
		}
		if _, err := r.Security(t.Context(), []File{f}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// BenchmarkHostileSilences measures files in unknown languages, in whose lines much may be a comment.
func BenchmarkHostileSilences(b *testing.B) {
	table, err := silencers()
	if err != nil {
		b.Fatal(err)
	}
	for name, repeat := range map[string]string{"signs": " #", "slashes": " //", "comments": "a/*", "directives": " # noqa", "words": " # NOSONAR", "rules": " ; eslint a:"} {
		line := "off" + strings.Repeat(repeat, (longestLine-10)/len(repeat)) + "\n"
		f := File{Path: "a.unknown", Text: strings.Repeat(line, 100)}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(f.Text)))
			for b.Loop() {
				table.silences(&f, nil)
			}
		})
	}
}

// BenchmarkHostileTests measures files in which much begins as a test does.
func BenchmarkHostileTests(b *testing.B) {
	for _, c := range []struct{ name, repeat string }{
		{"ATest.java", "@Test(@Test a("}, {"ATest.java", "@Test "}, {"ATest.java", "@Test(a) "},
		{"a.rs", "#[test]"}, {"a.rs", "#[test]#[a"}, {"a_spec.rb", "\nit 'a"}, {"a.test.ts", "\nit.a(\n'"},
		{"a_test.py", "\nasync def test"}, {"a_test.go", "\nfunc TestA("},
	} {
		code := strings.Repeat(c.repeat, 100_000/len(c.repeat))
		b.Run(c.name+"/"+c.repeat, func(b *testing.B) {
			b.SetBytes(int64(len(code)))
			for b.Loop() {
				testsIn(c.name, code)
			}
		})
	}
}

// BenchmarkBothReviews measures both reviews of 1,000 files of Go's own source, about 10 MB together.
// The goal is 3 s on two cores.
func BenchmarkBothReviews(b *testing.B) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	var files []File
	size := 0
	err = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(root)), "src"), func(path string, d os.DirEntry, err error) error {
		if err != nil || len(files) == 1000 || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		if len(text) > 5_000 && len(text) < 20_000 {
			size += len(text)
			files = append(files, File{Path: fmt.Sprintf("%d.go", len(files)), Text: string(text)})
		}
		return err
	})
	if err != nil || len(files) < 1000 {
		b.Fatalf("%d files: %v", len(files), err)
	}
	b.SetBytes(int64(size))
	r := newReviewer(b, Config{})
	for b.Loop() {
		for _, review := range []func() (Result, error){
			func() (Result, error) { return r.Security(b.Context(), files) },
			func() (Result, error) { return r.Code(b.Context(), files) },
		} {
			if _, err := review(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
