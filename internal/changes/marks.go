package changes

import (
	"bytes"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// Mark is a property of a file that decides whether a check may skip the file.
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

// The soft marks: the file has a text, but a program wrote it, or people wrote it elsewhere. A pull
// request can make a file MarkGenerated (a header is enough), so a search for attacks must not skip
// such a file.
const (
	MarkGenerated Mark = "generated"
	MarkVendored  Mark = "vendored"
)

// MarkNotUTF8 is a soft mark, too: bytes that are not text were replaced. One such byte in a
// comment is enough for this mark, so no check may skip a file that has it.
const MarkNotUTF8 Mark = "not-utf8"

// Hard reports whether a file with the mark has no text.
func (m Mark) Hard() bool { return m != MarkGenerated && m != MarkVendored && m != MarkNotUTF8 }

// Marked is a mark and the reason for it, as a clause for people.
type Marked struct {
	Mark Mark
	Why  string
}

// binaryPrefix is how many bytes of a content git searches for a NUL.
const binaryPrefix = 8000

// A source file may have eight NULs, or one in this many bytes: interpreters skip a few in a comment,
// but a film called "a.ts" is not TypeScript.
const bytesPerNUL = 100

// textOf returns a content as UTF-8 without NUL. If the content is not such a text, or is a pointer
// of Git LFS, it also returns a mark and the reason. The text is nil for a hard mark.
func textOf(name string, data []byte) (text []byte, m Mark, why string) {
	nul := bytes.Count(data, []byte{0})
	switch {
	case isLFSPointer(data):
		return nil, MarkLFSPointer, "Git LFS keeps its content elsewhere"
	case nul > 0 && (LanguageOf(name, nil) == "" || nul > max(8, len(data)/bytesPerNUL)):
		if bytes.IndexByte(data[:min(len(data), binaryPrefix)], 0) >= 0 {
			return nil, MarkBinary, "it is a binary file"
		}
		return nil, MarkBinary, "it contains NUL bytes"
	case nul == 0 && utf8.Valid(data):
		return data, "", ""
	}
	text = bytes.ReplaceAll(data, []byte{0}, []byte("\uFFFD"))
	return bytes.ToValidUTF8(text, []byte("\uFFFD")), MarkNotUTF8, "it is not UTF-8 text: invalid bytes were replaced"
}

// isLFSPointer reports whether a content is only a pointer to one that Git LFS keeps.
func isLFSPointer(data []byte) bool {
	const first = "version https://git-lfs.github.com/spec/v1\n"
	return len(data) <= 1024 && bytes.HasPrefix(data, []byte(first)) && bytes.Contains(data, []byte("\noid sha256:"))
}

// markOrigin adds the soft marks about a file's origin. If the file has attributes about this, they
// count, and not its path and text.
func (f *File) markOrigin(a attributes) {
	switch why := vendoredWhy(f.Path); {
	case a.vendored == set:
		f.mark(MarkVendored, ".gitattributes marks it linguist-vendored")
	case a.vendored != unset && why != "":
		f.mark(MarkVendored, why)
	}
	switch why := generatedWhy(f.Path, f.Text); {
	case a.generated == set:
		f.mark(MarkGenerated, ".gitattributes marks it linguist-generated")
	case a.generated != unset && why != "":
		f.mark(MarkGenerated, why)
	}
}

// vendoredDirs are the directories for code that comes from elsewhere.
var vendoredDirs = map[string]bool{
	"vendor": true, "vendors": true, "node_modules": true, "third_party": true, "third-party": true, "3rdparty": true, "bower_components": true,
	"jspm_packages": true, "Godeps": true, "Pods": true, "Carthage": true, "site-packages": true, ".venv": true, "venv": true,
	"externals": true, "extlib": true, "thirdparty": true,
}

var (
	// scriptExtensions are those of files that web pages load. People copy such files into
	// directories that are named after a release, such as bootstrap-5.3.1.
	scriptExtensions = map[string]bool{".js": true, ".mjs": true, ".css": true}
	releaseDir       = lazyregexp.New(`^[A-Za-z][\w.]*[-_]v?\d+\.\d+\.\d+$`)
)

// vendoredWhy returns why a path is one of vendored code, "" if it is not.
func vendoredWhy(name string) string {
	dir := path.Dir(name)
	for part := range strings.SplitSeq(dir, "/") {
		if vendoredDirs[part] {
			return "it lies in a directory " + part
		}
	}
	if scriptExtensions[strings.ToLower(path.Ext(name))] {
		for part := range strings.SplitSeq(dir, "/") {
			if releaseDir.MatchString(part) {
				return "it lies in a directory of a release, " + part
			}
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

// generatedWhy returns why a file looks like one that a program wrote, "" if it does
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
			return "it has the name of a minified file"
		}
		if len(text) >= minifiedSize && len(text)/(bytes.Count(text, []byte{'\n'})+1) >= minifiedMean {
			return "its lines are so long that it must be minified"
		}
	}
	if hasGeneratedHeader(text) {
		return "it has the header of a generated file"
	}
	return ""
}

// hasGeneratedHeader looks for the comment by which tools mark what they write.
func hasGeneratedHeader(text []byte) bool {
	lines := 0
	for line := range bytes.Lines(text[:min(len(text), headerBytes)]) {
		if lines++; lines > headerLines {
			break
		}
		if isGeneratedComment(string(line)) {
			return true
		}
	}
	return false
}

// commentMarks begin a comment in the languages that tools write. None begins with
// another one.
var commentMarks = []string{"//", "#", "/*", "*", "--", "<!--", ";", `"""`, "%"}

// isGeneratedComment reports whether a line is a comment in the wording of generators.
// Code that has the wording elsewhere was written by people.
func isGeneratedComment(line string) bool {
	line = strings.TrimSpace(line)
	comment := ""
	for _, mark := range commentMarks {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			comment = strings.TrimLeft(rest, mark+"! \t")
			break
		}
	}
	if strings.HasPrefix(comment, "@generated") {
		return true
	}
	comment = strings.ToLower(comment)
	if strings.Contains(comment, "auto generated by openapi generator") || strings.Contains(comment, "auto generated by the swagger code generator") {
		return true
	}
	if !strings.Contains(comment, "do not edit") && !strings.Contains(comment, "do not modify") {
		return false
	}
	for _, subject := range []string{"this file is ", "this file was ", "this code is ", "this code was ", "code "} {
		if rest, ok := strings.CutPrefix(comment, subject); ok {
			comment = rest
			break
		}
	}
	for _, how := range []string{"automatically ", "auto-", "auto "} {
		comment = strings.TrimPrefix(comment, how)
	}
	return strings.HasPrefix(comment, "generated") || strings.HasPrefix(comment, "autogenerated")
}
