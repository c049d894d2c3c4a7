package jsonrepair

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// kinds returns the kinds of repairs, in their order.
func kinds(repairs []Repair) []string {
	var names []string
	for _, r := range repairs {
		names = append(names, r.Kind)
	}
	return names
}

func TestFixRepairs(t *testing.T) {
	for name, c := range map[string]struct {
		in, want string
		kinds    []string
	}{
		"single quotes":              {`{'a': 'b'}`, `{"a": "b"}`, []string{SingleQuotes}},
		"double quote in single":     {`{'a': 'say "x", ok'}`, `{"a": "say \"x\", ok"}`, []string{SingleQuotes}},
		"apostrophe":                 {`{'a': 'It's Bob's'}`, `{"a": "It's Bob's"}`, []string{SingleQuotes, InnerQuote}},
		"possessive plural":          {`{'a': 'the dogs' owner', 'b': 1}`, `{"a": "the dogs' owner", "b": 1}`, []string{SingleQuotes, InnerQuote}},
		"escaped apostrophe":         {`{'a': 'It\'s'}`, `{"a": "It's"}`, []string{SingleQuotes, BadEscape}},
		"bare keys":                  {`{type: "noop", issue_number: 5, add-labels: []}`, `{"type": "noop", "issue_number": 5, "add-labels": []}`, []string{BareKey}},
		"trailing comma in object":   {`{"a": 1,}`, `{"a": 1}`, []string{TrailingComma}},
		"trailing comma in array":    {`{"a": [1, 2, ]}`, `{"a": [1, 2 ]}`, []string{TrailingComma}},
		"comma after the object":     {`{"a": 1},`, `{"a": 1}`, []string{TrailingComma}},
		"comma, comment, closer":     {`{"a": 1, /* x */ }`, `{"a": 1  }`, []string{TrailingComma, Comment}},
		"inner quotes":               {`{"a": "He said "hi" to me", "b": 1}`, `{"a": "He said \"hi\" to me", "b": 1}`, []string{InnerQuote}},
		"empty quotation":            {`{"a": "not "" either", "b": 1}`, `{"a": "not \"\" either", "b": 1}`, []string{InnerQuote}},
		"inner quotes at the end":    {`{"a": "He said "hi"", "b": 1}`, `{"a": "He said \"hi\"", "b": 1}`, []string{InnerQuote}},
		"inner quotes, comma, prose": {`{"a": "He said "hi", then left"}`, `{"a": "He said \"hi\", then left"}`, []string{InnerQuote}},
		"list of quoted words":       {`{"a": "Labels "bug", "docs", and "x" added", "b": 1}`, `{"a": "Labels \"bug\", \"docs\", and \"x\" added", "b": 1}`, []string{InnerQuote}},
		"quoted number":              {`{"a": "error "exit 1". See "v2", "3"", "b": 1}`, `{"a": "error \"exit 1\". See \"v2\", \"3\"", "b": 1}`, []string{InnerQuote}},
		"inch mark":                  {`{"a": "a 5" pipe", "b": 1}`, `{"a": "a 5\" pipe", "b": 1}`, []string{InnerQuote}},
		"JSON in a string, last":     {`{"a": "Set {"b": "x"} here"}`, `{"a": "Set {\"b\": \"x\"} here"}`, []string{InnerQuote}},
		"JSON in a string, number":   {`{"a": "Set {"b": 1} here", "c": 2}`, `{"a": "Set {\"b\": 1} here", "c": 2}`, []string{InnerQuote}},
		"raw newline":                {"{\"a\": \"one\ntwo\r\n\tthree\"}", `{"a": "one\ntwo\r\n\tthree"}`, []string{ControlCharacter}},
		"control characters":         {"{\"a\": \"\x00\x1b[1m\"}", `{"a": "\u0000\u001b[1m"}`, []string{ControlCharacter}},
		"control between tokens":     {"{\"a\": \x00 1}", `{"a":  1}`, []string{ControlCharacter}},
		"missing brace":              {`{"a": {"b": "c"}`, `{"a": {"b": "c"}}`, []string{MissingCloser}},
		"missing closers in order":   {`{"a": [{"b": ["c"`, `{"a": [{"b": ["c"]}]}`, []string{MissingCloser}},
		"missing bracket before }":   {`{"a": ["b"}`, `{"a": ["b"]}`, []string{MissingCloser}},
		"missing brace before ]":     {`{"a": [{"b": "c"], "d": 1}`, `{"a": [{"b": "c"}], "d": 1}`, []string{MissingCloser}},
		"missing after a comma":      {`{"a": "b",`, `{"a": "b"}`, []string{TrailingComma, MissingCloser}},
		"missing after a number":     {"{\"a\": 12\n", "{\"a\": 12\n}", []string{MissingCloser}},
		"missing after a literal":    {`{"a": true`, `{"a": true}`, []string{MissingCloser}},
		"nothing but an opener":      {`{`, `{}`, []string{MissingCloser}},
		"extra closers":              {`{"a": "b"}}]`, `{"a": "b"}`, []string{ExtraCloser}},
		"unknown escape":             {`{"a": "\d+\.go C:\Users"}`, `{"a": "\\d+\\.go C:\\Users"}`, []string{BadEscape}},
		"Python's escapes":           {`{'a': 'b\xa0\x1b\x22\U0001f600', "c": "it's \x41"}`, `{"a": "b\u00a0\u001b\u0022😀", "c": "it's \u0041"}`, []string{SingleQuotes, BadEscape}},
		"others like Python's":       {`{'a': '\xg0 \U0000d800 \U00110000 \UFFFFFFFF \U123 \x4'}`, `{"a": "\\xg0 \\U0000d800 \\U00110000 \\UFFFFFFFF \\U123 \\x4"}`, []string{SingleQuotes, BadEscape}},
		"Python's, in double quotes": {`{"a": "C:\x86 \U0001f600",}`, `{"a": "C:\\x86 \\U0001f600"}`, []string{BadEscape, TrailingComma}},
		"short unicode escape":       {`{"a": "\u12 \uZZZZ"}`, `{"a": "\\u12 \\uZZZZ"}`, []string{BadEscape}},
		"backslash before newline":   {"{\"a\": \"x \\\ny\"}", `{"a": "x \\\ny"}`, []string{BadEscape, ControlCharacter}},
		"lone high surrogate":        {`{"a": "\ud83dx"}`, `{"a": "\ufffdx"}`, []string{LoneSurrogate}},
		"lone low surrogate":         {`{"a": "\ude00"}`, `{"a": "\ufffd"}`, []string{LoneSurrogate}},
		"two high surrogates":        {`{"a": "\ud83d\ud83d\ude00"}`, `{"a": "\ufffd\ud83d\ude00"}`, []string{LoneSurrogate}},
		"invalid UTF-8":              {"{\"a\": \"x\xff\xc3\"}", "{\"a\": \"x\uFFFD\uFFFD\"}", []string{InvalidUTF8}},
		"Python literals":            {`{"a": True, "b": [False, None]}`, `{"a": true, "b": [false, null]}`, []string{PythonLiteral}},
		"Python repr":                {`{'a': True, 'b': "it's"}`, `{"a": true, "b": "it's"}`, []string{SingleQuotes, PythonLiteral}},
		"line comments":              {"{\"a\": \"b\", // one\n # two\n\"c\": 1 // three\n}", `{"a": "b",  "c": 1 }`, []string{Comment}},
		"block comments":             {`{/**/"a"/* x */:/*y*/"b"/*z*/}/**/`, `{"a":"b"}`, []string{Comment}},
		"comment after the object":   {`{"a": "b"} // it's "x"`, `{"a": "b"}`, []string{Comment}},
		"comment after a comma":      {`{"a": "b"}, // it's "x"`, `{"a": "b"}`, []string{TrailingComma, Comment}},
		"smart quotes":               {`{“a”: “b”, ‘c’: ‘d’}`, `{"a": "b", "c": "d"}`, []string{SmartQuotes}},
		"smart quotes, all the same": {`{”a”: ”b”}`, `{"a": "b"}`, []string{SmartQuotes}},
		"smart quotes, closed plain": {`{“a": “b"}`, `{"a": "b"}`, []string{SmartQuotes}},
		"smart quotes with inner":    {`{“a”: “he said “hi” and "ho" there”}`, `{"a": "he said “hi” and \"ho\" there"}`, []string{SmartQuotes, InnerQuote}},
		"text before":                {`Here is it: {"a": "b"}`, `{"a": "b"}`, []string{ProseAround}},
		"log prefix":                 {`[INFO] {"a": "b"}`, `{"a": "b"}`, []string{TextAround}},
		"time prefix":                {`[2026-01-02 10:00] {"a": "b"}`, `{"a": "b"}`, []string{TextAround}},
		"text after":                 {`{"a": "b"} I'm done.`, `{"a": "b"}`, []string{ProseAround}},
		"fence":                      {"```json\n{\"a\": \"b\"}\n```", `{"a": "b"}`, []string{TextAround}},
		"byte order mark":            {"\uFEFF{\"a\": \"b\"}", `{"a": "b"}`, []string{ByteOrderMark}},
		"no-break space":             {"{\u00a0\"a\":\u2003\"b\"}", `{"a":"b"}`, []string{OddSpace}},
		"array":                      {`[{'a': 1}, {'b': 2}]`, `[{"a": 1}, {"b": 2}]`, []string{SingleQuotes}},
		"array without an object":    {`[1, 2,]`, `[1, 2]`, []string{TrailingComma}},
		"array of strings":           {`["a "b" c", "d"]`, `["a \"b\" c", "d"]`, []string{InnerQuote}},
		"text in strings stays":      {`{"a": "{'a': 1}", "b": "a, }", "c": "// x", "d": "None", "e": "“q”", 'f': 1}`, `{"a": "{'a': 1}", "b": "a, }", "c": "// x", "d": "None", "e": "“q”", "f": 1}`, []string{SingleQuotes}},
		"escapes in strings stay":    {`{"a": "\u0041\n\/\"", b: 1}`, `{"a": "\u0041\n\/\"", "b": 1}`, []string{BareKey}},
		"duplicate keys stay":        {`{"a": 1, "a": 2,}`, `{"a": 1, "a": 2}`, []string{TrailingComma}},
		"number forms":               {`{a: [-0, 1.5e+10, 1E-2, 0.1]}`, `{"a": [-0, 1.5e+10, 1E-2, 0.1]}`, []string{BareKey}},
		"missing comma in object":    {`{"a": "b" "c": "d"}`, `{"a": "b" ,"c": "d"}`, []string{MissingComma}},
		"missing comma, next line":   {"{\"a\": \"b.\"\n\"c\": \"d\"}", "{\"a\": \"b.\"\n,\"c\": \"d\"}", []string{MissingComma}},
		"missing comma, a number":    {`{"a": 1 "b": 2"c": 3}`, `{"a": 1 ,"b": 2,"c": 3}`, []string{MissingComma}},
		"missing comma, a literal":   {`{"a": true "b": null "c": 3}`, `{"a": true ,"b": null ,"c": 3}`, []string{MissingComma}},
		"missing comma, nested":      {`{"a": {"x": "y"} "b": ["z"] "c": {}"d": 1}`, `{"a": {"x": "y"} ,"b": ["z"] ,"c": {},"d": 1}`, []string{MissingComma}},
		"missing comma, digits":      {`{"a": "5" "b": 1}`, `{"a": "5" ,"b": 1}`, []string{MissingComma}},
		"triple quotes":              {`{"a": """text"""}`, `{"a": "text"}`, []string{TripleQuotes}},
		"triple quotes, more":        {"{\"a\": \"\"\"one \"two\"\n'''x''' \\\"\"\"\", \"b\": \"\"\"\"\"\"}", `{"a": "one \"two\"\n'''x''' \"", "b": ""}`, []string{TripleQuotes, ControlCharacter}},
		"triple single quotes":       {`{'a': '''it's "x"''', "b": 1}`, `{"a": "it's \"x\"", "b": 1}`, []string{SingleQuotes, TripleQuotes}},
		"hash in a string":           {"{\"a\": \"fix \"#12\" now\",\n \"b\": 1}", "{\"a\": \"fix \\\"#12\\\" now\",\n \"b\": 1}", []string{InnerQuote}},
		"several at once":            {"Sure!\n```json\n{type: 'noop', 'message': \"a\nb\", ok: True,", "{\"type\": \"noop\", \"message\": \"a\\nb\", \"ok\": true}", []string{ProseAround, BareKey, SingleQuotes, ControlCharacter, PythonLiteral, TrailingComma, MissingCloser}},
	} {
		t.Run(name, func(t *testing.T) {
			got, repairs, err := Fix([]byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.kinds, kinds(repairs)); diff != "" {
				t.Error(diff)
			}
			checkResult(t, got)
		})
	}
}

