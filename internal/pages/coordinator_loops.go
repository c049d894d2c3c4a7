package pages

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/text"
)

// loopRecord is a fix loop as the API answers it.
type loopRecord struct {
	Loop       string      `json:"loop"`
	Repository string      `json:"repository"`
	Issue      int         `json:"issue"`
	Ordinal    int         `json:"ordinal"`
	Status     string      `json:"status"`
	Outcome    string      `json:"outcome"`
	Reason     string      `json:"escalation_reason"`
	Iteration  int         `json:"iteration"`
	Max        int         `json:"max_iterations"`
	WaitsFor   string      `json:"waits_for"`
	Decisions  []string    `json:"decisions"`
	Extension  int         `json:"extension"`
	Deadline   *time.Time  `json:"deadline"`
	Driven     bool        `json:"driven"`
	Head       string      `json:"head_sha"`
	Checks     []loopCheck `json:"checks"`
}

type loopCheck struct {
	Check    string            `json:"check"`
	Status   string            `json:"status"`
	Count    int               `json:"failing_count"`
	Failures []fixloop.Failure `json:"failures"`
	Error    string            `json:"error"`
}

// maxFailures is how many failures of a check the page of a loop shows.
const maxFailures = 25

// Shown returns the failures that the page shows.
func (c loopCheck) Shown() []fixloop.Failure { return c.Failures[:min(len(c.Failures), maxFailures)] }

// More returns how many failures the page leaves out.
func (c loopCheck) More() int { return c.Count - len(c.Shown()) }

// Address returns where the loop's page is.
func (l loopRecord) Address() string { return "/ui/loops/" + url.PathEscape(l.Loop) }

// Name returns the loop as people call it.
func (l loopRecord) Name() string {
	name := "#" + strconv.Itoa(l.Issue)
	if l.Repository != "" {
		name = text.Truncate(text.OneLine(l.Repository), 200) + name
	}
	if l.Ordinal > 1 {
		name += ", loop " + strconv.Itoa(l.Ordinal)
	}
	return name
}

// Turn describes whose turn it is.
func (l loopRecord) Turn() string {
	switch l.WaitsFor {
	case "start":
		return "It has not begun."
	case "validate", "revalidate", "final":
		return "The checks are at work."
	case "acceptance":
		return "The acceptance criteria are being evaluated."
	case "fix":
		return "It is the fixer's turn."
	case "decide":
		return "A person has to decide."
	}
	return "It has ended."
}

// Ended reports whether nothing can follow.
func (l loopRecord) Ended() bool { return l.Outcome != "" }

// Ending returns how the loop ended, in words.
func (l loopRecord) Ending() string {
	switch l.Outcome {
	case "success":
		return "all checks pass"
	case "known_issues":
		return "completed with known issues"
	case "":
		return ""
	}
	return l.Outcome
}

// loopList is loops in the order of the API.
type loopList struct {
	Loops      []loopRecord `json:"loops"`
	NextCursor string       `json:"next_cursor"`
}

// loopList returns the loops that a query of the API selects.
func (x *visit) loopList(q url.Values) (list loopList, err error) {
	err = x.get(withQuery("/loops", q), &list)
	return list, err
}

type loopsView struct {
	loopList
	Repository string
	Show       string // "", open or decide
	First      bool   // nothing was left out before these
	Begin      string // the address of the first loops
	More       string // the address of the loops after these
}

// Filtered reports whether the visitor asked for only some of the loops.
func (v loopsView) Filtered() bool { return v.Repository != "" || v.Show != "" }

var loopsPage = coordinatorPage("loops.html")

func (x *visit) loops() error {
	given := x.r.URL.Query()
	v := loopsView{Repository: strings.TrimSpace(given.Get("repository")), Show: given.Get("show"), First: given.Get("cursor") == ""}
	page, q := url.Values{}, url.Values{}
	set := func(in url.Values, name, value string) {
		if value != "" {
			in.Set(name, value)
		}
	}
	set(page, "repository", v.Repository)
	set(page, "show", v.Show)
	v.Begin = "/ui/loops?" + page.Encode()
	set(q, "repository", v.Repository)
	set(q, "cursor", given.Get("cursor"))
	switch v.Show {
	case "":
	case "open":
		q.Set("open", "true")
	case "decide":
		q.Set("waits_for", "decide")
	default:
		return &problem{Status: http.StatusBadRequest, Message: "The page shows all loops, the open ones (show=open), or those that wait for a decision (show=decide)."}
	}
	var err error
	if v.loopList, err = x.loopList(q); err != nil {
		return err
	}
	if v.NextCursor != "" {
		page.Set("cursor", v.NextCursor)
		v.More = "/ui/loops?" + page.Encode()
	}
	x.show(http.StatusOK, loopsPage, "Loops", v)
	return nil
}

