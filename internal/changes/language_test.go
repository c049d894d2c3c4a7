package changes_test

import (
	"testing"

	"github.com/agent-airlock/airlock/internal/changes"
)

func TestLanguageOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"a/b.go", "", "go"}, {"x.JS", "", "javascript"}, {"x.cjs", "", "javascript"}, {"x.d.ts", "", "typescript"}, {"x.tsx", "", "typescript"},
		{"x.pyi", "", "python"}, {"x.rs", "", "rust"}, {"A.java", "", "java"}, {"x.gemspec", "", "ruby"}, {"a/Gemfile", "", "ruby"}, {"Gemfile.lock", "", ""},
		{"run", "#!/usr/bin/env python3.12\n", "python"}, {"run", "#! /usr/bin/node --x\n", "javascript"}, {"run", "#!/usr/bin/env -S A=b ruby -w\n", "ruby"},
		{"run", "#!/bin/sh\n", ""}, {"run", "#!", ""}, {"run", "#!/usr/bin/env\n", ""}, {"run", "python", ""}, {"x.go", "#!/usr/bin/ruby\n", "go"},
		{"x.txt", "", ""}, {"go", "", ""}, {".go", "", "go"},
	} {
		if got := changes.LanguageOf(tt.name, []byte(tt.text)); got != tt.want {
			t.Errorf("%s %q: %q, not %q", tt.name, tt.text, got, tt.want)
		}
	}
}
