//go:build browser && linux

package main_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"github.com/agent-airlock/airlock/internal/pages"
)

// hostileMarkdown returns the corpus of package pages, whose links lead to a listener.
func hostileMarkdown(t *testing.T, listener string) []string {
	t.Helper()
	return parse[[]string](t, strings.ReplaceAll(readFile(t, filepath.Join(root, "internal", "pages", "testdata", "hostile.json")), "https://evil.example", listener))
}

// TestPagesOfPlans opens pages of hostile texts: one page that the binary makes of lines, and one
// with the same texts uncleaned, as if the sanitizer had let them through. The texts must not run
// anything, request anything, navigate, or leave their box. The page is readable on a phone, in the
// dark and with the keyboard alone.
func TestPagesOfPlans(t *testing.T) {
	var asked atomic.Int64
	listener := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer listener.Close()
	texts := append(hostileMarkdown(t, listener.URL), strings.Repeat("long", 5000), "|"+strings.Repeat("a column|", 60)+"\n|"+strings.Repeat("-|", 60)+"\n|"+strings.Repeat("value|", 60),
		"```\n"+strings.Repeat("x", 3000)+"\n```", "שלום \u202eevil\u202c עולם "+strings.Repeat("א", 500), "![picture]("+listener.URL+"/a.png)", "![picture](https://github.com/a.png)")
	dir := t.TempDir()

	var lines strings.Builder
	var uncleaned pages.Plan
	for i, text := range texts {
		lines.WriteString(jsonText(t, map[string]string{"type": "create-issue", "title": text, "body": text}) + "\n")
		id := fmt.Sprint("item-", i+1)
		uncleaned.Items = append(uncleaned.Items, pages.PlanItem{ID: id, Line: i + 1, Kind: text, State: text, Why: text, Summary: text, Target: text, Source: fmt.Sprint("line-", i+1),
			Fields: []pages.PlanField{{Name: "labels", Value: text, Asked: text}}, Files: []pages.PlanFile{{Path: text, Change: "added", Verdict: []string{text}}},
			Texts: []pages.PlanText{{Name: "body", Markdown: text, Changed: true, Lines: []pages.DiffLine{{Mark: '-', Parts: []pages.DiffPart{{Text: text, Marked: true}}}}}}})
		uncleaned.Lines = append(uncleaned.Lines, pages.PlanLine{ID: fmt.Sprint("line-", i+1), Line: i + 1, Text: text, Item: id})
		uncleaned.Attention = append(uncleaned.Attention, pages.PlanPoint{Level: pages.Bad, Text: text, Anchor: id})
	}
	write(t, dir, map[string]string{"lines.ndjson": lines.String(), "policy.yml": "create-issue:\n  max: -1\n"})
	if res := run(t, dir, offline(), "", "apply", "--dry-run", "--input", "lines.ndjson", "--config", "policy.yml", "--plan-html", "cleaned.html"); res.code > 1 {
		t.Fatalf("exit code %d:\n%s", res.code, res.stderr)
	}
	f, err := os.Create(filepath.Join(dir, "uncleaned.html"))
	if err != nil {
		t.Fatal(err)
	}
	if err := pages.WritePlan(f, uncleaned); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}

	browser := newBrowser(t)
	for _, name := range []string{"cleaned.html", "uncleaned.html"} {
		b := openTab(t, browser, "file://"+dir)
		command(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 360, Height: 740, DeviceScaleFactor: 2, Mobile: true})
		b.visit("/" + name)
		b.waitUntil(`document.querySelectorAll("article").length > 0`)

		if forbidden := eval[string](b, `[...document.querySelectorAll("script, img, svg, math, form, input, button, iframe, object, embed, link, base, video, audio, template, dialog, [style], [onerror], [onclick]")].map(e => e.outerHTML.slice(0, 80)).join("\n")`); forbidden != "" {
			t.Errorf("%s: the page has\n%s", name, forbidden)
		}
		if n := eval[int](b, `document.querySelectorAll("main > article").length`); n != len(texts) {
			t.Errorf("%s: %d items are in their place, not %d", name, n, len(texts))
		}
		if n := eval[int](b, `document.querySelectorAll(".rendered :is(article, section, main, [id], [class]:not(.image, .alert))").length`); n != 0 {
			t.Errorf("%s: texts contain %d elements of the page", name, n)
		}
		if strays := eval[string](b, `[...document.body.childNodes].filter(n => n.nodeType === 3 && n.textContent.trim() || n.nodeType === 1 && !n.matches("a.skip, header.top, main")).map(n => n.textContent.slice(0, 80)).join("\n")`); strays != "" {
			t.Errorf("%s: outside of the page's parts is\n%s", name, strays)
		}
		eval[bool](b, `document.querySelectorAll("details").forEach(d => d.open = true), document.querySelectorAll("article").forEach(a => a.style.contentVisibility = "visible"), true`)
		if wide := eval[int](b, "document.documentElement.scrollWidth"); wide > 360 {
			t.Errorf("%s: at 360 pixels the page is %d wide: %s", name, wide,
				eval[string](b, `[...document.querySelectorAll("main *")].filter(e => e.getBoundingClientRect().right > 361 && !e.closest(".scroll, .rendered")).slice(0, 5).map(e => e.outerHTML.slice(0, 120)).join("\n")`))
		}

		backs := map[string]string{}
		for _, scheme := range []string{"light", "dark"} {
			command(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			backs[scheme] = eval[string](b, "getComputedStyle(document.body).backgroundColor")
			if faint := eval[string](b, faintTexts); faint != "" {
				t.Errorf("%s, %s: too little contrast:\n%s", name, scheme, faint)
			}
		}
		if backs["light"] == backs["dark"] {
			t.Errorf("%s: the page is %s in the light and in the dark", name, backs["dark"])
		}

		b.visit("/" + name)
		b.follow("Items")
		b.waitUntil(`location.hash === "#items"`)
		b.tabTo(`e.matches("article a")`)
		b.press("\r")
		b.waitUntil(`location.hash.startsWith("#line-")`)
		b.visit("/" + name + "#items")
		b.tabTo(`e.matches("summary")`)
		open := eval[bool](b, "document.activeElement.parentElement.open")
		b.press("\r")
		b.waitUntil(fmt.Sprintf("document.activeElement.parentElement.open === %v", !open))
		if outline := eval[string](b, "getComputedStyle(document.activeElement).outlineStyle"); outline == "none" {
			t.Errorf("%s: the focus is not visible", name)
		}

		if at := eval[string](b, "location.href"); !strings.HasPrefix(at, "file://"+dir+"/"+name) {
			t.Errorf("%s: the page went to %s", name, at)
		}
		b.mu.Lock()
		if len(b.requests) == 0 {
			t.Errorf("%s: the browser's log has not even the page itself", name)
		}
		if elsewhere := slices.DeleteFunc(b.requests, func(r string) bool { return strings.HasPrefix(r, "file://"+dir+"/"+name) }); len(elsewhere) > 0 || b.dialogs > 0 {
			t.Errorf("%s: %d dialogs, and it requested %q", name, b.dialogs, elsewhere)
		}
		b.mu.Unlock()
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("%d requests reached the listener", n)
	}
}

// faintTexts lists elements whose text has less contrast with its background than 4.5 : 1.
const faintTexts = `(() => {
	const rgb = c => c.match(/[\d.]+/g).map(Number)
	const luminance = c => rgb(c).slice(0, 3).map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0)
	const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (rgb(c)[3] !== 0) return c } return "rgb(255, 255, 255)" }
	return [...document.querySelectorAll("h1, h2, h3, h4, p, a, dt, dd, li, .badge, .muted, .note, summary, ins, del, code, .mark")].filter(e => {
		const [a, b] = [luminance(getComputedStyle(e).color), luminance(behind(e))].sort((x, y) => y - x)
		return (a + 0.05) / (b + 0.05) < 4.5
	}).slice(0, 5).map(e => e.outerHTML.slice(0, 100)).join("\n")
})()`
