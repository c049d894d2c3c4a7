package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// GitHub is what Ask needs of a githubapi.Client.
type GitHub interface {
	GetRepo(ctx context.Context, r githubapi.Repo) (githubapi.Repository, error)
	WorkflowPermissions(ctx context.Context, r githubapi.Repo) (githubapi.WorkflowPermissions, error)
	ActionsSecrets(ctx context.Context, r githubapi.Repo) ([]string, error)
	BranchRules(ctx context.Context, r githubapi.Repo, name string) ([]string, error)
	BranchProtected(ctx context.Context, r githubapi.Repo, name string) (bool, error)
	DiscussionCategories(ctx context.Context, r githubapi.Repo) ([]githubapi.DiscussionCategory, error)
	CodeScanningEnabled(ctx context.Context, r githubapi.Repo) (bool, error)
	ListLabels(ctx context.Context, r githubapi.Repo) iter.Seq2[string, error]
}

// online is one round of questions to GitHub about what the workflows need.
type online struct {
	*Examination
	github GitHub
	repo   githubapi.Repo
	kinds  map[safeoutput.Kind][]wanted
	own    bool // Airlock's own items include a security report
}

// wanted is one policy's settings of a kind.
type wanted struct {
	file     string
	settings policy.KindConfig
}

// AskAbout is Ask for a repository that a user names. connect returns nil if there is no token. The
// error carries its exit code.
func (e *Examination) AskAbout(ctx context.Context, named string, connect func() (*githubapi.Client, error)) error {
	repo, ok := event.ParseRepo(named)
	if !ok {
		return exitcode.UsageError(fmt.Errorf("--repo: %q is not a repository: write it as owner/name", text.Truncate(text.OneLine(named), 100)))
	}
	client, err := connect()
	if err != nil {
		return err
	}
	if client == nil {
		return exitcode.UsageError(errors.New("there is no token to ask GitHub with: set GITHUB_TOKEN or GH_TOKEN, or leave --repo out to look at the files alone"))
	}
	if err := e.Ask(ctx, client, githubapi.Repo{Owner: repo.Owner, Name: repo.Name}); err != nil {
		return exitcode.FailedError(err)
	}
	return nil
}

// Ask compares the set-up with the settings of the repository on GitHub. It only reads. What the
// token may not see becomes a finding of the severity Unknown; an error means that the
// repository itself cannot be read.
func (e *Examination) Ask(ctx context.Context, github GitHub, repo githubapi.Repo) error {
	info, err := github.GetRepo(ctx, repo)
	if err != nil {
		return err
	}
	e.asked = info.Repo.String()
	o := &online{Examination: e, github: github, repo: repo, kinds: map[safeoutput.Kind][]wanted{}}
	o.collect()
	if info.Archived {
		o.setting("archived", Problem, "the repository is archived", "GitHub refuses every write", "unarchive it: Settings, General")
	}
	if _, ok := o.kinds[safeoutput.KindCreateIssue]; ok && !info.HasIssues {
		o.setting("issues-off", Problem, "issues are switched off", "the policy allows create-issue, which fails", "turn them on (Settings, General, Features), or remove the kind")
	}
	o.workflowSettings(ctx)
	o.secrets(ctx)
	o.branches(ctx)
	o.discussions(ctx, info)
	o.codeScanning(ctx)
	o.labels(ctx)
	return nil
}

// collect gathers what the policies of all workflows allow.
func (o *online) collect() {
	for _, w := range o.workflows {
		for _, j := range w.jobs {
			for _, s := range j.steps {
				if !s.mayWrite() || s.place == notAirlock {
					continue
				}
				cfg, known := o.policyOf(w, s) // it may add a finding again; Report lists each once
				if !known {
					continue
				}
				file := cmp.Or(strings.TrimSpace(s.input("config-file")), w.path)
				for kind := range cfg.Policy.Kinds {
					if kc, ok := cfg.Policy.Kind(kind); ok {
						o.kinds[kind] = append(o.kinds[kind], wanted{file, kc})
					}
				}
				o.own = o.own || slices.Contains(needed(s, cfg), "security-events")
			}
		}
	}
}

// setting adds a finding about the repository on GitHub.
func (o *online) setting(rule string, severity Severity, what, why, mend string) {
	o.add(Finding{Rule: rule, Severity: severity, What: what, Why: why, Mend: mend})
}

