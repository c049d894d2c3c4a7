package githubtest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Check is a check run.
type Check struct {
	ID          int64        `json:"id"`
	Name        string       `json:"name"`
	HeadSHA     string       `json:"head_sha"`
	ExternalID  string       `json:"external_id,omitempty"`
	Conclusion  string       `json:"conclusion,omitempty"` // "" while it is in progress
	Title       string       `json:"title,omitempty"`
	Summary     string       `json:"summary,omitempty"`
	Text        string       `json:"text,omitempty"`
	Annotations []Annotation `json:"annotations,omitempty"`
	Author      Account      `json:"author,omitzero"` // the app that made it
	At          time.Time    `json:"at,omitzero"`
}

// Annotation is a remark of a check run on lines of a file.
type Annotation struct {
	Path      string `json:"path"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
	Level     string `json:"annotation_level"`
	Title     string `json:"title,omitempty"`
	Message   string `json:"message"`
}

// checkInput is the body of a request that creates or updates a check run.
type checkInput struct {
	Name       string
	HeadSHA    string `json:"head_sha"`
	ExternalID string `json:"external_id"`
	Conclusion string
	Output     struct {
		Title, Summary, Text string
		Annotations          []Annotation
	}
}

// invalidOutput returns the errors with which GitHub refuses the output.
func (in *checkInput) invalidOutput() []fieldError {
	var bad []fieldError
	add := func(field, message string) {
		bad = append(bad, fieldError{Resource: "CheckRun", Field: field, Code: "custom", Message: message})
	}
	if len(in.Output.Annotations) > 50 {
		add("annotations", fmt.Sprintf("%d exceeds a maximum quantity of 50", len(in.Output.Annotations)))
	}
	for field, text := range map[string]string{"summary": in.Output.Summary, "text": in.Output.Text} {
		if length(text) > 65535 {
			add(field, "is too long (maximum is 65535 characters)")
		}
	}
	for _, a := range in.Output.Annotations {
		badLines := a.StartLine < 1 || a.EndLine < a.StartLine
		badText := strings.TrimSpace(a.Message) == "" || len(a.Message) > 64<<10 || length(a.Title) > 255
		if badLines || badText {
			add("annotations", "is not valid")
		}
	}
	return bad
}

// copyTo updates a check run. Annotations are added to those of earlier requests, and a request without
// a conclusion keeps the earlier one. The texts of the output are always replaced.
func (in *checkInput) copyTo(k *Check) {
	k.Conclusion = cmp.Or(in.Conclusion, k.Conclusion)
	k.Title, k.Summary, k.Text = in.Output.Title, in.Output.Summary, in.Output.Text
	k.Annotations = append(k.Annotations, in.Output.Annotations...)
}

func (s *Server) createCheck(c *conversation) reply {
	var in checkInput
	decode(c, &in)
	if !s.hasCommit(in.HeadSHA) {
		return fail(http.StatusUnprocessableEntity, "No commit found for SHA: "+in.HeadSHA)
	}
	if bad := in.invalidOutput(); bad != nil {
		return invalid(bad...)
	}
	k := &Check{ID: s.id(), Name: in.Name, HeadSHA: in.HeadSHA, ExternalID: in.ExternalID, Author: c.account, At: s.now()}
	in.copyTo(k)
	s.state.Checks = append(s.state.Checks, k)
	s.lag(k)
	return created(s.renderCheck(k))
}

// hasCommit reports whether a commit belongs to a pull request.
func (s *Server) hasCommit(sha string) bool {
	return slices.ContainsFunc(s.state.Issues, func(i *Issue) bool {
		if i.Pull == nil {
			return false
		}
		_, ok := i.Pull.filesAt(sha)
		return ok
	})
}

func (s *Server) updateCheck(c *conversation, k *Check) reply {
	if k.Author.ID != c.account.ID {
		return fail(http.StatusForbidden, "Invalid app_id `1` - check run can only be modified by the GitHub App that created it.")
	}
	var in checkInput
	decode(c, &in)
	if bad := in.invalidOutput(); bad != nil {
		return invalid(bad...)
	}
	in.copyTo(k)
	return okay(s.renderCheck(k))
}

func (s *Server) getCheck(_ *conversation, k *Check) reply { return okay(s.renderCheck(k)) }

// onCheck returns a handler that calls h with the check run whose id is the value of a
// parameter of the path. If there is no such check run, it answers 404.
func onCheck(parameter string, h func(*Server, *conversation, *Check) reply) handler {
	return func(s *Server, c *conversation) reply {
		id, _ := strconv.ParseInt(c.params[parameter], 10, 64)
		k := find(s.state.Checks, func(k *Check) bool { return k.ID == id })
		if k == nil {
			return notFound()
		}
		return h(s, c, k)
	}
}

// getJob shows a job of a workflow run, whose id and name are those of its check run. The job is
// always in progress.
func (s *Server) getJob(_ *conversation, k *Check) reply {
	self := fmt.Sprintf("%s/actions/jobs/%d", s.repoURL(), k.ID)
	return okay(object{"id": k.ID, "run_id": 1, "run_url": s.repoURL() + "/actions/runs/1", "node_id": fmt.Sprintf("CR_%d", k.ID), "head_sha": k.HeadSHA,
		"url": self, "html_url": self, "status": "in_progress", "conclusion": nil, "created_at": stamp(k.At), "started_at": stamp(k.At), "completed_at": nil,
		"name": k.Name, "check_run_url": fmt.Sprintf("%s/check-runs/%d", s.repoURL(), k.ID), "labels": []string{}, "runner_id": nil, "runner_name": nil,
		"runner_group_id": nil, "runner_group_name": nil, "workflow_name": nil, "head_branch": nil})
}

// listChecks shows a commit's check runs, the newest first: the latest of each name and app, or all
// of them if the filter is "all". With check_name, it shows only those of that name.
func (s *Server) listChecks(c *conversation) reply {
	type nameAndApp struct {
		name string
		app  int64
	}
	var list []*Check
	seen := map[nameAndApp]bool{}
	for _, k := range slices.Backward(s.state.Checks) {
		if !s.visible(k) || k.HeadSHA != c.params["ref"] || c.query.Has("check_name") && c.query.Get("check_name") != k.Name {
			continue
		}
		key := nameAndApp{k.Name, k.Author.ID}
		if c.query.Get("filter") == "all" || !seen[key] {
			list = append(list, k)
		}
		seen[key] = true
	}
	r := page(s, c, list, func(a, b *Check) int { return cmp.Compare(b.ID, a.ID) }, func(k *Check) any { return s.renderCheck(k) })
	r.body = object{"total_count": len(list), "check_runs": r.body}
	return r
}

// renderApp returns the app of an account, which has the account's name without "[bot]".
func (s *Server) renderApp(a Account) any {
	if a == (Account{}) {
		return nil
	}
	return object{"id": a.ID, "slug": plainLogin(a), "node_id": nodeID("A", a.ID), "name": plainLogin(a), "description": "", "owner": s.renderUser(Account{Login: "github", ID: 9919}),
		"external_url": "https://github.com", "html_url": "https://github.com/apps/" + plainLogin(a), "created_at": stamp(s.now()), "updated_at": stamp(s.now()),
		"permissions": object{"checks": "write"}, "events": []any{}}
}

func (s *Server) renderCheck(k *Check) object {
	self := fmt.Sprintf("%s/check-runs/%d", s.repoURL(), k.ID)
	o := object{"id": k.ID, "node_id": fmt.Sprintf("CR_%d", k.ID), "name": k.Name, "head_sha": k.HeadSHA, "external_id": k.ExternalID, "url": self,
		"html_url": fmt.Sprintf("%s/runs/%d", s.siteURL(), k.ID), "details_url": nil, "status": "in_progress", "conclusion": nil, "started_at": stamp(k.At),
		"completed_at": nil, "check_suite": object{"id": 1}, "app": s.renderApp(k.Author), "pull_requests": []any{},
		"output": object{"title": k.Title, "summary": k.Summary, "text": k.Text, "annotations_count": len(k.Annotations), "annotations_url": self + "/annotations"}}
	if k.Conclusion != "" {
		o["status"], o["conclusion"], o["completed_at"] = "completed", k.Conclusion, stamp(k.At)
	}
	return o
}