type loopView struct {
	Loop loopRecord
	Log  fixloop.Log
	// Headline describes the loop in one line.
	Headline  string
	Diagram   drawing
	Messages  []fixloop.Message // those of the diagram
	MayDecide bool
	Key       string
	Failure   string // why a decision was not accepted
}

// Decidable reports whether the loop waits for a decision.
func (v loopView) Decidable() bool { return v.Loop.WaitsFor == "decide" }

// Takes reports whether a decision can be made now.
func (v loopView) Takes(decision string) bool { return slices.Contains(v.Loop.Decisions, decision) }

var loopPage = coordinatorPage("loop.html")

// loopAPI returns the loop's path in the API.
func (x *visit) loopAPI() string { return "/loops/" + url.PathEscape(x.r.PathValue("id")) }

func (x *visit) showLoop(status int, failure string) error {
	v := loopView{MayDecide: x.Allows("decide"), Key: rand.Text(), Failure: failure}
	if err := x.get(x.loopAPI(), &v.Loop); err != nil {
		return err
	}
	if err := x.get(x.loopAPI()+"/log", &v.Log); err != nil {
		return err
	}
	d := v.Log.Diagram()
	v.Headline, v.Diagram = v.Log.Headline(), draw(d)
	for _, a := range d.Arrows {
		v.Messages = append(v.Messages, a.Message)
	}
	x.show(status, loopPage, "Loop "+v.Loop.Name(), v)
	return nil
}

func (x *visit) loop() error { return x.showLoop(http.StatusOK, "") }

// confirmView is the page that asks again before a decision that cannot be undone.
type confirmView struct {
	Loop     loopRecord
	Decision string
	Does     string
	Key      string
}

// endings are the decisions that cannot be undone, and what they do.
var endings = map[string]string{
	string(fixloop.DecideSkip):  "The loop ends, completed with known issues: what still fails stays as it is.",
	string(fixloop.DecideAbort): "The loop ends. What the fixer has mended so far stays; nothing is checked again.",
}

var confirmPage = coordinatorPage("confirm.html")

func (x *visit) confirm() error {
	return x.showConfirm(x.r.URL.Query().Get("decision"))
}

func (x *visit) showConfirm(decision string) error {
	v := confirmView{Decision: decision, Does: endings[decision], Key: rand.Text()}
	if v.Does == "" {
		return &problem{Status: http.StatusNotFound, Message: "Only the decisions skip and abort have a page that asks for confirmation."}
	}
	if !x.Allows("decide") {
		return &problem{Status: http.StatusForbidden, Message: fmt.Sprintf("The token %s does not have the scope decide.", x.Name)}
	}
	if err := x.get(x.loopAPI(), &v.Loop); err != nil {
		return err
	}
	x.show(http.StatusOK, confirmPage, "Really "+v.Decision+"?", v)
	return nil
}

func (x *visit) decide() error {
	form, err := x.form()
	if err != nil {
		return err
	}
	decision := form.Get("decision")
	if _, final := endings[decision]; final && form.Get("confirmed") != "yes" {
		return x.showConfirm(decision)
	}
	body := map[string]any{"decision": decision}
	if n := strings.TrimSpace(form.Get("n")); n != "" && decision == string(fixloop.DecideExtend) {
		body["n"] = n // if it is not a number, the server's answer says so
		if isNumber(n) {
			body["n"] = json.Number(n)
		}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	err = x.ask(http.MethodPost, x.loopAPI()+"/decision", formKey(form.Get("key"), raw), raw, nil)
	p, refused := errors.AsType[*problem](err)
	switch {
	case err == nil:
		return x.goTo("/ui/loops/" + url.PathEscape(x.r.PathValue("id")))
	case refused && (p.Status == http.StatusConflict || p.Status == http.StatusBadRequest):
		failure := sentence(p.Message)
		for _, v := range p.ValidationErrors {
			failure += " " + sentence(v.Path+": "+v.Message)
		}
		return x.showLoop(p.Status, failure)
	}
	return err
}
