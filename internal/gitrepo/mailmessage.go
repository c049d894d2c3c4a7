package gitrepo

import "strings"

// mailMessage changes a commit's message so that git am, which finds headers,
// the end of the message and the patch by their looks, takes all of it as text.
func mailMessage(message string) string {
	lines := strings.Split(strings.Trim(strings.ReplaceAll(message, "\r", ""), "\n"), "\n")
	lines[0] = mailSubject(lines[0])
	first := true // of the lines that follow the subject and are not blank
	body := false
	for i, line := range lines[1:] {
		if strings.TrimSpace(line) == "" {
			body = true
			continue
		}
		if body && (endsMessage(line) || first && isMailHeader(line)) {
			lines[i+1] = " " + line
		}
		first = first && !body
	}
	return strings.Join(lines, "\n") + "\n"
}

// mailSubject keeps git am from removing the beginning of a subject: brackets,
// "Re:" and colons.
func mailSubject(line string) string {
	line = strings.TrimLeft(line, " \t:")
	switch before, after, ok := strings.Cut(line, "]"); {
	case strings.HasPrefix(line, "[") && ok:
		line = "(" + before[1:] + ")" + after
	case len(line) > 2 && strings.EqualFold(line[:3], "re:"):
		line = line[:2] + line[3:]
	}
	if strings.TrimSpace(line) == "" {
		return noMessage
	}
	return line
}

// endsMessage reports whether git am takes a line for the end of a mail or of
// its message.
func endsMessage(line string) bool {
	if rest, ok := strings.CutPrefix(line, "---"); ok {
		return rest == "" || rest[0] == ' ' || rest[0] == '\t'
	}
	return strings.HasPrefix(line, "From ") || strings.HasPrefix(line, "diff -") || strings.HasPrefix(line, "Index: ")
}

// isMailHeader reports whether git am takes the first line of a message's body
// for a header, which would name another author.
func isMailHeader(line string) bool {
	line = strings.ToLower(line)
	for _, header := range []string{"from:", "subject:", "date:", "[patch]", ">from"} {
		if strings.HasPrefix(line, header) {
			return true
		}
	}
	return false
}
