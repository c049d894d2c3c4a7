package agentchanges

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// maxRules is how large a file of ignore rules or attributes may be, in bytes.
const maxRules = 4 << 20

// shadow is a work tree of our own, which holds of somebody else's what git has
// to see: the rules, the directories, and the files that were changed. There
// git runs with nothing but our configuration.
type shadow struct {
	repo  *gitrepo.Repo
	root  *os.Root
	dir   string
	index string
	env   []string
}

// newShadow makes an empty one below a directory of our own.
func (r reader) newShadow(ctx context.Context, dir string) (*shadow, error) {
	sh := &shadow{repo: r.repo, dir: filepath.Join(dir, "tree"), index: filepath.Join(dir, "index")}
	exclude := filepath.Join(dir, "exclude")
	if err := errors.Join(os.Mkdir(sh.dir, 0o700), r.copyOf("info/exclude", exclude), r.copyOf("config", filepath.Join(dir, "config"))); err != nil {
		return nil, err
	}
	settings, err := r.lineSettings(ctx, filepath.Join(dir, "config"))
	if err != nil {
		return nil, err
	}
	settings["core.excludesFile"] = exclude
	settings["core.safecrlf"] = "false"
	for key, value := range settings {
		n := strconv.Itoa(len(sh.env) / 2)
		sh.env = append(sh.env, "GIT_CONFIG_KEY_"+n+"="+key, "GIT_CONFIG_VALUE_"+n+"="+value)
	}
	sh.env = append(sh.env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(settings)))
	sh.root, err = os.OpenRoot(sh.dir)
	return sh, err
}

// Close closes the shadow's handle; its files go with the directory.
func (sh *shadow) Close() { _ = sh.root.Close() }

// copyOf copies a file of the clone; one that is not there becomes an empty one.
func (r reader) copyOf(name, to string) error {
	data, _, err := gitrepo.ReadFile(r.repo.Clone().CommonDir, filepath.FromSlash(name), maxRules)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}

// lineSettings reads from a copy of the clone's configuration, and nothing that
// it includes, how it keeps line ends, modes and links. They name no program.
func (r reader) lineSettings(ctx context.Context, config string) (map[string]string, error) {
	a, err := r.repo.Run(ctx, gitrepo.Call{Limit: 1 << 20, AnyExit: true}, "config", "--file", config, "--no-includes", "-z", "--get-regexp",
		`^core\.(autocrlf|eol|filemode|symlinks)$`)
	if err != nil {
		return nil, err
	}
	settings := map[string]string{}
	if a.ExitCode != 0 { // none of them, or no configuration that git could read
		return settings, nil
	}
	for _, record := range a.Records() {
		key, value, _ := strings.Cut(record, "\n")
		switch value {
		case "true", "false", "input", "lf", "crlf", "native":
			settings[key] = value
		}
	}
	return settings, nil
}

// git runs git in the shadow.
func (sh *shadow) git(ctx context.Context, stdin []string, args ...string) (gitrepo.Output, error) {
	text := strings.Join(stdin, "\x00")
	if text != "" {
		text += "\x00"
	}
	return sh.repo.Run(ctx, gitrepo.Call{Stdin: strings.NewReader(text), Limit: maxIndex, Index: sh.index, WorkTree: sh.dir, Env: sh.env, AnyExit: args[0] == "check-ignore"}, args...)
}

// ignored returns those of the names that the rules hide.
func (sh *shadow) ignored(ctx context.Context, names []string) (map[string]bool, error) {
	if len(names) == 0 {
		return nil, nil
	}
	ask := make([]string, len(names))
	for i, name := range names {
		ask[i] = "./" + name // so that no name is taken for more than a path
	}
	a, err := sh.git(ctx, ask, "check-ignore", "--no-index", "-z", "--stdin")
	if err != nil {
		return nil, err
	}
	if a.ExitCode > 1 {
		return nil, fmt.Errorf("git check-ignore failed: %s", a.Reason())
	}
	ignored := map[string]bool{}
	for _, name := range a.Records() {
		ignored[strings.TrimPrefix(name, "./")] = true
	}
	return ignored, nil
}

// filters returns the names that an attribute gives a filter.
func (sh *shadow) filters(ctx context.Context, names []string) (map[string]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	a, err := sh.git(ctx, names, "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return nil, err
	}
	filters := map[string]string{}
	for fields := a.Records(); len(fields) >= 3; fields = fields[3:] {
		switch value := fields[2]; value {
		case "unspecified", "unset", "set": // only a value names a filter
		default:
			filters[fields[0]] = value
		}
	}
	return filters, nil
}

// mkdir makes a directory, with those above it.
func (sh *shadow) mkdir(name string) error {
	return sh.root.MkdirAll(filepath.FromSlash(name), 0o700)
}

// write makes a file, in place of one that is there.
func (sh *shadow) write(name string, data []byte, perm fs.FileMode) error {
	if err := sh.mkdir(filepath.Dir(filepath.FromSlash(name))); err != nil {
		return err
	}
	if err := sh.root.Remove(filepath.FromSlash(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return sh.root.WriteFile(filepath.FromSlash(name), data, perm)
}

// link makes a link, which nothing follows.
func (sh *shadow) link(name, target string) error {
	if err := sh.mkdir(filepath.Dir(filepath.FromSlash(name))); err != nil {
		return err
	}
	return sh.root.Symlink(target, filepath.FromSlash(name))
}

// tree makes a tree out of another: with the files that were put into the
// shadow, and without those that were removed.
func (sh *shadow) tree(ctx context.Context, from string, put, removed []string) (string, error) {
	if len(put)+len(removed) == 0 {
		return from, nil
	}
	if _, err := sh.git(ctx, nil, "read-tree", from); err != nil {
		return "", err
	}
	gone := make([]string, len(removed))
	for i, name := range removed {
		gone[i] = "0 " + strings.Repeat("0", len(from)) + "\t" + name
	}
	if _, err := sh.git(ctx, gone, "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	a, err := sh.git(ctx, put, "update-index", "-z", "--add", "--replace", "--stdin")
	if err != nil {
		return "", err
	}
	if strings.Contains(a.Stderr, "Ignoring path ") {
		return "", fmt.Errorf("git takes no such name: %s", a.Reason())
	}
	a, err = sh.git(ctx, nil, "write-tree", "--missing-ok")
	return a.Line(), err
}
