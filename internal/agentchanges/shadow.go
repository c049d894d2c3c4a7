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

// maxRules is how large a file of ignore rules, attributes or configuration may be, in bytes.
const maxRules = 4 << 20

// shadow is a work tree of our own. It contains the parts of somebody else's work tree that git
// has to see: the files of rules, the directories, and the files that were changed. git runs there
// with our configuration and, of the clone's, only its exclude file and what fileSettings returns.
type shadow struct {
	repo  *gitrepo.Repo
	root  *os.Root
	dir   string
	index string
	env   []string
	// hasAttributes is set where the work tree has a file of attributes. Without one, no
	// name has a filter.
	hasAttributes bool
}

// newShadow makes an empty shadow below a directory of our own.
func (r reader) newShadow(ctx context.Context, dir string) (*shadow, error) {
	sh := &shadow{repo: r.repo, dir: filepath.Join(dir, "tree"), index: filepath.Join(dir, "index")}
	exclude, config := filepath.Join(dir, "exclude"), filepath.Join(dir, "config")
	if err := errors.Join(os.Mkdir(sh.dir, 0o700), r.copyFromClone("info/exclude", exclude), r.copyFromClone("config", config)); err != nil {
		return nil, err
	}
	settings, err := r.fileSettings(ctx, config)
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

// Close closes the shadow's handle. Its files are removed with the directory.
func (sh *shadow) Close() { _ = sh.root.Close() }

// copyFromClone copies a file of the clone. If the file does not exist, the copy is empty.
func (r reader) copyFromClone(name, to string) error {
	data, _, err := gitrepo.ReadFile(r.repo.Clone().CommonDir, filepath.FromSlash(name), maxRules)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}

// fileSettings reads from a copy of the clone's configuration how the clone treats line
// ends, modes and links. These settings name no program. It reads nothing that the
// configuration includes.
func (r reader) fileSettings(ctx context.Context, config string) (map[string]string, error) {
	out, err := r.repo.Run(ctx, gitrepo.Call{Limit: 1 << 20, MaxExit: gitrepo.AnyExit}, "config", "--file", config, "--no-includes", "-z", "--get-regexp",
		`^core\.(autocrlf|eol|filemode|symlinks)$`)
	if err != nil {
		return nil, err
	}
	settings := map[string]string{}
	if out.ExitCode != 0 { // there are none, or git cannot read the configuration
		return settings, nil
	}
	for _, record := range out.Records() {
		key, value, _ := strings.Cut(record, "\n")
		switch value {
		case "true", "false", "input", "lf", "crlf", "native":
			settings[key] = value
		}
	}
	return settings, nil
}

// git runs git in the shadow, with a list as its input.
func (sh *shadow) git(ctx context.Context, maxExit int, list []string, args ...string) (gitrepo.Output, error) {
	stdin := strings.Join(list, "\x00")
	if stdin != "" {
		stdin += "\x00"
	}
	return sh.repo.Run(ctx, gitrepo.Call{Stdin: strings.NewReader(stdin), Limit: maxIndex, Index: sh.index, WorkTree: sh.dir, Env: sh.env, MaxExit: maxExit}, args...)
}

// ignored returns the names that the ignore rules hide.
func (sh *shadow) ignored(ctx context.Context, names []string) (map[string]bool, error) {
	if len(names) == 0 {
		return nil, nil
	}
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = "./" + name // so that git reads a name as a path even if it begins with a colon
	}
	out, err := sh.git(ctx, 1, paths, "check-ignore", "--no-index", "-z", "--stdin") // 1: none is ignored
	if err != nil {
		return nil, err
	}
	ignored := map[string]bool{}
	for _, name := range out.Records() {
		ignored[strings.TrimPrefix(name, "./")] = true
	}
	return ignored, nil
}

// filters returns the filters that attributes give to names.
func (sh *shadow) filters(ctx context.Context, names []string) (map[string]string, error) {
	if len(names) == 0 || !sh.hasAttributes {
		return nil, nil
	}
	out, err := sh.git(ctx, 0, names, "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return nil, err
	}
	filters := map[string]string{}
	for fields := out.Records(); len(fields) >= 3; fields = fields[3:] {
		switch value := fields[2]; value {
		case "unspecified", "unset", "set": // which name no filter
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

// write makes a file. It replaces a file of that name.
func (sh *shadow) write(name string, data []byte, perm fs.FileMode) error {
	if err := sh.mkdir(filepath.Dir(filepath.FromSlash(name))); err != nil {
		return err
	}
	if err := sh.root.Remove(filepath.FromSlash(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return sh.root.WriteFile(filepath.FromSlash(name), data, perm)
}

// link makes a symbolic link, which nothing follows.
func (sh *shadow) link(name, target string) error {
	if err := sh.mkdir(filepath.Dir(filepath.FromSlash(name))); err != nil {
		return err
	}
	return sh.root.Symlink(target, filepath.FromSlash(name))
}

// writeTree makes a tree from another one, and returns its id. It takes the changed files from the
// shadow, and leaves out those that were removed.
func (sh *shadow) writeTree(ctx context.Context, from string, changed, removed []string) (string, error) {
	if len(changed)+len(removed) == 0 {
		return from, nil
	}
	if _, err := sh.git(ctx, 0, nil, "read-tree", from); err != nil {
		return "", err
	}
	if len(removed) > 0 {
		removals := make([]string, len(removed))
		for i, name := range removed {
			removals[i] = "0 " + strings.Repeat("0", len(from)) + "\t" + name
		}
		if _, err := sh.git(ctx, 0, removals, "update-index", "-z", "--index-info"); err != nil {
			return "", err
		}
	}
	if len(changed) > 0 {
		out, err := sh.git(ctx, 0, changed, "update-index", "-z", "--add", "--replace", "--stdin")
		if err != nil {
			return "", err
		}
		if strings.Contains(out.Stderr, "Ignoring path ") {
			return "", fmt.Errorf("git does not accept such a name: %s", out.Reason())
		}
	}
	out, err := sh.git(ctx, 0, nil, "write-tree", "--missing-ok")
	return out.Line(), err
}
