package githubtest

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/zlib"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing/fstest"
	"time"
)

// Git is the git repository of a Server (Options.Git): a bare one on disk, which the real git
// works on. The server always answers from its current content, whether git or the API has
// changed it.
//
// The exported methods end the test when git fails, except for SHA, which then returns "".
type Git struct {
	dir     string
	program string
	fail    func(format string, args ...any)

	origin  *Git            // caches what copies of the same repository find out; nil for none
	objects map[string]bool // of an origin: the ids of its loose objects

	mu      sync.Mutex
	answers map[string]string    // git's outputs that never change, by its arguments
	kinds   map[string]string    // kinds of the objects that refs point to, by id
	times   map[string]time.Time // when the commits of CommitFiles were made, by id
}

// TB is what a Git needs of *testing.T.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	TempDir() string
}

// NewGit makes an empty repository that lasts as long as the test.
func NewGit(t TB) *Git {
	t.Helper()
	return emptyGit(t)
}

var emptyGit = copies(func(t TB) *Git {
	t.Helper()
	g := newGit(t)
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		t.Fatalf("githubtest: %v", err)
	}
	g.Run("init", "--quiet", "--bare", "--template=", "--initial-branch=main")
	return g
})

// Prepared returns a function that makes copies of one repository, each of which lasts as long as
// its test. Build fills the repository when the first copy is asked for.
func Prepared(build func(g *Git)) func(t TB) *Git {
	return copies(func(t TB) *Git {
		t.Helper()
		g := NewGit(t)
		build(g)
		return g
	})
}

// copies returns a function that makes copies of what build returns the first time.
func copies(build func(t TB) *Git) func(t TB) *Git {
	var mu sync.Mutex
	var files fstest.MapFS // what build made, which on disk lasts only as long as the first test
	// known is the cache that the copies share: it has what the first repository knows and what
	// each copy finds out.
	known := &Git{objects: map[string]bool{}, answers: map[string]string{}}
	return func(t TB) *Git {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		if files == nil {
			built := build(t)
			read, err := readTree(built.dir)
			if err != nil {
				t.Fatalf("githubtest: %v", err)
			}
			files = read
			known.learn(built)
			for name := range files {
				if id := strings.ReplaceAll(strings.TrimPrefix(name, "objects/"), "/", ""); fullID.MatchString(id) {
					known.objects[id] = true
				}
			}
		}
		g := newGit(t)
		if err := os.CopyFS(g.dir, files); err != nil {
			t.Fatalf("githubtest: %v", err)
		}
		g.learn(known)
		g.origin = known
		return g
	}
}

// readTree reads all files below a directory.
func readTree(dir string) (fstest.MapFS, error) {
	files, tree := fstest.MapFS{}, os.DirFS(dir)
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			files[name] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
			return nil
		}
		data, err := fs.ReadFile(tree, name)
		files[name] = &fstest.MapFile{Data: data, Mode: 0o644}
		return err
	})
	return files, err
}

// Copy makes a copy of the repository that lasts as long as the test.
func (g *Git) Copy(t TB) *Git {
	t.Helper()
	c := newGit(t)
	if err := os.CopyFS(c.dir, os.DirFS(g.dir)); err != nil {
		t.Fatalf("githubtest: %v", err)
	}
	c.learn(g)
	c.origin = g.origin
	return c
}

// learn copies what another repository with the same commits has cached about them.
func (g *Git) learn(other *Git) {
	other.mu.Lock()
	defer other.mu.Unlock()
	g.answers, g.kinds, g.times = maps.Clone(other.answers), maps.Clone(other.kinds), maps.Clone(other.times)
}

// newGit returns a Git for a new directory that the caller creates, and that lasts as long as the test.
func newGit(t TB) *Git {
	t.Helper()
	g, err := gitAt(filepath.Join(t.TempDir(), "repo.git"))
	if err != nil {
		t.Fatalf("githubtest: %v", err)
	}
	g.fail = func(format string, args ...any) { t.Helper(); t.Fatalf("githubtest: "+format, args...) }
	return g
}

