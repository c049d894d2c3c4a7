package changes

import (
	"bytes"
	"path"
	"strings"
	"unicode/utf8"
)

// Mark is a property for which a file may be skipped.
type Mark string

// The hard marks: the file has no text that could be looked at.
const (
	MarkDeleted    Mark = "deleted"
	MarkSubmodule  Mark = "submodule"
	MarkLink       Mark = "link"
	MarkNotFile    Mark = "not-a-file" // a directory, a device, a pipe
	MarkLFSPointer Mark = "lfs-pointer"
	MarkTooLarge   Mark = "too-large"
	MarkBinary     Mark = "binary"
	MarkUnread     Mark = "unread" // it could not be read
)

// The soft marks: the file has a text, which people did not write or did not
// write here. A pull request can set the first by itself (a header is enough), so
// what looks for attacks must not skip it.
const (
	MarkGenerated Mark = "generated"
	MarkVendored  Mark = "vendored"
)

// MarkNotUTF8 is a soft mark, too: bytes that are no text were replaced. One of them
// in a comment is enough, so that it must hide nothing.
const MarkNotUTF8 Mark = "not-utf8"

// Hard reports whether a file with the mark has no text.
func (m Mark) Hard() bool { return m != MarkGenerated && m != MarkVendored && m != MarkNotUTF8 }

// Marked is a mark and the reason for it, as a clause for people.
type Marked struct {
	Mark Mark
	Why  string
}

// sniffed is how much of a content git looks at for a NUL.
const sniffed = 8000

// isBinary reports whether git takes a content for binary.
func isBinary(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), sniffed)], 0) >= 0
}

// strayBytes is which part of a source file's bytes may be none of a text's, one in
// so many: an interpreter passes over some in a comment, but a film called "a.ts" is
// no TypeScript.
const strayBytes = 100

// textOf returns a content as UTF-8 without NUL, and the mark of one that is none as it
// stands. The text is nil for a hard mark.
func textOf(name string, data []byte) (text []byte, m Mark, why string) {
	nul := bytes.Count(data, []byte{0})
	switch {
	case isLFSPointer(data):
		return nil, MarkLFSPointer, "Git LFS keeps its content elsewhere"
	case nul > 0 && (LanguageOf(name, nil) == "" || nul > max(8, len(data)/strayBytes)):
		if isBinary(data) {
			return nil, MarkBinary, "it is a binary file"
		}
		return nil, MarkBinary, "it holds NUL bytes"
	case nul == 0 && utf8.Valid(data):
		return data, "", ""
	}
	text = bytes.ReplaceAll(data, []byte{0}, []byte("\uFFFD"))
	return bytes.ToValidUTF8(text, []byte("\uFFFD")), MarkNotUTF8, "it is not UTF-8 text: what is none was replaced"
}

// isLFSPointer reports whether a content stands for one that Git LFS keeps.
func isLFSPointer(data []byte) bool {
	const first = "version https://git-lfs.github.com/spec/v1\n"
	return len(data) <= 1024 && bytes.HasPrefix(data, []byte(first)) && bytes.Contains(data, []byte("\noid sha256:"))
}

// markOrigin adds the soft marks. What the attributes say of a file goes before
// what its path and text look like.
func (f *File) markOrigin(said attributes) {
	switch why := vendoredWhy(f.Path); {
	case said.vendored == set:
		f.mark(MarkVendored, ".gitattributes marks it linguist-vendored")
	case said.vendored == unspecified && why != "":
		f.mark(MarkVendored, why)
	}
	switch why := generatedWhy(f.Path, f.Text); {
	case said.generated == set:
		f.mark(MarkGenerated, ".gitattributes marks it linguist-generated")
	case said.generated == unspecified && why != "":
		f.mark(MarkGenerated, why)
	}
}

// vendoredDirs hold code that comes from elsewhere.
var vendoredDirs = map[string]bool{
	"vendor": true, "vendors": true, "node_modules": true, "third_party": true, "third-party": true, "3rdparty": true, "bower_components": true,
	"jspm_packages": true, "Godeps": true, "Pods": true, "Carthage": true, "site-packages": true, ".venv": true, "venv": true,
}