// hidden adds a finding that something could not be read. If err names a permission that the token
// lacks, the finding names it, too.
func (o *online) hidden(err error, what string) {
	words, mend := what+" could not be read: "+text.Truncate(text.OneLine(err.Error()), 200), "look yourself in the repository's settings"
	if e, ok := errors.AsType[*githubapi.Error](err); ok && e.Permission != "" {
		permission := strings.NewReplacer("=", ": ", "_", "-").Replace(text.OneLine(e.Permission))
		words, mend = what+" is hidden from this token", "give a token with the permission "+permission+", or look yourself in the settings"
	}
	o.setting("not-visible", Unknown, words, "so it was not compared with the set-up", mend)
}

func (o *online) workflowSettings(ctx context.Context) {
	got, err := o.github.WorkflowPermissions(ctx, o.repo)
	if err != nil {
		o.hidden(err, "what workflows may do by default")
		return
	}
	if got.Default == "write" {
		o.setting("default-write", Advice, "the token of every workflow that declares nothing can write", "one workflow without a permissions block is enough for an agent to get past the gate", "Settings, Actions, General, Workflow permissions: \"Read repository contents and packages permissions\"")
	}
	if _, ok := o.kinds[safeoutput.KindCreatePullRequest]; ok && !got.MayOpenPulls {
		o.setting("no-pulls-by-workflows", Problem, "workflows may not open pull requests", "the policy allows create-pull-request, which fails with the workflow's token", "Settings, Actions, General: \"Allow GitHub Actions to create and approve pull requests\"; or set the input token to a token of a GitHub App")
	}
}

// secrets looks for the secrets that the workflows name.
func (o *online) secrets(ctx context.Context) {
	named := map[string]string{} // from a secret's name to the path of a workflow that uses it
	for _, w := range o.workflows {
		for _, j := range w.jobs {
			for _, s := range j.steps {
				for _, name := range secretsOf(s) {
					named[strings.ToUpper(name)] = w.path
				}
			}
		}
	}
	delete(named, "GITHUB_TOKEN")
	if len(named) == 0 {
		return
	}
	secrets, err := o.github.ActionsSecrets(ctx, o.repo)
	if err != nil {
		o.hidden(err, "which secrets there are")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if !slices.ContainsFunc(secrets, func(h string) bool { return strings.EqualFold(h, name) }) {
			o.add(Finding{Rule: "secret-missing", Severity: Problem, File: named[name],
				What: "the repository has no secret " + name,
				Why:  "the workflow names it, and gets an empty text",
				Mend: "gh secret set " + name + ", unless it is a secret of the organization or of an environment"})
		}
	}
}

// refusing has the types of a ruleset's rules that can refuse a new branch or a push to one. Its
// values say what they do to branches.
var refusing = map[string]string{
	"creation":                    "forbids to create them",
	"update":                      "forbids to change them",
	"required_signatures":         "requires signed commits: set signed-commits: true",
	"branch_name_pattern":         "restricts their names",
	"commit_message_pattern":      "restricts commit messages",
	"commit_author_email_pattern": "restricts authors",
	"committer_email_pattern":     "restricts committers",
	"file_path_restriction":       "restricts files",
	"max_file_size":               "restricts the size of files",
}

// branches looks for rulesets and protections that can refuse the branches of new pull requests, and
// pushes to branches that the policies name.
func (o *online) branches(ctx context.Context) {
	for _, w := range o.kinds[safeoutput.KindCreatePullRequest] {
		name := w.settings.Changes.Branch
		if name == "" {
			name = w.settings.Changes.BranchPrefix + "example"
			if w.settings.Changes.BranchPrefix == "" && w.settings.Changes.AllowedBranches == nil {
				name = policy.DefaultBranchPrefix + name
			}
		}
		rules, err := o.github.BranchRules(ctx, o.repo, name)
		if err != nil {
			o.hidden(err, "which rules branches such as "+text.Truncate(name, 80)+" have")
			continue
		}
		for _, rule := range rules {
			does := refusing[rule]
			isMet := rule == "required_signatures" && w.settings.Changes.SignedCommits
			if does != "" && !isMet {
				o.add(Finding{Rule: "ruleset", Severity: Advice, File: w.file,
					What: fmt.Sprintf("a ruleset for branches such as %q %s", text.Truncate(name, 80), does),
					Why:  "a push of create-pull-request may be refused",
					Mend: "exempt the app of the token in the ruleset, or choose another branch-prefix"})
			}
		}
	}
	for _, w := range o.kinds[safeoutput.KindPushToBranch] {
		name := w.settings.Changes.Branch
		if name == "" {
			continue // pushes go to the heads of pull requests
		}
		rules, err := o.github.BranchRules(ctx, o.repo, name)
		protected, protectionErr := o.github.BranchProtected(ctx, o.repo, name)
		if errors.Is(protectionErr, githubapi.NotFound) {
			protectionErr = nil // the first push makes it
		}
		switch err := errors.Join(err, protectionErr); {
		case err != nil:
			o.hidden(err, "whether the branch "+text.Truncate(name, 80)+" is protected")
		case slices.Contains(rules, "pull_request"):
			o.add(Finding{Rule: "ruleset", Severity: Problem, File: w.file,
				What: fmt.Sprintf("a ruleset lets only pull requests change %q", text.Truncate(name, 80)),
				Why:  "push-to-branch is refused there",
				Mend: "push to another branch, or exempt the app of the token in the ruleset"})
		case protected:
			o.add(Finding{Rule: "protected-branch", Severity: Advice, File: w.file,
				What: fmt.Sprintf("the branch %q is protected", text.Truncate(name, 80)),
				Why:  "push-to-branch is refused there, unless the protection exempts the token",
				Mend: "push to another branch, or look at Settings, Branches"})
		}
	}
}

