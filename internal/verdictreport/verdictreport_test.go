package verdictreport_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/tasklist"
	"github.com/agent-airlock/airlock/internal/verdictreport"
)

var head = strings.Repeat("a", 40)

// document returns a verdict about criteria in the task list of issue #3, one for each status.
func document(statuses ...acceptance.Status) *verdictreport.Document {
	d := &verdictreport.Document{Version: 1, Head: head, Source: verdictreport.FromIssue}
	d.Response = &acceptance.Response{TaskID: "issue-3", Verdict: acceptance.VerdictOf(statuses)}
	for i, s := range statuses {
		id := fmt.Sprintf("ac-%d", i+1)
		d.Criteria = append(d.Criteria, verdictreport.Criterion{ID: id, Description: "It does " + id, Issue: 3, Box: tasklist.Digest(id)})
		d.Response.Results = append(d.Response.Results, acceptance.CriterionResult{ID: id, Status: s, Evidence: "It was seen.", Remediation: "Do it."})
	}
	return d
}

// checkRun returns the check run that reports a document in a pull request with the head pullHead.
func checkRun(t *testing.T, d *verdictreport.Document, pullHead string, tick bool) *safeoutput.CheckRun {
	t.Helper()
	plain := func(s string) string { return s }
	items := d.Items(checkreport.ItemsInput{SafeText: checkreport.SafeText{Line: plain, Code: plain}, Head: pullHead, Job: "report", CheckRun: true}, false, tick)
	if len(items) != 1 {
		t.Fatalf("%d items", len(items))
	}
	return items[0].Item.(*safeoutput.CheckRun)
}

func TestBoxesAreRecordedAndRead(t *testing.T) {
	d := document(acceptance.Pass, acceptance.Fail, acceptance.Blocked, acceptance.Skip)
	run := checkRun(t, d, head, true)
	if run.Name != verdictreport.RunName+" (report)" || run.Conclusion != "failure" {
		t.Errorf("%+v", run)
	}
	boxes := verdictreport.Boxes{}
	boxes.Add(run.Text)
	for i, want := range []bool{true, false, false, false} {
		passed, known := boxes[3][tasklist.Digest(fmt.Sprintf("ac-%d", i+1))]
		if passed != want || !known {
			t.Errorf("ac-%d: %v, %v", i+1, passed, known)
		}
	}
	// Another job of a matrix says otherwise.
	boxes.Add(checkRun(t, document(acceptance.Fail, acceptance.Pass), head, true).Text)
	boxes.Add(run.Text)
	for digest, passed := range boxes[3] {
		if passed {
			t.Errorf("%s passed everywhere", digest)
		}
	}
	for name, text := range map[string]string{
		"switched off":   checkRun(t, d, head, false).Text,
		"another commit": checkRun(t, d, strings.Repeat("b", 40), true).Text,
	} {
		if text != "" {
			t.Errorf("%s: %s", name, text)
		}
	}
	many := document(make([]acceptance.Status, 2000)...)
	if text := checkRun(t, many, head, true).Text; len(text) > 65_000 || !strings.Contains(text, "No box is ticked for 800 more,") {
		t.Errorf("%d bytes", len(text))
	}
}

// TestWhatIsLeftOutOfAVerdict asserts that a comment which is cut still links the job summary, and that
// a table says where the criteria are that it leaves out.
func TestWhatIsLeftOutOfAVerdict(t *testing.T) {
	d := document(make([]acceptance.Status, 130)...)
	plain := func(s string) string { return s }
	safe := checkreport.SafeText{Line: plain, Code: plain}
	if s := d.Summary(safe, false, 1<<20); !strings.Contains(s, "*… and 30 more, in the verdict document.*") {
		t.Errorf("%s", s)
	}
	for i := range d.Response.Results {
		d.Response.Results[i].Evidence = strings.Repeat("seen ", 100)
	}
	body := d.Comment(safe, false, d.Head, "https://github.com/octo/app/actions/runs/1")
	if i := strings.Index(body, "The rest was cut"); i < 0 || !strings.Contains(body[i:], "[The job summary](https://github.com/octo/app/actions/runs/1)") {
		t.Errorf("the comment ends with %s", body[max(0, len(body)-400):])
	}
}

func TestOtherTextsAreNotReadAsRecords(t *testing.T) {
	line := "#3 " + tasklist.Digest("x") + " PASS\n"
	for _, text := range []string{"", line, "```\n" + line + "```\n", "    " + line, "```airlock-boxes\n#x y PASS\n#-1 y PASS\n#3 y\n" + "#99999999999999999999 y PASS\n```\n"} {
		boxes := verdictreport.Boxes{}
		if boxes.Add(text); len(boxes) > 0 {
			t.Errorf("%q: %v", text, boxes)
		}
	}
}

