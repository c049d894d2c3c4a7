package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/policy/tree"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sanitize"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const everything = `
safe-outputs:
  staged: true
  footer: "From an agent."
  allowed-domains: [example.com, "*.example.org"]
  allowed-mentions: octocat
  mentions: {allowed: [hubot]}
  allow-closing-words: true
  after-failed-code: hold
  max-patch-files: 20
  create-issue:
    max: 5
    staged: true
    title-prefix: "[ai] "
    labels: [automation, ai]
    allowed-labels: [bug, "area/*"]
    blocked-labels: ["~*"]
    footer: false
  add-comment:
    max: -1
    target: "*"
    issues: true
    discussions: false
  add_labels:
    allowed: triage
    max: 2
    max-items: 7
    target: 12
  update-issue: {status: , title: true, body: false, target: "34"}
  create-pull-request-review-comment: {side: LEFT, outside-diff: file}
  create-discussion: {category: 42, title-prefix: "x "}
  missing-tool: {create-issue: true, labels: [tools]}
  create-code-scanning-alert: {driver: my-scanner, category: airlock}
  noop: false
  create-pull-request:
    draft: false
    base-branch: next
    branch: bot/x
    branch-prefix: bot/
    allowed-branches: [bot/*, "fix/**"]
    rebase: false
    reviewers: [octocat]
    if-no-changes: error
    allowed-files: ["docs/**"]
    protected-files: {include: [db/**], policy: fallback-to-issue, exclude: [CODEOWNERS]}
    protect-manifests: true
    max-patch-size: 512
    fallback-as-issue: true
    signed-commits: true
  push-to-pull-request-branch:
    target: "*"
    branch: triggering
    required-title-prefix: "[ai] "
    labels: [bot]
    commit-title-suffix: " [skip-ci]"
    protected-files: []
    max-patch-files: 3
    on-violation: issue
    if-no-changes: ignore
`

