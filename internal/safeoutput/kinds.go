// Package safeoutput is the union of everything an agent may ask for: the kind
// table, one Go type for each kind, the names agents use for them, the bounded NDJSON
// reader, and canonical decoding and encoding. It does not judge items: intake
// validates and cleans them, and policy decides whether they are allowed.
package safeoutput

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// Kind is the canonical name of a safe output, the value of its "type" field.
type Kind string

// The kinds an agent can name, in the order of the published table.
const (
	KindCreateIssue          Kind = "create-issue"
	KindAddIssueComment      Kind = "add-issue-comment"
	KindCreatePullRequest    Kind = "create-pull-request"
	KindAddIssueLabel        Kind = "add-issue-label"
	KindUpdateIssue          Kind = "update-issue"
	KindPushToBranch         Kind = "push-to-branch"
	KindCreateReviewComment  Kind = "create-pull-request-review-comment"
	KindCreateDiscussion     Kind = "create-discussion"
	KindMissingTool          Kind = "missing-tool"
	KindMissingData          Kind = "missing-data"
	KindReportIncomplete     Kind = "report-incomplete"
	KindCreateSecurityReport Kind = "create-security-report"
	KindNoop                 Kind = "noop"
)

// Spec is one row of the kind table: everything about a kind that several packages need.
// What only one package needs is in that package: the schema in schemas, the owner's
// keys in config, how it is applied in apply.
type Spec struct {
	Kind Kind
	// Aliases are other names of the kind that agents use. In each name, '_' may stand
	// for '-'.
	Aliases []string
	// FieldAliases are other names of the kind's fields, each with the canonical one. In
	// each name, and in those of the fields, kebab-case and camelCase may stand for
	// snake_case.
	FieldAliases map[string]string
	// Transport are fields in which other programs hand on how they store the changes.
	// They mean nothing here, so they are left out and noted.
	Transport []string
	// DefaultMax is how many items of the kind are accepted unless the configuration
	// has another number.
	DefaultMax int
	// DefaultMaxLabels is how many labels one item may have unless the configuration
	// has another number; 0 for a kind without such a limit.
	DefaultMaxLabels int
	// Summary is one line that describes what the kind requests.
	Summary string
	// Example is one line as an agent writes it.
	Example string
	// New returns a new, empty item of the kind.
	New func() Item
	// CarriesCode is true for a kind whose items publish changes in the work tree.
	CarriesCode bool
	// AlwaysAllowed is true for a kind that passes without being listed in the
	// configuration, because it changes nothing on GitHub by itself.
	AlwaysAllowed bool
	// ActsOn are the existing things that an item can act on; none for a kind that
	// makes something new, or that acts on the repository.
	ActsOn []Target
	// NumberFields are the item's fields that name the number of the thing it acts on; none for a kind
	// that acts on nothing that exists. An accepted item has at most one of them.
	NumberFields []NumberField
	// Permissions are those that the token needs to apply an item, by the kind of its
	// target. Items without a target need those of NoTarget.
	Permissions map[Target][]string
}

// Target is a kind of thing that an item can act on.
type Target string

// The kinds of targets. An item that makes something new, or acts on the repository, has
// NoTarget.
const (
	NoTarget    Target = ""
	Issue       Target = "issue"
	PullRequest Target = "pull request"
	Discussion  Target = "discussion"
)

// NumberField is a field that names what an item acts on.
type NumberField struct {
	Name string
	// Means is the kind of thing that has the number. It is NoTarget for issue_number, which agents
	// use for everything that the kind acts on.
	Means Target
}

// NumberNames lists the names of the kind's NumberFields.
func (s Spec) NumberNames() []string {
	names := make([]string, len(s.NumberFields))
	for i, f := range s.NumberFields {
		names[i] = f.Name
	}
	return names
}

// CanActOn reports whether items of the kind can act on a target of this kind.
func (s Spec) CanActOn(t Target) bool { return slices.Contains(s.ActsOn, t) }

// The names of GitHub's permissions to write, as a workflow's permissions block has them.
const (
	writeIssues         = "issues"
	writePulls          = "pull-requests"
	writeDiscussions    = "discussions"
	writeSecurityEvents = "security-events"
	writeContents       = "contents"
)

