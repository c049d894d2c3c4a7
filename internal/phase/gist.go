package phase

import (
	"strings"
	"unicode"
)

// maxGist is how many lines a gist holds.
const maxGist = 4

// gist is the first lines of an excerpt that say something, for output that tells no
// findings. What a package manager says of its own work comes in only where there is
// nothing else.
func gist(excerpt string) string {
	var told, chatter []string
	for line := range strings.SplitSeq(excerpt, "\n") {
		line = strings.Trim(strings.Join(strings.Fields(line), " "), "= ")
		switch {
		case !strings.ContainsFunc(line, isWord):
		case chatters(line):
			chatter = append(chatter, line)
		default:
			told = append(told, line)
		}
	}
	if len(told) == 0 {
		told = chatter
	}
	if len(told) == 0 {
		return ""
	}
	return ": " + strings.Join(told[:min(len(told), maxGist)], " / ")
}

// isWord reports whether a character is of a word, not of a rule or of a mark below code.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// chatters reports whether a line is about fetching and progress, or a mark of Maven's
// without a word behind it.
func chatters(line string) bool {
	for _, start := range []string{"npm warn", "npm notice", "npm WARN", "Downloading ", "Downloaded ", "Progress ", "[INFO]", "[WARNING]"} {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	return line == "[ERROR]"
}