// gitAt returns a Git for a directory. Its fail panics, because there is no test to end.
func gitAt(dir string) (*Git, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, err
	}
	return &Git{dir: dir, program: program, answers: map[string]string{}, kinds: map[string]string{}, times: map[string]time.Time{},
		fail: func(format string, args ...any) { panic("githubtest: " + fmt.Sprintf(format, args...)) }}, nil
}

// OpenGit opens an existing bare repository. Without a test to end, a failure of git
// panics.
func OpenGit(dir string) (*Git, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	g, err := gitAt(dir)
	if err != nil {
		return nil, err
	}
	bare, err := g.run("", "rev-parse", "--is-bare-repository")
	if err == nil && bare != "true" {
		err = fmt.Errorf("%s is not a bare repository", dir)
	}
	return g, err
}

// Dir returns where the repository lies.
func (g *Git) Dir() string { return g.dir }

// Run runs git in the repository and returns what it prints, without the last
// line's end.
func (g *Git) Run(args ...string) string {
	out, err := g.run("", args...)
	if err != nil {
		g.fail("%v", err)
	}
	return out
}

// SHA returns the commit that a branch points to, "" when there is no such branch or git fails.
func (g *Git) SHA(branch string) string {
	sha, err := g.resolve("refs/heads/" + branch)
	if err != nil {
		return ""
	}
	return sha
}

// Branches returns the commits that the branches point to, by their names.
func (g *Git) Branches() map[string]string {
	refs, err := g.refs()
	if err != nil {
		g.fail("%v", err)
	}
	branches := map[string]string{}
	for _, r := range refs {
		if name, ok := strings.CutPrefix(r.name, "refs/heads/"); ok {
			branches[name] = r.sha
		}
	}
	return branches
}

// SetBranch creates a branch, or moves it.
func (g *Git) SetBranch(name, sha string) { g.Run("update-ref", "refs/heads/"+name, sha) }

// DeleteBranch deletes a branch.
func (g *Git) DeleteBranch(name string) { g.Run("update-ref", "-d", "refs/heads/"+name) }

// setHead makes HEAD point to a branch.
func (g *Git) setHead(ref string) {
	if head, err := os.ReadFile(filepath.Join(g.dir, "HEAD")); err != nil || string(head) != "ref: "+ref+"\n" {
		g.Run("symbolic-ref", "HEAD", ref)
	}
}

// named returns the commit that a name stands for: a branch, a tag, a complete ref or an id;
// "" is the default branch.
func (g *Git) named(name string) (string, bool) {
	revs := []string{"refs/heads/" + name, "refs/tags/" + name}
	isID := strings.Trim(name, "0123456789abcdef") == "" // in full or abbreviated
	switch {
	case name == "":
		revs = []string{"HEAD"}
	case strings.HasPrefix(name, "refs/"), isID:
		revs = append(revs, name)
	}
	for _, rev := range revs {
		if sha, err := g.resolve(rev); err == nil {
			return sha, true
		}
	}
	return "", false
}

// resolve returns the commit that a ref or an id leads to. It starts git only where it must: for refs
// that looseRefs cannot read, an annotated tag, an expression, and an id that may be in a pack.
func (g *Git) resolve(rev string) (string, error) {
	if plainRef.MatchString(rev) {
		refs, err := g.refs()
		if err != nil {
			return "", err
		}
		i := slices.IndexFunc(refs, func(r ref) bool { return r.name == rev })
		if i < 0 {
			return "", fmt.Errorf("there is no ref %s", rev)
		}
		if refs[i].kind == "commit" {
			return refs[i].sha, nil
		}
	}
	isID := fullID.MatchString(rev)
	if isID {
		switch kind := g.looseKind(rev); {
		case kind == "commit":
			return rev, nil
		case kind == "" && g.allLoose():
			return "", fmt.Errorf("there is no commit %s", rev)
		}
	}
	args := []string{"rev-parse", "--verify", "--quiet", "--end-of-options", rev + "^{commit}"}
	if !isID {
		return g.run("", args...)
	}
	out, err := g.cachedOutput(args...)
	return strings.TrimSuffix(out, "\n"), err
}

