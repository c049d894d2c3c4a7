package guide

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

func load(t *testing.T, yaml string) config.SafeOutputs {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Sources{File: file, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// TestRulesAreTold asserts that the prompt and the description of a tool have the rules that follow
// from settings which can refuse an item or change it.
func TestRulesAreTold(t *testing.T) {
	for yaml, want := range map[string]string{
		"create-pull-request: {allowed-files: [\"src/**\", \"docs/*\"]}": "Files that may change: src/**, docs/*.",
		"create-pull-request: {allowed-files: []}":                       "Files that may change: none.",
		"push-to-branch:": "AGENTS.md",
		"push-to-branch: {protected-files: [secret/]}":              "Files that may not change: secret/.",
		"push-to-branch: {protected-files: {exclude: [AGENTS.md]}}": "but these may: AGENTS.md.",
		"push-to-branch: {max-patch-files: 3, max-patch-size: 20}":  "At most 3 changed files and 20 KiB of new content.",
		"push-to-branch: {excluded-files: [\"*.lock\"]}":            "Changes of these files are left out: *.lock.",
		"push-to-branch: {title-prefix: \"[bot]\"}":                 `Only pull requests whose title begins with "[bot]".`,
		"create-pull-request: {branch-prefix: \"agents/\"}":         "New branches begin with `agents/`",
		"create-pull-request: {allowed-branches: [\"fix/*\"]}":      "must match one of: fix/*.",
		"create-issue: {title-prefix: \"[bot] \"}":                  `Titles begin with "[bot] "`,
		"add-issue-label: {allowed: [bug], blocked: [\"~*\"]}":      "Labels that are not allowed: ~*.",
		"add-issue-comment: {target: \"*\"}":                        "is required.",
		"add-issue-comment: {target: 7}":                            "It acts on #7 and nothing else.",
		"add-issue-comment: {target: \"*\", issues: false}":         "\n`pull_request_number` or `discussion_number` is required.",
		"add-issue-comment: {target: 7, pull-requests: false}":      "It acts on #7 and nothing else. `discussion_number` is required.",
		"add-issue-label: {target: \"*\", pull-requests: false}":    "It acts on the issue that triggered the workflow, and nothing else; `issue_number` is required.",
		"add-issue-label: {issues: false, pull-requests: false}":    "It acts on nothing: every item is refused.",
		"push-to-branch: {branch: bot, target: \"*\"}":              "It pushes to the branch `bot`; leave the number out.",
		"create-issue: {max: 4}":                                    "At most 4 ",
		"create-issue: {max: -1}":                                   "Any number of ",
		"create-discussion: {category: ideas}":                      "The category is set; leave it out.",
		"update-issue: {body: true, operation: append}":             "Without `operation` it is `append`.",
		"create-issue:\nallowed-domains: [docs.example]":            "docs.example",
		"create-issue:\nmentions: {allowed: [octocat]}":             "Mentions notify nobody but: octocat.",
	} {
		cfg := load(t, yaml+"\n")
		prompt, err := Prompt(cfg, "")
		if err != nil {
			t.Fatal(err)
		}
		tools, err := Tools(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(prompt, want) {
			t.Errorf("%s: the prompt lacks %q", yaml, want)
		}
		if !slices.ContainsFunc(tools, func(t Tool) bool { return strings.Contains(t.Description, want) }) {
			t.Errorf("%s: no tool says %q", yaml, want)
		}
	}
}

// told has, by the name of a field of policy.KindConfig, a configuration that sets the field. The
// prompt must differ from that of a configuration without it.
var told = map[string]string{
	"Staged": "create-issue: {staged: true}", "Max": "create-issue: {max: 4}", "Min": "create-issue: {min: 1}",
	"Target.Any": "add-issue-comment: {target: \"*\"}", "Target.Number": "add-issue-comment: {target: 7}",
	"Excludes": "add-issue-comment: {discussions: false}", "TitlePrefix": "create-issue: {title-prefix: \"[x] \"}",
	"AllowedLabels": "add-issue-label: {allowed: [bug]}", "BlockedLabels": "add-issue-label: {blocked: [bug]}", "MaxLabels": "add-issue-label: {max: 9}",
	"Update.Status": "update-issue: {status: true}", "Update.Title": "update-issue: {title: true}", "Update.Body": "update-issue: {body: true}",
	"Update.Operation": "update-issue: {body: true, operation: append}", "Discussion.Category": "create-discussion: {category: x}", "Report.Category": "create-security-report: {category: x}",
	"Changes.Draft": "create-pull-request: {draft: false}", "Changes.Branch": "create-pull-request: {branch: x}", "Changes.BranchPrefix": "create-pull-request: {branch-prefix: x/}",
	"Changes.RequiredTitlePrefix": "push-to-branch: {title-prefix: x}", "Changes.RequiredLabels": "push-to-branch: {labels: [x]}",
	"Changes.IfNoChanges": "push-to-branch: {if-no-changes: error}", "Changes.AllowedBranches": "create-pull-request: {allowed-branches: [\"x/*\"]}",
	"Changes.Excluded": "push-to-branch: {excluded-files: [x]}", "Changes.Files.Allowed": "push-to-branch: {allowed-files: [x]}",
	"Changes.Files.Protected": "push-to-branch: {protected-files: [x]}", "Changes.Files.Unprotected": "push-to-branch: {protected-files: {exclude: [AGENTS.md]}}",
	"Changes.Files.MaxFiles": "push-to-branch: {max-patch-files: 3}", "Changes.Files.MaxSizeKB": "push-to-branch: {max-patch-size: 3}",
}

// untold are the settings that need no sentence of their own, each with the reason.
var untold = map[string]string{
	"Disabled": "the kind is not in the text at all", "Labels": "they are added", "CreateIssue": "it opens an issue for what is reported", "Footer": "it is added",
	"Review.Side": "it is a default of the field", "Review.OutsideDiff": "the text is shown elsewhere", "Report.Driver": "it is a name",
	"Changes.Base": "the owner's choice", "Changes.StayOnBase": "where the branch begins", "Changes.CommitTitleSuffix": "it is added", "Changes.Reviewers": "they are asked",
	"Changes.Files.AlsoProtected": "told with Protected", "Changes.Files.ProtectManifests": "told with Protected", "Changes.OnViolation": "what follows a refusal",
	"Changes.Commits": "how they are pushed", "Changes.FallbackIssue": "what follows a refusal", "Changes.SignedCommits": "how they are made",
}

// TestEverySettingIsTold fails for a new setting of kinds that the text for agents does not
// mention. It also asserts single sentences of the text, and that it names the file for the lines.
func TestEverySettingIsTold(t *testing.T) {
	t.Parallel()
	var fields func(prefix string, of reflect.Type)
	fields = func(prefix string, of reflect.Type) {
		for i := range of.NumField() {
			f := of.Field(i)
			name := prefix + f.Name
			if f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[policy.Footer]() {
				fields(name+".", f.Type)
				continue
			}
			if _, known := untold[name]; known {
				continue
			}
			yaml, known := told[name]
			if !known {
				t.Errorf("policy.KindConfig has the setting %s: write a sentence about it in rules.go and a configuration into told, or a reason into untold", name)
				continue
			}
			kind, _, _ := strings.Cut(yaml, ":")
			with, err := Prompt(load(t, yaml+"\n"), "")
			if err != nil {
				t.Fatal(err)
			}
			without, err := Prompt(load(t, kind+":\n"), "")
			if err != nil {
				t.Fatal(err)
			}
			if with == without {
				t.Errorf("%s: the prompt does not say it", yaml)
			}
		}
	}
	fields("", reflect.TypeFor[policy.KindConfig]())
	for yaml, want := range map[string]string{
		"create-issue:\nstaged: true":                                   "only planned",
		"create-issue:\nmentions: {allowed: [a], max: 2}":               "One text may notify at most 2 of them.",
		"create-issue:\nmentions: {allowed: [a], max: 1}":               "One text may notify at most 1 of them.",
		"add-issue-label: {max: 1}":                                     "At most 1 label each.",
		"create-issue:\nallow-closing-words: true\nmax-bot-mentions: 3": "At most 3 words",
		"create-issue:\nallowed-github-references: [repo]":              "except to: repo",
		"create-pull-request:\nafter-failed-code: hold":                 "held back",
		"create-issue:": "256 characters",
	} {
		if prompt, err := Prompt(load(t, yaml+"\n"), "out/lines.ndjson"); err != nil || !strings.Contains(prompt, want) || !strings.Contains(prompt, "`out/lines.ndjson`") {
			t.Errorf("%s: the prompt lacks %q: %v", yaml, want, err)
		}
	}
}

// TestToolNames asserts that every kind has a name of its own, which leads to it.
func TestToolNames(t *testing.T) {
	seen := map[string]bool{}
	for _, spec := range safeoutput.Kinds() {
		name := ToolName(spec)
		if found, ok := safeoutput.Lookup(name); !ok || found.Kind != spec.Kind || seen[name] {
			t.Errorf("%s is called %s", spec.Kind, name)
		}
		seen[name] = true
	}
}

// TestExamplesPassTheGate asserts, for every kind under each combination of settings that can refuse
// its items, that the gate accepts the example: with a target that the event does not choose,
// whatever else the event is about. It also asserts that without an example no number passes so, and
// that the rules name fields by which an item can pass.
func TestExamplesPassTheGate(t *testing.T) {
	t.Parallel()
	events := []event.Event{{Name: "schedule"}, {Name: "issues", Number: 99}, {Name: "pull_request", Number: 99, IsPull: true}, {Name: "discussion", Number: 99, IsDiscussion: true}}
	for _, spec := range safeoutput.Kinds() {
		for _, kc := range targetSettings(spec) {
			kc.Update = policy.UpdateSettings{Status: true, Title: true, Body: true}
			passes := func(line string) (n int) {
				res, err := intake.Collect(t.Context(), strings.NewReader(line), intake.Config{Strict: true})
				if err != nil || len(res.Accepted) != 1 {
					t.Fatalf("%s: %v, %+v", line, err, res.Rejected)
				}
				for _, ev := range events {
					approved, _ := policy.Judge(policy.Config{Kinds: map[policy.Kind]policy.KindConfig{spec.Kind: kc}}, ev, res.Accepted)
					n += len(approved)
				}
				return n
			}
			example, err := exampleFor(kc, spec)
			if err != nil {
				t.Fatal(err)
			}
			rules := strings.Join(kindRules(kc, spec), " ")
			about := fmt.Sprintf("%s, target %s, without %v, branch %q", spec.Kind, kc.Target, kc.Excludes, kc.Changes.Branch)
			if example != "" {
				want := 1
				if kc.Target != (policy.TargetRule{}) || len(spec.ActsOn) == 0 {
					want = len(events)
				}
				if n := passes(example); n < want {
					t.Errorf("%s: the example %s passes under %d events, want %d", about, example, n, want)
				}
			}
			anyPasses := false
			for _, f := range spec.NumberFields {
				number := cmp.Or(kc.Target.Number, exampleNumber)
				line := strings.TrimSuffix(spec.Example, "}") + fmt.Sprintf(`,"%s":%d}`, f.Name, number)
				n := passes(line)
				anyPasses = anyPasses || n == len(events)
				if named := strings.Contains(rules, "`"+f.Name+"`"); named && n == 0 && !strings.Contains(rules, "that triggered the workflow") {
					t.Errorf("%s: %s passes under no event, and the rules name it: %s", about, f.Name, rules)
				}
			}
			if example == "" && anyPasses {
				t.Errorf("%s: there is no example, although an item with a number passes", about)
			}
		}
	}
}

// targetSettings returns the settings of a kind for each rule about targets, with each subset of the
// targets excluded, and with and without a branch of the owner's.
func targetSettings(spec safeoutput.Spec) []policy.KindConfig {
	var all []policy.KindConfig
	for _, rule := range []policy.TargetRule{{}, {Any: true}, {Number: 7}} {
		for excluded := range 1 << len(spec.ActsOn) {
			for _, branch := range []string{"", "bot"} {
				kc := policy.KindConfig{Target: rule, Changes: policy.ChangeSettings{Branch: branch}}
				for i, target := range spec.ActsOn {
					if excluded>>i&1 == 1 {
						kc.Excludes = append(kc.Excludes, target)
					}
				}
				all = append(all, kc)
			}
		}
	}
	return all
}
