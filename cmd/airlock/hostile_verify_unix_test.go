//go:build unix

package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

// oddRequest is a request and the expected answer.
type oddRequest struct {
	hint    string // of its one criterion; not used if message is set
	more    string // further members
	message string // if not "", the complete request
	flags   []string
	code    int
	want    string // part of standard output, which is JSON, or of standard error, which is text
}

// TestVerifyOddRequests sends requests that nobody should send. It asserts that each gets one clear
// answer and the documented exit code, and that none causes a panic.
func TestVerifyOddRequests(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"notes.md": "Usage\n", "docs/guide.md": "x\n", "bin.dat": "\xff\xfe"} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	for name, to := range map[string]string{"link": "/etc/passwd", "loose": "nowhere", "docs/up": ".."} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	makeRepository(t, dir)
	temp := t.TempDir()
	if err := os.Chmod(temp, 0o755); err != nil {
		t.Fatal(err)
	}
	for parent := dir; parent != filepath.Clean(os.TempDir()) && parent != "/"; parent = filepath.Dir(parent) {
		_ = os.Chmod(parent, 0o755) // the checks' user has to get there
	}
	criterion := `{"id":"A","description":"d","validation_hint":"notes.md"}`
	t.Cleanup(func() { // after the subtests, which are parallel
		if found, _ := filepath.Glob(filepath.Join(dir, "pwned*")); len(found) > 0 {
			t.Errorf("%q", found)
		}
	})
	for name, c := range shorttest.Some(10, map[string]oddRequest{
		// The form of the message.
		"empty":                 {message: " ", code: 2, want: "the message is empty; a JSON object is expected"},
		"null":                  {message: "null", code: 2, want: "a JSON object is expected, and the message is 'null'"},
		"an array":              {message: "[1,2]", code: 2, want: "a JSON object is expected"},
		"cut off":               {message: `{"task_id":"t","validation_type":"code","acceptance_criteria":[{"id":"A"`, code: 2, want: "not valid JSON: unexpected EOF"},
		"deep":                  {message: strings.Repeat("[", 100_000), code: 2, want: "neither JSON nor a text"},
		"a message in messages": {message: strings.Repeat(`{"content":`, 3000) + "1" + strings.Repeat("}", 3000), code: 2, want: "up to 4 deep, and this one is deeper: send the JSON object itself"},
		"given twice":           {message: `{"task_id":"t","task_id":"u","validation_type":"code","acceptance_criteria":[` + criterion + `]}`, code: 2, want: "it is given twice"},
		"of another type":       {message: `{"task_id":7,"validation_type":true,"acceptance_criteria":{}}`, code: 2, want: "$.acceptance_criteria"},
		"no criterion":          {message: `{"task_id":"t","validation_type":"code","acceptance_criteria":[]}`, code: 2, want: "must not be empty"},
		"an id twice":           {message: `{"task_id":"t","validation_type":"code","acceptance_criteria":[` + criterion + "," + criterion + `]}`, code: 2, want: "give each criterion its own"},
		"a blank criterion":     {message: `{"task_id":"t","validation_type":"code","acceptance_criteria":[{"id":" ","description":"\u2003","validation_hint":""}]}`, code: 2, want: "must not be blank"},
		"a task in capitals":    {message: `{"task_id":"T_1","validation_type":"code","acceptance_criteria":[` + criterion + `]}`, code: 2, want: "does not match '^[a-z0-9-]+$'"},
		// Its members.
		"time without end":     {hint: "notes.md", more: `"timeout_seconds":1e999`, code: 2, want: "1e999 is out of range"},
		"no time":              {hint: "notes.md", more: `"timeout_seconds":0`, code: 2, want: "less than the minimum of 1"},
		"a part of a second":   {hint: "notes.md", more: `"timeout_seconds":1.5`, code: 2, want: "is not of type 'integer'"},
		"too much time":        {hint: "notes.md", more: `"timeout_seconds":99999999999`, code: 2, want: "greater than the maximum"},
		"invalid ports":        {hint: "notes.md", more: `"services":{"required_ports":[70000,-1,"x"]}`, code: 2, want: "required_ports[2]"},
		"a closed port":        {hint: "notes.md", more: `"services":{"required_ports":[1]}`, code: 1, want: "The required port 1 is closed"},
		"a service of a file":  {hint: "notes.md", more: `"services":{"app_url":"file:///etc/passwd"}`, code: 2, want: "$.services.app_url"},
		"a service nowhere":    {hint: "notes.md", more: `"services":{"app_url":"http://"}`, code: 2, want: "$.services.app_url"},
		"a relative work tree": {hint: "notes.md", more: `"worktree_path":"../.."`, code: 2, want: "$.worktree_path"},
		"a branch as option":   {hint: "notes.md", more: `"branch":"--upload-pack=touch pwned"`, code: 1, want: "and 'main' is checked out"},
		"an empty branch":      {hint: "notes.md", more: `"branch":""`, code: 2, want: "$.branch"},
		"a commit as option":   {hint: "notes.md", more: `"claimed_evidence":{"commit_hash":"--help"}`, code: 2, want: "$.claimed_evidence.commit_hash"},
		"a commit by name":     {hint: "notes.md", more: `"claimed_evidence":{"commit_hash":"HEAD"}`, code: 2, want: "$.claimed_evidence.commit_hash"},
		"claims outside":       {hint: "notes.md", more: `"claimed_evidence":{"files_modified":["../../etc/passwd","/etc/passwd"]}`, code: 1, want: "leads out of the work tree"},
		"a claim about a link": {hint: "notes.md", more: `"claimed_evidence":{"files_modified":["link"]}`, code: 0, want: "there is no other branch to compare with; name one with --base"},
		// Paths.
		"an absolute path":      {hint: "/etc/passwd exists", code: 1, want: "does not lie in the work tree"},
		"a way out":             {hint: "docs/../../x exists", code: 1, want: "leads out of the work tree"},
		"a link":                {hint: "link exists", code: 1, want: "links are not followed"},
		"through a link":        {hint: `link contains \"root\"`, code: 1, want: "links are not followed"},
		"a link to a directory": {hint: "docs/up/notes.md exists", code: 1, want: "There is no path docs/up/notes.md"},
		"a loose link":          {hint: "loose exists", code: 1, want: "links are not followed"},
		"text of a directory":   {hint: `docs contains \"x\"`, code: 1, want: "docs is a directory, which contains no text"},
		"text of a binary file": {hint: `bin.dat contains \"x\"`, code: 1, want: "bin.dat does not contain"},
		"no text":               {hint: `notes.md contains \"\"`, code: 1, want: `"verdict": "BLOCKED"`},
		"git's own":             {hint: ".git/config exists", code: 1, want: "is git's own"},
		"a NUL":                 {hint: `notes.md\u0000x`, code: 1, want: `"verdict": "BLOCKED"`},
		"an escape sequence":    {hint: `\u001b[2Jnotes.md\u202e`, code: 1, want: `"verdict": "BLOCKED"`},
		"half a character":      {hint: `\ud800 exists`, code: 1, want: "There is no path"},
		"a negation":            {hint: "notes.md must not be there", code: 1, want: `"verdict": "BLOCKED"`},
		// Addresses.
		"metadata of a cloud":    {hint: "GET http://169.254.169.254/latest -> 200", code: 1, want: "is private, and refused unless its host is allowed"},
		"this machine":           {hint: "GET http://127.0.0.1:1/ -> 200", code: 1, want: "is private"},
		"this machine in IPv6":   {hint: "GET http://[::ffff:127.0.0.1]:1/ -> 200", code: 1, want: "is private"},
		"an unspecified address": {hint: "GET http://[::]:1/ -> 200", code: 1, want: "is private"},
		"a file":                 {hint: "GET file:///etc/passwd -> 200", code: 1, want: `"verdict": "BLOCKED"`},
		"a user in the address":  {hint: "GET http://root:toor@127.0.0.1/ -> 200", code: 1, want: "credentials are not sent"},
		// Checks and commands.
		"an unknown check":         {hint: "check:nothing", code: 1, want: "There is no check 'nothing'"},
		"a test as option":         {hint: "test:--help", code: 1, want: "could not be run"},
		"an endless output":        {hint: "$ yes", more: `"timeout_seconds":1`, code: 1, want: "did not end: the time of the verification (1s) ran out"},
		"a command that hangs":     {hint: "$ sleep 600", more: `"timeout_seconds":1`, code: 1, want: "did not end"},
		"a command that waits":     {hint: "$ cat", code: 0, want: `"verdict": "PASS"`},
		"a command left behind":    {hint: "$ (sleep 600 &) ; true", code: 0, want: `"verdict": "PASS"`},
		"a command that is killed": {hint: "$ kill -9 $$", code: 1, want: "✗ A: 'kill -9 $$' was ended by a signal (killed).\n"},
		"no command":               {hint: "$ ", code: 1, want: `"verdict": "BLOCKED"`},
		"binary output":            {hint: `$ printf '\\377\\000\\033[2J'; exit 1`, code: 1, want: `"verdict": "FAIL"`},
		// The owner's programs.
		"an endless answer":        {hint: "judge it", flags: []string{"--validator", "yes"}, code: 1, want: "it printed more than an answer may have (32 MiB)"},
		"an answer in binary":      {hint: "judge it", flags: []string{"--validator", `printf '\377\376'`}, code: 1, want: "The validator gave no valid answer"},
		"the question as answer":   {hint: "judge it", flags: []string{"--validator", "cat"}, code: 1, want: "'timestamp' is a required property (required); $.verdict"},
		"a validator that is gone": {hint: "judge it", flags: []string{"--validator", "kill -9 $$"}, code: 1, want: "it was ended by a signal (killed)"},
		"a validator that hangs":   {hint: "judge it", more: `"timeout_seconds":1`, flags: []string{"--validator", "sleep 600"}, code: 1, want: "the time of the verification (1s) ran out"},
		"no validator":             {hint: "judge it", flags: []string{"--validator", " "}, code: 2, want: "--validator: it names no command"},
		"a word as judgement":      {hint: "notes.md", flags: []string{"--judge", "echo PASS"}, code: 1, want: "The judge gave no valid answer"},
		"an empty judgement":       {hint: "notes.md", flags: []string{"--judge", "echo {}"}, code: 1, want: "its verdict must be PASS or FAIL"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			message := c.message
			if message == "" {
				more := ""
				if c.more != "" {
					more = "," + c.more
				}
				message = `{"task_id":"t","validation_type":"code","acceptance_criteria":[{"id":"A","description":"d","validation_hint":"` + c.hint + `"}]` + more + `}`
			}
			res := run(t, dir, []string{"HOME=" + dir, "TMPDIR=" + temp}, message, append([]string{"verify", "--request", "-", "--dir", "."}, c.flags...)...)
			if res.code != c.code || !strings.Contains(res.stdout+res.stderr, c.want) || strings.Contains(res.stderr, "panic") {
				t.Errorf("exit code %d, want %d and %q\n%s%s", res.code, c.code, c.want, res.stdout, res.stderr)
			}
			if strings.ContainsAny(res.stderr, "\x1b\x00\u202e") {
				t.Errorf("what acts on a terminal is shown: %q", res.stderr)
			}
			if len(c.flags) == 0 && !json.Valid([]byte(res.stdout)) {
				t.Errorf("standard output is not JSON:\n%s", res.stdout)
			}
		})
	}
}