var (
	plainRef = regexp.MustCompile(`^refs/[A-Za-z0-9_/.-]+$`)
	fullID   = regexp.MustCompile(`^[0-9a-f]{40}$`)
	anyID    = regexp.MustCompile(`[0-9a-f]{40}`)
)

// ref is a ref's name, and the id and kind of the object that it points to.
type ref struct{ name, sha, kind string }

// refs lists all refs below refs/, by name.
func (g *Git) refs() ([]ref, error) {
	if list, ok := g.looseRefs(); ok {
		return list, nil
	}
	out, err := g.run("", "for-each-ref", "--format=%(refname) %(objectname) %(objecttype)")
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []ref
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		list = append(list, ref{f[0], f[1], f[2]})
		g.kinds[f[1]] = f[2]
	}
	return list, nil
}

// looseRefs reads the refs without starting git, because every request needs them. ok is false
// where only git can read them: refs in other forms, and objects in packs.
func (g *Git) looseRefs() (list []ref, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, err := os.Stat(filepath.Join(g.dir, "packed-refs")); err == nil {
		return nil, false
	}
	err := filepath.WalkDir(filepath.Join(g.dir, "refs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(g.dir, path)
		if err != nil {
			return err
		}
		sha := strings.TrimSuffix(string(data), "\n")
		if g.kinds[sha] == "" {
			g.kinds[sha] = g.looseKind(sha)
		}
		if g.kinds[sha] == "" || strings.HasSuffix(name, ".lock") { // git is writing a ref if there is a lock
			return fs.ErrInvalid
		}
		list = append(list, ref{filepath.ToSlash(name), sha, g.kinds[sha]})
		return nil
	})
	slices.SortFunc(list, func(a, b ref) int { return cmp.Compare(a.name, b.name) })
	return list, err == nil
}

// looseKind returns the kind of a loose object; "" if there is no loose object with this id.
func (g *Git) looseKind(sha string) string {
	kind := ""
	_ = g.readLoose(sha, func(r *bufio.Reader) (err error) {
		kind, err = r.ReadString(' ')
		return err
	})
	return strings.TrimSuffix(kind, " ")
}

// allLoose reports whether all objects are loose ones of this repository.
func (g *Git) allLoose() bool {
	packs, err := os.ReadDir(filepath.Join(g.dir, "objects", "pack"))
	if len(packs) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	_, err = os.Stat(filepath.Join(g.dir, "objects", "info", "alternates"))
	return errors.Is(err, fs.ErrNotExist)
}

// readLoose calls read with a loose object, unpacked: its kind, a space, its size, a NUL and its
// content. It returns an error if there is no loose object with this id.
func (g *Git) readLoose(sha string, read func(*bufio.Reader) error) error {
	if !fullID.MatchString(sha) {
		return fs.ErrInvalid
	}
	f, err := os.Open(filepath.Join(g.dir, "objects", sha[:2], sha[2:]))
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := zlib.NewReader(f)
	if err != nil {
		return err
	}
	return read(bufio.NewReader(z))
}

// blob returns the content of a file.
func (g *Git) blob(sha string) (string, error) {
	var kind string
	var data []byte
	err := g.readLoose(sha, func(r *bufio.Reader) (err error) {
		if kind, err = r.ReadString(0); err == nil {
			data, err = io.ReadAll(r)
		}
		return err
	})
	if err == nil && strings.HasPrefix(kind, "blob ") {
		return string(data), nil
	}
	return g.output("", "cat-file", "blob", sha)
}

