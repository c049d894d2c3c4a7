package sarif

import (
	"cmp"
	"slices"
	"strings"
)

// lineHashKey is the one fingerprint that code scanning reads.
const lineHashKey = "primaryLocationLineHash"

// fingerprint gives each result that has none the line hash of its first
// location. It reads each file once, and holds one at a time.
func (g *group) fingerprint(read func(path string) ([]byte, error)) {
	type need struct {
		result object
		path   string
		line   int
	}
	var needs []need
	for _, o := range g.results {
		prints := child(o, "partialFingerprints")
		if h := stringMember(prints, lineHashKey); isLineHash(h) {
			continue
		} else if h != "" {
			g.notes.add(RuleBadHashes, "", 1)
		}
		delete(prints, lineHashKey)
		physical := child(objects(list(o, "locations"))[0], "physicalLocation")
		line, _ := number(child(physical, "region"), "startLine")
		needs = append(needs, need{o, unescape(stringMember(child(physical, "artifactLocation"), "uri")), line})
	}
	if read == nil {
		g.notes.add(RuleHashes, "no files to read", len(needs))
		return
	}
	slices.SortStableFunc(needs, func(a, b need) int { return cmp.Compare(a.path, b.path) })
	var hashes []string
	readable := false
	for i, n := range needs {
		if i == 0 || needs[i-1].path != n.path {
			content, err := read(n.path)
			if readable = err == nil; readable {
				hashes = LineHashes(string(content))
			}
		}
		switch {
		case !readable:
			g.notes.add(RuleHashes, "the file cannot be read", 1)
		case n.line < 1 || n.line > len(hashes):
			g.notes.add(RuleHashes, "the line is behind the file's end", 1)
		default:
			prints := child(n.result, "partialFingerprints")
			if prints == nil {
				prints = object{}
				n.result["partialFingerprints"] = prints
			}
			prints[lineHashKey] = hashes[n.line-1]
		}
	}
}

// isLineHash reports the form of a line hash: up to 16 lower-case hexadecimal
// digits, a colon and a count.
func isLineHash(s string) bool {
	hash, count, ok := strings.Cut(s, ":")
	return ok && len(hash) >= 1 && len(hash) <= 16 && strings.Trim(hash, "0123456789abcdef") == "" &&
		len(count) >= 1 && len(count) <= 9 && strings.Trim(count, "0123456789") == ""
}
