package toolreport

import (
	"encoding/json"
	"strings"
)

// readJest reads jest's --json, which vitest's JSON reporter prints, too.
func readJest(raw json.RawMessage, c *collector) string {
	var log struct {
		NumTotalTests int
		TestResults   []struct {
			Name, Status, Message string
			AssertionResults      []struct {
				FullName, Status string
				FailureMessages  []string
				Location         *struct{ Line int }
			}
		}
	}
	if json.Unmarshal(raw, &log) != nil {
		return ""
	}
	for _, file := range log.TestResults {
		failed := false
		for _, a := range file.AssertionResults {
			if a.Status != "failed" {
				continue
			}
			failed = true
			f := Failure{Name: a.FullName, Unit: file.Name, Cause: Failed, Path: file.Name, Message: strings.Join(a.FailureMessages, "\n")}
			if a.Location != nil {
				f.Line = a.Location.Line
			}
			c.fail(f)
		}
		if file.Status == "failed" && !failed {
			c.fail(Failure{Unit: file.Name, Cause: Build, Path: file.Name, Message: file.Message})
		}
	}
	c.tally.closed, c.tally.none = true, log.NumTotalTests == 0
	return "jest"
}

// readRSpec reads rspec's --format json.
func readRSpec(raw json.RawMessage, c *collector) string {
	var log struct {
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
	if json.Unmarshal(raw, &log) != nil {
		return ""
	}
	for _, e := range log.Examples {
		if e.Status == "failed" {
			c.fail(Failure{Name: e.Description, Cause: Failed, Path: e.Path, Line: e.Line, Message: strings.TrimSpace(e.Exception.Message)})
		}
	}
	for range min(log.Summary.Outside, 1_000_000) {
		c.fail(Failure{Cause: Build, Message: "an error occurred outside of the examples"})
	}
	c.tally.closed, c.tally.none = true, len(log.Examples) == 0
	return "rspec"
}

// readMocha reads mocha's JSON reporter.
func readMocha(raw json.RawMessage, c *collector) string {
	var log struct {
		Stats    struct{ Tests int }
		Failures []struct {
			FullTitle, File string
			Err             struct{ Message string }
		}
	}
	if json.Unmarshal(raw, &log) != nil {
		return ""
	}
	for _, f := range log.Failures {
		c.fail(Failure{Name: f.FullTitle, Unit: f.File, Cause: Failed, Path: f.File, Message: f.Err.Message})
	}
	c.tally.closed, c.tally.none = true, log.Stats.Tests == 0
	return "mocha"
}
