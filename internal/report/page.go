package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/pages"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// Limits of a page, so that a browser opens it. The plan's JSON and the results contain
// everything.
const (
	maxPageText   = 128 << 10 // bytes of one text
	maxPageSource = 16 << 10  // bytes of one line of the agent's
	maxPageTexts  = 24 << 20  // bytes of all texts and lines
	maxPageItems  = 20_000
	maxPageFiles  = 300  // allowed files of an item
	maxPageBroken = 3000 // refused files of an item
	maxPageValue  = 1000
)

// PageSource is how many bytes of each line a page needs: the part that it shows, and enough text
// after it to recognise a secret that is cut at the end of that part.
const PageSource = maxPageSource + 8<<10

// Page returns the report as a page for people. It does not have the checks, which the report
// does not know.
func (r *Report) Page() pages.Plan {
	b := &pageBuilder{r: r, left: maxPageTexts, members: map[int]planMember{}}
	for m := range r.members() {
		b.members[m.item.Index] = m
	}
	p := pages.Plan{Repository: r.Repository, Subject: r.safe(r.where), Headline: r.Headline(), Mode: r.mode(), Grantable: r.grantable}
	p.Items, p.Own = b.items()
	p.Lines, p.Left = b.lines, b.leftOut()
	if r.before {
		p.Headline = r.headlineBefore(b.members)
	}
	if b.planned > 0 {
		p.Counts = append(p.Counts, pages.PlanCount{Name: "to be applied", Count: b.planned})
	}
	for _, n := range r.Counts.named() {
		p.Counts = append(p.Counts, pages.PlanCount{Name: n.name, Count: n.n})
	}
	if r.plan != nil {
		if len(r.plan.Permissions) > 0 {
			p.Permissions = apply.PermissionsBlock(r.plan.Permissions)
		}
		for _, u := range r.plan.Unchecked {
			p.Unchecked = append(p.Unchecked, r.plain(u))
		}
	}
	for _, e := range r.Earlier[:min(len(r.Earlier), maxRows)] {
		p.Earlier = append(p.Earlier, r.plain(e))
	}
	if more := len(r.Earlier) - maxRows; more > 0 {
		p.Earlier = append(p.Earlier, fmt.Sprintf("… and %d more", more))
	}
	p.Attention = attention(p)
	return p
}

// mode describes what was or will be written.
func (r *Report) mode() string {
	switch {
	case r.Unconfigured:
		return "There is no configuration, so nothing is written: this is what would be done."
	case r.DryRun:
		return "A dry run: nothing was written. This is what would be done."
	case r.before:
		return "Written before anything was done. If this is all there is, the step did not get to its end."
	}
	return "This is what was done."
}

// headlineBefore returns the headline of a plan before it is carried out.
func (r *Report) headlineBefore(members map[int]planMember) string {
	done, all := 0, r.Counts.Asked
	for _, m := range members {
		if m.item.Line == 0 {
			continue
		}
		if all++; m.item.Outcome == apply.OutcomeApply && !m.op.Staged {
			done++
		}
	}
	return fmt.Sprintf("%d of %s will be done", done, text.Count(all, "request"))
}

// planMember is an item of the plan.
type planMember struct {
	op   *apply.Operation
	item *apply.Member
}

// members returns the items of the plan, if there is one, in its order.
func (r *Report) members() iter.Seq[planMember] {
	return func(yield func(planMember) bool) {
		if r.plan == nil {
			return
		}
		for i := range r.plan.Operations {
			op := &r.plan.Operations[i]
			for j := range op.Items {
				if !yield(planMember{op, &op.Items[j]}) {
					return
				}
			}
		}
	}
}

// pageBuilder makes the items of a page.
type pageBuilder struct {
	r       *Report
	members map[int]planMember // by their index
	lines   []pages.PlanLine
	left    int // bytes of texts that may still be shown
	unshown int // texts and lines that are not shown
	omitted int // items that are not shown
	planned int // items of the agent's that will be applied
}

// leftOut describes what the page lacks.
func (b *pageBuilder) leftOut() string {
	var parts []string
	if b.unshown > 0 {
		parts = append(parts, text.Count(b.unshown, "text"))
	}
	if b.omitted > 0 {
		parts = append(parts, text.Count(b.omitted, "item"))
	}
	are := "are"
	switch b.unshown + b.omitted {
	case 0:
		return ""
	case 1:
		are = "is"
	}
	return "This page would be too large for a browser: " + strings.Join(parts, " and ") + " " + are + " not shown. The plan and the results as JSON contain everything."
}

