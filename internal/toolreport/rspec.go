package toolreport

import "strings"

var (
	rspecTotals = containing(" example", `^(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?(?:, (\d+) errors? occurred outside of examples)?$`)
	rspecAgain  = starting("rspec ", `^rspec '?(\S+?)(?::(\d+)|\[[\d:]+\])'?(?: # (.*))?$`)
	rspecHead   = starting("  ", `^  \d+\) (.*)$`)
)

// rspecReader reads rspec's progress and documentation formatters.
type rspecReader struct {
	*collector
	loading  failureList       // files that could not be loaded
	messages map[string]string // by the example's full name
	example  string            // the one whose message is read
	listing  bool              // the list of failed examples has begun; an earlier match of rspecAgain is a test's output
	listed   []Failure
}

func newRSpec(c *collector) lineReader {
	return &rspecReader{collector: c, messages: map[string]string{}}
}

func (r *rspecReader) line(line string) {
	if m := rspecTotals.match(line); m != nil {
		r.totals(atoi(m[1])-atoi(m[3]), atoi(m[2])+atoi(m[4]))
		return
	}
	if line == "Failed examples:" {
		r.listing = true
		return
	}
	if m := rspecAgain.match(line); m != nil && r.listing {
		if len(r.listed) < MaxFailures {
			r.listed = append(r.listed, Failure{Name: m[3], Cause: Failed, Path: m[1], Line: atoi(m[2]), Message: strings.TrimSpace(r.messages[m[3]])})
		}
		return
	}
	if m := rspecHead.match(line); m != nil {
		r.example, r.loading.current = m[1], nil
		return
	}
	if f, ok := rspecLoading(line); ok {
		r.example = ""
		r.loading.begin(f)
		return
	}
	r.detail(line)
}

// rspecLoading returns the failure that a line reports: a file that could not be loaded.
func rspecLoading(line string) (f Failure, ok bool) {
	path, ok := strings.CutPrefix(line, "An error occurred while loading ")
	path = strings.TrimSuffix(strings.TrimSuffix(path, rspecSimilar), ".")
	return Failure{Unit: path, Path: path, Cause: Build}, ok
}

// rspecSimilar follows the name of a file in which a "require" fails, if other files of specs have
// similar names. Each of the next lines begins with rspecSuggestion and names one of them.
const (
	rspecSimilar    = " - Did you mean?"
	rspecSuggestion = "                    rspec ./"
)

// isRSpecDetail reports whether a line may belong to the message of a failure.
func isRSpecDetail(line string) bool {
	text := strings.TrimSpace(line)
	return text != "" && !strings.HasPrefix(text, "# ") && !strings.HasPrefix(line, rspecSuggestion)
}

func (r *rspecReader) detail(line string) {
	text := strings.TrimSpace(line)
	if !isRSpecDetail(line) {
		return
	}
	if strings.HasPrefix(line, "Finished in ") {
		r.example, r.loading.current = "", nil
		return
	}
	r.loading.describe(text, maxMessage)
	if r.example != "" && strings.HasPrefix(line, "     ") && len(r.messages) < MaxFailures && len(r.messages[r.example]) < maxMessage {
		r.messages[r.example] += "\n" + text
	}
}

func (r *rspecReader) totals(ran, failed int) {
	r.tally.failed += failed
	r.tally.end(ran <= 0 && r.tally.failed == 0)
	r.recognised = true
}

// end names the failures: the files that could not be loaded, which are reported before the totals,
// and the failed examples, which are listed after them.
func (r *rspecReader) end() {
	named := append(r.loading.list, r.listed...)
	if r.tally.ended {
		r.failTotal(named, 0)
	} else {
		r.failAll(named)
	}
}

// rspecLog is what rspec --format json prints.
type rspecLog struct {
	Messages []string // what rspec has to say in addition to the examples
	Examples []struct {
		Description string `json:"full_description"`
		Status      string
		Path        string `json:"file_path"`
		Line        int    `json:"line_number"`
		Exception   struct{ Message string }
	}
	Summary struct {
		Outside int `json:"errors_outside_of_examples_count"`
	}
}

// loading returns the files that could not be loaded, at most as many as the summary counts errors.
func (log rspecLog) loading() []Failure {
	var files failureList
	for _, message := range log.Messages {
		files.current = nil
		for line := range strings.Lines(withoutEscapes(message)) {
			line = strings.TrimRight(line, "\r\n")
			if f, ok := rspecLoading(line); ok {
				files.begin(f)
			} else if isRSpecDetail(line) {
				files.describe(strings.TrimSpace(line), maxMessage)
			}
		}
	}
	return files.list[:min(len(files.list), max(log.Summary.Outside, 0))]
}

func (log rspecLog) report(c *collector) {
	ran := false
	for _, e := range log.Examples {
		ran = ran || e.Status != "pending"
		switch e.Status {
		case "failed":
			c.fail(Failure{Name: e.Description, Cause: Failed, Path: e.Path, Line: e.Line, Message: strings.TrimSpace(e.Exception.Message)})
		case "": // rspec prints its totals nevertheless, without the examples that did not run
			c.fail(Failure{Name: e.Description, Cause: Crash, Path: e.Path, Line: e.Line, Message: "the run ended in this example"})
		}
	}
	loading := log.loading()
	c.failAll(loading)
	for range min(log.Summary.Outside, 1_000_000) - len(loading) {
		c.fail(Failure{Cause: Build, Message: "an error occurred outside of the examples"})
	}
	c.tally.ended, c.tally.noTests = true, !ran
}
