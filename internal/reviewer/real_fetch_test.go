//go:build real

package reviewer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// fetchSource returns a directory with a source, which the package's ordinary client
// fetched and whose sum was compared.
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

// debianArchive fetches the upstream archive of a Debian source package with apt, in
// lists of its own, so that the machine's stay as they are.
func debianArchive(t *testing.T, dir string, s realSource) string {
	t.Helper()
	// The version is not asked for: the archive stays the same while Debian mends a
	// package, and the sum tells if it does not.
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
	archives = slices.DeleteFunc(archives, func(a string) bool { return strings.Contains(a, ".orig-") }) // what Debian adds
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
