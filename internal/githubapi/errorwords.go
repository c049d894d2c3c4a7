package githubapi

import (
	"fmt"
	"strings"
	"time"
)

// Error is the kind's own name.
func (k Kind) Error() string { return string(k) }

// Error says in plain words what was attempted, what happened and what to do.
func (e *Error) Error() string {
	var b strings.Builder
	op := e.Op
	if op == "" {
		op = "call the API"
	}
	fmt.Fprintf(&b, "could not %s", op)
	if !e.Repo.IsZero() {
		fmt.Fprintf(&b, " in %s", e.Repo)
	}
	b.WriteString(": ")
	b.WriteString(e.what())
	if next := e.next(); next != "" {
		b.WriteString("; ")
		b.WriteString(next)
	}
	return b.String()
}

// what is the part of the message that says what happened.
func (e *Error) what() string {
	said := ""
	if e.Message != "" {
		said = fmt.Sprintf(" (%q)", e.Message)
	}
	switch e.Kind {
	case NotFound:
		return "it does not exist, or the token may not see it"
	case Unauthorized:
		return "GitHub does not accept the token" + said
	case Forbidden:
		switch {
		case e.Feature == FeatureLocked:
			return "the conversation is locked" + said
		case e.Feature == FeatureArchived:
			return "the repository is archived, so it cannot be written to" + said
		case e.Feature == FeaturePullCreation:
			return "the settings do not let GitHub Actions create pull requests" + said
		case e.Feature == FeatureDrafts:
			return "the repository has no draft pull requests" + said
		case e.Feature != "":
			return "the repository does not have " + e.Feature + " enabled" + said
		case e.Permission != "":
			return "the token lacks the permission " + permissionWords(e.Permission) + said
		}
		return "GitHub refuses it" + said
	case Validation:
		return "GitHub refuses the content: " + e.fieldWords()
	case Conflict:
		if len(e.Fields) > 0 {
			said = fmt.Sprintf(" (%q)", e.fieldWords())
		}
		return "it conflicts with what is there" + said
	case RateLimited:
		if !e.Until.IsZero() {
			return "the rate limit is reached until " + e.Until.UTC().Format(time.RFC3339) + said
		}
		return "a rate limit is reached" + said
	case Ambiguous:
		return "the answer is missing or unusable, so it may or may not have happened" + said
	case Unreachable:
		if e.Status != 0 {
			return fmt.Sprintf("GitHub keeps answering with status %d%s", e.Status, said)
		}
		return "GitHub cannot be reached" + said
	case Malformed:
		return "the answer could not be understood" + said
	}
	return e.Message
}

// next is the part of the message that says what to do.
func (e *Error) next() string {
	switch e.Kind {
	case NotFound:
		return "check the name or number, and that the token has access to the repository"
	case Unauthorized:
		return "give a token that is valid for this host"
	case Forbidden:
		switch e.Feature {
		case FeatureCodeScanning:
			return "enable code scanning (GitHub Advanced Security for a private repository) in the repository's settings"
		case FeatureIssues, FeatureDiscussions:
			return "enable " + e.Feature + " in the repository's settings, under General, Features"
		case FeatureLocked:
			return "unlock it, or leave it alone"
		case FeatureArchived:
			return "unarchive the repository"
		case FeaturePullCreation:
			return `allow it in the repository's Settings, Actions, General: "Allow GitHub Actions to create and approve pull requests" ` +
				`(an organization may have to allow it first), or use the token of a GitHub App`
		case FeatureDrafts:
			return "open the pull request ready for review (draft: false)"
		}
		if e.Permission != "" {
			return "add it to the job's permissions: block; workflow runs from forks are read-only whatever it says"
		}
		return "check what the token may do"
	case Conflict:
		return "look at what is there now, and start from that"
	case RateLimited:
		return "wait, or write less in one go"
	case Ambiguous:
		return "look whether it is there before trying again"
	case Unreachable:
		return "check the API URL, the network and proxy settings, and GitHub's status page"
	case Malformed:
		return "check that the API URL is that of a GitHub API"
	}
	return ""
}

// permissionWords turns "issues=write; pull_requests=write" into words in the
// spelling of a workflow's permissions block.
func permissionWords(header string) string {
	var alternatives []string
	for alt := range strings.SplitSeq(header, ";") {
		var all []string
		for p := range strings.SplitSeq(alt, ",") {
			name, level, ok := strings.Cut(strings.TrimSpace(p), "=")
			if !ok {
				continue
			}
			all = append(all, strings.ReplaceAll(name, "_", "-")+": "+level)
		}
		if len(all) > 0 {
			alternatives = append(alternatives, strings.Join(all, " and "))
		}
	}
	if len(alternatives) == 0 {
		return header
	}
	return strings.Join(alternatives, ", or ")
}

func (e *Error) fieldWords() string {
	if len(e.Fields) == 0 {
		return e.Message
	}
	words := make([]string, 0, len(e.Fields))
	for _, f := range e.Fields {
		w := f.Message
		if w == "" {
			w = strings.ReplaceAll(f.Code, "_", " ")
		}
		if f.Field != "" && !strings.HasPrefix(w, f.Field) {
			w = f.Field + " " + w
		}
		words = append(words, w)
	}
	return strings.Join(words, "; ")
}

// oneLine makes a foreign message fit for one line of a log.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' }), " ")
	s = strings.ToValidUTF8(s, "")
	if len(s) > 500 {
		s = strings.ToValidUTF8(s[:497], "") + "..."
	}
	return s
}
