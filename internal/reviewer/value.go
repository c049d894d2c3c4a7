package reviewer

import (
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// The model of values
//
// A rule asks what an expression can be when the program runs: constant text, text with
// something in it that may change, or something from a request. The evaluator answers
// without running anything. Its answer is a value. These are its parts text, literal and changing:
//
//	expression                         text            literal  changing
//	"SELECT a"                         SELECT a        yes      no
//	name                               ␀               no       yes
//	"SELECT " + name                   SELECT ␀        yes      yes
//	`ls ${dir}`                        ls ␀            yes      yes
//	"LIMIT " + parseInt(n)             LIMIT 0         yes      no
//	"FROM " + TABLE                    FROM TABLE      yes      no
//	12, TABLE, user.length             12, TABLE, 0    no       no
//	ids.map(() => "?").join(",")       0               no       no
//
// The text has what is literal or harmless in it, and a hole (␀) for each part that is not known. A
// value that is literal and changing is built: literal text with something else in it, which is how
// an injection is written. A value that is neither does no harm. The part origin is the source of the
// expression and of the values of its names: it tells rules that `name` is req.query.name.
//
// How an expression gets its value (evaluate.go):
//
//  1. evaluate splits it at its operators: a sum joins its operands, a choice has the
//     value of one branch, a comparison is harmless.
//  2. operand reads one operand: a literal, a name, a bracket, and the members, calls
//     and indexes that hang on it.
//  3. A name has the value that it was last given in its function (scope.go), or is
//     harmless by how it is spelled: TABLE, port. Any other name is unknown.
//  4. What a call returns depends on the function's name: the pack of the language lists
//     functions that clean, format, join or keep their arguments. Any other call is
//     unknown.
//
// The rest is bounds: text and origin are cut, and deep expressions are unknown.
const (
	// hole stands in a value's text for what is not known before the program runs.
	hole = "\x00"
	// ownMark follows a hole that the program's own code fills, for example with an attribute of the
	// object in Python, or with the result of a function of the package in Go.
	ownMark = "\x02"
	// markupMark follows a hole for a part of the markup that a program makes: a class, a number, or
	// markup that a function made.
	markupMark = "\x03"
	// requestMark stands in the origin of a value that a request sends, where its source does not show
	// that.
	requestMark = "\x01"
	// longestText bounds the bytes of a string literal's text, and of an origin. A sum's text gets
	// nothing more once it is as long.
	longestText = 2000
	// deepestValue bounds how deep brackets in an expression are followed.
	deepestValue = 12
	// longestValue bounds the tokens of an expression that is evaluated.
	longestValue = 20 * longestExpression
)

// value is what is known about an expression without running it.
type value struct {
	// text is its literal and harmless parts in their order, with holes for the others.
	text string
	// literal is set if there is literal text, changing if there is a hole.
	literal, changing bool
	// table is set for a list or a map that has literals only, and at least one.
	table bool
	// origin is the source of the expression, and of the values of its names.
	origin string
}

// unknown returns the value of an expression of which nothing is known.
func unknown() value { return value{text: hole, changing: true} }

// unknownFrom is unknown with an origin.
func unknownFrom(origin string) value { return value{text: hole, changing: true, origin: origin} }

// ownFrom is unknownFrom for a value that the program's own code gives.
func ownFrom(origin string) value { return value{text: hole + ownMark, changing: true, origin: origin} }

// markupFrom is unknownFrom for what stands in markup.
func markupFrom(origin string) value {
	return value{text: hole + markupMark, changing: true, origin: origin}
}

// isOwn reports whether a text has a hole, and the program's own code fills each of its holes.
func isOwn(text string) bool {
	holes := strings.Count(text, hole)
	return holes > 0 && holes == strings.Count(text, hole+ownMark)
}

// harmless returns the value of an expression that may change but cannot do harm: a number, a list
// of constants, the result of a function that cleans.
func harmless() value { return value{text: "0"} }

// constantTable is harmless for a list or a map that has literals only.
func constantTable() value { return value{text: "0", table: true} }

// literalText returns the value of a string literal. Blanks do not make a text built.
func literalText(text string) value {
	if len(text) > longestText {
		text = text[:longestText]
	}
	return value{text: text, literal: strings.TrimSpace(text) != ""}
}

// built reports whether literal text and something that changes are joined.
func (v value) built() bool { return v.literal && v.changing }

// add appends what is joined to the value: "a" + b.
func (v *value) add(more value) {
	v.table = v.text == "" && more.table
	if len(v.text) < longestText {
		v.text += more.text
	}
	v.literal = v.literal || more.literal
	v.changing = v.changing || more.changing
	v.addOrigin(more.origin)
}

// addOrigin adds to where the value comes from.
func (v *value) addOrigin(origin string) {
	if origin != "" && len(v.origin)+len(origin) < longestText {
		v.origin += "\n" + origin
	}
}

// isConstantName reports whether a name is written like a constant: in capitals.
func isConstantName(name string) bool {
	return len(name) > 1 && strings.ToUpper(name) == name && strings.ToLower(name) != name
}

// isTypeName reports whether a name is that of a type or a module, whose members in
// capitals are constants: Table.NAME, self.NAME.
func isTypeName(name string) bool {
	return name == "self" || name == "this" || name == "cls" || name != "" && 'A' <= name[0] && name[0] <= 'Z'
}

// namesMoment reports whether a name is that of a moment or of a number of something, as created_at
// and row_count are.
func namesMoment(name string) bool {
	return slices.ContainsFunc(momentEnds, func(end string) bool { return strings.HasSuffix(name, end) })
}

// momentEnds end the names of moments and numbers.
var momentEnds = []string{"_at", "_ms", "_seconds", "_count", "_status", "_pid", "_hours", "_days", "Millis", "Seconds", "timestamp", "Timestamp"}

// ownName matches names of texts that a program makes for its own statements: tables, clauses,
// lists of placeholders. markupName matches names of markup, and of values in its attributes.
var (
	ownName    = lazyregexp.New(`^(tbl|table|schema|database|db)(_?[nN]ames?)?$|^(raw_?)?[tT]able_?[nN]ame$|^(column|field)_?[lL]ist$|[pP]lace_?[hH]olders?$|_sql$|Sql$|SQL$|^sql_?[A-Z]\w+|_clauses?$|Clauses?$|\w2str$|_limit$`)
	markupName = lazyregexp.New(`(?:Html|HTML|Markup|Icon|Class|Classes|ClassName|ID|Color|Style|Id|Index|Width|Height|Size|Count|Dir|Attrs?|Percent|Progress|Duration|Speed|Theme|_html)$|^(?:markup|icon|cls|className|colou?r|style|id|selected|checked|disabled|width|height|progress|percent|duration|speed|theme|svg|tag|tagName|prefix|suffix)$`)
)

// isOwnName reports whether ownName matches a name. Most names contain none of ownParts, which is
// cheaper to see.
func isOwnName(name string) bool {
	return slices.ContainsFunc(ownParts, func(part string) bool { return strings.Contains(name, part) }) && ownName.MatchString(name)
}

// ownParts are parts of names. Each name that ownName matches contains one of them.
var ownParts = strings.Fields("tbl able chema atabase db List list olders older sql Sql SQL lause 2str _limit")

// isMarkupName reports whether markupName matches a name. It looks first for the letters with which
// such names end, which is cheaper.
func isMarkupName(name string) bool {
	return len(name) > 1 && strings.IndexByte("lLpnserdDxhtg", name[len(name)-1]) >= 0 && markupName.MatchString(name)
}

// numericNames are names whose values are numbers in all languages.
var numericNames = wordSetOf("pid pids ppid uid gid port i j n idx index count row col width height lft rgt")

// constantWords are words for constants, and names that the language gives a value.
var constantWords = wordSetOf("true false nil null None True False undefined __dirname __filename __file__ __dir__")
