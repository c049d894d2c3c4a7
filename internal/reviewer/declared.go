package reviewer

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// This file reads the declarations of Go to find out what a name is: a parameter or receiver of a
// type, or an imported package. Of Ruby's, it reads only whether a parameter is called params.

// requestType matches types of parameters from which a request's data can be read.
var requestType = lazyregexp.New(`(?i)\bhttp\.Request\b|proxyrequest|context|ctx|event|gin\b|echo\b|fiber\b|\*Request\b`)

// declare records the parameters or the receiver in the bracket that begins with the token at index
// open. In Go it records whether the type of each is one from which a request's data can be read;
// in Ruby it records a parameter called params, which is then not Rails' params.
func (s *scopes) declare(open int) {
	if s.lang.ruby && s.any(s.inside(open), func(i int) bool { return s.is(i, "params") }) { // def run(params)
		s.head.declared = map[string]bool{"params": false}
	}
	if s.lang.name != "go" {
		return
	}
	var names []string // without a type so far: in (r, q *Repository) they have that of the next one
	for _, a := range s.arguments(open) {
		if !s.isWord(a.from) {
			continue
		}
		names = append(names, s.written(a.from))
		if a.to < a.from+2 {
			continue
		}
		if s.head.declared == nil {
			s.head.declared = map[string]bool{}
		}
		hasRequest := requestType.MatchString(s.sourceText(extent{a.from + 1, a.to}))
		for _, name := range names {
			s.head.declared[name] = hasRequest
		}
		names = nil
	}
}

// declaration reports whether a request's data can be read from a name, and whether the name is a
// recorded parameter or receiver.
func (s *scopes) declaration(name string) (hasRequest, known bool) {
	all := s.declared[name]
	if len(all) == 0 {
		return false, false
	}
	return all[len(all)-1], true
}

// withoutNamesakes returns the source of an expression with a mark after each name that looks like
// a stranger's request but is something else. In `func (r *Repository) f()`, for example, r.Host is
// not a request's host.
func (s *scopes) withoutNamesakes(source string) string {
	if s.lang.ruby && strings.Contains(source, "params") {
		if _, isGiven := s.declaration("params"); isGiven {
			return strings.ReplaceAll(source, "params", "params_")
		}
	}
	for _, name := range requestNames {
		if !strings.Contains(source, name+".") {
			continue
		}
		hasRequest, known := s.declaration(name)
		if known && !hasRequest || !known && strings.Contains(s.values[name].origin, "NewRequest") { // a request that the program itself sends
			source = markName(source, name)
		}
	}
	return source
}

// requestNames are the names that requests have in Go.
var requestNames = strings.Fields("r c ctx gc req request")

// markName puts a mark after a name in each place of a source where the name has a member.
func markName(source, name string) string {
	var b strings.Builder
	for {
		i := strings.Index(source, name+".")
		if i < 0 {
			b.WriteString(source)
			return b.String()
		}
		b.WriteString(source[:i+len(name)])
		if i == 0 || !isNamePart(source[i-1]) {
			b.WriteByte('_')
		}
		source = source[i+len(name):]
	}
}

// isNamePart reports whether a byte before a name shows that the name is the end of another one, or
// a member.
func isNamePart(c byte) bool {
	return c == '.' || c == '_' || isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}

// isPackageMember reports whether the member at index i is a constant or a variable of a package
// that a file of Go imports, such as models.Table. The program itself wrote the value. Secrets do
// not count, nor do members of package os, such as the program's arguments.
func (e *evaluator) isPackageMember(i int) bool {
	owner := i - 2
	if e.lang.name != "go" || !e.isWord(owner) || e.is(owner, "os") || e.is(owner-1, ".") || e.is(i+1, "(") || !isTypeName(e.written(i)) || endsLikeSecret(e.written(i)) {
		return false
	}
	name := e.written(owner)
	if _, isDeclared := e.scope.declaration(name); isDeclared {
		return false
	}
	if _, isSet := e.scope.values[name]; isSet {
		return false
	}
	return e.packages()[name]
}

// packageVersion matches the version that ends an import path.
var packageVersion = lazyregexp.New(`[/.]v\d+$`)

// packages returns the names of the packages that a file of Go imports.
func (e *evaluator) packages() wordSet {
	if e.imported != nil {
		return e.imported
	}
	e.imported = wordSet{}
	read := 0 // the index after the tokens that were read
	for i := range e.tokens {
		if e.is(i, "func") || e.is(i, "type") {
			break
		}
		if !e.is(i, "import") {
			continue
		}
		block := extent{i + 1, min(i+3, len(e.tokens))}
		if e.is(i+1, "(") {
			block = e.inside(i + 1)
		}
		for j := max(block.from, read); j < min(block.to, len(e.tokens)); j++ {
			read = j + 1
			if e.tokens[j].kind != stringText {
				continue
			}
			name := e.content(j)
			if version := packageVersion.FindStringIndex(name); version != nil {
				name = name[:version[0]]
			}
			name = name[strings.LastIndexByte(name, '/')+1:]
			if e.isWord(j-1) && !e.is(j-1, "import") {
				name = e.written(j - 1)
			}
			e.imported[name] = true
		}
	}
	return e.imported
}