// writeBlob stores the content of a file as a loose object, and returns its id.
func (g *Git) writeBlob(content string) (string, error) {
	loose := fmt.Appendf(nil, "blob %d\x00%s", len(content), content)
	sha := fmt.Sprintf("%x", sha1.Sum(loose))
	path := filepath.Join(g.dir, "objects", sha[:2], sha[2:])
	if _, err := os.Stat(path); err == nil {
		return sha, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, err := z.Write(loose)
	if err := errors.Join(err, z.Close()); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "tmp_obj_") // git ignores files of this name
	if err != nil {
		return "", err
	}
	_, err = f.Write(packed.Bytes())
	err = errors.Join(err, f.Chmod(0o444), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return sha, err
}

// setRef makes a ref, or moves it, unless it points there already.
func (g *Git) setRef(name, sha string) error {
	path := filepath.Join(g.dir, filepath.FromSlash(name))
	if now, err := os.ReadFile(path); err == nil && string(now) == sha+"\n" {
		return nil
	}
	// As git does it: write the lock, then put it in the place of the ref.
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path+".lock", []byte(sha+"\n"), 0o644)
	}
	if err == nil {
		err = os.Rename(path+".lock", path)
	}
	return err
}

// run is like the method output, but leaves out the newline at the end.
func (g *Git) run(input string, args ...string) (string, error) {
	out, err := g.output(input, args...)
	return strings.TrimSuffix(out, "\n"), err
}

// cachedOutput is like the method output, but does not run a command again that has succeeded. The
// command names its commits by their ids, so that its answer never changes.
func (g *Git) cachedOutput(args ...string) (string, error) {
	key := strings.Join(args, "\x00")
	g.mu.Lock()
	out, known := g.answers[key]
	g.mu.Unlock()
	if known {
		return out, nil
	}
	out, err := g.output("", args...)
	if err != nil {
		return "", err
	}
	for _, cache := range []*Git{g, g.origin} {
		if cache != nil && (cache == g || cache.hasAll(args)) {
			cache.mu.Lock()
			cache.answers[key] = out
			cache.mu.Unlock()
		}
	}
	return out, nil
}

// hasAll reports whether an origin has all commits that the arguments of a command name.
func (g *Git) hasAll(args []string) bool {
	for _, id := range anyID.FindAllString(strings.Join(args, " "), -1) {
		if !g.objects[id] {
			return false
		}
	}
	return true
}

// mergeBase returns the best common ancestor of two commits.
func (g *Git) mergeBase(a, b string) (string, error) {
	out, err := g.cachedOutput("merge-base", a, b)
	return strings.TrimSuffix(out, "\n"), err
}

// descends reports whether a commit is the ancestor itself, or descends from it. For a child, the most
// frequent case, the cached log suffices.
func (g *Git) descends(commit, ancestor string) bool {
	if list, err := g.log("-1", commit); err == nil && len(list) == 1 && slices.Contains(list[0].parents, ancestor) {
		return true
	}
	_, err := g.run("", "merge-base", "--is-ancestor", ancestor, commit)
	return err == nil
}

// output runs git in the repository, with input on its standard input, and returns what it prints.
func (g *Git) output(input string, args ...string) (string, error) {
	cmd := exec.Command(g.program, args...)
	cmd.Dir = g.dir
	cmd.Env = append(gitEnv(), "PATH="+os.Getenv("PATH"), "GIT_DIR="+g.dir)
	cmd.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.String(), err
}

// gitEnv returns an environment for git that ignores the settings of the machine and the user. more
// has the names and values of further settings. As on GitHub, clients can fetch any commit by its
// id, also with only some of its files (--filter), but cannot write the refs of pull requests.
func gitEnv(more ...string) []string {
	settings := append([]string{
		"safe.directory", "*",
		"http.receivepack", "true",
		"uploadpack.allowAnySHA1InWant", "true",
		"uploadpack.allowFilter", "true",
		"receive.fsckObjects", "true",
		"receive.hideRefs", "refs/pull",
		"receive.denyDeleteCurrent", "ignore",
		"receive.autogc", "false",
		"gc.auto", "0",
		"user.name", "Octo Cat",
		"user.email", "octocat@example.com",
	}, more...)
	env := []string{"LC_ALL=C", "HOME=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0",
		fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)/2)}
	for i := 0; i < len(settings); i += 2 {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i/2, settings[i]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i/2, settings[i+1]))
	}
	return env
}

