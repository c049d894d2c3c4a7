package sarif

import (
	"strings"
)

// artifactLocation makes a URI relative to the repository's root.
func (r *resolver) artifactLocation(o object) bool {
	uri, base := stringMember(o, "uri"), stringMember(o, "uriBaseId")
	if i, ok := index(o, "index", len(r.artifacts)); ok && uri == "" {
		location := child(r.artifacts[i], "location")
		uri, base = stringMember(location, "uri"), stringMember(location, "uriBaseId")
	}
	delete(o, "index")
	delete(o, "uriBaseId")
	path, err := RepoPath(r.resolveBase(uri, base), r.roots)
	if err != nil {
		r.place = err.Error()
		return false
	}
	before := len(stringMember(o, "uri"))
	uri = EncodePath(path)
	o["uri"] = uri
	return r.afford(len(uri) - before)
}

// resolveBase puts the URI that a base id stands for in front of a relative
// one. An id that is not explained, or whose name says that it is the source
// root, stands for the repository's root.
func (r *resolver) resolveBase(uri, base string) string {
	given := uri
	for range 8 {
		b := child(r.bases, base)
		prefix := stringMember(b, "uri")
		if base == "" || b == nil || prefix == "" && stringMember(b, "uriBaseId") == "" || hasScheme(uri) || strings.HasPrefix(uri, "/") {
			return uri
		}
		if isRootName(base) && (hasScheme(prefix) || strings.HasPrefix(prefix, "/")) {
			if _, err := RepoPath(prefix+"/x", r.roots); err != nil {
				return uri
			}
		}
		if prefix != "" {
			uri = strings.TrimSuffix(prefix, "/") + "/" + uri
		}
		if len(uri) > 4*maxPath {
			return uri // RepoPath refuses it
		}
		base = stringMember(b, "uriBaseId")
	}
	return given // the ids lead in a circle, and so nowhere
}

func isRootName(id string) bool { return strings.Contains(strings.ToUpper(id), "ROOT") }

// region gives a region a line, and takes an end away that is before its start.
func (r *resolver) region(o object) {
	start, ok := number(o, "startLine")
	mended := !ok || start < 1
	if mended {
		start = 1
		o["startLine"] = 1
		delete(o, "startColumn")
		delete(o, "endLine")
		delete(o, "endColumn")
	}
	end, hasEnd := number(o, "endLine")
	if hasEnd && end < start {
		mended = true
		delete(o, "endLine")
		delete(o, "endColumn")
		end, hasEnd = 0, false
	}
	from, ok1 := number(o, "startColumn")
	to, ok2 := number(o, "endColumn")
	if ok1 && ok2 && (!hasEnd || end == start) && to < from {
		mended = true
		delete(o, "endColumn")
	}
	if mended {
		r.notes.add(RuleRegions, "", 1)
	}
}
