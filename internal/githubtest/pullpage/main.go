// Command pullpage writes a page that shows a pull request's reviews and comments, as they are on
// the server that githubserver runs. The page needs no other file, and has no scripts, images or
// links to files: the texts are rendered as on the page of a plan.
//
//	pullpage NUMBER <STATE >PAGE
//
// STATE is what the server answers to GET /_test/state. script/pull-request-picture makes a picture
// of the page.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/pages"
)

//go:embed page.html
var pageSource string

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "pullpage:", err)
		os.Exit(1)
	}
}

// run reads a server's state and writes the page of one of its pull requests.
func run(args []string, stdin io.Reader, stdout io.Writer) error {
	if len(args) != 1 {
		return errors.New("usage: pullpage NUMBER <STATE >PAGE")
	}
	number, err := strconv.Atoi(args[0])
	if err != nil {
		return fmt.Errorf("%q is not a number", args[0])
	}
	data, err := io.ReadAll(stdin)
	if err != nil {
		return err
	}
	state, err := githubtest.ParseFixture(data)
	if err != nil {
		return err
	}
	for _, issue := range state.Issues {
		if issue.Number == number && issue.Pull != nil {
			return writePage(stdout, state.Repo, issue)
		}
	}
	return fmt.Errorf("there is no pull request #%d", number)
}

// writePage writes the page of a pull request: its reviews with their comments, then the comments
// on all of it.
func writePage(w io.Writer, repo githubtest.Repo, issue *githubtest.Issue) error {
	markdown := pages.NewMarkdownRenderer()
	t, err := template.New("page").Funcs(template.FuncMap{
		"markdown": func(text string) (template.HTML, error) {
			shown, ok := markdown.Render(text)
			if !ok {
				return "", errors.New("a text cannot be rendered")
			}
			return shown, nil
		},
		"commentsOf": func(review int64) (comments []*githubtest.DiffComment) {
			for _, c := range issue.Pull.Comments {
				if c.ReviewID == review {
					comments = append(comments, c)
				}
			}
			return comments
		},
		"hunk": func(c *githubtest.DiffComment) []line { return hunk(issue.Pull.Files, c) },
	}).Parse(pageSource)
	if err != nil {
		return err
	}
	return t.Execute(w, struct {
		Style template.CSS
		Repo  githubtest.Repo
		Issue *githubtest.Issue
	}{template.CSS(pages.Stylesheet()), repo, issue}) // #nosec G203 -- the stylesheet is a file of ours
}

// line is a line of a diff.
type line struct {
	Mark   string // "+", "-" or " "
	Number int    // in the new file, 0 for a line that is removed
	Text   string
}

// contextLines is how many lines of the diff are shown above a comment, the one it is on included.
const contextLines = 4

// hunk returns the lines of the diff above a comment, as GitHub shows them: the one that the comment is
// on and those before it. It returns nil if the diff does not show line c.Line of the new file.
func hunk(files []githubtest.File, c *githubtest.DiffComment) []line {
	for _, f := range files {
		if f.Path != c.Path {
			continue
		}
		var shown []line
		number := 0 // of the next line in the new file
		for text := range strings.Lines(f.Patch) {
			text = strings.TrimSuffix(text, "\n")
			switch {
			case strings.HasPrefix(text, "@@ "): // @@ -10,2 +12,3 @@: the next line is number 12
				_, after, _ := strings.Cut(text, "+")
				number, _ = strconv.Atoi(after[:strings.IndexAny(after+" ", ", ")]) // in "+12 @@" there is no comma
				shown = nil
				continue
			case strings.HasPrefix(text, "-"):
				shown = append(shown, line{"-", 0, text[1:]})
				continue
			case text == "" || text[0] == '\\':
				continue
			}
			shown = append(shown, line{text[:1], number, text[1:]})
			if number == c.Line {
				return shown[max(0, len(shown)-contextLines):]
			}
			number++
		}
	}
	return nil
}
