package intake

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// lineOf returns the kind's example with another member at its end.
func lineOf(spec safeoutput.Spec, member string) string {
	return strings.TrimSuffix(spec.Example, "}") + "," + member + "}"
}

// spellings returns snake_case, kebab-case and camelCase of a name.
func spellings(name string) []string {
	words := strings.Split(name, "_")
	camel := words[0]
	for _, w := range words[1:] {
		camel += strings.ToUpper(w[:1]) + w[1:]
	}
	return []string{name, strings.ReplaceAll(name, "_", "-"), camel}
}

// TestTargetByAnyName gives each kind a target by each name that agents use: it becomes the item's
// target, or the line is rejected. Only a kind that is always allowed leaves it out, and notes that.
func TestTargetByAnyName(t *testing.T) {
	anyNames := []string{"issue_number", "issue", "item_number", "item", "number", "target_number", "target"}
	pullNames := []string{"pull_request_number", "pull_request", "pull_number", "pull", "pr_number", "pr"}
	discussionNames := []string{"discussion_number", "discussion"}
	never := []string{ // names of no field
		"issue_id", "issue_url", "pr_url", "pull_request_url", "discussion_id", "target_issue", "target_pr", "issues", "prs",
		"related_issue", "parent_issue", "in_issue", "merge_request", "mr", "mr_iid", "thread_id", "ticket", "on", "to", "url", "html_url",
		"issuenumber", "prnumber", "pullrequestnumber", "discussionnumber", "itemnumber", "targetrepo", "targetissue", "prid", "Issue", "PR_NUMBER",
		"Issue-Number", "issue.number", "issue number", "$issue_number", "target_url", "destination", "repo_id", "nwo", "owner_type"}
	means := func(kind safeoutput.Kind, name string) (field string) {
		plain, pull, discussion := slices.Contains(anyNames, name), slices.Contains(pullNames, name), slices.Contains(discussionNames, name)
		switch kind {
		case safeoutput.KindAddIssueComment:
			switch {
			case plain:
				return "issue_number"
			case pull:
				return "pull_request_number"
			case discussion:
				return "discussion_number"
			}
		case safeoutput.KindAddIssueLabel:
			switch {
			case plain:
				return "issue_number"
			case pull:
				return "pull_request_number"
			}
		case safeoutput.KindUpdateIssue:
			if plain {
				return "issue_number"
			}
		case safeoutput.KindPushToBranch, safeoutput.KindCreateReviewComment:
			if pull || plain && !strings.HasPrefix(name, "issue") {
				return "pull_request_number"
			}
		}
		return ""
	}
	for _, spec := range safeoutput.Kinds() {
		for _, name := range slices.Concat(anyNames, pullNames, discussionNames, never) {
			for _, spelled := range spellings(name) {
				res := collect(t, Config{}, lineOf(spec, fmt.Sprintf("%q:93", spelled)))
				field := means(spec.Kind, name)
				switch {
				case spec.AlwaysAllowed: // it only reports, and says what was left out
					if len(res.Accepted) != 1 || !slices.Contains(res.Accepted[0].Notes().UnknownFields, spelled) {
						t.Errorf("%s, %s: %q", spec.Kind, spelled, errorsOf(res))
					}
				case field == "":
					if len(res.Rejected) != 1 {
						t.Errorf("%s, %s: it is accepted", spec.Kind, spelled)
					}
				case len(res.Accepted) != 1:
					t.Errorf("%s, %s: %q", spec.Kind, spelled, errorsOf(res))
				default:
					if n, ok := safeoutput.Field(res.Accepted[0].Item(), field).(*int); !ok || *n != 93 {
						t.Errorf("%s, %s: it is not %s", spec.Kind, spelled, field)
					}
				}
			}
		}
	}
}

