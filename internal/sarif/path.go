package sarif

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxPath is the greatest length of a file's path, in bytes.
const maxPath = 4096

// The reasons why a URI does not name a file in the repository.
var (
	errNoFile   = errors.New("it names no file")
	errOutside  = errors.New("it leads out of the repository")
	errAbsolute = errors.New("it is an absolute path outside the repository")
	errScheme   = errors.New("it is not a file's URI")
	errLong     = errors.New("it is too long")
	errText     = errors.New("it contains control characters or is not UTF-8")
)

// RepoPath returns the file that an artifact's URI names, as a slash-separated path relative to the
// repository's root. The URI may be relative. It may be an absolute path or file URI below one of
// the roots, or below the directory where GitHub's runners check out a repository. It may have
// backslashes, and may be percent-encoded. A file outside the repository is an error.
func RepoPath(uri string, roots []string) (string, error) {
	path, isAbsolute, err := FilePath(uri)
	if err != nil {
		return "", err
	}
	if isAbsolute {
		var ok bool
		if path, ok = belowRoot(path, roots); !ok {
			return "", errAbsolute
		}
	}
	return cleanPath(path)
}

// FilePath returns the path in an artifact's URI, in any form that RepoPath reads: decoded, with
// slashes, and not cleaned. isAbsolute is set for an absolute path and for a file URI.
func FilePath(uri string) (path string, isAbsolute bool, err error) {
	uri = strings.TrimSpace(uri)
	if len(uri) > 3*maxPath {
		return "", false, errLong
	}
	uri, isFileURI := cutPrefixFold(uri, "file:")
	if isFileURI {
		if afterSlashes, hasHost := strings.CutPrefix(uri, "//"); hasHost {
			uri, _ = cutPrefixFold(afterSlashes, "localhost")
			if !strings.HasPrefix(uri, "/") {
				return "", false, errAbsolute // a file of another machine
			}
		}
	} else if hasScheme(uri) {
		return "", false, errScheme
	}
	if i := strings.LastIndex(uri, "#L"); i >= 0 && isLineAnchor(uri[i+2:]) {
		uri = uri[:i]
	}
	path = strings.ReplaceAll(unescape(uri), `\`, "/")
	switch {
	case !utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl):
		return "", false, errText
	case strings.HasPrefix(path, "//") && !isFileURI: // an address without its scheme
		return "", false, errScheme
	}
	return path, strings.HasPrefix(path, "/") || isDrive(path) || isFileURI, nil
}

// cleanPath removes "." and ".." from a relative path.
func cleanPath(path string) (string, error) {
	var segments []string
	for s := range strings.SplitSeq(path, "/") {
		switch s {
		case "", ".":
		case "..":
			if len(segments) == 0 {
				return "", errOutside
			}
			segments = segments[:len(segments)-1]
		default:
			segments = append(segments, s)
		}
	}
	path = strings.Join(segments, "/")
	switch {
	case path == "":
		return "", errNoFile
	case len(path) > maxPath:
		return "", errLong
	}
	return path, nil
}

// belowRoot removes a root, or the runners' directory of a repository, from an absolute path. It
// reports false if the path is below none of them.
func belowRoot(path string, roots []string) (string, bool) {
	if len(path) > 2 && path[0] == '/' && isDrive(path[1:]) {
		path = path[1:] // file:///C:/x
	}
	for _, root := range roots {
		if root = strings.TrimRight(strings.ReplaceAll(root, `\`, "/"), "/"); root == "" {
			continue
		}
		if rest, ok := CutDir(path, root); ok {
			return rest, true
		}
	}
	// The runners' directories: the workspace in a container, and the repository's
	// name twice below the work directory.
	if rest, ok := CutDir(path, "/github/workspace"); ok {
		return rest, true
	}
	for _, work := range []string{"/home/runner/work", "/__w", "/Users/runner/work", "D:/a"} {
		rest, ok := CutDir(path, work)
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(rest, "/")
		if rest, ok := CutDir(path, work+"/"+name+"/"+name); ok && name != "" {
			return rest, true
		}
	}
	return "", false
}

// CutDir removes a directory from the beginning of a path. Both are absolute and have slashes, and
// the directory has none at its end. Letter case does not matter on a drive. ok is false if the path
// is not below the directory.
func CutDir(path, dir string) (rest string, ok bool) {
	if isDrive(dir + "/") {
		return cutPrefixFold(path, dir+"/")
	}
	return strings.CutPrefix(path, dir+"/")
}

// encodePath returns a path relative to the repository's root as a URI.
func encodePath(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		if isLetter(c) || isDigit(c) || strings.IndexByte("-._~/!$&'()*+,;=@", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// unescape decodes percent-encoding; a % without two hexadecimal digits stays.
func unescape(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// hasScheme reports whether a URI has a scheme. A single letter is a drive.
func hasScheme(s string) bool {
	i := strings.IndexByte(s, ':')
	if i < 2 || !isLetter(s[0]) {
		return false
	}
	for _, c := range []byte(s[:i]) {
		if !isLetter(c) && !isDigit(c) && c != '+' && c != '-' && c != '.' {
			return false
		}
	}
	return true
}

func isDrive(s string) bool { return len(s) > 2 && isLetter(s[0]) && s[1] == ':' && s[2] == '/' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isLineAnchor reports whether s is what follows "#L" in "#L10" or "#L10-L20".
func isLineAnchor(s string) bool {
	for part := range strings.SplitSeq(s, "-") {
		part = strings.TrimPrefix(part, "L")
		if part == "" || strings.Trim(part, "0123456789") != "" {
			return false
		}
	}
	return true
}

// cutPrefixFold is strings.CutPrefix without regard to letter case.
func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}
