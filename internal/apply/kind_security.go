package apply

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sarif"
	"github.com/agent-airlock/airlock/internal/text"
)

// securityHandler applies create-security-report: one upload to code scanning for all
// reports, with one SARIF run for each tool and category. A second upload of a tool and
// category would replace the first.
var securityHandler = handler{
	group: func(*entry) string { return "upload" },
	needs: func(n *needs, e *entry) {
		n.reports = append(n.reports, e)
		if e.own && n.ev.IsPull && n.ev.Number != 0 {
			// A pull request shows only alerts that are in its diff: see InDiff.
			n.pulls.add(n.ev.Number)
			n.diffs.add(n.ev.Number)
		}
		if n.ev.IsPull && n.ev.Head.SHA == "" {
			n.pulls.add(n.ev.Number)
		}
	},
	plan: planSecurity,
}

// sarifFile is the name under which a log is stored that did not get into code scanning.
const sarifFile = "airlock.sarif"

// defaultTool is the tool that agents' findings are reported under.
const defaultTool = "Airlock agent findings"

func planSecurity(p *planner, group []*entry) Operation {
	op := p.operation(group, fmt.Sprintf("upload %s to code scanning", text.Count(len(group), "security report")))
	op.Permissions = group[0].permissions()
	// Airlock's own first: code scanning limits an upload, and an agent's reports must not
	// displace them. They stay in one upload with an agent's, because a second one of the
	// same tool and category would replace the first.
	slices.SortStableFunc(group, func(a, b *entry) int { return trueFirst(a.own, b.own) })
	read := func(path string) ([]byte, error) {
		if file, known := p.snap.sources[path]; known {
			return file.value, file.err
		}
		return nil, errNoSource
	}
	refuseReserved(group)
	up := prepareReports(p.cfg, group, read)
	if up == nil {
		return op
	}
	left := pending(group)
	if up.Results == 0 && slices.ContainsFunc(up.Notes, func(n sarif.Note) bool { return n.Rule == sarif.RulePaths }) {
		for _, e := range left {
			e.decide(Failed, CodeInvalid, "no result names a file of the repository by a relative path, so code scanning would not accept it; use paths from the repository's root, such as src/main.go")
		}
		return op
	}
	for _, n := range up.Notes {
		op.Notes = append(op.Notes, n.String())
	}
	w := &securityWork{sarif: up.SARIF, notes: op.Notes}
	op.work = w
	commit, ref := analysed(p.ev, p.snap.pulls[p.ev.Number].value.Head.SHA)
	if commit == "" || ref == "" {
		w.unable = unknownCommit(p.ev)
		op.Notes = append(op.Notes, "stored as a file: "+w.unable)
		if op.Staged { // the plan is not a success either
			for _, e := range left {
				e.decide(Failed, CodeInvalid, "%s", w.unable)
			}
		}
		op.Summary = fmt.Sprintf("store %s of %s as a file", text.Count(up.Results, "result"), strings.Join(up.Tools, ", "))
		return op
	}
	op.Target = fmt.Sprintf("code scanning, %s at %.7s", ref, commit)
	op.Summary = fmt.Sprintf("upload %s of %s to code scanning", text.Count(up.Results, "result"), strings.Join(up.Tools, ", "))
	w.upload = githubapi.SARIFUpload{CommitSHA: commit, Ref: ref, SARIF: up.Packed}
	op.Requests = []Request{newRequest("POST", p.path("/code-scanning/sarifs"), struct {
		CommitSHA string `json:"commit_sha"`
		Ref       string `json:"ref"`
		SARIF     string `json:"sarif"`
	}{commit, ref, up.Packed})}
	return op
}

// analysed returns the commit and the ref that results are about:
//   - the head of the pull request that the event is about, if the event's own workflow run is for
//     that commit, or for a ref that is not the pull request's, such as the default branch;
//   - the head of the workflow run that a workflow_run event is about, if the event is about no pull
//     request;
//   - otherwise the commit and the ref of the event's own workflow run. For a pull_request event,
//     these are the merge commit and its ref.
//
// head is the pull request's head, if only GitHub knows it. The commit or the ref, or each of them,
// is "" if it is not known to which commit or branch of the repository the results belong.
func analysed(ev event.Event, head string) (commit, ref string) {
	if ev.Head.SHA != "" {
		head = ev.Head.SHA
	}
	switch {
	case ev.IsPull && head != "" && (ev.SHA == head || !strings.HasPrefix(ev.Ref, "refs/pull/")):
		return head, fmt.Sprintf("refs/pull/%d/head", ev.Number)
	case ev.Name == "workflow_run" && !ev.IsPull && head != "":
		if ev.Fork || ev.Head.Ref == "" {
			return "", "" // the run's own branch is the default one, where alerts about a stranger's code do not belong
		}
		return head, "refs/heads/" + ev.Head.Ref
	}
	return ev.SHA, ev.Ref
}

