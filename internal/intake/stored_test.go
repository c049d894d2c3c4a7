package intake

import "testing"

func TestStoredElsewhere(t *testing.T) {
	for text, want := range map[string]bool{
		"[Content too large, saved to file: abc123.json]":                                                              true,
		"Output too large (52.3KB). Full output saved to: /tmp/results/call_1.txt":                                     true,
		"<persisted-output>\nOutput too large (63 KB). Full output saved to: /home/u/.x/tool.txt\n</persisted-output>": true,
		"  The result exceeded the limit and was written to the file `out/body.md`.\n":                                 true,
		"{truncated; stored in C:\\tmp\\body.txt}":                                                                     true,
		"Full response offloaded to file:///tmp/r.json":                                                                true,

		"Results written to results.json":                                            false,
		"The settings are saved in config/app.yml":                                   false,
		"Titles that are too long are truncated; see docs/limits.md.":                false,
		"The log was too long, so I attached the end:\n\n```\nsaved to a.txt\n```\n": false,
		"Move the table to docs/tables.md":                                           false,
		"":                                                                           false,
	} {
		if got := isStoredElsewhere(text); got != want {
			t.Errorf("%q: got %t", text, got)
		}
	}
}
