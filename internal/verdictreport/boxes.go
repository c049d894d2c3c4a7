package verdictreport

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/markdown"
)

// boxesInfo is the info string of the code block of a check run that records the status of each
// verified item of issues' task lists: a line with the issue, the digest of the item's text and
// the status.
const boxesInfo = "airlock-boxes"

// maxBoxes bounds the record, which has to fit into a check run.
const maxBoxes = 1200

// boxes returns the record of a verdict as Markdown; "" without results, or where no
// criterion has a box.
func (d *Document) boxes() string {
	if d.Response == nil {
		return ""
	}
	status := map[string]acceptance.Status{}
	for _, r := range d.Response.Results {
		status[r.ID] = r.Status
	}
	var lines []string
	for _, c := range d.Criteria {
		if c.Box != "" && c.Issue > 0 {
			lines = append(lines, fmt.Sprintf("#%d %s %s\n", c.Issue, c.Box, status[c.ID]))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	text := "Of these criteria in the issues' task lists, the boxes of those that passed are ticked after the merge. Each line has the issue, a digest of the item's text, and the status.\n\n"
	if more := len(lines) - maxBoxes; more > 0 {
		lines = lines[:maxBoxes]
		text += fmt.Sprintf("No box is ticked for %d more, which there is no room to record.\n\n", more)
	}
	return text + markdown.Fence(boxesInfo, strings.Join(lines, ""))
}

// Boxes contains, by issue and by the digest of a task list item's text, whether the item passed
// in every verdict that is about it.
type Boxes map[int]map[string]bool

// Add adds what the text of a check run records. The caller has checked that the check run is
// Airlock's own.
func (b Boxes) Add(text string) {
	doc := markdown.Scan(text)
	for i := range doc.Blocks {
		block := &doc.Blocks[i]
		if block.Kind != markdown.FencedCodeBlock || doc.Info(block) != boxesInfo {
			continue
		}
		for line := range strings.Lines(doc.Literal(block, block.Span)) {
			f := strings.Fields(line)
			if len(f) != 3 || !strings.HasPrefix(f[0], "#") {
				continue
			}
			issue, err := strconv.Atoi(f[0][1:])
			if err != nil || issue < 1 {
				continue
			}
			if b[issue] == nil {
				b[issue] = map[string]bool{}
			}
			passed, known := b[issue][f[1]]
			b[issue][f[1]] = (passed || !known) && f[2] == string(acceptance.Pass)
		}
	}
}