func TestTargetViolations(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{`{"type":"add_comment","body":"b","pr_number":2,"issue_number":3}`, "Line 1: add-issue-comment: 'pull_request_number' is 2, but 'issue_number' is 3; name one thing to act on"},
		{`{"type":"add_comment","body":"b","pr":2,"pull_request_number":3}`, "Line 1: add-issue-comment: 'pr' is another name of 'pull_request_number', and they differ; give one of them"},
		{`{"type":"add_comment","body":"b","pr":2,"discussion":2}`, "Line 1: add-issue-comment: 'pull_request_number' and 'discussion_number' name a pull request and a discussion with one number; give one of them"},
		{`{"type":"add_comment","body":"b","pr":"two"}`, "Line 1: add-issue-comment: 'pull_request_number' (here 'pr') must be a whole number of at least 1, not 'two'"},
		{`{"type":"add_comment","body":"b","target":"status"}`, "Line 1: add-issue-comment: 'issue_number' (here 'target') must be a whole number of at least 1, not 'status'"},
		{`{"type":"add_comment","body":"b","issue_url":"https://github.com/o/r/issues/2"}`, "Line 1: add-issue-comment: 'issue_url' reads like the name of a target, and add-issue-comment does not have it; name the target with 'issue_number' or 'pull_request_number' or 'discussion_number', or leave it out"},
		{`{"type":"create_issue","title":"t","body":"b","issue_number":2}`, "Line 1: create-issue: 'issue_number' reads like the name of a target, and create-issue acts on nothing that exists; leave it out"},
		{`{"type":"update_issue","title":"t","pull_request_number":2}`, "Line 1: update-issue: 'pull_request_number' reads like the name of a target, and update-issue does not have it; name the target with 'issue_number', or leave it out"},
		{`{"type":"add_comment","body":"b","fork":"octo/app"}`, "Line 1: add-issue-comment: 'fork' reads like the name of a repository, and add-issue-comment does not have it; items act only on the repository of this workflow run, so leave it out"},
		{`{"type":"add_comment","body":"b","in_reply_to":5}`, "Line 1: add-issue-comment: 'in_reply_to' would change what is done, and add-issue-comment does not have it; leave it out, or write one of its fields: body, issue_number, pull_request_number, discussion_number, repo"},
		{`{"type":"add_comment","body":"b","arguments":{"issueNumber":3}}`, "Line 1: add-issue-comment: 'arguments' contains 'issueNumber', which names a target only next to 'type'; write it there, or leave 'arguments' out"},
		{`{"type":"add_comment","body":"b","args":["#2",{"issue_number":3}]}`, "Line 1: add-issue-comment: 'args' contains 'issue_number', which names a target only next to 'type'; write it there, or leave 'args' out"},
		{`{"type":"add_comment","body":"b","args":"` + strings.Repeat(" ", 70) + `#2"}`, "Line 1: add-issue-comment: 'args' reads like the name of a target, and add-issue-comment does not have it; name the target with 'issue_number' or 'pull_request_number' or 'discussion_number', or leave it out"},
		{`{"type":"create_pull_request","title":"t","body":"b","Draft":false}`, "Line 1: create-pull-request: 'Draft' is not a field, because names are matched exactly; write 'draft'"},
		{`{"type":"add_comment","body":"b","issue\nnumber":5}`, "Line 1: add-issue-comment: 'issue\\nnumber' reads like the name of a target, and add-issue-comment does not have it; name the target with 'issue_number' or 'pull_request_number' or 'discussion_number', or leave it out"},
	} {
		if got := errorsOf(collect(t, Config{}, tt.line)); !slices.Equal(got, []string{tt.want}) {
			t.Errorf("%s:\n got %q\nwant %q", tt.line, got, tt.want)
		}
	}
}