// unknownCommit explains why a report cannot be uploaded for any commit.
func unknownCommit(ev event.Event) string {
	if ev.Name == "workflow_run" {
		return "the workflow_run event is about a commit of a fork or of no known branch, and does not name its pull request, so it is not known where the alerts belong; upload the file in the workflow that the pull request starts"
	}
	return "it is not known which commit and ref the report is about; set GITHUB_SHA and GITHUB_REF"
}

// prepareReports makes one upload of the reports. It decides those that cannot be part of it,
// and returns nil if none are left.
func prepareReports(cfg Config, group []*entry, read func(string) ([]byte, error)) *sarif.Upload {
	open := pending(group)
	up, err := prepare(cfg, open, read)
	if err == nil || len(open) == 0 {
		return up
	}
	for _, e := range open { // find the bad ones
		if _, err := prepare(cfg, []*entry{e}, nil); err != nil {
			e.decide(Failed, CodeInvalid, "the report cannot be uploaded: %v", err)
		}
	}
	if good := pending(open); len(good) > 0 && len(good) < len(open) {
		if up, err = prepare(cfg, good, read); err == nil {
			return up
		}
	}
	for _, e := range pending(open) {
		e.decide(Failed, CodeInvalid, "the reports cannot be uploaded: %v", err)
	}
	return nil
}

// prepare builds the upload. Findings that agents reported one by one become logs of their
// own, one for each tool and category.
func prepare(cfg Config, entries []*entry, read func(string) ([]byte, error)) (*sarif.Upload, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	type runID struct{ tool, category string }
	var sources []sarif.Source
	var order []runID
	findings := map[runID][]finding.Finding{}
	for _, e := range entries {
		it := e.item.(*safeoutput.CreateSecurityReport)
		if it.File == "" {
			sources = append(sources, sarif.Source{SARIF: it.SARIF, Category: it.Category})
			continue
		}
		id := runID{cmp.Or(e.settings.Report.Driver, defaultTool), it.Category}
		if findings[id] == nil {
			order = append(order, id)
		}
		findings[id] = append(findings[id], sarif.AgentFinding(id.tool, it.File, it.Line, it.Column, it.Severity, it.Message, it.RuleIDSuffix))
	}
	for _, id := range order {
		finding.SetFingerprints(findings[id])
		log, err := sarif.Build(sarif.Tool{Name: id.tool, Version: cfg.Version}, id.category, findings[id], nil)
		if err != nil {
			return nil, err
		}
		sources = append(sources, sarif.Source{SARIF: log, Category: id.category})
	}
	return sarif.Prepare(sources, sarif.Options{ReadFile: read, Category: cfg.category()})
}

// category returns the category of agents' reports that name none. It is "", unless another
// call of a reusable workflow or another job of the matrix may report the same: of two uploads
// of one category the second replaces the first.
func (c Config) category() string {
	if c.Run.Name == "" && c.Run.MatrixIndex == 0 {
		return ""
	}
	category := "airlock/" + text.Slug(c.Run.Identity(), 100)
	if c.Run.MatrixIndex > 0 {
		category += "/" + strconv.Itoa(c.Run.MatrixIndex+1)
	}
	return category
}

// RuleReservedTool denies a report under the name of Airlock's own checks.
const RuleReservedTool = "reserved-tool"

// refuseReserved denies agents' logs that name the tool of Airlock's own checks. Code scanning
// treats an upload as the complete state of its tool, so an upload without results would
// close what the checks have found.
func refuseReserved(group []*entry) {
	for _, e := range pending(group) {
		it := e.item.(*safeoutput.CreateSecurityReport)
		if !e.own && namesTool(it.SARIF, sarif.OwnTool) {
			e.decide(Denied, RuleReservedTool, "the tool %q is that of Airlock's own checks: give the log the name of the tool that created it", sarif.OwnTool)
		}
	}
}

