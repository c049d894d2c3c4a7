package sanitize

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unsafe"
)

// references are the repositories whose issues, pull requests and discussions a text
// may refer to. The zero value allows all.
type references struct {
	limited bool
	all     bool            // "*": every reference is allowed
	own     bool            // the text's own repository: "#12"
	current string          // that repository, in lower case, if it is known
	repos   map[string]bool // in lower case; "org/" for all of an owner's
	hosts   []string        // on which repositories are
}

// newReferences returns the references that a configuration allows; allowed is nil for
// all.
func newReferences(allowed []string, repository, serverHost string) (references, error) {
	r := references{limited: allowed != nil, current: strings.ToLower(repository), repos: map[string]bool{}, hosts: []string{"github.com"}}
	if host, ok := configuredHost(serverHost); ok {
		r.hosts = append(r.hosts, host)
	}
	for _, entry := range allowed {
		name := strings.ToLower(strings.TrimSpace(entry))
		owner, repo, ok := strings.Cut(name, "/")
		switch {
		case name == "*":
			r.all, r.own = true, true
		case name == "repo":
			r.own = true
		case !ok || !isRepoName(owner) || repo != "*" && !isRepoName(repo):
			return r, fmt.Errorf(`allowed reference %q: write "repo", "owner/name", "owner/*" or "*"`, entry)
		case repo == "*":
			r.repos[owner+"/"] = true
		default:
			r.repos[name] = true
		}
	}
	r.own = r.allows(r.current)
	return r, nil
}

func isRepoName(name string) bool {
	return name != "" && name != "." && name != ".." && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

// allows reports whether a text may refer to a repository. name is the repository's full name
// in lower case, or "" for the text's own repository.
func (r *references) allows(name string) bool {
	owner, _, _ := strings.Cut(name, "/")
	return r.all || r.own && (name == "" || name == r.current) || r.repos[name] || r.repos[owner+"/"]
}

// limits reports whether there are paths of a host to which a link may not lead.
func (r *references) limits(host string) bool {
	return r.limited && !r.all && (host == "" || slices.Contains(r.hosts, host))
}

// allowsPath reports whether a link may lead to a path of a host. Only a link to an issue, a
// pull request or a discussion refers to a repository. host is "" for a relative link.
func (r *references) allowsPath(host, target string) bool {
	if !r.limits(host) {
		return true
	}
	target = strings.ReplaceAll(target[:indexAnyOrLen(target, "?#")], `\`, "/")
	// Browsers follow "." and ".." before they ask GitHub; other readers may send them, or decode
	// the slashes first.
	followed := strings.ToLower(decodePercent(followDots(target)))
	target = strings.ToLower(decodePercent(target))
	return r.allowsSteps(host, followed) && r.allowsSteps(host, target) && r.allowsSteps(host, path.Clean("/"+target))
}

// followDots returns a path with its "." and ".." followed as browsers do: to them "a%2fb" is one
// name, and so is the empty text between two slashes, which path.Clean leaves out.
func followDots(target string) string {
	var names []string
	for name := range strings.SplitSeq(strings.TrimPrefix(target, "/"), "/") {
		switch decodePercent(name) {
		case ".":
		case "..":
			names = names[:max(len(names)-1, 0)]
		default:
			names = append(names, name)
		}
	}
	return strings.Join(names, "/")
}

// allowsSteps reports whether a link may lead to a path in lower case, of which nothing is encoded.
func (r *references) allowsSteps(host, target string) bool {
	steps := strings.FieldsFunc(target, func(c rune) bool { return c == '/' })
	for i := 0; i+1 < len(steps); i++ {
		if !isIssuePath(steps[i]+"/"+steps[i+1]) || host == "" && strings.Trim(steps[i+1], "0123456789") != "" {
			continue // a relative path such as issues/1.md may name a file
		}
		if i < 2 || !r.allows(steps[i-2]+"/"+steps[i-1]) {
			return false
		}
	}
	return true
}

// decodePercent decodes each "%41" in a text. As in browsers, a "%" before anything else stays.
func decodePercent(text string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "%")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if char, err := strconv.ParseUint(after[:min(2, len(after))], 16, 8); err == nil && len(after) >= 2 {
			b.WriteByte(byte(char))
			after = after[2:]
		} else {
			b.WriteByte('%')
		}
		text = after
	}
}

// repoReference is a reference by number in a flat text.
type repoReference struct {
	cut   int // the offset after its # or "GH-"
	inert bool
	zwsp  int    // if it is inert, where the markZWSP is
	name  string // the repository in lower case, as far as it is written
}

// find calls found for each reference in text that is not allowed or is inert already. With squeeze
// it ignores the bytes that vanish. It finds more than GitHub does: every # and every "GH-" before
// a digit, and names in any form.
func (r *references) find(text string, squeeze bool, q *squeezed, found func(repoReference)) {
	if !r.limited || !mayClose(text) {
		return
	}
	q.fill(text, squeeze)
	b := q.text
	squeezedText := unsafe.String(unsafe.SliceData(b), len(b))
	for i := 0; i+1 < len(b); i++ {
		if !isDigit(b[i+1]) || b[i] != '#' && (b[i] != '-' || i < 2 || b[i-1]|0x20 != 'h' || b[i-2]|0x20 != 'g') {
			continue
		}
		at := q.from.source(i)
		ref := repoReference{cut: at + 1, zwsp: at + 1}
		for ref.zwsp < len(text) && text[ref.zwsp] != markZWSP && vanishes(text[ref.zwsp]) {
			ref.zwsp++
		}
		ref.inert = ref.zwsp < len(text) && text[ref.zwsp] == markZWSP
		ok := r.own
		if b[i] == '#' {
			// Readers differ in whether the name continues through markup. An underscore may be a part
			// of the name.
			written, joined := repositoryBefore(text, at), repositoryBefore(squeezedText, i)
			ref.name = joined
			ok = r.allows(written) && (r.allows(joined) || joined == strings.ReplaceAll(written, "_", ""))
		}
		if ref.inert || !ok {
			found(ref)
		}
	}
}

// repositoryBefore returns the name before the # at i, in lower case.
func repositoryBefore(text string, i int) string {
	const longest = 200
	start := i
	for start > 0 && i-start < longest && isRepoByte(text[start-1]) {
		start--
	}
	for start < i && !isAlnum(text[start]) {
		start++
	}
	return strings.ToLower(strings.TrimRight(text[start:i], "/"))
}