// TestFieldsThatChangeWhatIsDone gives each kind, except for those that only report, the fields
// that other programs or other kinds have. It asserts that a line is rejected if its kind lacks the
// field.
func TestFieldsThatChangeWhatIsDone(t *testing.T) {
	fields := []string{"event", "review_event", "action", "operation", "mode", "state", "status", "state_reason", "reply_to", "reply_to_id", "in_reply_to",
		"comment_id", "thread_id", "assignees", "assignee", "assigned_to", "reviewers", "team_reviewers", "milestone", "milestone_number", "labels",
		"add_labels", "remove_labels", "parent", "blocked_by", "duplicate_of", "base", "base_branch", "head", "branch", "ref", "commit_id", "start_side",
		"stack_position", "dependencies", "suggest", "draft", "title", "body", "category_id", "expires", "auto_merge", "merge_method", "update_branch",
		"force", "lock", "close", "reopen", "pinned", "hide_older_comments", "comment_body", "projects", "fields", "private", "confidential", "dry_run", "staged", "files", "side",
		"skip", "disabled", "enabled", "cancel", "cancelled", "ignore", "if", "when", "confirm", "simulate", "preview", "delay", "update", "upsert", "apply", "publish", "do_not_send",
		"condition", "only_if", "unless", "wait_for", "silent", "hidden", "edit", "undo", "revert", "abort", "reject", "withdraw", "depends_on"}
	for _, spec := range safeoutput.Kinds() {
		if spec.AlwaysAllowed {
			continue
		}
		known := safeoutput.FieldAliases(spec.Kind)
		for _, name := range fields {
			if known[name] != "" {
				continue
			}
			for _, spelled := range spellings(name) {
				if res := collect(t, Config{}, lineOf(spec, fmt.Sprintf("%q:[1]", spelled))); len(res.Rejected) != 1 {
					t.Errorf("%s, %s: it is accepted", spec.Kind, spelled)
				}
			}
		}
	}
}

// TestValuesThatMeanSomething asserts that an unknown field is an error if its value is a reference
// and the kind acts on something that exists, or if it is an operation and the kind has operations:
// ignoring it could act on another target or in another way. A number alone is a reference only
// under some names.
func TestValuesThatMeanSomething(t *testing.T) {
	for line, want := range map[string]string{
		`{"type":"add_comment","body":"b","reference":2}`:                                   "target",
		`{"type":"add_comment","body":"b","In":"2"}`:                                        "target",
		`{"type":"add_comment","body":"b","story":2}`:                                       "target",
		`{"type":"add_comment","body":"b","see":"#2"}`:                                      "target",
		`{"type":"add_comment","body":"b","context":"gh-2"}`:                                "target",
		`{"type":"add_comment","body":"b","context":"o/r#2"}`:                               "target",
		`{"type":"add_comment","body":"b","about":"https://github.com/o/r/pull/2/files#x"}`: "target",
		`{"type":"update_issue","body":"b","issue_number":2,"how":"Append"}`:                "change what is done",
		`{"type":"update_issue","body":"b","issue_number":2,"strategy":"prepend"}`:          "change what is done",

		`{"type":"add_comment","body":"b","priority":2}`:                                "",
		`{"type":"add_comment","body":"b","reference":"the guide"}`:                     "",
		`{"type":"add_comment","body":"b","context":"see #2"}`:                          "",
		`{"type":"add_comment","body":"b","evidence":"https://github.com/o/r/tree/2"}`:  "",
		`{"type":"create_issue","title":"t","body":"b","context":"#2"}`:                 "",
		`{"type":"add_comment","body":"b","strategy":"append"}`:                         "",
		`{"type":"update_issue","body":"b","issue_number":2,"reason":"it was missing"}`: "",
	} {
		switch got := errorsOf(collect(t, Config{}, line)); {
		case want == "" && len(got) != 0:
			t.Errorf("%s: %q", line, got)
		case want != "" && (len(got) != 1 || !strings.Contains(got[0], want)):
			t.Errorf("%s: got %q, want %s", line, got, want)
		}
	}
}

