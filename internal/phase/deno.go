package phase

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// denoConfigs are the names of Deno's configuration.
var denoConfigs = []string{"deno.json", "deno.jsonc"}

// isDeno reports whether a directory is a project of Deno's: it has its configuration and no
// package.json, whose scripts would come first.
func (p *project) isDeno(dir string) bool {
	return !p.has(dir, "package.json") && slices.ContainsFunc(denoConfigs, func(name string) bool { return p.has(dir, name) })
}

// isAlone reports whether none of the directories above dir has a marker of a language.
func (p *project) isAlone(dir string) bool {
	for dir != "." {
		if dir = path.Dir(dir); len(p.languages(dir)) > 0 {
			return false
		}
	}
	return true
}

// denoTools returns the tools that are part of Deno, for directories with Deno's configuration and
// no package.json.
func denoTools() []tool {
	var signs []sign
	for _, name := range denoConfigs {
		signs = append(signs, sign{file: name, unlessFile: "package.json"})
	}
	return []tool{
		{
			check: Formatter, name: "Deno", reads: "deno fmt", signs: signs,
			run: []string{"deno fmt --check"}, write: "deno fmt", fix: "deno fmt {files}", endings: anyFile,
		},
		{check: Linter, name: "Deno", reads: "deno lint", signs: signs, run: []string{"deno lint {flags}"}, fix: "deno lint --fix {flags} {files}"},
	}
}

var (
	denoTestRun = lazyregexp.New(`\bdeno test\b([^\n|;&#"']*)`)
	denoOption  = lazyregexp.New(`^(?:-A|-[RWNE]|-P|--(?:allow|deny|unstable|permission-set|no-check|node-modules-dir|env-file)\b\S*)$`)
	denoNoCheck = lazyregexp.New(`\bdeno (?:test|run|task)\b[^\n]*--no-check`)
)

// denoCommands returns the commands of a project of Deno's: its tasks "build" and "test", otherwise
// Deno's own. Deno's own tests get the permissions and the like that the project's hooks and CI
// give them. There is no build of Deno's own where the project runs Deno with --no-check.
func (p *project) denoCommands(dir string) commands {
	c := commands{style: p.style(dir, JavaScript, wording{})}
	tasks, texts := p.denoTasks(dir), p.commandTexts(dir)
	words := []string{"deno", "test"}
	if m := denoTestRun.FindStringSubmatch(texts); m != nil {
		for word := range strings.FieldsSeq(m[1]) {
			if denoOption.MatchString(word) && !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	test := script(strings.Join(words, " "))
	test.args, test.tool = append(words, "--permit-no-files"), "deno"
	if tasks["test"] {
		test = script("deno task test")
	}
	c.tests = checksOnly(test)
	switch {
	case tasks["build"]:
		c.build = checksOnly(script("deno task build"))
	case denoNoCheck.MatchString(texts):
		c.noBuild = "the project runs Deno with --no-check"
	default:
		c.build = checksOnly(script("deno check ."))
	}
	return c
}

// denoTasks returns the names of the tasks that the configuration of a directory has.
func (p *project) denoTasks(dir string) map[string]bool {
	names := map[string]bool{}
	for _, name := range denoConfigs {
		raw, _ := p.read(path.Join(dir, name)) // what cannot be read, deno reports
		var config struct {
			Tasks map[string]json.RawMessage
		}
		if json.Unmarshal(withoutJSONComments(raw), &config) == nil {
			for task := range config.Tasks {
				names[task] = true
			}
		}
	}
	return names
}

// denoTaskTexts returns the tasks of a configuration of Deno's, as JSON.
func denoTaskTexts(raw []byte) string {
	var config struct{ Tasks json.RawMessage }
	_ = json.Unmarshal(withoutJSONComments(raw), &config) // what cannot be read has no tasks
	return string(config.Tasks)
}

// withoutJSONComments removes comments, and commas before a closing bracket, which people write in
// JSON although it does not allow them.
func withoutJSONComments(raw []byte) []byte {
	var out []byte
	for len(raw) > 0 {
		length := 1 // of what raw begins with: a text, a comment or one byte
		switch {
		case raw[0] == '"':
			length = textLength(raw)
			out = append(out, raw[:length]...)
		case bytes.HasPrefix(raw, []byte("//")):
			length = bytes.IndexByte(raw, '\n')
		case bytes.HasPrefix(raw, []byte("/*")):
			length = -1
			if n := bytes.Index(raw[2:], []byte("*/")); n >= 0 {
				length = n + 4
			}
		default:
			if raw[0] == '}' || raw[0] == ']' {
				out = bytes.TrimSuffix(bytes.TrimRight(out, " \t\r\n"), []byte(","))
			}
			out = append(out, raw[0])
		}
		if length < 0 { // a comment without an end
			return out
		}
		raw = raw[length:]
	}
	return out
}

// textLength returns the length of the JSON text in quotes with which raw begins.
func textLength(raw []byte) int {
	end := 1
	for end < len(raw) && raw[end] != '"' {
		if raw[end] == '\\' {
			end++
		}
		end++
	}
	return min(end+1, len(raw))
}