// GitFile is a file that a commit writes or deletes.
type GitFile struct {
	Path string
	// Mode is git's: 100644 (the default), 100755, 120000 for a symbolic link, 160000 for a
	// submodule. "0" deletes the file.
	Mode string
	Data string // the content; for a link its target, for a submodule its commit
}

// Commit adds a commit with plain files to a branch, which it creates if needed, and returns
// the commit's id. The same calls give the same ids: the author is fixed, and each commit is
// made a minute after its parent.
func (g *Git) Commit(branch string, files map[string]string, message string) string {
	var list []GitFile
	for name, data := range files {
		list = append(list, GitFile{Path: name, Data: data})
	}
	return g.CommitFiles(branch, list, message)
}

// CommitFiles is Commit for files of any mode; it also deletes files.
func (g *Git) CommitFiles(branch string, files []GitFile, message string) string {
	octocat := person{"Octo Cat", "octocat@example.com"}
	c := newCommit{branch: branch, parent: g.SHA(branch), files: files, message: strings.TrimSuffix(message, "\n") + "\n", author: octocat, committer: octocat,
		when: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if c.parent != "" {
		c.when = g.timeOf(c.parent).Add(time.Minute)
	}
	sha, err := g.commit(c)
	if err != nil {
		g.fail("%v", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.times[sha] = c.when
	return sha
}

// timeOf returns when a commit was made.
func (g *Git) timeOf(commit string) time.Time {
	g.mu.Lock()
	when, known := g.times[commit]
	g.mu.Unlock()
	if known {
		return when
	}
	seconds, err := strconv.ParseInt(g.Run("log", "-1", "--format=%ct", commit), 10, 64)
	if err != nil {
		g.fail("%v", err)
	}
	return time.Unix(seconds, 0)
}

type person struct{ name, email string }

func (p person) String() string { return p.name + " <" + p.email + ">" }

// newCommit is a commit that is to be made.
type newCommit struct {
	branch            string // without refs/heads/
	parent            string // the branch's head; "" for none
	files             []GitFile
	message           string
	author, committer person
	when              time.Time
}

// commit makes a commit, moves the branch to it, and returns its id.
func (g *Git) commit(c newCommit) (string, error) {
	var b strings.Builder
	date := fmt.Sprintf("%d +0000", c.when.Unix())
	fmt.Fprintf(&b, "commit refs/heads/%s\nmark :1\n", c.branch)
	fmt.Fprintf(&b, "author %s %s\ncommitter %s %s\n", c.author, date, c.committer, date)
	fmt.Fprintf(&b, "data %d\n%s\n", len(c.message), c.message)
	if c.parent != "" {
		fmt.Fprintf(&b, "from %s\n", c.parent)
	}
	mode := func(f GitFile) string { return cmp.Or(f.Mode, "100644") }
	files := slices.SortedFunc(slices.Values(c.files), func(a, b GitFile) int {
		// Deletions, with the mode "0", come first: a file may be written where a directory was.
		return cmp.Or(cmp.Compare(mode(a), mode(b)), cmp.Compare(a.Path, b.Path))
	})
	for _, f := range files {
		switch f.Mode {
		case "0":
			fmt.Fprintf(&b, "D %s\n", quoted(f.Path))
		case "160000":
			fmt.Fprintf(&b, "M 160000 %s %s\n", f.Data, quoted(f.Path))
		default:
			fmt.Fprintf(&b, "M %s inline %s\ndata %d\n%s\n", mode(f), quoted(f.Path), len(f.Data), f.Data)
		}
	}
	b.WriteString("\nget-mark :1\ndone\n")
	return g.run(b.String(), "fast-import", "--quiet", "--done", "--date-format=raw")
}

// quoted returns a path as fast-import reads it, whatever bytes it contains.
func quoted(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}