// TestNumberUnderAnyName asserts that a kind that acts on something that exists rejects a number or
// a reference, in each form, under each name that a target can have. The field may be next to the
// type or in the arguments of a call. Fields with other values or other names, and all fields of
// the other kinds, are left out and noted.
func TestNumberUnderAnyName(t *testing.T) {
	names := []string{"id", "ID", "ids", "n", "N", "nb", "identifier", "key", "resource", "resource_id", "resourceId", "resourceid", "resource-identifier", "object",
		"object_id", "objectID", "entity", "entity_id", "record", "thing_id", "post_id", "subject", "case_id", "task_id", "task-key", "Reference_Id", "\uff49\uff44"}
	targets := []string{`2`, `2.0`, `2e0`, `20e-1`, `"2"`, `" 2 "`, `"\u0032"`, `2712345678`, `"#2"`, `"\u00232"`, `"GH-2"`, `"o/r#2"`, `"issue 2"`, `"PR #2"`, `"pull request 2"`,
		`"Issue-2"`, `"issues/2"`, `"/o/r/pull/2"`, `"github.com/o/r/issues/2"`, `"https://api.github.com/repos/o/r/issues/2"`, `"https://ghe.example/api/v3/repos/o/r/pulls/2"`,
		`"<https://github.com/o/r/discussions/2>"`, `"[#2](https://github.com/o/r/issues/2)"`, `"(#2)."`, `"I_kwDOABCDEF"`, `[2]`, `["#2"]`, `{"number":2}`, `{"kind":"issue","id":"2"}`, `{"x":{"url":"https://github.com/o/r/issues/2"}}`}
	others := []string{`"call_abc"`, `"toolu_01A09q90qw90lq917835lq9"`, `"7f3c2a10-9d1e-4b5e-8f00-000000000002"`, `"2a"`, `"step 2"`, `0`, `"0"`, `-2`, `2.5`, `1e400`, `true`, `"see #2"`,
		`"#2 and #3"`, `"v1.2"`, `"2026-11-24"`, `"https://example.com/docs/2"`, `"https://github.com/o/r/tree/2"`, `"I_know_2"`, `["a","b"]`, `{"file":"a.go","count":2}`, `{}`, `null`}
	for _, spec := range safeoutput.Kinds() {
		if spec.AlwaysAllowed {
			continue
		}
		var lines []string
		refused := map[string]bool{}
		for _, name := range names {
			for _, value := range targets {
				for _, member := range []string{`%q:%s`, `"arguments":{%q:%s}`, `"params":{"a":[{%q:%s}]}`} {
					line := lineOf(spec, fmt.Sprintf(member, name, value))
					lines, refused[line] = append(lines, line), len(spec.NumberNames()) > 0 // it acts on something that exists
				}
			}
			for _, value := range others {
				lines = append(lines, lineOf(spec, fmt.Sprintf("%q:%s", name, value)))
			}
		}
		for _, name := range []string{"priority", "confidence", "score", "index", "step", "tool_call_id", "call_id", "request_id", "run_id", "session_id", "user_id",
			"rule_id", "message_id", "count", "version", "attempt", "weight", "identity", "keyword"} {
			lines = append(lines, lineOf(spec, fmt.Sprintf("%q:2", name)))
		}
		res := collect(t, Config{Max: map[safeoutput.Kind]int{spec.Kind: -1}}, strings.Join(lines, "\n"))
		accepted := map[int]bool{}
		for _, a := range res.Accepted {
			accepted[a.Line()] = true
			if len(a.Notes().UnknownFields) == 0 && !strings.Contains(lines[a.Line()-1], "null") {
				t.Errorf("%s: nothing is noted", lines[a.Line()-1])
			}
		}
		for i, line := range lines {
			if accepted[i+1] == refused[line] {
				t.Errorf("%s: accepted: %t", line, accepted[i+1])
			}
		}
	}
}

// TestNumberNextToATarget asserts that a number under a name such as "id" is left out if another
// field names the target, in any order. A line with a reference, or with a number under the name of
// a target inside of another field, is rejected.
func TestNumberNextToATarget(t *testing.T) {
	for line, accepted := range map[string]bool{
		`{"id":1,"type":"add_comment","body":"b","item_number":7}`:                true,
		`{"type":"add_comment","pr":"7","n":2,"body":"b","key":"3"}`:              true,
		`{"type":"add_comment","id":1,"body":"b","item_number":null}`:             false,
		`{"type":"add_comment","id":1,"body":"b","item_number":""}`:               false,
		`{"type":"add_comment","body":"b","item_number":7,"reference":"#9"}`:      false,
		`{"type":"add_comment","body":"b","item_number":7,"params":{"issue":9}}`:  false,
		`{"type":"add_comment","body":"b","priority":7,"id":9}`:                   false,
		`{"type":"update_issue","body":"b","operation":"append","resource_id":9}`: false,
	} {
		res := collect(t, Config{}, line)
		if got := len(res.Accepted) == 1; got != accepted {
			t.Errorf("%s: accepted: %t, %v", line, got, res.Rejected)
		}
	}
}

