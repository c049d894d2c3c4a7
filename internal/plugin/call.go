package plugin

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxArguments bounds the files' names that one run gets, in bytes; the others go into
// further runs. Windows accepts 32 KiB, Linux far more.
const maxArguments = 24 << 10

// call is one run of the command.
type call struct {
	line  string // as it is shown, without the files
	args  []string
	shell bool // args make a shell read the line
}

// calls returns the runs that the files need, and one run if the command takes no files. There is
// none if there are no files, and the command takes files or is for certain languages. The files
// must begin with "./", so that no name is an option.
func (c Config) calls(files []string) ([]call, error) {
	words, err := c.argv()
	if err != nil {
		return nil, err
	}
	line := c.Command
	if line == "" {
		line = strings.Join(words, " ")
	}
	switch {
	case len(files) == 0 && (c.takesFiles() || len(c.Languages) > 0):
		return nil, nil
	case words == nil:
		return []call{{line: line, args: []string{"sh", "-c", line}, shell: true}}, nil
	case !c.takesFiles():
		return []call{{line: line, args: words}}, nil
	}
	var all []call
	for len(files) > 0 {
		n := countForOneRun(files)
		var args []string
		for _, w := range words {
			if w == FilesWord {
				args = append(args, files[:n]...)
			} else {
				args = append(args, w)
			}
		}
		all = append(all, call{line: line, args: args})
		files = files[n:]
	}
	return all, nil
}

// takesFiles reports whether the files are arguments of the command.
func (c Config) takesFiles() bool {
	words, _ := c.argv()
	return slices.Contains(words, FilesWord)
}

// countForOneRun returns how many of the files, from the first on, one run gets: at least one.
func countForOneRun(files []string) int {
	n, size := 0, 0
	for n < len(files) && (n == 0 || size+len(files[n]) < maxArguments) {
		size += len(files[n]) + 1
		n++
	}
	return n
}

// unusable returns why nothing can be run in a directory of the repository, "" if something can.
// A link out of the repository is not followed.
func unusable(repository, dir string) string {
	root, err := os.OpenRoot(repository)
	if err != nil {
		return "the repository cannot be opened"
	}
	defer root.Close() //nolint:errcheck // it was only read
	info, err := root.Stat(filepath.FromSlash(dir))
	switch {
	case err != nil:
		return "there is no such directory in the repository"
	case !info.IsDir():
		return "it is not a directory"
	}
	return ""
}
