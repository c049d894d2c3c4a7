//go:build real

package reviewer

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

var (
	realSources    = flag.String("realSource", "", "measure these sources of testdata/real only, separated by commas")
	realDir        = flag.String("realDir", "", "print every finding in this directory instead, each with the lines around it")
	realOnly       = flag.String("realRule", "", "print the findings of these rules only, separated by commas")
	drawFrom       = flag.String("drawFrom", "", "draw from the sources in this directory")
	drawSeed       = flag.Uint64("drawSeed", 1, "the seed of the draw")
	drawMost       = flag.Int("drawMost", 8, "the most findings that are drawn from one source")
	around         = flag.Int("around", 3, "how many lines are printed before and after that of a finding")
	leastPrecision = flag.String("minPrecision", "", "the least precision of the rules of the draw, and of -realDir")
)

// TestRealSources fetches the pinned sources of testdata/real, reviews them as a
// pull request that adds everything, and compares the findings with the verdicts. It
// fails for a finding without one, and for a verdict without a finding.
func TestRealSources(t *testing.T) {
	if *realDir != "" {
		files := realFiles(t, *realDir, nil)
		found, _ := review(t, Config{MinPrecision: finding.Precision(*leastPrecision)}, files)
		show(t, files, found)
		return
	}
	for _, s := range readSources(t) {
		if *realSources != "" && !slices.Contains(strings.Split(*realSources, ","), s.Name) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			files := realFiles(t, fetchSource(t, s), s.Only)
			found, m := review(t, Config{On: judgedThoughOff(t)}, files)
			m.High = s.atHigh(t, files)
			judged := s.judged()
			var unjudged []finding.Finding
			for _, f := range found {
				at := placeOf(f)
				if _, known := judged[at]; !known {
					unjudged = append(unjudged, f)
				}
				delete(judged, at)
			}
			show(t, files, unjudged)
			if len(unjudged) > 0 {
				t.Errorf("%d findings have no verdict", len(unjudged))
			}
			for at := range judged {
				t.Errorf("%v: nothing is found there any more", at)
			}
			t.Logf("%d files, %d bytes, %d findings, %.1f s", m.Files, m.Bytes, len(found), m.Seconds)
			if *update && !t.Failed() {
				writeMeasured(t, s.Name, m)
			}
		})
	}
}

// place is where a finding is.
type place struct {
	rule, path string
	line       int
}

func placeOf(f finding.Finding) place { return place{f.Rule, f.Path, f.Range.StartLine} }

// judged returns the places of the findings that have a verdict, and whether they are right.
func (s realSource) judged() map[place]bool {
	at := map[place]bool{}
	for _, v := range s.Verdicts {
		if !foundNow(v) {
			continue
		}
		for _, line := range v.Lines {
			at[place{v.Rule, v.Path, line}] = v.Right
		}
	}
	return at
}

// atHigh counts what the rules of high precision find in the files of a source, by rule.
func (s realSource) atHigh(t *testing.T, files []File) map[string]score {
	t.Helper()
	judged, counts := s.judged(), map[string]score{}
	found, _ := review(t, Config{MinPrecision: finding.PrecisionHigh}, files)
	for _, f := range found {
		sum := counts[f.Rule]
		sum.count(judged[placeOf(f)])
		counts[f.Rule] = sum
	}
	return counts
}

// review runs both reviews with the rules that a configuration selects, or with those that
// -realRule names.
func review(t *testing.T, config Config, files []File) ([]finding.Finding, measured) {
	t.Helper()
	if *realOnly != "" {
		config.Only = strings.Split(*realOnly, ",")
	}
	r := newReviewer(t, config)
	begun := time.Now()
	security, err := r.Security(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	code, err := r.Code(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	m := measured{Files: len(files), Seconds: time.Since(begun).Seconds()}
	for _, f := range files {
		m.Bytes += int64(len(f.Text))
	}
	found := slices.Concat(security.Findings, code.Findings)
	slices.SortStableFunc(found, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Range.StartLine, b.Range.StartLine))
	})
	return slices.CompactFunc(found, func(a, b finding.Finding) bool { return placeOf(a) == placeOf(b) }), m
}