func (o *online) discussions(ctx context.Context, about githubapi.Repository) {
	list := o.kinds[safeoutput.KindCreateDiscussion]
	if len(list) == 0 {
		return
	}
	if !about.HasDiscussions {
		o.setting("discussions-off", Problem, "discussions are switched off", "the policy allows create-discussion, which fails", "turn them on (Settings, General, Features), or remove the kind")
		return
	}
	categories, err := o.github.DiscussionCategories(ctx, o.repo)
	if err != nil {
		o.hidden(err, "the categories of discussions")
		return
	}
	for _, w := range list {
		want := w.settings.Discussion.Category
		if want == "" || slices.ContainsFunc(categories, func(c githubapi.DiscussionCategory) bool {
			return strings.EqualFold(c.Name, want) || strings.EqualFold(c.Slug, want) || c.ID == want
		}) {
			continue
		}
		var names []string
		for _, c := range categories {
			names = append(names, text.OneLine(c.Name))
		}
		o.add(Finding{Rule: "category-missing", Severity: Problem, File: w.file,
			What: fmt.Sprintf("there is no category of discussions %q", text.Truncate(want, 80)),
			Why:  "create-discussion fails",
			Mend: "choose from " + strings.Join(names, ", ")})
	}
}

func (o *online) codeScanning(ctx context.Context) {
	if _, ok := o.kinds[safeoutput.KindCreateSecurityReport]; !ok && !o.own {
		return
	}
	enabled, err := o.github.CodeScanningEnabled(ctx, o.repo)
	switch {
	case err != nil:
		o.hidden(err, "whether code scanning is on")
	case !enabled:
		o.setting("code-scanning-off", Advice, "code scanning is off", "security findings are not uploaded, and are kept as a file", "turn it on (a private repository needs GitHub Code Security), or set checks: report: security-report: false")
	}
}

// labels looks for the labels that policies name: adding one that is not there creates it.
func (o *online) labels(ctx context.Context) {
	named := map[string]string{}
	for _, kind := range slices.Sorted(maps.Keys(o.kinds)) {
		for _, w := range o.kinds[kind] {
			for _, label := range slices.Concat(w.settings.Labels, w.settings.AllowedLabels, w.settings.Changes.RequiredLabels) {
				if !strings.Contains(label, "*") {
					named[label] = w.file
				}
			}
		}
	}
	if len(named) == 0 {
		return
	}
	labels := map[string]bool{}
	for label, err := range o.github.ListLabels(ctx, o.repo) {
		if err != nil {
			o.hidden(err, "the labels")
			return
		}
		labels[strings.ToLower(label)] = true
	}
	for _, label := range slices.Sorted(maps.Keys(named)) {
		if !labels[strings.ToLower(label)] {
			o.add(Finding{Rule: "label-missing", Severity: Advice, File: named[label],
				What: fmt.Sprintf("the repository has no label %q", text.Truncate(label, 80)),
				Why:  "the policy names it; GitHub makes it when it is first added, in a colour of its own",
				Mend: fmt.Sprintf("gh label create %q, or remove it from the policy", label)})
		}
	}
}

// secretName matches a secret in an expression.
var secretName = lazyregexp.New(`(?:^|[^\w.])secrets\.([\w.]+)`)

// secretsOf returns the names of the secrets in a step.
func secretsOf(s *step) (names []string) {
	texts := []string{s.run}
	for _, name := range inputsOf(s) {
		texts = append(texts, s.input(name))
	}
	if s.Env != nil {
		for _, v := range s.Env.Vars {
			texts = append(texts, value(v.Value))
		}
	}
	for _, t := range texts {
		for _, found := range expression.FindAllString(t, -1) {
			for _, m := range secretName.FindAllStringSubmatch(found, -1) {
				names = append(names, m[1])
			}
		}
	}
	return names
}