// vendoredWhy says why a path is one of vendored code, "" if it is not.
func vendoredWhy(name string) string {
	dir := path.Dir(name)
	for part := range strings.SplitSeq(dir, "/") {
		if vendoredDirs[part] {
			return "it lies in a directory " + part
		}
	}
	for _, yarn := range []string{".yarn/releases", ".yarn/plugins", ".yarn/sdks", ".yarn/cache"} {
		if strings.HasSuffix(dir, yarn) || strings.Contains(dir, yarn+"/") {
			return "it lies in " + yarn
		}
	}
	if base := path.Base(name); base == "gradlew" || base == "gradlew.bat" || base == "mvnw" || base == "mvnw.cmd" {
		return "it is a wrapper that the build tool writes"
	}
	return ""
}

// lockFiles are written by package managers.
var lockFiles = map[string]bool{
	"package-lock.json": true, "npm-shrinkwrap.json": true, "yarn.lock": true, "pnpm-lock.yaml": true, "bun.lock": true, "deno.lock": true,
	"go.sum": true, "go.work.sum": true, "Cargo.lock": true, "Gemfile.lock": true, "gems.locked": true, "poetry.lock": true, "Pipfile.lock": true,
	"uv.lock": true, "pdm.lock": true, "composer.lock": true, "gradle.lockfile": true, "buildscript-gradle.lockfile": true, "flake.lock": true,
	"mix.lock": true, "pubspec.lock": true, "Podfile.lock": true, "Package.resolved": true, "packages.lock.json": true, ".terraform.lock.hcl": true,
}

// Where a header is looked for: at the start of a file.
const (
	headerLines = 40
	headerBytes = 8 << 10
)

// A script or a style sheet of some size whose lines are this long on average, in
// bytes, was written by a minifier: people's lines stay well below it.
const (
	minifiedSize = 2 << 10
	minifiedMean = 250
)

// generatedWhy says why a file is taken for one that a program wrote, "" if it is
// not.
func generatedWhy(name string, text []byte) string {
	base := path.Base(name)
	if lockFiles[base] {
		return "it is a lock file"
	}
	switch stem, ext := strings.TrimSuffix(base, path.Ext(base)), strings.ToLower(path.Ext(base)); ext {
	case ".map":
		if e := path.Ext(stem); e == ".js" || e == ".css" || e == ".mjs" || e == ".cjs" {
			return "it is a source map"
		}
	case ".js", ".mjs", ".cjs", ".css":
		if strings.HasSuffix(stem, ".min") || strings.HasSuffix(stem, "-min") {
			return "its name says that it is minified"
		}
		if len(text) >= minifiedSize && len(text)/(bytes.Count(text, []byte{'\n'})+1) >= minifiedMean {
			return "its lines are so long that it is minified"
		}
	}
	return headerWhy(text)
}

// headerWhy looks for the comment by which tools mark what they write.
func headerWhy(text []byte) string {
	rest := text[:min(len(text), headerBytes)]
	for range headerLines {
		line, after, more := bytes.Cut(rest, []byte{'\n'})
		if saysGenerated(string(line)) {
			return "its header says that it is generated"
		}
		if !more {
			break
		}
		rest = after
	}
	return ""
}

// commentMarks begin a comment in the languages that tools write; longer ones
// stand before those that they begin with.
var commentMarks = []string{"//", "#", "/*", "*", "--", "<!--", ";", `"""`, "%"}

// saysGenerated reports whether a line is a comment that begins with the words
// which generators use. Code that only names them is written by people.
func saysGenerated(line string) bool {
	line = strings.TrimSpace(line)
	said := ""
	for _, mark := range commentMarks {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			said = strings.TrimLeft(rest, mark+"! \t")
			break
		}
	}
	if strings.HasPrefix(said, "@generated") {
		return true
	}
	said = strings.ToLower(said)
	if !strings.Contains(said, "do not edit") && !strings.Contains(said, "do not modify") {
		return false
	}
	for _, subject := range []string{"this file is ", "this file was ", "this code is ", "this code was ", "code "} {
		if rest, ok := strings.CutPrefix(said, subject); ok {
			said = rest
			break
		}
	}
	for _, how := range []string{"automatically ", "auto-", "auto "} {
		said = strings.TrimPrefix(said, how)
	}
	return strings.HasPrefix(said, "generated") || strings.HasPrefix(said, "autogenerated")
}