func TestEverything(t *testing.T) {
	cfg, err := Parse("all.yml", []byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	want := SafeOutputs{
		AllowedDomains:  []string{"example.com", "*.example.org"},
		AllowedMentions: []string{"octocat", "hubot"},
		ClosingWords:    true,
		Policy: policy.Config{
			Staged: true,
			Footer: policy.Footer{Text: "From an agent."},

			HoldAfterFailedCode: true,
			Kinds: map[policy.Kind]policy.KindConfig{
				safeoutput.KindCreateIssue: {Max: new(5), Staged: true, TitlePrefix: "[ai] ", Labels: []string{"automation", "ai"},
					AllowedLabels: []string{"bug", "area/*"}, BlockedLabels: []string{"~*"}, Footer: &policy.Footer{None: true}},
				safeoutput.KindAddIssueComment:      {Max: new(-1), Target: policy.TargetRule{Any: true}, Excludes: []safeoutput.Target{safeoutput.Discussion}},
				safeoutput.KindAddIssueLabel:        {Max: new(7), MaxLabels: 2, AllowedLabels: []string{"triage"}, Target: policy.TargetRule{Number: 12}},
				safeoutput.KindUpdateIssue:          {Update: policy.UpdateSettings{Status: true, Title: true}, Target: policy.TargetRule{Number: 34}},
				safeoutput.KindCreateReviewComment:  {Review: policy.ReviewSettings{Side: "LEFT", OutsideDiff: policy.OutsideFile}},
				safeoutput.KindCreateDiscussion:     {TitlePrefix: "x ", Discussion: policy.DiscussionSettings{Category: "42"}},
				safeoutput.KindMissingTool:          {Labels: []string{"tools"}, CreateIssue: true},
				safeoutput.KindCreateSecurityReport: {Report: policy.ReportSettings{Driver: "my-scanner", Category: "airlock"}},
				safeoutput.KindNoop:                 {Disabled: true},
				safeoutput.KindCreatePullRequest: {Changes: policy.ChangeSettings{Draft: new(false), Base: "next", Branch: "bot/x", BranchPrefix: "bot/", AllowedBranches: []string{"bot/*", "fix/**"}, StayOnBase: true, Reviewers: []string{"octocat"},
					IfNoChanges: policy.NoChangesError, OnViolation: policy.ViolationIssue,
					Files: tree.Config{Allowed: []string{"docs/**"}, AlsoProtected: []string{"db/**"}, Unprotected: []string{"CODEOWNERS"}, ProtectManifests: true, MaxFiles: 20, MaxSizeKB: 512}, FallbackIssue: true, SignedCommits: true}},
				safeoutput.KindPushToBranch: {Target: policy.TargetRule{Any: true}, Changes: policy.ChangeSettings{RequiredTitlePrefix: "[ai] ",
					RequiredLabels: []string{"bot"}, CommitTitleSuffix: " [skip-ci]", Files: tree.Config{Protected: []string{}, MaxFiles: 3}, OnViolation: policy.ViolationIssue, IfNoChanges: policy.NoChangesIgnore}},
			},
		},
	}
	if diff := cmp.Diff(want, cfg, cmpopts.IgnoreUnexported(SafeOutputs{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestForms asserts that the same settings are understood in every form.
func TestForms(t *testing.T) {
	want := map[policy.Kind]policy.KindConfig{"create-issue": {Max: new(2)}, "add-issue-comment": {}}
	for name, text := range map[string]string{
		"yaml":          "create-issue:\n  max: 2\nadd-issue-comment:\n",
		"below":         "safe-outputs:\n  create-issue: {max: 2}\n  add-comment: true\n",
		"document mark": "---\ncreate-issue: {max: 2}\nadd-comment:\n",
		"bom and crlf":  "\ufeffcreate-issue:\r\n  max: 2\r\nadd-comment:\r\n",
		"json":          `{"create-issue": {"max": 2}, "add_comment": {}}`,
		"json, enabled": `{"create_issue": {"enabled": true, "max": 2}, "add-issue-comment": {"enabled": true}}`,
		"flow yaml":     `{"create-issue": {max: 2}, add-comment: }`,
		"front matter":  "---\non: issues\nengine: {id: x}\nsafe-outputs:\n  create-issue: {max: 2}\n  add-comment:\n---\n\n# Do it\n\n---\nmore: text\n",
		"anchor":        "create-issue: &a\n  max: 2\nadd-comment:\n",
		"merged":        "add-comment: &c {}\ncreate-issue: {<<: *c, max: 2}\n",
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := Parse("x", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, cfg.Policy.Kinds); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if cfg.Warnings != nil {
				t.Errorf("warnings: %v", cfg.Warnings)
			}
		})
	}
}

// TestFooterWords asserts that the words which turn a footer on or off do not become its text, and
// that the other words which some programs read as true or false are errors.
func TestFooterWords(t *testing.T) {
	for word, want := range map[string]policy.Footer{"always": {}, "if-body": {}, "true": {}, "none": {None: true}, "false": {None: true}} {
		cfg, err := Parse("policy.yml", []byte("footer: "+word+"\n"))
		if err != nil || cfg.Policy.Footer != want {
			t.Errorf("%s: %+v, %v", word, cfg.Policy.Footer, err)
		}
	}
	for _, word := range []string{"no", "Off", "YES", "on", `"no"`} {
		if _, err := Parse("policy.yml", []byte("create-issue:\n  footer: "+word+"\n")); err == nil || !strings.Contains(err.Error(), "policy.yml:2:11: footer: ") || !strings.Contains(err.Error(), "write true or false") {
			t.Errorf("%s: %v", word, err)
		}
	}
}

func TestMergeKey(t *testing.T) {
	cfg, err := Parse("x", []byte("create-issue: &a {max: 2, labels: [a]}\ncreate-discussion:\n  <<: [{title-prefix: p, max: 9}, {max: 8}]\n  max: 3\nmissing-tool:\n  <<: *a\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[policy.Kind]policy.KindConfig{
		"create-issue": {Max: new(2), Labels: []string{"a"}}, "create-discussion": {Max: new(3), TitlePrefix: "p"}, "missing-tool": {Max: new(2), Labels: []string{"a"}},
	}
	if diff := cmp.Diff(want, cfg.Policy.Kinds); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEmptyIsNoConfiguration(t *testing.T) {
	for _, text := range []string{"", " \n\t\n", "# only a comment\n", "---\n", "null\n"} {
		cfg, err := Parse("x", []byte(text))
		if err != nil || cfg.Policy.Configured() {
			t.Errorf("%q: configured %t, error %v", text, cfg.Policy.Configured(), err)
		}
	}
	cfg, err := Parse("x", []byte("{}"))
	if err != nil || !cfg.Policy.Configured() || len(cfg.Warnings) != 1 {
		t.Errorf("{}: configured %t, error %v, warnings %v", cfg.Policy.Configured(), err, cfg.Warnings)
	}
}

// TestConfiguredBranchAndPullRequestsStage asserts that push-to-branch is staged, with a warning,
// if it names a branch and has keys about a pull request, because a branch by name belongs to no
// pull request.
func TestConfiguredBranchAndPullRequestsStage(t *testing.T) {
	for keys, staged := range map[string]bool{
		"branch: bot": false, "branch: triggering, labels: [a]": false, "target: 5, labels: [a]": false,
		"branch: bot, labels: [a]": true, "title-prefix: x, branch: bot": true, "branch: bot, target: 5": true,
	} {
		cfg, err := Parse("x", []byte("push-to-branch: {"+keys+"}"))
		if err != nil {
			t.Fatal(err)
		}
		if got := cfg.Policy.Kinds["push-to-branch"].Staged; got != staged || (cfg.Warnings != nil) != staged {
			t.Errorf("%s: staged %t, warnings %v", keys, got, cfg.Warnings)
		}
	}
}

// TestRestrictingKeysStage asserts that a kind is staged by a key that restricts it and is not
// honoured.
func TestRestrictingKeysStage(t *testing.T) {
	cfg, err := Parse("x", []byte("add-comment: {target-repo: a/b, staged: false}\ncreate-issue: {allowed-repos: [a/b]}\nupdate-issue: {body: , required-labels: [x]}\nnoop: {github-token: x}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for kind, kc := range cfg.Policy.Kinds {
		if kc.Staged != (kind != "noop") {
			t.Errorf("%s: staged %t", kind, kc.Staged)
		}
	}
}

// TestUnreadRestrictionsStageEverything asserts that an import that is not read stages everything,
// unless the file says that nothing is staged. Threat detection, which Airlock does not have,
// stages everything as well unless it is off.
func TestUnreadRestrictionsStageEverything(t *testing.T) {
	const imports = "---\nimports: [shared/a.md]\nsafe-outputs:\n  create-issue:\n"
	for text, staged := range map[string]bool{
		imports + "---\n":                                      true,
		imports + "  staged: false\n---\n":                     false,
		imports + "  staged: true\n---\n":                      true,
		"---\nimports:\nsafe-outputs:\n  create-issue:\n---\n": false,
		"create-issue:\nthreat-detection: true\n":              true,
		"create-issue:\nthreat-detection: {prompt: look}\n":    true,
		"create-issue:\nthreat-detection: {enabled: false}\n":  false,
		"create-issue:\nthreat-detection: false\n":             false,
		"create-issue: {deduplicate-by-title: false}\n":        false,
	} {
		cfg, err := Parse("x.md", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if cfg.Policy.StagedKind("create-issue") != staged {
			t.Errorf("staged is %t: %q", !staged, text)
		}
	}
}

// TestRestrictionsOfTexts asserts the sanitizer's settings for keys about texts.
func TestRestrictionsOfTexts(t *testing.T) {
	for text, want := range map[string]sanitize.Config{
		"allowed-github-references: []\n":                                   {References: []string{}},
		"allowed-github-references: [repo, a/b]\n":                          {References: []string{"repo", "a/b"}},
		"max-bot-mentions: 3\nallow-closing-words: true\n":                  {ClosingWords: true, MaxClosingWords: 3},
		"mentions: {allowed: [a], max: 2}\n":                                {AllowedMentions: []string{"a"}, MaxMentions: 2},
		"mentions: {allowed: [a], enabled: false}\nallowed-mentions: [b]\n": {},
		"mentions: false\nallowed-mentions: [b]\n":                          {},
		"allowed-domains: [terraform, playwright, nonsense, example.org]\n": {AllowedDomains: []string{"registry.terraform.io", "releases.hashicorp.com", "cdn.playwright.dev", "playwright.download.prss.microsoft.com", "example.org"}},
	} {
		cfg, err := Parse("x", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, cfg.Sanitize("", "")); diff != "" {
			t.Errorf("%s(-want +got):\n%s", text, diff)
		}
	}
}

func TestSizeIsBounded(t *testing.T) {
	_, err := Parse("x", []byte("create-issue: # "+strings.Repeat("a", 1<<20)))
	if err == nil || !strings.Contains(err.Error(), "larger than 1 MiB") {
		t.Errorf("error is %v", err)
	}
}

// TestHostileDocuments asserts that a hostile document of about the largest size ends in an error
// of at most 1 MiB. A document of comments alone may be accepted. If the work was more than
// linear, the test would not end.
func TestHostileDocuments(t *testing.T) {
	const size = 1<<20 - 100
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for name, text := range map[string]string{
		"open brackets":   fill("["),
		"open braces":     fill("{"),
		"json brackets":   `{"a":` + fill("["),
		"json objects":    fill(`{"a":`),
		"dashes":          fill("- "),
		"question marks":  fill("? "),
		"quotes":          "a: '" + fill("''"),
		"keys":            "a: {" + fill("a: 1, ") + "}",
		"list":            "a: [" + fill("1,") + "]",
		"anchors":         "a: [" + fill("&x 1,") + "]",
		"colons":          fill(": "),
		"exclamation":     fill("!"),
		"block of spaces": "a: |\n" + fill(" "),
		"percent":         fill("%a\n"),
		"comments":        fill("#\n"),
		"long key":        fill("a") + ": 1",
		"unknown keys":    manyKeys(size),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("x", []byte(text))
			if name != "comments" && err == nil {
				t.Error("accepted")
			}
			if err != nil && len(err.Error()) > 1<<20 {
				t.Errorf("a message of %d bytes", len(err.Error()))
			}
		})
	}
}

// TestAllFaultsOfAList asserts that what is wrong with the elements of a list is reported together.
func TestAllFaultsOfAList(t *testing.T) {
	for text, want := range map[string][]int{
		"allowed-domains:\n- example.com\n- 'a b'\n- [x]\n- /etc\n":                                                 {3, 4, 5},
		"create-issue:\n  labels:\n  - 1\n  - ''\n  - ok\n":                                                         {3, 4},
		"add-issue-label:\n  allowed:\n  - '{a,b}'\n  - ok\n  - '{c,d}'\n":                                          {3, 5},
		"allowed-secrets:\n  values:\n  - a\n  - b\n":                                                               {3, 4},
		"push-to-branch:\n  allowed-files:\n  - ../x\n  - ok\n  - ../y\n":                                           {3, 5},
		"checks:\n  roots:\n  - 1\n  - api\n  - true\n":                                                             {3, 5},
		"checks:\n  reviewers:\n  - name: a\n    command: x\n    severity:\n      A: x\n      B: low\n      C: y\n": {6, 8},
	} {
		_, err := Parse("x", []byte(text))
		problems, _ := err.(Problems)
		var lines []int
		for _, p := range problems {
			lines = append(lines, p.Line)
		}
		if !slices.Equal(lines, want) {
			t.Errorf("%s\nproblems in lines %v, want %v: %v", text, lines, want, err)
		}
	}
}

func TestManyProblems(t *testing.T) {
	_, err := Parse("x", []byte(manyKeys(2000)))
	problems, _ := err.(Problems)
	if len(problems) != 51 || problems[50].Message != "and 62 more problems" {
		t.Errorf("%d problems, the last %v", len(problems), problems[len(problems)-1])
	}
}

func manyKeys(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "unknown-key-%d: 1\n", i)
	}
	return b.String()
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(everything))
	f.Add([]byte(allChecks))
	f.Add([]byte(`{"create_issue": {"max": 1}, "mentions": {"allowed": ["a"]}}`))
	f.Add([]byte("a: &a [*a]\nb: {<<: *a}\n"))
	f.Add([]byte("---\nsafe-outputs:\n  noop:\n---\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg, err := Parse("x", data)
		if err == nil {
			return
		}
		problems, ok := err.(Problems)
		if !ok || len(problems) == 0 {
			t.Fatalf("error is %T: %v", err, err)
		}
		if cfg.Policy.Configured() {
			t.Error("a configuration together with an error")
		}
		for _, p := range problems {
			if p.Message == "" || strings.ContainsAny(p.Message, "\n\r\x00") || p.Line < 0 || p.Column < 0 {
				t.Errorf("problem %+v", p)
			}
		}
	})
}