// namesTool reports whether a run of a log names the tool.
func namesTool(log json.RawMessage, tool string) bool {
	var doc struct {
		Runs []struct {
			Tool struct{ Driver struct{ Name string } }
		}
	}
	if json.Unmarshal(log, &doc) != nil {
		return false // an invalid log is refused elsewhere
	}
	for _, r := range doc.Runs {
		if strings.EqualFold(strings.TrimSpace(r.Tool.Driver.Name), tool) {
			return true
		}
	}
	return false
}

// securityWork uploads a SARIF log and waits for its processing.
type securityWork struct {
	sarif  []byte
	upload githubapi.SARIFUpload
	notes  []string
	unable string // why no upload is even tried; "" where it is
}

// pollWaits are the waits between requests for the state of an upload: they are sent 5, 15,
// 35, 75 and 155 seconds after it.
var pollWaits = []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second}

func (w *securityWork) execute(ctx context.Context, x *executor, op *Operation) []Result {
	if w.unable != "" {
		return w.storeAsFile(x, op, CodeInvalid, w.unable)
	}
	id, err := idempotentAnswer(ctx, x, func(ctx context.Context) (string, error) {
		return x.deps.GitHub.UploadSARIF(ctx, x.repo, w.upload)
	})
	if err != nil {
		code, message := failure(err, op.Permissions)
		x.block(op, err, blockade{code, message})
		return w.storeAsFile(x, op, code, message)
	}
	status, err := w.wait(ctx, x, id)
	switch status.State {
	case githubapi.SARIFFailed:
		return w.storeAsFile(x, op, CodeRejected, "code scanning could not process the upload: "+strings.Join(status.Errors, "; ")+"; correct in the report what it names")
	case githubapi.SARIFComplete:
		return w.sameResult(op, Applied, "", "uploaded to code scanning and processed", &Object{Type: objSARIF, NodeID: id}, "")
	}
	note := "uploaded to code scanning; GitHub had not processed it when Airlock stopped waiting"
	if err != nil {
		note += fmt.Sprintf(" (%v)", err)
	}
	return w.sameResult(op, Applied, CodeUnprocessed, note, &Object{Type: objSARIF, NodeID: id}, "")
}

// wait asks for the state of an upload after each of pollWaits, until it is decided. It returns the
// error of the last request, but none if GitHub does not know the upload yet; the context's, if that
// ends first.
func (w *securityWork) wait(ctx context.Context, x *executor, id string) (status githubapi.SARIFStatus, err error) {
	for _, d := range pollWaits {
		if err := x.deps.Clock.Sleep(ctx, d); err != nil {
			return status, err
		}
		var got githubapi.SARIFStatus
		if got, err = x.deps.GitHub.SARIFStatus(ctx, x.repo, id); err != nil {
			if isKind(err, githubapi.NotFound) {
				err = nil // not known yet
			}
			continue
		}
		status = got
		if status.State == githubapi.SARIFComplete || status.State == githubapi.SARIFFailed {
			return status, nil
		}
	}
	return status, err
}

// storeAsFile stores the log as a file, for another step to upload or keep. Unless that
// fails, the result is Skipped where the repository has no code scanning and, for Airlock's own
// findings, where the token lacks the permission to upload them.
func (w *securityWork) storeAsFile(x *executor, op *Operation, code, message string) []Result {
	stored, path, broken := "", "", false
	if x.deps.Files != nil {
		var err error
		stored = "; the SARIF log is stored as a file instead"
		if path, err = x.deps.Files.WriteFile(sarifFile, w.sarif); err != nil {
			stored, path, broken = fmt.Sprintf("; it could not be stored as a file either: %v", err), "", true
		}
	}
	results := w.sameResult(op, Failed, code, "", nil, path)
	for i, e := range pending(op.entries) {
		r := x.refused(e, code, message)
		if code == CodeNoCodeScanning || e.own && code == CodeNoPermission {
			r.State = Skipped
		}
		if broken {
			r.State = Failed
		}
		results[i].State, results[i].Code, results[i].Message = r.State, r.Code, r.Message+stored
	}
	return results
}

// sameResult gives every report the same result.
func (w *securityWork) sameResult(op *Operation, state State, code, message string, obj *Object, file string) []Result {
	open := pending(op.entries)
	out := make([]Result, len(open))
	for i, e := range open {
		out[i] = e.result(state, code, "%s", message)
		out[i].Object, out[i].File = obj, file
		if i == 0 {
			out[i].Notes = w.notes
		}
	}
	return out
}
