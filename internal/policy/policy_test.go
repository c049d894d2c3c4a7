package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// allowing returns a configuration that allows one kind.
func allowing(kind Kind, kc KindConfig) Config {
	return Config{Kinds: map[Kind]KindConfig{kind: kc}}
}

var (
	onIssue      = event.Event{Name: "issues", Number: 7}
	onPull       = event.Event{Name: "pull_request", Number: 8, IsPull: true}
	onDiscussion = event.Event{Name: "discussion", Number: 9, IsDiscussion: true}
	onSchedule   = event.Event{Name: "schedule"}
)

func TestTarget(t *testing.T) {
	comment := func(n int) safeoutput.Item { return &safeoutput.AddIssueComment{Body: "b", IssueNumber: n} }
	review := &safeoutput.CreateReviewComment{Path: "a", Line: 1, Body: "b"}
	reviewOf := func(n int) safeoutput.Item {
		return &safeoutput.CreateReviewComment{Path: "a", Line: 1, Body: "b", PullRequestNumber: n}
	}
	commentOnPull := func(n int) safeoutput.Item { return &safeoutput.AddIssueComment{Body: "b", PullRequestNumber: n} }
	commentOnDiscussion := func(n int) safeoutput.Item { return &safeoutput.AddIssueComment{Body: "b", DiscussionNumber: n} }
	update := &safeoutput.UpdateIssue{Body: ptr("b")}
	push := func(n int) safeoutput.Item { return &safeoutput.PushToBranch{PullRequestNumber: n} }
	label := &safeoutput.AddIssueLabel{Labels: []string{"a"}}
	anyTarget, five := TargetRule{Any: true}, TargetRule{Number: 5}
	for _, tt := range []struct {
		name string
		rule TargetRule
		item safeoutput.Item
		ev   event.Event
		want Target
		deny string // rule
		says string
	}{
		{"the triggering issue", TargetRule{}, comment(0), onIssue, Target{Number: 7, FromEvent: true}, "", ""},
		{"the triggering issue, named", TargetRule{}, comment(7), onIssue, Target{Number: 7, FromEvent: true}, "", ""},
		{"another issue", TargetRule{}, comment(3), onIssue, Target{}, RuleTarget, "'issue_number' is 3, but items may act only on #7, which triggered the workflow; set target to 3 or \"*\" to allow it"},
		{"no context", TargetRule{}, comment(0), onSchedule, Target{}, RuleNoContext, `the event "schedule" is not about an issue`},
		{"no context, named", TargetRule{}, comment(3), onSchedule, Target{}, RuleNoContext, "set target to 3"},
		{"no context, and why", TargetRule{}, comment(0), event.Event{Name: "workflow_run", Notice: "it was a fork"}, Target{}, RuleNoContext, "there is nothing that the item could act on: it was a fork; set target"},
		{"no event at all", TargetRule{}, comment(0), event.Event{}, Target{}, RuleNoContext, "a run without an event is not about an issue"},
		{"wildcard, named", anyTarget, comment(3), onIssue, Target{Number: 3}, "", ""},
		{"wildcard, the event's own", anyTarget, comment(8), onPull, Target{Number: 8, FromEvent: true, IsPull: true}, "", ""},
		{"wildcard, unnamed", anyTarget, comment(0), onIssue, Target{}, RuleTarget, "'issue_number' is missing"},
		{"wildcard, a review unnamed", anyTarget, review, onPull, Target{}, RuleTarget, "'pull_request_number' is missing"},
		{"wildcard, a review of the event's own", anyTarget, reviewOf(8), onPull, Target{Number: 8, FromEvent: true, IsPull: true}, "", ""},
		{"wildcard, a review of another", anyTarget, reviewOf(9), onPull, Target{Number: 9, Claimed: true, IsPull: true}, "", ""},
		{"a review of another", TargetRule{}, reviewOf(9), onPull, Target{}, RuleTarget, "'pull_request_number' is 9, but items may act only on #8"},
		{"a pull request, named", TargetRule{}, commentOnPull(8), onPull, Target{Number: 8, FromEvent: true, IsPull: true}, "", ""},
		{"a pull request that is an issue", TargetRule{}, commentOnPull(7), onIssue, Target{}, RuleTargetKind, "'pull_request_number' is 7, but #7 is an issue"},
		{"a discussion that is a pull request", anyTarget, commentOnDiscussion(8), onPull, Target{}, RuleTargetKind, "'discussion_number' is 8, but #8 is a pull request"},
		{"wildcard, another pull request", anyTarget, commentOnPull(3), onIssue, Target{Number: 3, Claimed: true, IsPull: true}, "", ""},
		{"wildcard, another discussion", anyTarget, commentOnDiscussion(3), onIssue, Target{Number: 3, Claimed: true, IsDiscussion: true}, "", ""},
		{"number, said to be a pull request", five, commentOnPull(5), onSchedule, Target{Number: 5, Claimed: true, IsPull: true}, "", ""},
		{"number, unnamed", five, comment(0), onSchedule, Target{Number: 5}, "", ""},
		{"number, same", five, comment(5), onIssue, Target{Number: 5}, "", ""},
		{"number, other", five, comment(7), onIssue, Target{}, RuleTarget, "allows only #5"},
		{"comment on a discussion", TargetRule{}, comment(0), onDiscussion, Target{Number: 9, FromEvent: true, IsDiscussion: true}, "", ""},
		{"label on a discussion", TargetRule{}, label, onDiscussion, Target{}, RuleTargetKind, "#9 is a discussion, and add-issue-label acts only on issues and pull requests"},
		{"label on a pull request", TargetRule{}, label, onPull, Target{Number: 8, FromEvent: true, IsPull: true}, "", ""},
		{"review of an issue", TargetRule{}, review, onIssue, Target{}, RuleTargetKind, "acts only on pull requests"},
		{"review of a configured number", five, review, onSchedule, Target{Number: 5}, "", ""},
		{"update of a pull request", TargetRule{}, update, onPull, Target{}, RuleTargetKind, "acts only on issues"},
		{"push to the triggering pull request", TargetRule{}, push(0), onPull, Target{Number: 8, FromEvent: true, IsPull: true}, "", ""},
		{"push to another", TargetRule{}, push(3), onPull, Target{}, RuleTarget, "'pull_request_number' is 3"},
		{"push with a wildcard", anyTarget, push(3), onIssue, Target{Number: 3, Claimed: true, IsPull: true}, "", ""},
		{"push with a wildcard, unnamed", anyTarget, push(0), onPull, Target{}, RuleTarget, "'pull_request_number' is missing"},
		{"push to a number", five, push(0), onSchedule, Target{Number: 5}, "", ""},
		{"push to a number, other", five, push(8), onPull, Target{}, RuleTarget, "allows only #5"},
		{"push without context", TargetRule{}, push(3), onSchedule, Target{}, RuleNoContext, "set target to 3"},
		{"push on an issue", TargetRule{}, push(0), onIssue, Target{}, RuleTargetKind, "acts only on pull requests"},
		{"kinds without target", TargetRule{}, &safeoutput.CreateIssue{Title: "t"}, onSchedule, Target{}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			kc := KindConfig{Target: tt.rule, Update: UpdateSettings{Body: true}}
			got, refused := judgeItem(allowing(tt.item.Kind(), kc), tt.ev, tt.item)
			checkRefusal(t, refused, tt.deny, tt.says)
			if diff := cmp.Diff(tt.want, got.target); diff != "" {
				t.Errorf("target (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExclusions(t *testing.T) {
	comment := func(n int) safeoutput.Item { return &safeoutput.AddIssueComment{Body: "b", IssueNumber: n} }
	noIssues, noPulls, noDiscussions := []safeoutput.Target{safeoutput.Issue}, []safeoutput.Target{safeoutput.PullRequest}, []safeoutput.Target{safeoutput.Discussion}
	for _, tt := range []struct {
		name string
		not  []safeoutput.Target
		rule TargetRule
		item safeoutput.Item
		ev   event.Event
		says string
	}{
		{"issues, on an issue", noIssues, TargetRule{}, comment(0), onIssue, "#7 is an issue, and add-issue-comment acts only on pull requests and discussions"},
		{"issues, on a pull request", noIssues, TargetRule{}, comment(0), onPull, ""},
		{"pull requests, on one", noPulls, TargetRule{Any: true}, comment(8), onPull, "#8 is a pull request"},
		{"pull requests, unknown", noPulls, TargetRule{Any: true}, comment(3), onPull, "whether #3 is an issue or a pull request is not known here"},
		{"discussions, on one", noDiscussions, TargetRule{}, comment(0), onDiscussion, "#9 is a discussion"},
		{"discussions, unknown", noDiscussions, TargetRule{Any: true}, comment(3), onDiscussion, ""},
		{"issues, a pull request's number", noIssues, TargetRule{Any: true}, &safeoutput.AddIssueComment{Body: "b", PullRequestNumber: 3}, onIssue, ""},
		{"discussions, a discussion's number", noDiscussions, TargetRule{Any: true}, &safeoutput.AddIssueComment{Body: "b", DiscussionNumber: 3}, onIssue, "#3 is a discussion, and add-issue-comment acts only on issues and pull requests"},
		{"everything", slices.Concat(noIssues, noPulls, noDiscussions), TargetRule{}, comment(0), onIssue, "acts only on nothing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, refused := judgeItem(allowing(tt.item.Kind(), KindConfig{Target: tt.rule, Excludes: tt.not}), tt.ev, tt.item)
			rule := ""
			if tt.says != "" {
				rule = RuleTargetKind
			}
			checkRefusal(t, refused, rule, tt.says)
		})
	}
}

// TestWithoutEvent asserts that an item is denied without an event if and only if every event
// denies it.
func TestWithoutEvent(t *testing.T) {
	var items []safeoutput.Item
	for _, n := range []int{0, 3, 5} {
		items = append(items, &safeoutput.AddIssueComment{Body: "b", IssueNumber: n}, &safeoutput.AddIssueLabel{Labels: []string{"a"}, IssueNumber: n},
			&safeoutput.UpdateIssue{Body: ptr("b"), IssueNumber: n}, &safeoutput.PushToBranch{PullRequestNumber: n},
			&safeoutput.CreateReviewComment{Path: "a", Line: 1, Body: "b", PullRequestNumber: n},
			&safeoutput.AddIssueComment{Body: "b", PullRequestNumber: n}, &safeoutput.AddIssueLabel{Labels: []string{"a"}, PullRequestNumber: n},
			&safeoutput.AddIssueComment{Body: "b", DiscussionNumber: n})
	}
	items = append(items, &safeoutput.CreateIssue{Title: "t", Body: "b"}, &safeoutput.Noop{Message: "m"})
	events := []event.Event{onSchedule, {}}
	for _, n := range []int{1, 3, 5} {
		events = append(events, event.Event{Number: n}, event.Event{Number: n, IsPull: true}, event.Event{Number: n, IsDiscussion: true})
	}
	kinds := []safeoutput.Target{safeoutput.Issue, safeoutput.PullRequest, safeoutput.Discussion}
	for _, it := range items {
		for _, rule := range []TargetRule{{}, {Any: true}, {Number: 5}} {
			for _, branch := range []string{"", "bot"} {
				for excluded := range 1 << len(kinds) {
					var not []safeoutput.Target
					for i, kind := range kinds {
						if excluded>>i&1 == 1 {
							not = append(not, kind)
						}
					}
					cfg := allowing(it.Kind(), KindConfig{Target: rule, Excludes: not, Update: UpdateSettings{Body: true}, Changes: ChangeSettings{Branch: branch}})
					everyEvent := !slices.ContainsFunc(events, func(ev event.Event) bool {
						_, refused := judgeItem(cfg, ev, it)
						return refused == nil
					})
					if _, refused := judgeWithoutEvent(cfg, it); (refused != nil) != everyEvent {
						t.Errorf("%s %+v, target %s, without %v, branch %q: denied %v without an event; by every event: %t", it.Kind(), it, rule, not, branch, refused, everyEvent)
					}
				}
			}
		}
	}
}

func TestPushToConfiguredBranch(t *testing.T) {
	cfg := allowing(safeoutput.KindPushToBranch, KindConfig{Changes: ChangeSettings{Branch: "bot"}})
	if got, refused := judgeItem(cfg, onSchedule, &safeoutput.PushToBranch{}); refused != nil || got.target != (Target{}) {
		t.Errorf("push to the configured branch: target %+v, refused %+v", got.target, refused)
	}
	_, refused := judgeItem(cfg, onPull, &safeoutput.PushToBranch{PullRequestNumber: 8})
	checkRefusal(t, refused, RuleTarget, `pushes go only to the configured branch "bot"`)
}

func TestKindsAndStaged(t *testing.T) {
	issue := &safeoutput.CreateIssue{Title: "t", Body: "b"}
	noop := &safeoutput.Noop{Message: "m"}
	missing := &safeoutput.MissingTool{Tool: "t", Reason: "r"}
	listed := map[Kind]KindConfig{safeoutput.KindCreateIssue: {}}
	for _, tt := range []struct {
		name   string
		cfg    Config
		item   safeoutput.Item
		deny   string
		staged bool
	}{
		{"no configuration", Config{}, issue, "", true},
		{"no configuration, all staged", Config{Staged: true}, issue, "", true},
		{"listed", Config{Kinds: listed}, issue, "", false},
		{"listed, all staged", Config{Kinds: listed, Staged: true}, issue, "", true},
		{"listed, kind staged", allowing(safeoutput.KindCreateIssue, KindConfig{Staged: true}), issue, "", true},
		{"unlisted", Config{Kinds: listed}, &safeoutput.CreateDiscussion{Title: "t"}, RuleKindNotEnabled, false},
		{"disabled", allowing(safeoutput.KindCreateIssue, KindConfig{Disabled: true}), issue, RuleKindNotEnabled, false},
		{"nothing listed", Config{Kinds: map[Kind]KindConfig{}}, issue, RuleKindNotEnabled, false},
		{"unlisted, but changes nothing", Config{Kinds: listed}, noop, "", false},
		{"unlisted, but changes nothing either", Config{Kinds: listed}, missing, "", false},
		{"changes nothing, but disabled", allowing(safeoutput.KindNoop, KindConfig{Disabled: true}), noop, RuleKindNotEnabled, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, refused := judgeItem(tt.cfg, onIssue, tt.item)
			checkRefusal(t, refused, tt.deny, "")
			if got.staged != tt.staged {
				t.Errorf("staged = %t, want %t", got.staged, tt.staged)
			}
		})
	}
	_, refused := judgeItem(Config{Kinds: listed}, onIssue, &safeoutput.CreateDiscussion{})
	checkRefusal(t, refused, RuleKindNotEnabled, `create-discussion is not enabled; to allow it add "create-discussion:"`)
}

// TestUnconfigured asserts that, without configuration, items of every kind are approved as staged,
// even an update of all fields of an issue.
func TestUnconfigured(t *testing.T) {
	items := []safeoutput.Item{
		&safeoutput.CreateIssue{}, &safeoutput.AddIssueComment{}, &safeoutput.CreatePullRequest{},
		&safeoutput.AddIssueLabel{Labels: []string{"a"}}, &safeoutput.PushToBranch{},
		&safeoutput.UpdateIssue{IssueNumber: 8, Status: ptr("closed"), Title: ptr("t"), Body: ptr("b")},
		&safeoutput.CreateReviewComment{}, &safeoutput.CreateDiscussion{}, &safeoutput.MissingTool{},
		&safeoutput.MissingData{}, &safeoutput.ReportIncomplete{}, &safeoutput.CreateSecurityReport{}, &safeoutput.Noop{},
	}
	for _, spec := range safeoutput.Kinds() {
		if !slices.ContainsFunc(items, func(it safeoutput.Item) bool { return it.Kind() == spec.Kind }) {
			t.Errorf("there is no item of the kind %s", spec.Kind)
		}
	}
	for _, it := range items {
		ev := onPull
		if it.Kind() == safeoutput.KindUpdateIssue {
			ev = event.Event{Name: "issues", Number: 8}
		}
		got, refused := judgeItem(Config{}, ev, it)
		if refused != nil {
			t.Errorf("%s refused: %+v", it.Kind(), refused)
			continue
		}
		if !got.Staged() || got.Settings().Footer == nil || got.Origin() != OriginAgent {
			t.Errorf("%s: staged %t, footer %v, origin %v", it.Kind(), got.Staged(), got.Settings().Footer, got.Origin())
		}
	}
}

func TestFooter(t *testing.T) {
	own := &Footer{Text: "own"}
	cfg := Config{Footer: Footer{None: true}, Kinds: map[Kind]KindConfig{
		safeoutput.KindCreateIssue: {Footer: own}, safeoutput.KindNoop: {},
	}}
	a, _ := judgeItem(cfg, onIssue, &safeoutput.CreateIssue{})
	b, _ := judgeItem(cfg, onIssue, &safeoutput.Noop{})
	if a.Settings().Footer.Text != "own" || !b.Settings().Footer.None {
		t.Errorf("footers are %+v and %+v", a.Settings().Footer, b.Settings().Footer)
	}
}

func checkRefusal(t *testing.T, refused *refusal, rule, says string) {
	t.Helper()
	switch {
	case refused == nil && rule != "":
		t.Fatalf("approved, want a refusal by %q", rule)
	case refused != nil && rule == "":
		t.Fatalf("refused by %q: %s", refused.rule, refused.message)
	case refused != nil && (refused.rule != rule || !strings.Contains(refused.message, says)):
		t.Fatalf("refused by %q: %s\nwant %q: %s", refused.rule, refused.message, rule, says)
	case refused != nil && strings.ContainsAny(refused.message, "\r\n"):
		t.Fatalf("message of more than one line: %q", refused.message)
	}
}

func ptr[T any](v T) *T { return &v }

func TestRepository(t *testing.T) {
	ev := event.Event{Name: "issues", Number: 7, Repo: event.Repo{Owner: "octo", Name: "repo"}}
	for name, says := range map[string]string{
		"": "", "octo/repo": "", "Octo/Repo": "", "repo": "",
		"org/other": `'repo' is "org/other", but items act only on octo/repo`, "other/repo": "act only on octo/repo", "octo": "act only on octo/repo",
	} {
		got, refused := judgeItem(allowing(safeoutput.KindAddIssueComment, KindConfig{}), ev, &safeoutput.AddIssueComment{Body: "b", Repo: name})
		rule := ""
		if says != "" {
			rule = RuleRepository
		}
		checkRefusal(t, refused, rule, says)
		if refused == nil && got.item.(*safeoutput.AddIssueComment).Repo != "" {
			t.Errorf("%q stays in the approved item", name)
		}
	}
}