// TestIsWrapping asserts which texts may precede an object without changing what it means.
func TestIsWrapping(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, " \t": true, "- ": true, "* ": true, "+ ": true, "• ": true, "● ": true, "⏺ ": true, "‣ ": true, "– ": true, "→ ": false, "☐ ": false, "1. ": true, "12) ": true, "- `": true, "``": true, "[": true, ", ": true,
		"2025-01-02T03:04:05.678Z ": true, "[2026-01-02 10:00] ": true, "[INFO] ": true, "INFO: ": true, "INFO ": true, "[12:00:01 INFO] ": true, "info: ": true,
		"\x1b[32m": true, "\u00a0": true, "/* x */ ": true, "```json\n": true, "```json ": true, "``` ": true, "Output: ": true, "data: ": true, "}": true, "]": true,
		"> ": false, "- > ": false, "~~": false, "~": false, "<del>": false, "<!-- ": false, "- <!--": false, "-- ": false, "--[[ ": false, "// ": false, "- // ": false,
		"I decided NOT to do ": false, "Here it is: ": false, "NOT ": false, "[x] ": false, "[ ] ": false, "- [ ] ": false, "[] ": false, "[//]: # (": false, "[ERROR] ": false,
		"[skipped] ": false, "DRAFT: ": false, "ERROR: ": false, "no: ": false, "| ": false, "**": false, "_": false, "%% ": false, "{": false, "(": false, "$ ": false, "#": false,
		"❌ ": false, "e.g. ": false, "= ": false, ": ": false, "\\": false, "1x ": false, "/* x": false, "```diff ": false, "``` not ": false, "rem ": false, "&": false,
	} {
		if got := IsWrapping([]byte(text)); got != want {
			t.Errorf("IsWrapping(%q) = %t", text, got)
		}
	}
}

