//go:build others

package reviewer

import (
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/agent-airlock/airlock/internal/finding"
)

var (
	othersDir  = flag.String("sets", "", "the directory that has the sets that others labelled, as script/recall describes it")
	othersShow = flag.Bool("show", false, "list what is missed and mistaken in the half by which the rules are tuned")
)

// judged is a place in code that others judged.
type judged struct {
	set, language, path, by string // by is the rule or the category of the set
	line, last              int    // the lines where a finding counts; 0 means all of the file
	group                   string
	vulnerable              bool
	held                    bool // it belongs to the half that the rules are not tuned by
}

// groups are the weaknesses that the labels name, by the number of a CWE. Text that runs as a
// command, as code or as a template is one weakness here, though our rules distinguish three.
var groups = map[int]string{
	89: "sql", 564: "sql",
	78: "code", 77: "code", 88: "code", 94: "code", 95: "code", 96: "code", 1336: "code", 917: "code",
	22: "path", 23: "path", 35: "path", 36: "path", 73: "path", 706: "path",
	502: "deserialization", 327: "hash", 328: "hash", 916: "hash", 338: "random", 330: "random",
	295: "tls", 297: "tls", 322: "tls", 79: "xss", 80: "xss", 611: "xxe", 918: "ssrf", 732: "mode", 276: "mode",
}

// heldBack reports whether a file belongs to the half by which the rules are not tuned.
func heldBack(name string) bool {
	h := fnv.New32a()
	h.Write([]byte(name))
	return h.Sum32()>>7&1 == 1
}

// labelledFile is a file with its labels.
type labelledFile struct {
	File
	labels []judged
}

