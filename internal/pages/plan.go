package pages

import (
	"bufio"
	"html/template"
	"io"
)

// Plan is a plan as people look at it before it is applied, and what became of it afterwards.
// Every string is shown as it is; only PlanText.Markdown is rendered.
type Plan struct {
	Repository string // owner/name; "" if unknown
	Subject    string // the event, and what it is about
	Headline   string
	// Mode describes what was or will be written.
	Mode   string
	Counts []PlanCount
	// Attention is what a person should look at first, the most severe first.
	Attention []PlanPoint
	// Permissions is the block of permissions that the plan needs, to paste into a job; ""
	// where it needs none. Grantable are the write permissions that any enabled kind could
	// need.
	Permissions string
	Grantable   []string
	Unchecked   []string // what could not be looked at when the plan was made
	Earlier     []string // what a collecting job refused
	// Items are the agent's, in the order of its lines, and Own those of Airlock itself.
	Items, Own []PlanItem
	Checks     *PlanChecks // nil where there were none
	// Lines are the agent's lines as it wrote them.
	Lines []PlanLine
	// Left describes what is not shown because the page would be too large.
	Left string
}

// PlanCount is how many items ended in a state.
type PlanCount struct {
	Name  string
	Count int
}

// PlanPoint is one thing that a person should look at.
type PlanPoint struct {
	Level Level
	Text  string
	// Anchor is the id of the part of the page that it is about; "" for none.
	Anchor string
}

// Level is how grave something is. Its values are classes of the stylesheet.
type Level string

// The levels.
const (
	OK   Level = "ok"
	Warn Level = "warn"
	Bad  Level = "bad"
	Idle Level = "idle"
)

// PlanItem is one request of an agent, or of Airlock itself, and what is decided about it.
type PlanItem struct {
	ID    string // of its part of the page
	Line  int    // in the agent's file; 0 for none
	Kind  string
	State string // for people: "would be applied", "denied"
	Level Level
	Code  string // the rule or reason, as one word
	// Summary is what is done, on Target.
	Summary, Target string
	// Why is why it is not done, and what to do.
	Why        string
	Violations []string
	Notes      []string // what else a person should know
	Cleaned    []string // what cleaning and repairing changed
	Link       PlanLink // to where it is on GitHub
	File       string   // where it was stored instead
	Fields     []PlanField
	Texts      []PlanText
	Files      []PlanFile
	MoreFiles  int      // how many files are not listed
	Requests   []string // what is sent
	Source     string   // the id of the line that it comes from; "" for none
}

// PlanLink is a link to something on GitHub.
type PlanLink struct{ Text, URL string }

// PlanField is a field of an item, other than its texts. Asked is the value that the agent asked
// for, if it differs from Value.
type PlanField struct{ Name, Value, Asked string }

// PlanText is one text of an item.
type PlanText struct {
	Name string
	// Markdown is the text as it would be posted, where GitHub shows it as Markdown; otherwise
	// "".
	Markdown string
	// Lines are the text as it would be posted and, where Changed is set, as it was asked for.
	Lines   []DiffLine
	Changed bool
	Cut     string // what is not shown of it; "" for nothing
}

// DiffLine is one line of a text: as it is (' '), as it was asked for and will not be posted
// ('-'), or as it is posted instead ('+').
type DiffLine struct {
	Mark  byte
	Parts []DiffPart
}

// DiffPart is a part of a line. Marked is set where the line that it replaces, or that replaces it,
// has something else.
type DiffPart struct {
	Text   string
	Marked bool
}

// Removed reports whether the line is not posted.
func (l DiffLine) Removed() bool { return l.Mark == '-' }

// Added reports whether the line is posted instead.
func (l DiffLine) Added() bool { return l.Mark == '+' }

// PlanFile is one path that an item's code changes.
type PlanFile struct {
	Path    string // "" for the changes as a whole
	Change  string
	Size    string
	Verdict []string // why it may not be pushed; none where it may
}

// PlanChecks is how the checks of a pull request ended.
type PlanChecks struct {
	Headline string
	Level    Level
	Checks   []PlanCheck
	Findings []PlanFinding
	More     int // how many findings are not listed
	Silenced []string
}

// PlanCheck is one of the six checks.
type PlanCheck struct {
	Name, Result string
	Level        Level
	First        []string // the first failures
}

// PlanFinding is one thing that the checks noticed.
type PlanFinding struct {
	Place, Check, Severity, Rule, Message string
	Level                                 Level
}

// PlanLine is one record of the agent's file.
type PlanLine struct {
	ID   string
	Line int
	Text string // "" where it is not shown, as Why says
	Why  string
	Item string // the id of the item that it became
}

// planPage is the page of a plan. Its function markdown is replaced for each page.
var planPage = newPage(template.FuncMap{"markdown": func(string) template.HTML { return "" }}, "plan/plan.html")

// WritePlan writes a plan as one page that needs nothing else. After an error w may have a part
// of it.
func WritePlan(w io.Writer, p Plan) error {
	r := NewMarkdownRenderer()
	buffered := bufio.NewWriterSize(w, 64<<10) // templates write a few bytes at a time
	err := planPage.render(buffered, standalone(), template.FuncMap{
		"markdown": func(text string) template.HTML { out, _ := r.Render(text); return out },
	}, p)
	if err != nil {
		return err
	}
	return buffered.Flush()
}
