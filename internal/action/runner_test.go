package action_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/token"
)

const onRunner, offRunner = true, false

func runner(on bool) (*action.Runner, *bytes.Buffer) {
	var buf bytes.Buffer
	return action.NewRunner(action.Env{OnRunner: on}, &buf), &buf
}

// command is a workflow command as the runner reads it.
type command struct{ name, props, message string }

// parseLog returns the commands that the runner finds in a log (see ActionCommand and
// ActionCommandManager of actions/runner). Lines end at \n, \r or both. A command is
// "::name props::message" after white space, or "##[name props]message" anywhere. After
// stop-commands, everything is ignored up to the command that its message names. If that is
// missing, a command with a name that says so is added.
func parseLog(log string) []command {
	var got []command
	stop := ""
	for _, line := range strings.FieldsFunc(log, func(r rune) bool { return r == '\n' || r == '\r' }) {
		c, ok := parseCommand(line)
		switch {
		case !ok:
		case stop != "":
			if strings.EqualFold(c.name, stop) {
				stop = ""
			}
		case c.name == "stop-commands":
			stop = c.message
		default:
			got = append(got, c)
		}
	}
	if stop != "" {
		got = append(got, command{name: "commands are still stopped"})
	}
	return got
}

func parseCommand(line string) (command, bool) {
	if s := strings.TrimLeftFunc(line, unicode.IsSpace); strings.HasPrefix(s, "::") {
		if head, message, ok := strings.Cut(s[2:], "::"); ok {
			name, props, _ := strings.Cut(head, " ")
			return command{name, props, unescape(message)}, true
		}
	}
	if _, s, ok := strings.Cut(line, "##["); ok {
		if head, message, ok := strings.Cut(s, "]"); ok {
			name, props, _ := strings.Cut(head, " ")
			return command{name, props, unescape(message)}, true
		}
	}
	return command{}, false
}

func unescape(s string) string {
	return strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%").Replace(s)
}

// hostile is text that tries to be a command.
var hostile = []string{
	"::set-env name=PATH::/evil", "  ::error::x", "\t::warning file=a::x", "\u00a0::error::x", "\u2028::error::x", "\u0085::error::x", "\u200b::error::x", "\ufeff::error::x", "\x00::error::x",
	"##[error]x", "text ##[set-env name=A]b", "x##[add-mask]y", "a\r::error::b", "a\r\n::error::b", "a\n::error::b", "\r\r  ::error::b", "a%0A::error::b",
	"::stop-commands::evil", "::evil::", "::add-mask::e", "::debug::x", "::group::x", "::endgroup::", "##[group]x", "####[error]x", "##[##[error]x", "::::error::x", ":: ::error::x",
	"::airlock-AAAA::", "EOF", "airlock_x\n", "x\x1b[31m::error::y", strings.Repeat(":", 50), strings.Repeat("##[", 50) + "error]",
}

func TestLogIsInert(t *testing.T) {
	for _, text := range hostile {
		r, buf := runner(onRunner)
		r.Log(text)
		r.Log("before " + text + "\nafter")
		if got := parseLog(buf.String()); got != nil {
			t.Errorf("%q logs as %q, which runs %v", text, buf, got)
		}
	}
}

// Inert also changes carriage returns, which end a line for the runner, into line breaks.
func TestInertChangesOnlyCommands(t *testing.T) {
	for text, want := range map[string]string{
		"std::vector<int> x;":            "std::vector<int> x;",
		"a: b :: c":                      "a: b :: c",
		"## [x] ##(x) #[x]":              "## [x] ##(x) #[x]",
		"":                               "",
		"a\n\n b\n":                      "a\n\n b\n",
		"::error::x":                     ": :error::x",
		"  ::error::x\nfine":             "  : :error::x\nfine",
		"x##[error]y":                    "x# #[error]y",
		"progress 10%\rprogress 20%\r\n": "progress 10%\nprogress 20%\n",
	} {
		if got := action.Inert(text); got != want {
			t.Errorf("Inert(%q) = %q, want %q", text, got, want)
		}
	}
}

func FuzzInert(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := action.Inert(s)
		if c := parseLog(got); c != nil {
			t.Errorf("%q becomes %q, which runs %v", s, got, c)
		}
		if again := action.Inert(got); again != got {
			t.Errorf("not idempotent: %q, %q", got, again)
		}
	})
}