// outcome is one line of the agent's, or one item of Airlock's own, and its fate. One that was
// accepted has a result or, before it is carried out, only a member. Any other line was rejected or
// dropped.
type outcome struct {
	line     int // 0 for an item of Airlock's own, and for a kind with too few items
	result   *apply.Result
	member   *planMember
	rejected *Rejected
	dropped  *Dropped

	accepted *intake.Accepted
	final    safeoutput.Item
	source   string
	withheld bool // it contains a secret
}

// items returns the agent's items and Airlock's own, in the order of the lines.
func (b *pageBuilder) items() (agents, own []pages.PlanItem) {
	for i, o := range b.outcomes() {
		if i >= maxPageItems {
			b.omitted++
			continue
		}
		item := b.item(o)
		if o.line == 0 && o.rejected == nil {
			item.ID = "own-" + itoa(len(own)+1)
			own = append(own, item)
			continue
		}
		item.ID = "item-" + itoa(len(agents)+1)
		item.Source = b.addLine(o, item.ID)
		agents = append(agents, item)
	}
	return agents, own
}

// outcomes returns the outcome of every line and of Airlock's own items, in the order of the lines.
func (b *pageBuilder) outcomes() []outcome {
	var list []outcome
	denied, seen := b.r.denied, map[int]bool{}
	add := func(results []apply.Result) {
		for i := range results {
			o := outcome{line: results[i].Line, result: &results[i]}
			switch m, ok := b.members[results[i].Index]; {
			case ok:
				seen[results[i].Index] = true
				o.ofMember(m)
			case results[i].State == apply.Denied && !results[i].Own && len(denied) > 0:
				o.accepted, o.final, o.source = &denied[0].Accepted, denied[0].Item(), denied[0].Source()
				o.withheld = b.hasSecret(denied[0])
				denied = denied[1:]
			}
			list = append(list, o)
		}
	}
	add(b.r.Results)
	add(b.r.ownResults())
	for m := range b.r.members() {
		if b.r.before && !seen[m.item.Index] {
			o := outcome{line: m.item.Line}
			o.ofMember(m)
			list = append(list, o)
		}
	}
	for i := range b.r.Rejected {
		list = append(list, outcome{line: b.r.Rejected[i].Line, rejected: &b.r.Rejected[i], source: b.r.Rejected[i].source})
	}
	for i := range b.r.Dropped {
		list = append(list, outcome{line: b.r.Dropped[i].Line, dropped: &b.r.Dropped[i], source: b.r.Dropped[i].source})
	}
	slices.SortStableFunc(list, func(x, y outcome) int { return cmp.Compare(x.line, y.line) })
	return list
}

// ofMember fills in what the plan has of an item.
func (o *outcome) ofMember(m planMember) {
	o.member = &m
	if m.item.Approved == nil {
		o.withheld = true
		return
	}
	a := m.item.Approved.Accepted()
	o.accepted, o.final, o.source = &a, m.item.Approved.Item(), a.Source()
}

// hasSecret reports whether a denied item contains a secret. No earlier step has looked for one.
func (b *pageBuilder) hasSecret(d policy.Denied) bool {
	if b.r.secret == nil {
		return false
	}
	return slices.ContainsFunc(d.Item().Texts(), func(t safeoutput.Text) bool { return b.r.secret(*t.Value) })
}

// item returns an item as the page shows it, without its id.
func (b *pageBuilder) item(o outcome) pages.PlanItem {
	item := pages.PlanItem{Line: o.line}
	switch {
	case o.rejected != nil:
		item.Kind, item.State, item.Level = cmp.Or(string(o.rejected.Kind), "no known kind"), rejected, pages.Bad
		for _, reason := range reasons(*o.rejected) {
			item.Violations = append(item.Violations, b.r.plain(reason))
		}
		return item
	case o.dropped != nil:
		item.Kind, item.State, item.Level = string(o.dropped.Kind), "dropped, over the limit", pages.Warn
		item.Why = b.r.safe(dropReason(*o.dropped))
		return item
	case o.result != nil:
		b.ofResult(&item, *o.result)
	default:
		b.ofPlan(&item, *o.member)
	}
	if o.member != nil {
		b.ofOperation(&item, *o.member)
	}
	if o.final != nil && !o.withheld {
		item.Fields, item.Texts = b.fields(o), b.texts(o)
	}
	return item
}

// ofResult fills in what became of an item.
func (b *pageBuilder) ofResult(item *pages.PlanItem, res apply.Result) {
	row := b.r.resultRow(res)
	item.Kind, item.Code, item.Summary, item.Why, item.Notes, item.File = row.kind, b.r.safe(row.code), row.asked, row.why, row.notes, row.file
	item.State, item.Level = b.state(res)
	if url := row.url(); url != "" {
		item.Link = pages.PlanLink{Text: "On GitHub: " + strings.ReplaceAll(row.obj.Type, "-", " "), URL: url}
		if row.obj.Number > 0 {
			item.Link.Text += " #" + itoa(row.obj.Number)
		}
	}
	for _, c := range b.r.changesOf(res) {
		item.Cleaned = append(item.Cleaned, b.r.plain(c))
	}
}