// TestNamesThatLookLikeFields asserts that the name of a target or of another field is rejected
// even if it is written with other letters that look the same, and so is a sign for "number". Names
// in other languages, and those that JSON gives to comments, are accepted.
func TestNamesThatLookLikeFields(t *testing.T) {
	for _, spec := range safeoutput.Kinds() {
		if spec.AlwaysAllowed {
			continue
		}
		for _, name := range []string{"\u0456ssue", "i\u200bssue", "\u0131ssue_number", "\uff49\uff53\uff53\uff55\uff45", "p\u0433", "\u0440r_number",
			"is\u00adsue_id", "\U0001d422\U0001d42c\U0001d42c\U0001d42e\U0001d41e", "i\u0301ssue", "tar\u0261et", "\u2116", "#", "r\u0435po", "\u1d40arget", "t\u0456tle"} {
			if res := collect(t, Config{}, lineOf(spec, fmt.Sprintf("%q:93", name))); len(res.Rejected) != 1 {
				t.Errorf("%s, %+q: it is accepted", spec.Kind, name)
			}
		}
		for _, name := range []string{"größe", "priorité", "備考", "примечание", "číslo", "ævi", "δοκιμή", "//", "$comment", "_comment", "größe_in_kb"} {
			if res := collect(t, Config{}, lineOf(spec, fmt.Sprintf("%q:93", name))); len(res.Accepted) != 1 {
				t.Errorf("%s, %s: %q", spec.Kind, name, errorsOf(res))
			}
		}
	}
}

// TestTargetInsideOfAField asserts that a target inside of a member such as "arguments" is found and
// rejected. Agents that are used to tools write the fields of an item there.
func TestTargetInsideOfAField(t *testing.T) {
	for _, spec := range safeoutput.Kinds() {
		if spec.AlwaysAllowed {
			continue
		}
		for _, name := range append(spec.NumberNames(), "repo", "target-repo") {
			for _, member := range []string{`"arguments":{%q:3}`, `"params":{"body":"b",%q:"3"}`, `"data":[{"a":{"b":null}},{%q:3}]`, `"toolInput":1,"input":{"x":{%q:3}}`, `"Parameters":{%q:3,%[1]q:4}`} {
				if res := collect(t, Config{}, lineOf(spec, fmt.Sprintf(member, name))); len(res.Rejected) != 1 {
					t.Errorf("%s, %s, %s: it is accepted", spec.Kind, name, member)
				}
			}
		}
		for _, member := range []string{`"data":{"a":["issue_number"]}`, `"arguments":{"body":"b"}`, `"params":{"repo":null}`, `"context":{"issue_number":3}`, `"data":"issue_number"`} {
			if res := collect(t, Config{}, lineOf(spec, member)); len(res.Accepted) != 1 {
				t.Errorf("%s, %s: %q", spec.Kind, member, errorsOf(res))
			}
		}
	}
}

func TestFieldsThatChangeNothing(t *testing.T) {
	for _, spec := range safeoutput.Kinds() {
		known := safeoutput.FieldAliases(spec.Kind)
		for _, member := range []string{`"confidence":0.9`, `"rationale":"r"`, `"reasoning":"r"`, `"secrecy":"public"`, `"integrity":"high"`, `"temporary_id":"aw_abc1"`,
			`"explanation":"e"`, `"metadata":{"issue_number":3}`, `"timestamp":"t"`, `"source":"s"`, `"model":"m"`, `"priority":"high"`, `"id":"x"`,
			`"issue_url":null`, `"assignees":[]`, `"milestone":""`, `"fields":{ }`, `"report":"r"`, `"provider":"p"`, `"tissue":"t"`, `"spread":"s"`, `"headline":"h"`} {
			name, _, _ := strings.Cut(member[1:], `"`)
			if known[name] != "" {
				continue
			}
			res := collect(t, Config{}, lineOf(spec, member))
			if len(res.Accepted) != 1 || !slices.Equal(res.Accepted[0].Notes().UnknownFields, []string{name}) {
				t.Errorf("%s, %s: %q", spec.Kind, member, errorsOf(res))
			}
		}
	}
}