// kinds is the kind table, in the order of the published one.
var kinds = sync.OnceValue(func() []Spec {
	// The permissions to write to the conversation of each kind of target.
	conversation := map[Target][]string{Issue: {writeIssues}, PullRequest: {writePulls}, Discussion: {writeDiscussions}}
	// The fields that name a target, and the names that agents give them. onlyPull is for kinds
	// that act on nothing but pull requests.
	anyNumber := NumberField{Name: "issue_number"}
	pullNumber := NumberField{Name: "pull_request_number", Means: PullRequest}
	discussionNumber := NumberField{Name: "discussion_number", Means: Discussion}
	number := names("issue_number", "issue", "item_number", "item", "number", "target_number", "target")
	pull := names("pull_request_number", "pull_request", "pull_number", "pull", "pr_number", "pr")
	onlyPull := names("pull_request_number", "item_number", "item", "number", "target_number", "target")
	discussion := names("discussion_number", "discussion")
	transport := []string{"base_commit", "diff_size", "patch_path", "patch_size", "patch_lines", "bundle_path", "bundle_size"}
	repository := names("repo", "repository", "repo_name", "repository_name", "target_repo", "target_repository")
	return []Spec{
		{Kind: KindCreateIssue, DefaultMax: 1,
			Summary: "Open an issue.", New: func() Item { return &CreateIssue{} },
			FieldAliases: repository, Permissions: map[Target][]string{NoTarget: {writeIssues}},
			Example: "{\"type\":\"create-issue\",\"title\":\"Crash when the configuration is empty\",\"body\":\"Steps:\\n\\n1. Run `tool --config empty.yml`\",\"labels\":[\"bug\"]}"},
		{Kind: KindAddIssueComment, Aliases: []string{"add-comment"}, DefaultMax: 1,
			Summary: "Comment on an issue, a pull request or a discussion.", New: func() Item { return &AddIssueComment{} },
			FieldAliases: join(number, pull, discussion, repository), ActsOn: []Target{Issue, PullRequest, Discussion},
			NumberFields: []NumberField{anyNumber, pullNumber, discussionNumber}, Permissions: conversation,
			Example: `{"type":"add-issue-comment","body":"The log shows that the cache was cold."}`},
		{Kind: KindCreatePullRequest, DefaultMax: 1,
			Summary: "Open a pull request with the changes in the working tree.", New: func() Item { return &CreatePullRequest{} },
			FieldAliases: repository, CarriesCode: true, Transport: transport, Permissions: map[Target][]string{NoTarget: {writeContents, writePulls}},
			Example: `{"type":"create-pull-request","title":"Read an empty configuration","body":"An empty file now means the defaults.","labels":["bug"],"draft":true}`},
		{Kind: KindAddIssueLabel, Aliases: []string{"add-labels"}, DefaultMax: 5, DefaultMaxLabels: 3,
			Summary: "Add labels to an issue or a pull request.", New: func() Item { return &AddIssueLabel{} },
			FieldAliases: join(number, pull, repository), ActsOn: []Target{Issue, PullRequest},
			NumberFields: []NumberField{anyNumber, pullNumber}, Permissions: conversation,
			Example: `{"type":"add-issue-label","labels":["bug","needs-triage"]}`},
		{Kind: KindUpdateIssue, DefaultMax: 1,
			Summary: "Change an issue's status, title or body.", New: func() Item { return &UpdateIssue{} },
			FieldAliases: join(number, repository, names("status", "state")), ActsOn: []Target{Issue},
			NumberFields: []NumberField{anyNumber}, Permissions: conversation,
			Example: `{"type":"update-issue","status":"closed","body":"Fixed in v1.2."}`},
		{Kind: KindPushToBranch, Aliases: []string{"push-to-pull-request-branch"}, DefaultMax: 1,
			Summary: "Push the changes in the working tree to a pull request's branch.", New: func() Item { return &PushToBranch{} },
			FieldAliases: join(pull, onlyPull, repository, names("message", "commit_message")),
			CarriesCode:  true, Transport: transport, ActsOn: []Target{PullRequest}, NumberFields: []NumberField{pullNumber},
			Permissions: map[Target][]string{NoTarget: {writeContents}, PullRequest: {writeContents}},
			Example:     `{"type":"push-to-branch","message":"Read an empty configuration"}`},
		{Kind: KindCreateReviewComment, DefaultMax: 10,
			Summary: "Comment on lines of a pull request's diff.", New: func() Item { return &CreateReviewComment{} },
			FieldAliases: join(pull, onlyPull, repository), ActsOn: []Target{PullRequest},
			NumberFields: []NumberField{pullNumber}, Permissions: conversation,
			Example: `{"type":"create-pull-request-review-comment","path":"cmd/main.go","line":42,"body":"This error is dropped.","start_line":40,"side":"RIGHT"}`},
		{Kind: KindCreateDiscussion, DefaultMax: 1,
			Summary: "Open a discussion.", New: func() Item { return &CreateDiscussion{} },
			FieldAliases: join(repository, names("category", "category_id")), Permissions: map[Target][]string{NoTarget: {writeDiscussions}},
			Example: `{"type":"create-discussion","title":"Drop support for YAML 1.1?","body":"Nobody seems to use it.","category":"ideas"}`},
		{Kind: KindMissingTool, DefaultMax: 1000,
			Summary: "Report a tool that was needed and not available.", New: func() Item { return &MissingTool{} },
			AlwaysAllowed: true,
			Example:       `{"type":"missing-tool","tool":"gh","reason":"To list the releases","alternatives":"curl"}`},
		{Kind: KindMissingData, DefaultMax: 1000,
			Summary: "Report data that was needed and not available.", New: func() Item { return &MissingData{} },
			AlwaysAllowed: true,
			Example:       `{"type":"missing-data","data_type":"build log","reason":"To see why the release failed","context":"The log of run 42 has expired.","alternatives":"A copy of it in the issue"}`},
		{Kind: KindReportIncomplete, DefaultMax: 5,
			Summary: "Report that the task was not completed, and why.", New: func() Item { return &ReportIncomplete{} },
			AlwaysAllowed: true,
			Example:       `{"type":"report-incomplete","reason":"The tests could not be run.","details":"The database did not start within five minutes."}`},
		{Kind: KindCreateSecurityReport, Aliases: []string{"create-code-scanning-alert"}, DefaultMax: 1000,
			Summary: "Report security findings to code scanning.", New: func() Item { return &CreateSecurityReport{} },
			FieldAliases: repository, Permissions: map[Target][]string{NoTarget: {writeSecurityEvents}},
			Example: `{"type":"create-security-report","file":"cmd/main.go","line":42,"severity":"warning","message":"The password is written to the log.","ruleIdSuffix":"secret-in-log"}`},
		{Kind: KindNoop, DefaultMax: 1,
			Summary: "Report that there was nothing to do.", New: func() Item { return &Noop{} },
			AlwaysAllowed: true,
			Example:       `{"type":"noop","message":"The issue has an answer already."}`},
	}
})

