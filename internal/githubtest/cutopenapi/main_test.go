package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const tiny = `type Query { a: Int a: String "prose" b: E } enum E { X }`

func TestCutGraphQL(t *testing.T) {
	got, err := cutGraphQL([]byte(tiny))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(got), "a:") != 1 || strings.Contains(string(got), "prose") {
		t.Errorf("cut: %s", got)
	}
	if _, err := cutGraphQL([]byte("type {")); err == nil {
		t.Error("a broken schema was accepted")
	}
}

// source returns a description in which every kept operation refers to one schema,
// which refers to another; a third is not needed. The path emptyPath has no operations.
func source(emptyPath string) []byte {
	var b strings.Builder
	b.WriteString(`{"openapi":"3.0.3","info":{"title":"x"},"paths":{"/other":{"get":{}}`)
	for path, methods := range operations() {
		b.WriteString(`,"` + path + `":{"x":{}`)
		for _, m := range methods {
			if path != emptyPath {
				b.WriteString(`,"` + m + `":{"r":{"$ref":"#/components/schemas/a"}}`)
			}
		}
		b.WriteString(`}`)
	}
	b.WriteString(`},"components":{"schemas":{"a":{"items":[{"$ref":"#/components/schemas/b"}]},"b":{"n":12345678901234567890},"c":{},"basic-error":{},"validation-error":{},"validation-error-simple":{}}}}`)
	return []byte(b.String())
}

func TestCutREST(t *testing.T) {
	got, err := cutREST(source(""))
	if err != nil {
		t.Fatal(err)
	}
	for want, there := range map[string]bool{`"a":{"items"`: true, `"b":{"n":12345678901234567890}`: true, `"c":{}`: false, `"/other"`: false, `"servers":[{"url":"/"}]`: true} {
		if strings.Contains(string(got), want) != there {
			t.Errorf("%s in the cut: %v", want, !there)
		}
	}
	if _, err := cutREST(source("/repos/{owner}/{repo}/labels")); err == nil || !strings.Contains(err.Error(), "GET /repos/{owner}/{repo}/labels") {
		t.Errorf("err = %v", err)
	}
}

func TestRunAndCheck(t *testing.T) {
	dir := t.TempDir()
	sdl := filepath.Join(dir, "in.graphql")
	if err := os.WriteFile(sdl, []byte(tiny), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run("", "", dir, false); err == nil {
		t.Error("without a source")
	}
	if err := run("", sdl, dir, true); err == nil {
		t.Error("nothing there to compare with")
	}
	if err := run("", sdl, dir, false); err != nil {
		t.Fatal(err)
	}
	if err := run("", sdl, dir, true); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(sdl, []byte(tiny+" scalar S"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run("", sdl, dir, true); err == nil || !strings.Contains(err.Error(), "differs from a fresh cut") {
		t.Errorf("err = %v", err)
	}
}