// TestWhatOtherProgramsAdd asserts that a line may have the members that other programs add when
// they pass it on. The members describe how those programs have stored the changes.
func TestWhatOtherProgramsAdd(t *testing.T) {
	for kind, fields := range map[string]string{
		"create_pull_request":         `"title":"t","body":"b","branch":"fix-1","base_commit":"0123","patch_path":"/tmp/aw.patch","bundle_path":"/tmp/aw.bundle","patch_lines":7`,
		"push_to_pull_request_branch": `"message":"m","branch":"fix-1","base_commit":"0123","diff_size":9`,
	} {
		if res := collect(t, Config{}, `{"type":"`+kind+`",`+fields+`}`); len(res.Accepted) != 1 || len(res.Accepted[0].Notes().UnknownFields) < 2 {
			t.Errorf("%s: %q", kind, errorsOf(res))
		}
	}
}

func TestRepositoryOfALine(t *testing.T) {
	for _, tt := range []struct{ members, own, kept, problem string }{
		{`"repo":"octo/repo"`, "octo/repo", "", ""},
		{`"repository":"Octo/Repo"`, "octo/repo", "", ""},
		{`"repo":"repo"`, "octo/repo", "", ""},
		{`"owner":"octo","repo":"repo"`, "octo/repo", "", ""},
		{`"owner":"octo"`, "octo/repo", "", ""},
		{`"targetRepo":"octo/repo","repo":"octo/repo"`, "octo/repo", "", ""},
		{`"repo":""`, "octo/repo", "", ""},
		{`"repo":"org/other"`, "octo/repo", "", "'repo' is 'org/other', but items act only on octo/repo, the repository of this workflow run; leave 'repo' out"},
		{`"target-repo":"org/other"`, "octo/repo", "", "but items act only on octo/repo"},
		{`"repo":"other"`, "octo/repo", "", "but items act only on octo/repo"},
		{`"owner":"org"`, "octo/repo", "", "the repository is given as 'org/repo', but items act only on octo/repo"},
		{`"owner":"org","repo":"repo"`, "octo/repo", "", "the repository is given as 'org/repo', but items act only on octo/repo"},
		{`"owner":"org","repo":"octo/repo"`, "octo/repo", "", "'repo' is 'octo/repo', but the owner is given as 'org'"},
		{`"owner":"org","organization":"octo"`, "octo/repo", "", "another field names the owner 'org'"},
		{`"repo":"https://github.com/octo/repo"`, "octo/repo", "", "'repo' must be owner/name"},
		{`"repo":7`, "octo/repo", "", "'repo' must be owner/name"},
		{`"owner":{"login":"org"}`, "octo/repo", "", "reads like the name of a repository"},
		{`"repo":"org/other"`, "", "org/other", ""},
		{`"owner":"org","repo":"other"`, "", "org/other", ""},
		{`"owner":"org"`, "", "", "the owner 'org' alone does not say which repository is meant"},
	} {
		for _, spec := range safeoutput.Kinds() {
			if spec.AlwaysAllowed {
				continue
			}
			res := collect(t, Config{Repository: tt.own}, lineOf(spec, tt.members))
			switch {
			case tt.problem != "":
				if got := strings.Join(errorsOf(res), "\n"); !strings.Contains(got, tt.problem) || len(res.Rejected) != 1 {
					t.Errorf("%s, %s: %q, want %q", spec.Kind, tt.members, got, tt.problem)
				}
			case len(res.Accepted) != 1:
				t.Errorf("%s, %s: %q", spec.Kind, tt.members, errorsOf(res))
			default:
				if got := *safeoutput.Field(res.Accepted[0].Item(), "repo").(*string); got != tt.kept {
					t.Errorf("%s, %s: the item keeps %q, want %q", spec.Kind, tt.members, got, tt.kept)
				}
			}
		}
	}
}
