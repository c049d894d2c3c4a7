package phase

import (
	"errors"
	"fmt"
	"strings"
)

// filesWord stands, in an owner's command for a language, for the changed files of that language.
const filesWord = "{files}"

// commandLine is a command as people write it, and how it is run.
type commandLine struct {
	line string // as it is shown
	// args are the program and its arguments; if nil, a shell reads the line, as it would
	// for a person.
	args []string
	// shell is the line that the shell reads, if it differs from the one that is shown. For example,
	// it has no "npx", which would download a missing tool.
	shell  string
	tool   string // as toolreport calls it; "" if that is to be detected
	pin    string // the package manager and the version that the project runs it with, as "pnpm@9.1.0"
	noFile bool   // there is no file for the command to look at
	silent bool   // any standard output means failure
	strict bool   // any finding means failure
}

// key returns what distinguishes a command from others.
func (c commandLine) key() string { return c.line + "\x00" + strings.Join(c.args, "\x00") }

// known returns one of our own commands. Between head and tail it has flags that are not shown: they
// make the tool print in the form from which toolreport reads most.
func known(name, head, tail string) commandLine {
	return tool{reads: name}.command(head+" {flags} "+tail, wording{})
}

// script returns a command that a shell reads.
func script(line string) commandLine { return commandLine{line: line} }

// CheckCommand returns an error if a command line cannot replace a language's own.
func CheckCommand(line string) error {
	if strings.TrimSpace(line) == "" {
		return errors.New("it names no command")
	}
	_, err := ownersCommand(line, nil)
	return err
}

// ownersCommand returns the command with which the owner overrides a check. With {files} in it,
// it runs without a shell and each file is an argument; files are relative to where it
// runs.
func ownersCommand(line string, files []string) (commandLine, error) {
	if !strings.Contains(line, filesWord) {
		return script(line), nil
	}
	words, err := SplitWords(line)
	if err != nil {
		return commandLine{}, fmt.Errorf("the command %q cannot be run with {files}: %w", line, err)
	}
	c := commandLine{line: line, noFile: len(files) == 0}
	for _, w := range words {
		if w != filesWord && strings.Contains(w, filesWord) {
			return commandLine{}, fmt.Errorf("the command %q: {files} has to be a word of its own", line)
		}
		if w != filesWord {
			c.args = append(c.args, w)
			continue
		}
		for _, f := range files {
			c.args = append(c.args, argument(f))
		}
	}
	return c, nil
}

// SplitWords splits a command line into words. Quotes, single or double, and backslashes make
// characters literal. Any other character that needs a shell is an error.
func SplitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == '\'' && c != '\'', quote == '"' && c != '"' && c != '\\':
			word.WriteByte(c)
		case quote != 0 && c == quote:
			quote = 0
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case c == '\\':
			i++
			if i == len(line) {
				return nil, errors.New("it ends in a backslash")
			}
			word.WriteByte(line[i])
			inWord = true
		case c == ' ' || c == '\t':
			if inWord {
				words = append(words, word.String())
			}
			word.Reset()
			inWord = false
		case strings.IndexByte("|&;<>()$`\n*?[#~", c) >= 0:
			return nil, fmt.Errorf("%q needs a shell; quote it, or put the command into a script", c)
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c is not closed", quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == filesWord {
		return nil, errors.New("it has no program")
	}
	return words, nil
}
