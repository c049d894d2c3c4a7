package toolreport

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFilesThatRSpecCannotLoad asserts that each file that rspec could not load is named, with the
// reason, in its text and in its JSON, with and without colors, and also where rspec suggests files
// with similar names.
func TestFilesThatRSpecCannotLoad(t *testing.T) {
	t.Parallel()
	// As rspec 3.12 prints it with --force-color.
	messages := []string{
		"\nAn error occurred while loading ./spec/a b_spec.rb.\x1b[31m - Did you mean?\n                    rspec ./spec/long_name_spec.rb\n                    rspec ./spec/x_spec.rb\n\x1b[0m\n" +
			"\x1b[31mFailure/Error: require \"nope\"\x1b[0m\n\x1b[31m\x1b[0m\n\x1b[31mLoadError:\x1b[0m\n\x1b[31m  cannot load such file -- nope\x1b[0m\n\x1b[36m# ./spec/a b_spec.rb:1:in `<top (required)>'\x1b[0m\n",
		"\nAn error occurred while loading ./spec/long_name_spec.rb.\n\x1b[31mFailure/Error: no_such_method\x1b[0m\n\x1b[31m\x1b[0m\n\x1b[31mNameError:\x1b[0m\n\x1b[31m  undefined\x1b[0m\n",
		"No examples found.",
	}
	want := []Failure{
		{Unit: "./spec/a b_spec.rb", Path: "spec/a b_spec.rb", Cause: Build, Message: "Failure/Error: require \"nope\"\nLoadError:\ncannot load such file -- nope"},
		{Unit: "./spec/long_name_spec.rb", Path: "spec/long_name_spec.rb", Cause: Build, Message: "Failure/Error: no_such_method\nNameError:\nundefined"},
	}
	const totals = "0 examples, 0 failures, 3 errors occurred outside of examples"
	for _, color := range []bool{true, false} {
		var printed []string
		for _, m := range messages {
			if !color {
				m = withoutEscapes(m)
			}
			printed = append(printed, m)
		}
		text := strings.Join(printed[:2], "") + "\n\n\nFinished in 0.00003 seconds (files took 0.03895 seconds to load)\n" + totals + "\n"
		if diff := cmp.Diff(want, failuresOf(t, "rspec", text, 1)); diff != "" {
			t.Errorf("text, colors: %v (-want +got):\n%s", color, diff)
		}
		document, err := json.Marshal(map[string]any{"messages": printed, "examples": []any{}, "summary": map[string]any{"errors_outside_of_examples_count": 3}, "summary_line": totals})
		if err != nil {
			t.Fatal(err)
		}
		unnamed := Failure{Cause: Build, Message: "an error occurred outside of the examples"}
		if diff := cmp.Diff(append(want, unnamed), failuresOf(t, "rspec --format json", string(document), 1)); diff != "" {
			t.Errorf("JSON, colors: %v (-want +got):\n%s", color, diff)
		}
	}
}