// TestOthersLabels measures the rules by sets that others labelled. With -update it writes the
// numbers, which docs/review-rules.md shows.
func TestOthersLabels(t *testing.T) {
	if *othersDir == "" {
		t.Fatal("-sets is needed: script/recall says which directories it has")
	}
	var files []labelledFile
	for _, read := range []func(*testing.T, string) []labelledFile{semgrepLabels, gosecLabels, banditLabels, benchmarkLabels} {
		files = append(files, read(t, *othersDir)...)
	}
	reviewers := map[finding.Precision]*Reviewer{}
	for _, least := range []finding.Precision{finding.PrecisionMedium, finding.PrecisionHigh} {
		reviewers[least] = newReviewer(t, Config{MinPrecision: least, Tests: true})
	}
	counts := map[othersRow]*othersCount{}
	for _, f := range files {
		found := map[finding.Precision][]finding.Finding{}
		for least, r := range reviewers {
			result, err := r.Security(t.Context(), []File{f.File})
			if err != nil {
				t.Fatal(err)
			}
			found[least] = result.Findings
		}
		for _, l := range f.labels {
			finds := func(least finding.Precision) bool {
				return slices.ContainsFunc(found[least], func(f finding.Finding) bool {
					return (l.line == 0 || f.Range.StartLine >= l.line && f.Range.StartLine <= l.last) && groupOf(reviewers[least].byID[f.Rule]) == l.group
				})
			}
			isFound := finds(finding.PrecisionMedium)
			row := othersRow{l.set, l.language, l.held}
			if counts[row] == nil {
				counts[row] = &othersCount{}
			}
			counts[row].add(l.vulnerable, isFound, finds(finding.PrecisionHigh))
			if *othersShow && !l.held && isFound != l.vulnerable {
				show := "missed"
				if isFound {
					show = "mistaken"
				}
				fmt.Printf("%s %s %s %s %s:%d\t%s\n", show, l.set, l.group, l.by, l.path, l.line, lineOf(f.Text, l.line))
			}
		}
	}
	rows := others{}
	for row, n := range counts {
		rows = append(rows, othersResult{row, *n})
	}
	slices.SortFunc(rows, func(a, b othersResult) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	for _, row := range rows {
		fmt.Println(row.describe())
	}
	if *update {
		raw, err := yaml.Marshal(rows)
		if err == nil {
			err = os.WriteFile(othersFile, append([]byte("# script/recall writes this.\n"), raw...), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// lineOf returns a line of a text, trimmed, by its number from 1; "" if there is no such line.
func lineOf(text string, number int) string {
	lines := strings.Split(text, "\n")
	if number < 1 || number > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[number-1])
}

// groupOf returns the weakness that a rule finds, as the labels name it.
func groupOf(rule *Rule) string {
	if rule != nil {
		for _, cwe := range rule.CWE {
			if g := groups[cwe]; g != "" {
				return g
			}
		}
	}
	return ""
}

var annotation = regexp.MustCompile(`^\s*(?:(?:#|//|<!--|/\*|\{/\*|\*)\s*)+(ruleid|ok|todoruleid|todook|deepruleid|deepok|proruleid|prook)\s*:\s*([\w\-., /:]+)`)

// semgrepLabels reads the tests of semgrep's rules: a comment before a line names the rules that
// must, or must not, find something there.
func semgrepLabels(t *testing.T, dir string) []labelledFile {
	var all []labelledFile
	root := filepath.Join(dir, "semgrep-rules")
	for _, top := range []string{"python", "go", "java", "javascript", "typescript", "ruby", "rust"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".yaml") && !strings.HasSuffix(path, ".yml") || strings.Contains(path, ".test.") {
				return err
			}
			rules := semgrepRules(path)
			if len(rules) == 0 {
				return nil
			}
			matches, _ := filepath.Glob(strings.TrimSuffix(path, filepath.Ext(path)) + ".*")
			for _, code := range matches {
				language := languageOf(code)
				if language == nil || strings.Contains(code, ".fixed.") { // what a rule's fix makes of the test
					continue
				}
				raw, err := os.ReadFile(code)
				if err != nil {
					return err
				}
				rel, _ := filepath.Rel(root, code)
				f := labelledFile{File: File{Path: "src/" + filepath.Base(code), Text: string(raw)}}
				f.labels = semgrepFile(rel, f.Text, rules)
				for i := range f.labels {
					f.labels[i].language, f.labels[i].held = language.name, heldBack(filepath.Base(code))
				}
				all = append(all, f)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// reportsImports are rules that report a module where it is imported. Their tests label as safe the
// lines that use the module, even for DES and RC4.
var reportsImports = map[string]bool{"insecure-module-used": true}

func semgrepFile(rel, text string, rules map[string]string) []judged {
	var labels []judged
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		m := annotation.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		first := i + 1
		for first < len(lines) && (annotation.MatchString(lines[first]) || strings.TrimSpace(lines[first]) == "") {
			first++
		}
		last := endOfMatch(lines, first)
		for _, id := range regexp.MustCompile(`[\w\-.]+`).FindAllString(m[2], -1) {
			group := rules[id]
			if group == "" || strings.HasPrefix(m[1], "todo") || strings.HasPrefix(m[1], "pro") || strings.HasPrefix(m[1], "deep") || m[1] == "ok" && reportsImports[id] {
				continue
			}
			labels = append(labels, judged{set: "semgrep-rules", path: rel, by: id, line: first + 1, last: last + 1, group: group, vulnerable: m[1] == "ruleid"})
		}
	}
	return labels
}

// endOfMatch returns the index of the last line that an annotation before line first can be about:
// the last before the next annotation, the last of the block, or the 15th after first, whichever
// comes first. A match of semgrep may begin where the value comes from, or at the function's head.
// An import, or a line that begins with a string, is matched alone.
func endOfMatch(lines []string, first int) int {
	indent := func(line string) int {
		line = strings.ReplaceAll(line, "\t", "    ")
		return len(line) - len(strings.TrimLeft(line, " "))
	}
	last := first
	if begin := strings.TrimSpace(lines[min(first, len(lines)-1)]); strings.HasPrefix(begin, `"`) || strings.HasPrefix(begin, "import ") || strings.HasPrefix(begin, "from ") {
		return last
	}
	for last+1 < len(lines) && last < first+15 {
		next := lines[last+1]
		if annotation.MatchString(next) || strings.TrimSpace(next) != "" && indent(next) < indent(lines[first]) {
			break
		}
		last++
	}
	return last
}

// semgrepRules returns the weaknesses of the rules of a file, by their id.
func semgrepRules(path string) map[string]string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var file struct {
		Rules []struct {
			ID       string
			Metadata struct {
				Category string
				CWE      any
			}
		}
	}
	if yaml.Unmarshal(raw, &file) != nil {
		return nil
	}
	rules := map[string]string{}
	for _, r := range file.Rules {
		if r.Metadata.Category != "security" || r.ID == "missing-ssl-minversion" { // Go's own default has become TLS 1.2
			continue
		}
		for _, m := range regexp.MustCompile(`CWE-(\d+)`).FindAllStringSubmatch(fmt.Sprint(r.Metadata.CWE), -1) {
			n, _ := strconv.Atoi(m[1])
			if g := groups[n]; g != "" {
				rules[r.ID] = g
				break
			}
		}
	}
	return rules
}

// gosecRules are the weaknesses of gosec's rules, by their number.
var gosecRules = map[string]string{
	"106": "tls", "107": "ssrf", "111": "path", "201": "sql", "202": "sql", "203": "xss", "204": "code", "302": "mode", "304": "path", "305": "path",
	"306": "mode", "307": "mode", "401": "hash", "402": "tls", "404": "random", "406": "hash", "701": "sql", "702": "code", "703": "path", "704": "ssrf", "705": "xss", "708": "code",
}

// gosecLabels reads gosec's samples, Go code with the number of errors in it.
func gosecLabels(t *testing.T, dir string) []labelledFile {
	paths, err := filepath.Glob(filepath.Join(dir, "gosec/testutils/g*_samples.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no samples of gosec: %v", err)
	}
	var all []labelledFile
	for _, path := range paths {
		number := filepath.Base(path)[1:4]
		group := gosecRules[number]
		if group == "" {
			continue
		}
		file, err := parser.ParseFile(gotoken.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		ast.Inspect(file, func(node ast.Node) bool {
			sample, ok := node.(*ast.CompositeLit)
			if !ok || len(sample.Elts) < 2 {
				return true
			}
			texts, ok := sample.Elts[0].(*ast.CompositeLit)
			errs, isNumber := sample.Elts[1].(*ast.BasicLit)
			if !ok || !isNumber || errs.Kind != gotoken.INT {
				return true
			}
			var code []string
			for _, e := range texts.Elts {
				if l, ok := e.(*ast.BasicLit); ok {
					if s, err := strconv.Unquote(l.Value); err == nil {
						code = append(code, s)
					}
				}
			}
			n++
			name := fmt.Sprintf("G%s-%d", number, n)
			all = append(all, labelledFile{File: File{Path: "src/" + name + ".go", Text: strings.Join(code, "\n")},
				labels: []judged{{set: "gosec", language: "go", path: name, by: "G" + number, group: group, vulnerable: errs.Value != "0", held: heldBack(name)}}})
			return false
		})
	}
	return all
}

// banditRules are the weaknesses of bandit's tests.
var banditRules = map[string]string{
	"B102": "code", "B103": "mode", "B301": "deserialization", "B302": "deserialization", "B303": "hash", "B307": "code", "B308": "xss", "B310": "ssrf", "B311": "random",
	"B313": "xxe", "B314": "xxe", "B315": "xxe", "B316": "xxe", "B317": "xxe", "B318": "xxe", "B319": "xxe", "B320": "xxe", "B323": "tls", "B324": "hash", "B501": "tls", "B506": "deserialization", "B507": "tls",
	"B601": "code", "B602": "code", "B604": "code", "B605": "code", "B608": "sql", "B609": "code", "B610": "sql", "B611": "sql", "B701": "xss", "B702": "xss", "B703": "xss",
}

// banditLabels reads from bandit.json what bandit itself finds in its examples. It labels nothing as
// safe.
func banditLabels(t *testing.T, dir string) []labelledFile {
	raw, err := os.ReadFile(filepath.Join(dir, "bandit.json"))
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Results []struct {
			Filename string
			Line     int    `json:"line_number"`
			Range    []int  `json:"line_range"`
			Test     string `json:"test_id"`
		}
	}
	if err := json.Unmarshal(raw, &report); err != nil {
		t.Fatal(err)
	}
	byFile := map[string][]judged{}
	for _, r := range report.Results {
		name := filepath.Base(r.Filename)
		group := banditRules[r.Test]
		if group == "" {
			continue
		}
		byFile[name] = append(byFile[name], judged{set: "bandit", language: "python", path: name, by: r.Test, line: r.Line, last: max(r.Line, slices.Max(append(r.Range, 0))), group: group, vulnerable: true, held: heldBack(name)})
	}
	var all []labelledFile
	paths, _ := filepath.Glob(filepath.Join(dir, "bandit/examples/*.py"))
	for _, path := range paths {
		name := filepath.Base(path)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(byFile[name]) > 0 {
			all = append(all, labelledFile{File: File{Path: "src/" + name, Text: string(text)}, labels: byFile[name]})
		}
	}
	return all
}

// benchmarkLabels reads the OWASP Benchmark: each test case is a file, vulnerable or not.
func benchmarkLabels(t *testing.T, dir string) []labelledFile {
	f, err := os.Open(filepath.Join(dir, "BenchmarkJava/expectedresults-1.2.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord, r.Comment = -1, '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all []labelledFile
	for _, row := range rows {
		cwe, _ := strconv.Atoi(row[3])
		group := groups[cwe]
		if group == "" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, "BenchmarkJava/src/main/java/org/owasp/benchmark/testcode", row[0]+".java"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, labelledFile{File: File{Path: "src/" + row[0] + ".java", Text: string(text)},
			labels: []judged{{set: "BenchmarkJava", language: "java", path: row[0], by: row[1], group: group, vulnerable: row[2] == "true", held: heldBack(row[0])}}})
	}
	return all
}

func (c *othersCount) add(isVulnerable, isFound, atHigh bool) {
	all, found, high := &c.Safe, &c.Flagged, &c.FlaggedAtHigh
	if isVulnerable {
		all, found, high = &c.Vulnerable, &c.Found, &c.FoundAtHigh
	}
	*all++
	if isFound {
		*found++
	}
	if atHigh {
		*high++
	}
}

func (r othersResult) describe() string {
	return fmt.Sprintf("%s %s held=%v: found %d of %d, %.2f; flagged %d of %d safe ones", r.Set, r.Language, r.Held, r.Found, r.Vulnerable, float64(r.Found)/float64(max(1, r.Vulnerable)), r.Flagged, r.Safe)
}