// checkResult asserts what every result of Fix is: valid JSON, in which Fix changes nothing.
func checkResult(t *testing.T, fixed []byte) {
	t.Helper()
	if !json.Valid(fixed) {
		t.Fatalf("not valid JSON: %q", fixed)
	}
	again, repairs, err := Fix(fixed)
	if err != nil || len(repairs) > 0 || !bytes.Equal(again, fixed) {
		t.Fatalf("Fix is not idempotent: %q, %v, %v", again, repairs, err)
	}
}

func TestFixErrors(t *testing.T) {
	deep := strings.Repeat(`{"a":`, MaxDepth+1)
	for name, c := range map[string]struct {
		in     string
		code   Code
		offset int
	}{
		"empty":                          {``, NoObject, 0},
		"blank":                          {" \n", NoObject, 2},
		"prose":                          {`nothing to do`, NoObject, 0},
		"commented out":                  {`// {"a": 1}`, NoObject, 11},
		"bare string":                    {`"hello {`, NoObject, 0},
		"number then junk":               {`12 x`, NoObject, 0},
		"cut-off string":                 {`{"a": "hello wor`, CutOffString, 6},
		"cut-off key":                    {`{"a": 1, "b`, CutOffString, 9},
		"line break in a key":            {"{\"a\": 1, \"b\nc\": 2}", BrokenKey, 9},
		"CR in a key":                    {"{'a\r\nb': 2}", BrokenKey, 1},
		"cut off in an escape":           {`{"a": "x\`, CutOffString, 6},
		"cut off in a unicode escape":    {`{"a": "x\u00`, CutOffString, 6},
		"cut off after a colon":          {`{"a":`, CutOff, 5},
		"cut off after a key":            {`{"a"`, CutOff, 4},
		"cut off in a number":            {`{"a": 12`, CutOff, 6},
		"missing closing quote":          {`{"a": "b, "c": "d"}`, Ambiguous, 17},
		"missing closing quote, more":    {`{"a": "b, "c": 1, "d": "e"}`, Ambiguous, 25},
		"wrong closing quote":            {`{"a": "b', "c": "d"}`, Ambiguous, 18},
		"missing comma, doubtful quote":  {`{"a": "b (" "c": "d"}`, Ambiguous, 10},
		"missing comma, odd key":         {`{"a": "b" "c d": "e"}`, Ambiguous, 8},
		"missing comma, doubled quotes":  {`{"a": "b""c": "d"}`, Ambiguous, 8},
		"missing comma in quotation":     {`{"a": "say "hi" "c": "d"}`, Ambiguous, 23},
		"triple quotes, text after":      {`{"a": """b""" c}`, Ambiguous, 10},
		"triple quotes, four at the end": {`{"a": """b"""", "c": 1}`, Ambiguous, 10},
		"triple quotes, cut off":         {`{"a": """b`, CutOffString, 6},
		"triple quotes, not closed":      {`{"a": """b", "c": "d"}`, CutOffString, 6},
		"triple quotes around a key":     {`{"""a""": 1}`, Unexpected, 3},
		"empty string, then a key":       {`{"a": """b": 1}`, CutOffString, 6},
		"missing comma, bare key":        {`{a: 'b' c: 'd'}`, Ambiguous, 6},
		"missing comma in array":         {`["a" "b"]`, Ambiguous, 3},
		"missing comma, no space":        {`["a""b"]`, Ambiguous, 3},
		"semicolon":                      {`{"a": "b"; "c": "d"}`, Ambiguous, 8},
		"joined strings":                 {`{"a": "b" + "c"}`, Ambiguous, 8},
		"two colons":                     {`{"a": "b": "c"}`, Ambiguous, 8},
		"nested JSON of two keys":        {`{"a": "Set {"b": "x", "c": "y"} here"}`, Ambiguous, 19},
		"a string that seems to end":     {`{"a": "He said "}" loudly", "b": "c"}`, Ambiguous, 15},
		"a string after a nested object": {`{"x": {"a": "ok"} "done", "b": 2}`, Ambiguous, 15},
		"two objects":                    {`{'a': 'b'} {'c': 'd'}`, SecondObject, 11},
		"an object in the text after":    {`{'a': 1} see {x}`, SecondObject, 13},
		"an object after a comma":        {`{"a": 1}, {"b": 2}`, SecondObject, 10},
		"quoted text after":              {`{"a": "b"} "done"`, LeftOver, 11},
		"closed too early":               {`{"a": 1}"b": 2}`, LeftOver, 8},
		"closed too early, comma":        {`{"a": 1},"b": 2}`, LeftOver, 8},
		"closed too early, comment":      {"{\"a\": 1}, // x\n\"b\": 2}", LeftOver, 8},
		"an open comment after a comma":  {`{"a": 1}, /* x`, LeftOver, 8},
		"closed too early, bare key":     {`{"a": 1} b: 2}`, LeftOver, 9},
		"doubled quotes":                 {`{"a": "say ""hello"", ok", "b": 1}`, Ambiguous, 18},
		"junk after a string":            {`{"a": "text"1"b": "c"}`, Ambiguous, 11},
		"junk after a quoted number":     {`{"a": "5"x, "b": "c"}`, Ambiguous, 8},
		"junk after an empty string":     {`{"a": ""1"b": 2}`, Ambiguous, 7},
		"junk after an inch mark":        {`{"a": "5" x, "b": "c"}`, Ambiguous, 8},
		"bad literal in a list":          {`["a", "b", tue, "c"]`, Ambiguous, 8},
		"missing colon":                  {`{"a": "b", "c" "d", "e": "f"}`, Ambiguous, 8},
		"quoted comma":                   {`{"a": "by "," here"}`, Ambiguous, 10},
		"bare value":                     {`{"a": yes}`, BareValue, 6},
		"undefined":                      {`{"a": undefined}`, BareValue, 6},
		"NaN":                            {`{"a": NaN}`, BareValue, 6},
		"value is punctuation":           {`{"a": }`, Unexpected, 6},
		"leading zero":                   {`{"a": 01}`, BadNumber, 6},
		"hexadecimal":                    {`{"a": 0x1F}`, BadNumber, 6},
		"minus alone":                    {`{"a": -}`, BadNumber, 6},
		"exponent without digits":        {`{"a": 1e}`, BadNumber, 6},
		"fraction without digits":        {`{"a": 1.}`, BadNumber, 6},
		"two commas":                     {`[1,,2]`, Unexpected, 3},
		"leading comma":                  {`{,"a": 1}`, Unexpected, 1},
		"key without colon":              {`{"a" 1}`, Unexpected, 5},
		"closer of nothing":              {`{"a": 1]}`, WrongCloser, 7},
		"comment over the end":           {`{"a": 1, // b "c": 2}`, OpenComment, 9},
		"open block comment":             {`{"a": 1, /* x }`, OpenComment, 9},
		"open block comment after":       {`{"a": 1} /* x`, OpenComment, 9},
		"too deep":                       {deep, TooDeep, 5 * MaxDepth},
		"too deep, valid":                {deep + "1" + strings.Repeat("}", MaxDepth+1), TooDeep, 5 * MaxDepth},
		"far too deep":                   {strings.Repeat("[", 1<<20), TooDeep, MaxDepth},
		"prose with braces":              {`use {x} as {"a": 1}`, Unexpected, 6},
	} {
		t.Run(name, func(t *testing.T) {
			fixed, repairs, err := Fix([]byte(c.in))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %q, %v, %v; want an *Error", fixed, repairs, err)
			}
			if e.Code != c.code || e.Offset != c.offset {
				t.Errorf("got %s at %d, want %s at %d: %v", e.Code, e.Offset, c.code, c.offset, err)
			}
			if e.What == "" || e.Mend == "" || !strings.HasPrefix(e.Error(), "byte ") {
				t.Errorf("message %q lacks a part", e)
			}
			if fixed != nil || repairs != nil {
				t.Errorf("a result in addition to an error: %q, %v", fixed, repairs)
			}
		})
	}
}

// TestWhatFollowsTheObject asserts that the error about a brace after the object says no more than
// what is true of both.
func TestWhatFollowsTheObject(t *testing.T) {
	const second, text = "a second object follows the first one", "the text after the object has a {, which may begin another object"
	for in, want := range map[string]string{
		`{} {}`: second, `{"a": 1}{"b": 2}`: second, `{'a': 1} {'b': 2}`: second, `{"a": 1}, {'b': 2}`: second, "{\"a\": 1}\n- {\"b\": 2}": second,
		`{'a': 1} see {x}`: text, `{"a": 1} or {"b": 2}`: text,
	} {
		_, _, err := Fix([]byte(in))
		if want += "; write one object a line, and no other text"; err == nil || !strings.HasSuffix(err.Error(), ": "+want) {
			t.Errorf("Fix(%q): %v, want %q", in, err, want)
		}
	}
}

func TestFixLeavesValidInputAlone(t *testing.T) {
	for _, in := range []string{
		`{}`, ` [] `, `null`, `"x"`, `-1.5e3`, `true`,
		`{"a": "{'a': 1}"}`, `{"a": "a, }"}`, `{"a": "// x /* y"}`, `{"a": "He said \"hi\", \"b\": 1"}`,
		`{"a": "“x”, True, None"}`, `{"a": "x\u0000\ud83d\ude00"}`, `{"a": 1, "a": 2}`,
		strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth),
	} {
		got, repairs, err := Fix([]byte(in))
		if err != nil || repairs != nil || string(got) != in {
			t.Errorf("Fix(%.40q) = %.40q, %v, %v", in, got, repairs, err)
		}
	}
}

func TestRepairsCountTheirKind(t *testing.T) {
	_, repairs, err := Fix([]byte(`{a: 1, b: [1,], c: 'x',}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Repair{
		{Kind: BareKey, Offset: 1, Count: 3},
		{Kind: TrailingComma, Offset: 12, Count: 2},
		{Kind: SingleQuotes, Offset: 19, Count: 1},
	}
	if diff := cmp.Diff(want, repairs); diff != "" {
		t.Error(diff)
	}
}