// judgedThoughOff returns the rules that have verdicts and would find nothing by default: those that are
// off, and disabled-test, which ignores new tests. In a change that adds all of a source, each test is new.
func judgedThoughOff(t *testing.T) []string {
	t.Helper()
	rules, err := Rules()
	if err != nil {
		t.Fatal(err)
	}
	found := tally(readSources(t), foundNow)
	var ids []string
	for _, r := range rules {
		if (r.Off != "" || r.ID == "disabled-test") && found[r.ID].All > 0 {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// realFiles returns the files below a directory as in a pull request that adds all of them, with
// the marks that they would get. If only is not empty, it names the directories to read. Files
// without text are left out, except for binary ones.
func realFiles(t *testing.T, dir string, only []string) []File {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		rel = filepath.ToSlash(rel)
		if len(only) == 0 || slices.ContainsFunc(only, func(o string) bool { return strings.HasPrefix(rel, o+"/") }) {
			paths = append(paths, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := gitrepo.OpenWorkTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	set, err := changes.SetFromList(t.Context(), tree, paths, changes.Options{MaxTotal: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	var files []File
	for _, f := range set.Files {
		if _, hard := f.Skip(); hard && !f.Binary {
			continue
		}
		_, vendored := f.Marked(changes.MarkVendored)
		_, generated := f.Marked(changes.MarkGenerated)
		files = append(files, File{Path: f.Path, Text: string(f.Text), Size: f.Size, Binary: f.Binary, Vendored: vendored, Generated: generated})
	}
	return files
}

// show prints findings with the lines around them, for judging.
func show(t *testing.T, files []File, found []finding.Finding) {
	t.Helper()
	text := map[string]string{}
	for _, f := range files {
		text[f.Path] = f.Text
	}
	for _, f := range found {
		var b strings.Builder
		fmt.Fprintf(&b, "%s %s:%d %s\n", f.Rule, f.Path, f.Range.StartLine, f.Message)
		lines := strings.Split(text[f.Path], "\n")
		for i := max(1, f.Range.StartLine-*around); i <= min(len(lines), f.Range.StartLine+*around) && f.Range.StartLine > 0; i++ {
			fmt.Fprintf(&b, "\t%d\t%s\n", i, lines[i-1][:min(len(lines[i-1]), 200)])
		}
		t.Log(b.String())
	}
}

// fetchSource fetches a source with the package's ordinary client, compares its sum, and
// returns its directory.
func fetchSource(t *testing.T, s realSource) string {
	t.Helper()
	if s.Client == "go" {
		var module struct{ Dir, Sum string }
		if err := json.Unmarshal(output(t, t.TempDir(), "go", "mod", "download", "-json", s.Package+"@"+s.Version), &module); err != nil {
			t.Fatal(err)
		}
		if module.Sum != s.Sum {
			t.Fatalf("the sum of %s is %s, not %s", s.Name, module.Sum, s.Sum)
		}
		return module.Dir
	}
	var archive string
	switch dir := t.TempDir(); s.Client {
	case "npm":
		name := strings.TrimSpace(string(output(t, dir, "npm", "pack", "--silent", s.Package+"@"+s.Version)))
		archive = filepath.Join(dir, name)
	case "debian":
		archive = debianArchive(t, dir, s)
	default:
		t.Fatalf("%s: the client %q is not go, npm or debian", s.Name, s.Client)
	}
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		t.Fatal(err)
	}
	if sum := "sha256:" + hex.EncodeToString(h.Sum(nil)); sum != s.Sum {
		t.Fatalf("the sum of %s is %s, not %s", s.Name, sum, s.Sum)
	}
	dir := t.TempDir()
	output(t, dir, "tar", "--extract", "--strip-components=1", "--no-same-owner", "--file", archive)
	return dir
}

// debianArchive fetches the upstream archive of a Debian source package with apt and package lists
// of its own, so that the machine's stay as they are.
func debianArchive(t *testing.T, dir string, s realSource) string {
	t.Helper()
	// No version is requested: the archive stays the same while Debian corrects a package.
	// If it does change, the sum differs.
	list := filepath.Join(dir, "sources.list")
	line := "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main\n"
	if err := os.WriteFile(list, []byte(line), 0o644); err != nil {
		t.Fatal(err)
	}
	lists := filepath.Join(os.TempDir(), "airlock-debian-sources")
	if err := os.MkdirAll(filepath.Join(lists, "partial"), 0o755); err != nil {
		t.Fatal(err)
	}
	apt := []string{"-o", "Dir::Etc::sourcelist=" + list, "-o", "Dir::Etc::sourceparts=-", "-o", "Dir::State::lists=" + lists,
		"-o", "APT::Sandbox::User=root"} // the directory of the test is its user's alone
	output(t, dir, "apt-get", append(apt, "update")...)
	output(t, dir, "apt-get", append(apt, "source", "--download-only", "--tar-only", s.Package)...)
	archives, err := filepath.Glob(filepath.Join(dir, "*.tar.?z"))
	archives = slices.DeleteFunc(archives, func(a string) bool { return strings.Contains(a, ".orig-") }) // further parts of the source
	if err != nil || len(archives) != 1 {
		t.Fatalf("apt-get brought %d archives: %v", len(archives), err)
	}
	return archives[0]
}

// output runs a program in a directory and returns what it printed.
func output(t *testing.T, dir, name string, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir, c.Stdout, c.Stderr = dir, &out, &errs
	if err := c.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, errs.Bytes())
	}
	return out.Bytes()
}

// writeMeasured writes what was measured into the source's file, and leaves the rest
// of it as it is.
func writeMeasured(t *testing.T, name string, m measured) {
	t.Helper()
	path := "testdata/real/" + name + ".yaml"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line, err := yaml.Marshal(struct {
		Measured measured `yaml:"measured,flow"`
	}{m})
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for l := range strings.Lines(string(raw)) {
		if !strings.HasPrefix(l, "measured:") {
			kept = append(kept, l)
		}
		if strings.HasPrefix(l, "sum:") {
			kept = append(kept, string(line))
		}
	}
	if err := os.WriteFile(path, []byte(strings.Join(kept, "")), 0o644); err != nil {
		t.Fatal(err)
	}
}