// names returns aliases of one field.
func names(field string, aliases ...string) map[string]string {
	m := make(map[string]string, len(aliases))
	for _, a := range aliases {
		m[a] = field
	}
	return m
}

// join returns the aliases of several fields.
func join(fields ...map[string]string) map[string]string {
	m := map[string]string{}
	for _, f := range fields {
		maps.Copy(m, f)
	}
	return m
}

// byName returns the rows by the kinds' canonical names and aliases.
var byName = sync.OnceValue(func() map[string]*Spec {
	m, table := map[string]*Spec{}, kinds()
	for i := range table {
		m[string(table[i].Kind)] = &table[i]
		for _, a := range table[i].Aliases {
			m[a] = &table[i]
		}
	}
	return m
})

// Kinds returns the kind table, in the order of the published one. The slice
// is the caller's own.
func Kinds() []Spec { return slices.Clone(kinds()) }

// Lookup finds the kind that an agent calls name: its canonical name, an
// alias, or either with '_' for '-'.
func Lookup(name string) (Spec, bool) {
	m := byName()
	s, ok := m[name]
	if !ok && len(name) < 64 && strings.Contains(name, "_") {
		s, ok = m[strings.ReplaceAll(name, "_", "-")]
	}
	if !ok {
		return Spec{}, false
	}
	return *s, true
}

// SpecOf returns the row of a kind; the zero Spec for an alias, and for the internal kinds, which
// have none.
func SpecOf(kind Kind) Spec {
	if s, ok := byName()[string(kind)]; ok && s.Kind == kind {
		return *s
	}
	return Spec{}
}
