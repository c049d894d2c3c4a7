package isolate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// replaceable returns a folder of programs which every user may write, and so replace
// what later steps run beside the credentials, or "". It looks at those of PATH, and at
// the runner's tools: on GitHub's machines everybody may write those. A folder with the
// sticky bit, as /tmp has, keeps what it holds from others.
func replaceable(environ []string) string {
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		if !slices.Contains([]string{"PATH", "RUNNER_TOOL_CACHE", "AGENT_TOOLSDIRECTORY"}, name) {
			continue
		}
		for _, dir := range filepath.SplitList(value) {
			if found := writable(dir); found != "" {
				return found
			}
		}
	}
	return ""
}

// writable returns the folder through which every user may replace what lies in dir:
// itself, or one that it lies in; "" for none, or where others do not get to it.
func writable(dir string) string {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil || !filepath.IsAbs(dir) {
		return "" // it is not there
	}
	found := ""
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil || info.Mode()&0o001 == 0 {
			return ""
		}
		if info.Mode()&0o002 != 0 && info.Mode()&os.ModeSticky == 0 {
			found = dir
		}
		if dir == filepath.Dir(dir) {
			return found
		}
	}
}
