package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// Sources are where a safe-outputs configuration can come from, in order of
// precedence. None is required: without a source there is no configuration, and
// none is searched for.
type Sources struct {
	// Inline is a configuration's text.
	Inline string
	// File names a file. It is an error to give both Inline and File.
	File string
	// ReadFile reads File, or the file that the environment names: in the action,
	// from the base commit. Nil means this package's ReadFile.
	ReadFile func(name string) ([]byte, error)
	// Getenv reads the environment. It must be nil where others can set variables,
	// such as an earlier step of the same job that ran the agent.
	Getenv func(string) string

	ownFiles bool // ReadFile reads the machine's files
}

// The environment variables that agents and workflows use. Of the first two, the first
// that is set counts; either of the others can make the configuration staged.
const (
	envConfig    = "GH_AW_SAFE_OUTPUTS_CONFIG"
	envConfigOld = "GITHUB_AW_SAFE_OUTPUTS_CONFIG"
	envStaged    = "GH_AW_SAFE_OUTPUTS_STAGED"
	envStagedOld = "GITHUB_AW_SAFE_OUTPUTS_STAGED"
)

// Load reads the configuration from the first source that has one. Without any,
// the zero SafeOutputs is returned. A variable can make the configuration staged. The error is of
// type Problems.
func Load(s Sources) (SafeOutputs, error) {
	if s.ReadFile == nil {
		s.ReadFile, s.ownFiles = ReadFile, true
	}
	if s.Getenv == nil {
		s.Getenv = func(string) string { return "" }
	}
	cfg, err := s.load()
	if err == nil && (s.Getenv(envStaged) == "true" || s.Getenv(envStagedOld) == "true") {
		cfg.Policy.Staged = true
	}
	return cfg, err
}

func (s Sources) load() (SafeOutputs, error) {
	inline := !text.IsBlank(s.Inline)
	switch {
	case inline && s.File != "":
		return SafeOutputs{}, oneProblem("configuration", 0, 0, "given twice, as text and as the file %q; give one of them", s.File)
	case inline:
		return parse("config", []byte(s.Inline), origin{evaluated: true})
	case s.File != "":
		return s.parseFile(s.File, s.File)
	}
	for _, name := range []string{envConfig, envConfigOld} {
		value := strings.TrimSpace(s.Getenv(name))
		switch {
		case value == "":
		case strings.HasPrefix(value, "{") || strings.Contains(value, "\n"):
			return parse(name, []byte(value), origin{evaluated: true})
		default:
			return s.parseFile(value, name+" ("+value+")")
		}
	}
	return SafeOutputs{}, nil
}

// parseFile reads and decodes a file; name names it in messages.
func (s Sources) parseFile(file, name string) (SafeOutputs, error) {
	data, err := s.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		var where string
		if _, isPath := errors.AsType[*fs.PathError](err); !isPath {
			// ReadFile may say where it looked for the file, such as in a base commit.
			where, _ = strings.CutPrefix(plainError(err), fs.ErrNotExist.Error())
		}
		if strings.ContainsAny(file, "\n{") || strings.HasSuffix(file, ":") {
			return SafeOutputs{}, oneProblem("configuration", 0, 0, "%s is not the path of a file; the text of a configuration belongs in the input config", quote(file))
		}
		return SafeOutputs{}, oneProblem(name, 0, 0, "there is no such file%s; check the path of the configuration", where)
	case errors.Is(err, fs.ErrPermission):
		return SafeOutputs{}, oneProblem(name, 0, 0, "the file may not be read by this user; check its permissions")
	case err != nil:
		return SafeOutputs{}, oneProblem(name, 0, 0, "the configuration cannot be read: %s", plainError(err))
	}
	return parse(name, data, s.originOf(file))
}

// originOf returns the origin of a file. The file's imports are read from the files next to it on
// this machine, or from the tree that ReadFile reads.
func (s Sources) originOf(file string) origin {
	if s.ownFiles {
		name, read := importsNextTo(file)
		return origin{file: name, read: read}
	}
	return origin{file: path.Clean(strings.TrimPrefix(file, "./")), read: s.ReadFile}
}

// plainError returns an error's text in one line and without its path, which the
// message has already.
func plainError(err error) string {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	return text.OneLine(err.Error())
}

// ReadFile reads a file that the user named: an ordinary file, or the pipe of a
// shell's <(command). It reads at most one byte more than a configuration may have.
func ReadFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("it is a directory, not a file")
	case info.Mode()&fs.ModeNamedPipe != 0 && !strings.HasPrefix(name, "/dev/fd/") && !strings.HasPrefix(name, "/proc/"):
		// Opening it would wait for a writer, perhaps forever.
		return nil, errors.New("it is a FIFO, not a file")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxBytes+1))
}
