package pages

import (
	"crypto/sha256"
	"encoding/base64"
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

// renderText returns a page of the layout and of the templates that text defines.
func renderText(t *testing.T, f frame, text string, data any) string {
	t.Helper()
	p := newPage(nil)
	layout, err := p()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := layout.Parse(text); err != nil {
		t.Fatal(err)
	}
	out, err := p.renderWhole(f, data)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

const plain = `{{define "title"}}{{.}}{{end}}{{define "main"}}<h1>{{.}}</h1>{{end}}`

// TestStandalonePageAllowsItsOwnStyleAlone asserts that the page's Content-Security-Policy has the
// hash of the stylesheet's exact bytes, so that a browser applies this stylesheet and nothing else.
func TestStandalonePageAllowsItsOwnStyleAlone(t *testing.T) {
	html := renderText(t, standalone(), plain, "x")
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(html)
	if style == nil {
		t.Fatal(html)
	}
	sum := sha256.Sum256([]byte(style[1]))
	// The template escapes an apostrophe and a plus sign in an attribute's value.
	hash := strings.ReplaceAll("&#39;sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"&#39;", "+", "&#43;")
	want := `content="default-src &#39;none&#39;; style-src ` + hash + `; base-uri &#39;none&#39;; form-action &#39;none&#39;"`
	if !strings.Contains(html, want) {
		t.Errorf("no %s in\n%s", want, html[:500])
	}
}

func TestServedPageLinksItsStylesheetAndScripts(t *testing.T) {
	html := renderText(t, frame{Stylesheet: "/style.css", Scripts: []string{"/live.js"}}, plain, "x")
	for _, want := range []string{`<link rel="stylesheet" href="/style.css">`, `<script src="/live.js" defer></script>`} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s in\n%s", want, html)
		}
	}
	if strings.Contains(html, "<style>") || strings.Contains(html, "http-equiv") {
		t.Error(html)
	}
}

func TestDataIsEscaped(t *testing.T) {
	html := renderText(t, frame{Stylesheet: "/s"}, plain, `</title><script>alert(1)</script>`)
	if strings.Contains(html, "<script>") || strings.Count(html, "</title>") != 1 {
		t.Error(html)
	}
}

// TestNothingComesFromOutside asserts that the templates and the stylesheet name no other host,
// load nothing by url() or @import, and have no script or style in an attribute.
func TestNothingComesFromOutside(t *testing.T) {
	outside := regexp.MustCompile(`(?i)(src|href|action)\s*=\s*["']?(https?:)?//|url\(|@import|javascript:|\son\w+=|\sstyle=`)
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(files, path)
		if found := outside.Find(raw); found != nil {
			t.Errorf("%s has %q", path, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