// state names a result's state for people.
func (b *pageBuilder) state(res apply.Result) (string, pages.Level) {
	switch res.State {
	case apply.Applied:
		return "applied", pages.OK
	case apply.Adopted:
		return "there already", pages.OK
	case apply.Staged:
		if b.r.DryRun {
			return "would be applied", pages.Idle
		}
		return "staged: only planned", pages.Idle
	case apply.Skipped:
		return string(res.State), pages.Warn
	}
	return string(res.State), pages.Bad
}

// ofPlan fills in what is expected of an item that was not carried out yet.
func (b *pageBuilder) ofPlan(item *pages.PlanItem, m planMember) {
	item.Kind, item.Code, item.Why = string(m.item.Kind), b.r.safe(m.item.Code), b.r.plain(m.item.Reason)
	switch {
	case m.item.Outcome == apply.OutcomeApply && m.op.Staged:
		item.State, item.Level = "staged: only planned", pages.Idle
	case m.item.Outcome == apply.OutcomeApply:
		item.State, item.Level = "will be applied", pages.OK
		if m.item.Line > 0 {
			b.planned++
		}
	default:
		item.State, item.Level = b.state(apply.Result{State: apply.State(m.item.Outcome)})
	}
}

// ofOperation fills in what the plan knows of an item's operation.
func (b *pageBuilder) ofOperation(item *pages.PlanItem, m planMember) {
	if item.Summary == "" && (m.item.Outcome == apply.OutcomeApply || len(m.op.Requests) > 0) {
		item.Summary = b.r.plain(m.op.Summary)
	}
	item.Target = b.r.plain(m.op.Target)
	for _, n := range m.op.Notes {
		if n = b.r.plain(n); n != "" && !slices.Contains(item.Notes, n) {
			item.Notes = append(item.Notes, n)
		}
	}
	for _, q := range m.op.Requests {
		item.Requests = append(item.Requests, b.r.plain(q.Method+" "+q.Path))
	}
	item.Files, item.MoreFiles = b.files(m.item.Files)
}

// files returns the files that an item's code changes, the refused ones first.
func (b *pageBuilder) files(list []apply.File) (shown []pages.PlanFile, more int) {
	var refused, allowed []pages.PlanFile
	for _, f := range list {
		file := pages.PlanFile{Path: b.r.plain(visible(f.Path)), Change: f.Change}
		if f.Change != "" && f.Change != "removed" {
			file.Size = text.Bytes(f.Size)
		}
		if f.NewMode != "" {
			file.Change += ", mode " + f.NewMode
			if f.OldMode != "" && f.OldMode != f.NewMode {
				file.Change += " instead of " + f.OldMode
			}
		}
		for _, v := range f.Broken {
			file.Verdict = append(file.Verdict, b.r.plain(v.Message))
		}
		if len(file.Verdict) > 0 {
			refused = append(refused, file)
		} else {
			allowed = append(allowed, file)
		}
	}
	shown = slices.Concat(refused[:min(len(refused), maxPageBroken)], allowed[:min(len(allowed), maxPageFiles)])
	return shown, len(list) - len(shown)
}

// fields returns the fields of an item that are not texts, as the agent asked for them and as
// the owner's configuration leaves them.
func (b *pageBuilder) fields(o outcome) []pages.PlanField {
	isText := map[string]bool{} // the fields that the method texts shows
	for _, it := range []safeoutput.Item{o.final, o.accepted.Item()} {
		for _, t := range it.Texts() {
			if t.Mode != safeoutput.Label && *t.Value != "" {
				isText[t.Field] = true
			}
		}
	}
	var list []pages.PlanField
	for _, name := range safeoutput.FieldNames(o.final.Kind()) {
		if isText[name] {
			continue
		}
		value, asked := b.value(safeoutput.Field(o.final, name)), b.value(safeoutput.Field(o.accepted.Item(), name))
		if value == "" && asked == "" {
			continue
		}
		f := pages.PlanField{Name: name, Value: value}
		if asked != value {
			f.Asked = asked
		}
		list = append(list, f)
	}
	return list
}

// value writes a field's value; "" for one that is not set.
func (b *pageBuilder) value(field any) string {
	s := ""
	switch v := field.(type) {
	case *string:
		s = *v
	case **string:
		if *v != nil {
			s = **v
		}
	case *int:
		s = nonZero(*v)
	case **bool:
		if *v != nil {
			s = strconv.FormatBool(**v)
		}
	case *[]string:
		s = strings.Join(*v, ", ")
	case *json.RawMessage:
		s = string(*v)
	}
	s, cut := cutText(visible(b.r.block(s)), maxPageValue)
	if cut != "" {
		s += "…"
	}
	return s
}

