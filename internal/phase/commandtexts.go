package phase

import (
	"path"
	"regexp"
	"strings"
)

// commandFiles are patterns of the files in which projects keep the commands that they,
// their hooks and their CI run.
var commandFiles = []string{
	"package.json", "deno.json", "deno.jsonc", ".lintstagedrc*", "lint-staged.config.*", "tox.ini", "noxfile.py", "setup.cfg", "pyproject.toml", "tasks.py", "Makefile", "makefile", "GNUmakefile", "[Jj]ustfile",
	"Taskfile.y*ml", "Rakefile", ".pre-commit-config.y*ml", "lefthook.y*ml", ".husky/*", "script/*", "scripts/*", "bin/*", "ci/*", ".ci/*", ".github/workflows/*.y*ml", ".gitlab-ci.yml", ".travis.yml",
	".circleci/config.yml", "azure-pipelines.yml", ".cirrus.yml", "appveyor.yml", "bacon.toml", ".cargo/config.toml",
}

// Bounds of the files that are read for commands, in bytes.
const (
	maxCommandFile  = 256 << 10
	maxCommandTexts = 8 << 20 // of all
)

// commandTexts returns the texts of the commandFiles in a directory and in those above it, without
// lines that are comments. Of package.json, deno.json, deno.jsonc and pyproject.toml it returns the
// commands alone. It leaves out files that exceed the bounds.
func (p *project) commandTexts(dir string) string {
	return cached(p.commandText, dir, p.findCommandTexts)
}

func (p *project) findCommandTexts(dir string) string {
	var b strings.Builder
	p.walkUp(dir, func(p *project, dir string) bool {
		for _, pattern := range commandFiles {
			for _, name := range p.matching(dir, pattern) {
				info, err := p.root.Stat(name)
				if err != nil || info.Size() > maxCommandFile || b.Len() > maxCommandTexts {
					continue
				}
				raw, err := p.read(name)
				if err != nil {
					continue
				}
				switch path.Base(name) {
				case "package.json":
					b.WriteString(p.manifest(path.Dir(name)).commands())
				case "deno.json", "deno.jsonc":
					b.WriteString(denoTaskTexts(raw))
				case "pyproject.toml":
					b.WriteString(scriptSections(string(raw)))
				default:
					b.WriteString(withoutComments(string(raw)))
				}
				b.WriteString("\n")
			}
		}
		return false
	})
	return b.String()
}

// withoutComments returns a text without the lines that are comments.
func withoutComments(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if start := strings.TrimSpace(line); !strings.HasPrefix(start, "#") && !strings.HasPrefix(start, "//") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// scriptSections returns the sections of a pyproject.toml in which task runners have
// commands, such as [tool.hatch.envs.lint.scripts] and [tool.poe.tasks].
func scriptSections(text string) string {
	var b strings.Builder
	inScripts := false
	for line := range strings.Lines(withoutComments(text)) {
		if strings.HasPrefix(line, "[") {
			inScripts = regexp.MustCompile(`^\[+tool\.(?:hatch|poe|pdm|taskipy|tox|rye)\b.*(?:scripts|tasks|env|commands)`).MatchString(line)
			continue
		}
		if inScripts {
			b.WriteString(line)
		}
	}
	return b.String()
}

// runsIn reports whether a text contains the words of a command, one after the other.
func runsIn(command, text string) bool {
	words := strings.Fields(command)
	for i := range words {
		words[i] = regexp.QuoteMeta(words[i])
	}
	return regexp.MustCompile("(?m)(?:^|[\\s\"'`=:;&|(\\[,/@])" + strings.Join(words, `["',\s]+`) + "(?:$|[\\s\"'`;&|)\\],@])").MatchString(text)
}
