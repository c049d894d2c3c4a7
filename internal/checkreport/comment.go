package checkreport

import (
	"fmt"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// maxCommentListed is how many problems of one check a comment lists: a comment is
// read in a conversation, and the summary has the rest.
const maxCommentListed = 10

// Comment returns the text of the one comment that tells a pull request's people
// how the checks ended. It holds no output of programs: that is in the job summary,
// to which the link leads, if there is one.
func (d *Document) Comment(words Words, summaryURL string) string {
	p := &page{d: d, words: words}
	p.heading("###")
	p.table()
	if d.Failed() {
		p.b.WriteString("\n<details><summary>What failed</summary>\n")
		p.failures(maxCommentListed, 0)
		p.missing()
		p.b.WriteString("\n</details>\n")
	}
	if summaryURL != "" {
		fmt.Fprintf(&p.b, "\n[The job summary](%s) has the output, and everything that is not counted.\n", summaryURL)
	}
	out, _ := markdown.Cut(p.b.String(), 30_000, "*The rest was cut: the job summary has it.*")
	return out
}