// texts returns an item's texts, each with what was asked for and what is posted.
func (b *pageBuilder) texts(o outcome) []pages.PlanText {
	var list []pages.PlanText
	askedTexts := map[string]string{}
	for _, t := range o.accepted.Item().Texts() {
		askedTexts[t.Field] = *t.Value
	}
	for _, t := range o.final.Texts() {
		asked := askedTexts[t.Field]
		if raw, ok := o.accepted.Asked(t.Field); ok {
			asked = raw
		}
		if t.Mode == safeoutput.Label || *t.Value == "" && asked == "" {
			continue
		}
		list = append(list, b.text(t, asked))
	}
	return list
}

// text returns a text as the page shows it: line by line, with the words that were changed marked.
func (b *pageBuilder) text(t safeoutput.Text, asked string) pages.PlanText {
	posted := b.r.block(*t.Value)
	if len(posted)+len(asked) > 0 && b.left <= 0 {
		b.unshown++
		return pages.PlanText{Name: t.Field, Cut: "Not shown: the page would be too large."}
	}
	shownPosted, cutPosted := cutText(posted, maxPageText)
	shownAsked, cutAsked := cutText(asked, maxPageText)
	out := pages.PlanText{Name: t.Field, Changed: asked != *t.Value, Cut: cmp.Or(cutPosted, cutAsked)}
	if t.Mode == safeoutput.Body && cutPosted == "" {
		out.Markdown = posted
	}
	b.left -= len(shownPosted) + len(shownAsked)
	if !out.Changed {
		shownAsked = shownPosted
	}
	out.Lines = markWords(b.r.compare(apply.ItemText{Asked: shownAsked, Posted: shownPosted}))
	return out
}

// addLine adds the line that an item comes from to the page, and returns its id there.
func (b *pageBuilder) addLine(o outcome, item string) string {
	if !b.r.sources || o.line == 0 {
		return ""
	}
	l := pages.PlanLine{ID: "line-" + itoa(len(b.lines)+1), Line: o.line, Item: item}
	switch {
	case o.withheld, o.source != "" && b.r.secret != nil && b.r.secret(o.source):
		l.Why = "Not shown: it contains a secret."
	case o.source == "":
		l.Why = "Not shown: it cannot be read as a line."
	case b.left <= 0:
		b.unshown++
		l.Why = "Not shown: the page would be too large."
	default:
		s, cut := cutText(o.source, maxPageSource)
		b.left -= len(s)
		l.Text, l.Why = visible(s), cut
		if cut != "" {
			l.Why = "The rest of the line is not shown."
		}
	}
	b.lines = append(b.lines, l)
	return l.ID
}

// cutText returns at most limit bytes of a text, and says what is missing.
func cutText(s string, limit int) (shown, missing string) {
	if len(s) <= limit {
		return s, ""
	}
	end := limit
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end], fmt.Sprintf("%s more are not shown; the plan as JSON has what is posted.", text.Bytes(int64(len(s)-end)))
}

// attention lists what a person should look at, the most severe first.
func attention(p pages.Plan) []pages.PlanPoint {
	var bad, warn, changed []pages.PlanPoint
	for _, item := range slices.Concat(p.Items, p.Own) {
		what := item.Kind
		if item.Line > 0 {
			what = "Line " + itoa(item.Line) + ", " + what
		}
		point := pages.PlanPoint{Level: item.Level, Anchor: item.ID, Text: what + ": " + item.State}
		if why := cmp.Or(item.Why, strings.Join(item.Violations, "; ")); why != "" {
			point.Text += ": " + text.Truncate(why, 200)
		}
		switch {
		case item.Level == pages.Bad:
			bad = append(bad, point)
		case item.Level == pages.Warn:
			warn = append(warn, point)
		case slices.ContainsFunc(item.Texts, func(t pages.PlanText) bool { return t.Changed }):
			point.Level, point.Text = pages.Warn, what+": its text is not posted as it was asked for"
			changed = append(changed, point)
		}
	}
	for _, u := range p.Unchecked {
		warn = append(warn, pages.PlanPoint{Level: pages.Warn, Text: "Unchecked: " + u, Anchor: "permissions"})
	}
	points := slices.Concat(bad, warn, changed)
	if more := len(points) - maxRows; more > 0 {
		return append(points[:maxRows], pages.PlanPoint{Level: pages.Warn, Text: fmt.Sprintf("… and %d more", more), Anchor: "items"})
	}
	return points
}