func TestLoopResult(t *testing.T) {
	gates := func(d *verdictreport.Document, statuses ...acceptance.Status) *verdictreport.Document {
		for i, s := range statuses {
			d.Response.Gates = append(d.Response.Gates, acceptance.Gate{Number: i + 1, Status: s, Evidence: fmt.Sprintf("Gate %d says so.", i+1)})
		}
		return d
	}
	wrong := document(acceptance.Pass)
	wrong.Response.Claims = []acceptance.ClaimResult{{Claim: "modified a.go", Status: acceptance.Fail, Evidence: "It is as before."}}
	advised := document(acceptance.Blocked, acceptance.Blocked)
	for i := range advised.Response.Results {
		advised.Response.Results[i].Remediation = "Configure a validator."
	}
	for name, tt := range map[string]struct {
		d        *verdictreport.Document
		required bool
		status   fixloop.ResultStatus
		failing  []string
		why      string
	}{
		"passes":                   {document(acceptance.Pass, acceptance.Skip), false, fixloop.ResultPass, nil, ""},
		"fails":                    {document(acceptance.Pass, acceptance.Fail, acceptance.Blocked), false, fixloop.ResultFail, []string{"ac-2: It does ac-2"}, ""},
		"fails, but is accepted":   {gates(document(acceptance.Pass, acceptance.Fail), acceptance.Skip, acceptance.Pass), false, fixloop.ResultPass, nil, ""},
		"blocked":                  {document(acceptance.Pass, acceptance.Blocked), false, fixloop.ResultError, nil, "ac-2: It was seen."},
		"blocked, with advice":     {advised, false, fixloop.ResultError, nil, "ac-1: It was seen.; ac-2: It was seen. Configure a validator."},
		"all skipped":              {document(acceptance.Skip), false, fixloop.ResultError, nil, "cannot be verified"},
		"a claim that is wrong":    {gates(wrong, acceptance.Fail, acceptance.Pass), false, fixloop.ResultFail, []string{"the claim does not hold: modified a.go"}, ""},
		"a judge that says no":     {gates(document(acceptance.Pass), acceptance.Skip, acceptance.Pass, acceptance.Fail), false, fixloop.ResultFail, []string{"the judge does not let it pass"}, ""},
		"a judge without a result": {gates(document(acceptance.Pass), acceptance.Skip, acceptance.Pass, acceptance.Blocked), false, fixloop.ResultError, nil, "Gate 3 says so."},
		"no criteria":              {&verdictreport.Document{}, false, fixloop.ResultPass, nil, ""},
		"none, though required":    {&verdictreport.Document{}, true, fixloop.ResultError, nil, "they are required"},
	} {
		r := tt.d.LoopResult(tt.required)
		var failing []string
		for _, f := range r.Failures {
			failing = append(failing, f.Message)
			if f.Fingerprint == "" || f.Details == "" {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if r.Check != fixloop.Acceptance || r.Status != tt.status || fmt.Sprint(failing) != fmt.Sprint(tt.failing) || !strings.Contains(r.Error, tt.why) || (r.Error != "") != (tt.why != "") {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestNoSecretInADocument asserts that Mask covers all texts that people and programs wrote, and
// that a page masks a text that Mask leaves, such as an id, before the text is cut.
func TestNoSecretInADocument(t *testing.T) {
	mask := func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	d := document(acceptance.Fail)
	d.Criteria[0].Description, d.Criteria[0].Hint, d.Notes = "hunter2", "hunter2", []string{"hunter2"}
	d.Response.Reasoning, d.Response.Results[0].Evidence = "hunter2", "hunter2"
	d.Response.Evidence = &acceptance.Evidence{FileChecks: []acceptance.FileCheck{{Path: "hunter2"}}, Tests: []acceptance.TestResult{{Snippet: "hunter2"}}}
	d.Mask(mask)
	var b strings.Builder
	if err := d.Write(&b); err != nil || strings.Contains(b.String(), "hunter2") {
		t.Errorf("%v: %s", err, &b)
	}
	for before := 290; before <= 300; before++ {
		id := strings.Repeat("x", before) + "hunter2" + strings.Repeat("y", 300)
		d.Criteria[0].ID, d.Response.Results[0].ID = id, id
		safe := checkreport.SafeText{Line: mask, Code: mask}
		for _, page := range []string{d.Summary(safe, false, 1<<20), d.Comment(safe, false, head, "")} {
			if strings.Contains(page, "xh") || !strings.Contains(page, "xxx") {
				t.Errorf("%d before the cut: %s", before, page)
			}
		}
	}
}