func TestAnnotationsAreEscaped(t *testing.T) {
	for _, text := range hostile {
		r, buf := runner(onRunner)
		r.Annotate(action.Annotation{Level: action.Error, Title: text, Message: text, File: "a,b:c\n" + text, Line: 3, EndLine: 4, Column: 5, EndColumn: 6})
		got := parseLog(buf.String())
		if len(got) != 1 || got[0].name != "error" || got[0].message != text && strings.ToValidUTF8(text, "") == text {
			t.Errorf("%q is annotated as %q: %v", text, buf, got)
		}
		if strings.Count(buf.String(), "\n") != 1 || strings.Contains(buf.String(), "\r") {
			t.Errorf("%q takes several lines: %q", text, buf)
		}
	}
	r, buf := runner(onRunner)
	r.Annotate(action.Annotation{Level: action.Warning, Title: "t: 1, 2", Message: "50%\nof it", File: "x.go", Line: 7})
	r.Annotate(action.Annotation{Message: "m", Line: 7})
	want := "::warning file=x.go,line=7,title=t%3A 1%2C 2::50%25%0Aof it\n::notice::m\n"
	if buf.String() != want {
		t.Errorf("%q, want %q", buf, want)
	}
}

func TestAnnotationsBeyondTheLimit(t *testing.T) {
	r, buf := runner(onRunner)
	for i := range 13 {
		r.Annotate(action.Annotation{Level: action.Error, Message: fmt.Sprint("::error::e", i), File: "f", Line: i + 1})
		r.Annotate(action.Annotation{Level: action.Warning, Message: "w"})
		if i < 10 {
			r.Annotate(action.Annotation{Level: action.Notice, Message: "n"})
		}
	}
	r.Finish()
	counts := map[string]int{}
	for _, c := range parseLog(buf.String()) {
		counts[c.name]++
	}
	if diff := cmp.Diff(map[string]int{"error": 10, "warning": 10, "notice": 10}, counts); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{"error: f:13: ::error::e12\n", "13 errors in all: GitHub shows the first 10", "13 warnings in all"} {
		if !strings.Contains(buf.String(), want) {
			t.Errorf("%q is missing from\n%s", want, buf)
		}
	}
	if strings.Contains(buf.String(), "notices in all") {
		t.Error("ten notices are not too many")
	}
}

func TestOffARunnerEverythingIsPlain(t *testing.T) {
	r, buf := runner(offRunner)
	r.Annotate(action.Annotation{Level: action.Error, Title: "bad", Message: "50%", File: "x.go", Line: 7})
	r.Annotate(action.Annotation{Level: action.Notice, Message: "m"})
	r.Group("Collect", func() { r.Log("a\n") })
	r.Debug("hidden")
	r.Mask(token.New(secretToken, "https://api.github.com"))
	if err := r.SetOutput("n", "v"); err != nil {
		t.Error(err)
	}
	if ok, err := r.AddSummary("# x", nil); ok || err != nil {
		t.Error(ok, err)
	}
	r.Finish()
	want := "error: x.go:7: bad: 50%\nnotice: m\nCollect\na\nn: v\n"
	if buf.String() != want {
		t.Errorf("%q, want %q", buf, want)
	}
	var out bytes.Buffer
	action.NewRunner(action.Env{Debug: true}, &out).Debug("shown")
	if out.String() != "debug: shown\n" {
		t.Errorf("Debug writes %q", out.String())
	}
}

func TestGroupsAndDebug(t *testing.T) {
	r, buf := runner(onRunner)
	r.Group("a\n::error::b", func() { r.Log("in"); r.Debug("x\ny") })
	if want := "::group::a%0A::error::b\nin\n::debug::x%0Ay\n::endgroup::\n"; buf.String() != want {
		t.Errorf("%q, want %q", buf, want)
	}
}

const secretToken = "ghs_notARealToken+/But&Shaped=LikeOne000"

func TestMaskCoversTheForms(t *testing.T) {
	r, buf := runner(onRunner)
	tok := token.New(secretToken, "https://api.github.com")
	r.Mask(tok)
	r.Mask(tok)
	masked := map[string]bool{}
	for _, c := range parseLog(buf.String()) {
		if c.name != "add-mask" || masked[c.message] {
			t.Errorf("the command %s, or one value masked twice", c.name)
		}
		masked[c.message] = true
	}
	for _, form := range []string{
		secretToken, url.QueryEscape(secretToken), base64.StdEncoding.EncodeToString([]byte(secretToken)),
		base64.RawURLEncoding.EncodeToString([]byte(secretToken)), base64.StdEncoding.EncodeToString([]byte("x-access-token:" + secretToken)),
	} {
		if !masked[form] {
			t.Errorf("a form of %d characters is not masked", len(form))
		}
	}
	for form := range masked {
		if len(form) < 6 {
			t.Errorf("masking %q would blot out the log", form)
		}
	}
	buf.Reset()
	r.Mask(token.Token{})
	if buf.Len() > 0 {
		t.Errorf("for the zero Token, Mask writes %q", buf)
	}
}

// TestWriteErrorsOfTheLogAreNotReported asserts that nothing fails or panics if the log
// cannot be written to.
func TestWriteErrorsOfTheLogAreNotReported(t *testing.T) {
	closed, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	r := action.NewRunner(action.Env{OnRunner: true}, closed)
	r.Group("title", func() { r.Log("x"); r.Debug("x"); r.Annotate(action.Annotation{Message: "x"}) })
	r.Mask(token.New(secretToken, "https://api.github.com"))
	r.Finish()
}
