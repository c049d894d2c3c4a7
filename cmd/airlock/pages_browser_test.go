//go:build browser && linux

package main_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tab is one tab of a headless Chromium.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string // the coordinator's address

	mu       sync.Mutex
	requests []string // the addresses of all requests
	dialogs  int
}

// newBrowser starts a Chromium, which takes the names of *.example for loopback.
func newBrowser(t *testing.T) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("/usr/bin/chromium-headless-shell"), chromedp.NoSandbox,
		chromedp.Flag("host-resolver-rules", "MAP *.example 127.0.0.1"), chromedp.UserDataDir(t.TempDir()))
	allocated, stop := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	browser, leave := chromedp.NewContext(allocated)
	if err := chromedp.Do(browser); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { leave(); stop() })
	return browser
}

// openTab opens a tab, whose cookies no other tab has.
func openTab(t *testing.T, browser context.Context, base string) *tab {
	t.Helper()
	limited, cancel := context.WithTimeout(browser, 2*time.Minute)
	ctx, leave := chromedp.NewContext(limited, chromedp.WithNewBrowserContext())
	t.Cleanup(func() { leave(); cancel() })
	b := &tab{t: t, ctx: ctx, base: base}
	err := chromedp.Listen(ctx, func(ev any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := ev.(type) {
		case *network.EventRequestWillBeSent:
			b.requests = append(b.requests, e.Request.URL)
		case *cdppage.EventJavascriptDialogOpening:
			b.dialogs++
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	command(b, network.Enable, network.EnableParams{})
	command(b, cdppage.Enable, cdppage.EnableParams{})
	return b
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// command runs a command of the protocol and returns its result.
func command[P, R any](b *tab, c cdp.Command[P, R], params P) R {
	b.t.Helper()
	result, err := chromedp.Call(b.ctx, c, params)
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

func (b *tab) visit(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.base + path))
}

// signIn signs in with a token of the coordinator's.
func (b *tab) signIn(token string) {
	b.t.Helper()
	b.visit("/ui/sign-in")
	b.do(chromedp.SendKeys(chromedp.CSS("#token"), token+kb.Enter))
	b.untilText("What happens")
}

// eval returns the value of an expression of JavaScript.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// waitUntil waits until an expression of JavaScript is true, on whatever page there is then.
func (b *tab) waitUntil(expression string) {
	b.t.Helper()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); <-look.C {
		found, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](`document.readyState === "complete" && !!(`+expression+`)`))
		if err == nil && found { // between two pages there is an error
			return
		}
	}
	b.t.Fatalf("%s is not true on\n%s", expression, eval[string](b, `location.href + "\n" + document.body.innerText`))
}

// untilText waits until the page shows a text.
func (b *tab) untilText(text string) {
	b.t.Helper()
	b.waitUntil(fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

// press types a text, or presses a key of package kb.
func (b *tab) press(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// tabTo presses the Tab key until an expression of JavaScript is true of e, the element that has the
// focus.
func (b *tab) tabTo(expression string) {
	b.t.Helper()
	for range 80 {
		b.press(kb.Tab)
		if eval[bool](b, `(e => !!e && !!(`+expression+`))(document.activeElement)`) {
			return
		}
	}
	b.t.Fatalf("the Tab key does not lead to %s on\n%s", expression, eval[string](b, "document.body.innerText"))
}

// follow goes to a link or button by the keyboard, and presses it.
func (b *tab) follow(text string) {
	b.t.Helper()
	b.tabTo(fmt.Sprintf(`e.matches("a, button") && e.textContent.trim() === %q`, text))
	// These are the events of a keyboard: the browser drops the character if rawKeyDown had an
	// effect.
	for _, event := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeChar, input.DispatchKeyEventTypeKeyUp} {
		key := input.DispatchKeyEventParams{Type: event, Key: "Enter", Code: "Enter", WindowsVirtualKeyCode: 13, NativeVirtualKeyCode: 13}
		if event == input.DispatchKeyEventTypeChar {
			key.Text, key.UnmodifiedText = "\r", "\r"
		}
		command(b, input.DispatchKeyEvent, key)
	}
}

// typeInto goes to the field with a label by the keyboard, and replaces its text by typing another
// one.
func (b *tab) typeInto(label, text string) {
	b.t.Helper()
	b.tabTo(fmt.Sprintf(`e.labels && [...e.labels].some(l => l.textContent.trim().startsWith(%q))`, label))
	b.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(kb.ModifierCtrl)))
	b.press(text)
}

// harmless asserts that the tab asked nobody but the coordinator, and that no script of
// somebody else ran.
func (b *tab) harmless() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.requests {
		if !strings.HasPrefix(r, b.base+"/") {
			b.t.Errorf("it asks for %s", r)
		}
	}
	if b.dialogs > 0 {
		b.t.Error("a script has opened a dialog")
	}
}

// hostileLog is the output of a run that tries to act on a page.
const hostileLog = "\x1b[31mred\x1b[0m </pre></div><script>alert(1)</script><img src=http://evil.example/p onerror=alert(2)><meta http-equiv=refresh content='0;url=http://evil.example/'><style>body{display:none}</style>\n"

// pagesServer starts a coordinator with agents, tokens and a loop that waits for a decision.
// args are further arguments of the server; a certificate and its key are in its directory.
func pagesServer(t *testing.T, args ...string) (c coordinator, tokens map[string]string) {
	t.Helper()
	dir := t.TempDir()
	openToOthers(dir)
	write := func(name, text string) { writeFile(t, filepath.Join(dir, name), text) }
	selfSigned(t, dir)
	write("hostile.txt", hostileLog)
	agent := func(name, script string, schema map[string]any) {
		write("agents/"+name+".json", jsonText(t, map[string]any{"name": name, "type": "deterministic", "description": "Does <i>this</i>.", "command": []string{"sh", "-c", script}, "parameters_schema": schema}))
	}
	text := map[string]any{"type": "string"}
	agent("crawler", "cat hostile.txt >&2; while [ ! -e go ]; do sleep 0.05; done; cat", map[string]any{"type": "object", "required": []string{"url", "depth"}, "additionalProperties": false,
		"properties": map[string]any{"url": map[string]any{"type": "string", "format": "uri", "description": "Where to begin."}, "depth": map[string]any{"type": "integer", "minimum": 1, "maximum": 5}, "note": text, "tags": map[string]any{"type": "array", "items": text}}})
	agent("slow", "exec sleep 600", map[string]any{"type": "object", "properties": map[string]any{"why": map[string]any{"type": "string", "maxLength": 50}}})
	write("repo/a.js", "exports.a = 1;\n")
	write("checks.yml", "checks:\n  format-command: test -f a.js\n  lint-command: test -f a.js\n  build-command: test -f a.js\n  test-command: \"false\"\n")
	repo := filepath.Join(dir, "repo")
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + dir}
	makeRepository(t, repo)
	write("repo/a.js", "exports.a = 2;\n")
	res := run(t, repo, env, "", "loop", "start", "--repo", "octo/shop", "--issue", "9", "--store", "../store.db", "--max-iterations", "1", "--config", "../checks.yml", "--fixer", "true")
	if !strings.Contains(res.stdout, "ESCALATED") {
		t.Fatalf("%s%s", res.stdout, res.stderr)
	}
	tokens = map[string]string{}
	for name, scopes := range map[string][]string{"ann": {"--scope", "run", "--scope", "decide"}, "reader": {"--scope", "read"}} {
		res := run(t, dir, env, "", append([]string{"token", "add", name, "--store", "store.db"}, scopes...)...)
		tokens[name] = strings.TrimSpace(res.stdout)
		if !strings.HasPrefix(tokens[name], "airlock_") {
			t.Fatalf("%s%s", res.stdout, res.stderr)
		}
	}
	if args != nil {
		return serveArgs(t, dir, append(args, "--agents", "agents")...), tokens
	}
	return serve(t, dir), tokens
}

// TestPagesByKeyboard uses the pages with the keys alone, as people may: it signs in, gives an agent
// wrong parameters, reads what is wrong, corrects them, watches the run, stops another one, decides
// about a loop, and signs out. The output of the run does nothing to the page.
func TestPagesByKeyboard(t *testing.T) {
	t.Parallel()
	c, tokens := pagesServer(t)
	b := openTab(t, newBrowser(t), c.url)
	b.visit("/ui/runs?status=running")
	b.waitUntil(`location.pathname === "/ui/sign-in" && document.activeElement.id === "token"`)
	b.press("airlock_wrong" + kb.Enter)
	b.untilText("The token is not known")
	b.press(tokens["ann"] + kb.Enter)
	b.waitUntil(`location.pathname + location.search === "/ui/runs?status=running"`)

	cookies := command(b, network.GetCookies, network.GetCookiesParams{}).Cookies
	if len(cookies) != 1 || !cookies[0].HTTPOnly || cookies[0].SameSite != network.CookieSameSiteStrict || strings.Contains(cookies[0].Value, tokens["ann"]) || eval[string](b, "document.cookie") != "" {
		t.Errorf("the cookies are %+v", cookies)
	}

	// Give wrong parameters, read what is wrong, and correct them.
	b.follow("Agents")
	b.waitUntil(`location.pathname === "/ui/agents"`)
	b.follow("crawler")
	b.waitUntil(`location.pathname === "/ui/agents/crawler"`)
	b.typeInto("depth", "many")
	b.typeInto("note", "kept <as> typed")
	b.typeInto("url", "not a url"+kb.Enter)
	b.untilText("Nothing was started")
	b.waitUntil(`document.activeElement.id === "problems"`)
	for _, want := range []string{"'many' is not of type 'integer'", "'not a url' is not a valid URI"} {
		b.untilText(want)
	}
	if got := eval[string](b, `(f => f.value + "|" + f.getAttribute("aria-invalid") + "|" + document.getElementById(f.getAttribute("aria-describedby").split(" ")[0]).textContent)(document.querySelector('[name="p.depth"]'))`); got != "many|true|'many' is not of type 'integer'" {
		t.Errorf("the field depth is %q", got)
	}
	if got := eval[string](b, `document.querySelector('[name="p.note"]').value`); got != "kept <as> typed" {
		t.Errorf("the field note is %q", got)
	}
	b.follow("depth") // the link in the list of errors
	b.waitUntil(`document.activeElement.name === "p.depth"`)
	b.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(kb.ModifierCtrl)))
	b.press("3")
	b.typeInto("tags", "one\rtwo")
	b.typeInto("url", "https://example.org/")
	b.follow("Start")

	// Watch: the page changes without being loaded again.
	b.waitUntil(`location.pathname.startsWith("/ui/runs/run_")`)
	eval[int](b, "window.same = 1")
	b.untilText("running")
	b.untilText("<script>alert(1)</script>")
	if eval[string](b, `document.querySelector("#log pre").textContent`) != strings.NewReplacer("\x1b[31m", "", "\x1b[0m", "").Replace(hostileLog) {
		t.Errorf("the log is %q", eval[string](b, `document.querySelector("#log pre").textContent`))
	}
	writeFile(t, filepath.Join(c.cmd.Dir, "go"), "")
	b.untilText("completed")
	b.waitUntil(`document.querySelector("#result pre")?.textContent.includes('"depth": 3') && document.querySelector("#result pre").textContent.includes('"two"')`)
	b.waitUntil(`!document.querySelector("[data-events]")`)
	if eval[int](b, "window.same") != 1 || eval[string](b, `document.querySelector("#state").getAttribute("aria-live")`) != "polite" {
		t.Error("the page was loaded again, or does not say what changes")
	}

	// Start another one, and stop it.
	b.follow("Agents")
	b.waitUntil(`location.pathname === "/ui/agents"`)
	b.follow("slow")
	b.waitUntil(`location.pathname === "/ui/agents/slow"`)
	b.typeInto("why", "to be stopped"+kb.Enter)
	b.waitUntil(`location.pathname.startsWith("/ui/runs/run_")`)
	b.untilText("running")
	b.follow("Stop the run")
	b.waitUntil(`document.querySelector("#state .badge").textContent === "stopped"`)

	// Decide: allow two more iterations, then abort, which the page asks to confirm.
	b.follow("Start")
	b.waitUntil(`location.pathname === "/"`)
	b.untilText("1 loop to decide about")
	b.follow("octo/shop#9")
	b.untilText("A person has to decide.")
	b.typeInto("Extend by", "many"+kb.Enter)
	b.untilText("'many' is not of type 'integer'")
	b.typeInto("Extend by", "2"+kb.Enter)
	b.untilText("It is the fixer's turn.")
	b.follow("Abort …")
	b.untilText("This cannot be undone.")
	b.follow("No, back to the loop")
	b.untilText("It is the fixer's turn.")
	b.follow("Abort …")
	b.untilText("This cannot be undone.")
	b.follow("Yes, abort")
	b.untilText("It has ended.")

	b.follow("Sign out")
	b.waitUntil(`location.pathname === "/ui/sign-in"`)
	b.visit("/ui/agents")
	b.waitUntil(`location.pathname === "/ui/sign-in"`)
	b.harmless()
}

// TestPagesOverTLS uses the pages over TLS, with a certificate that the browser is told to accept:
// it signs in, corrects a form, watches a run, stops another one, decides, and signs out. The
// cookie is sent over TLS alone.
func TestPagesOverTLS(t *testing.T) {
	t.Parallel()
	c, tokens := pagesServer(t, "--tls-cert", "cert.pem", "--tls-key", "key.pem")
	if !strings.HasPrefix(c.url, "https://") {
		t.Fatal(c.url)
	}
	b := openTab(t, newBrowser(t), c.url)
	command(b, security.SetIgnoreCertificateErrors, security.SetIgnoreCertificateErrorsParams{Ignore: true})
	b.visit("/ui/agents/crawler")
	b.waitUntil(`location.pathname === "/ui/sign-in"`)
	b.do(chromedp.SendKeys(chromedp.CSS("#token"), tokens["ann"]+kb.Enter))
	b.waitUntil(`location.pathname === "/ui/agents/crawler"`)
	cookies := command(b, network.GetCookies, network.GetCookiesParams{}).Cookies
	if len(cookies) != 1 || cookies[0].Name != "__Host-airlock-session" || !cookies[0].Secure || !cookies[0].HTTPOnly || cookies[0].SameSite != network.CookieSameSiteStrict || eval[string](b, "document.cookie") != "" {
		t.Errorf("the cookies are %+v", cookies)
	}

	b.typeInto("depth", "many")
	b.typeInto("url", "https://example.org/"+kb.Enter)
	b.untilText("'many' is not of type 'integer'")
	b.typeInto("depth", "3")
	b.typeInto("url", "https://example.org/"+kb.Enter)
	b.waitUntil(`location.pathname.startsWith("/ui/runs/run_")`)
	eval[int](b, "window.same = 1")
	b.untilText("<script>alert(1)</script>")
	writeFile(t, filepath.Join(c.cmd.Dir, "go"), "")
	b.waitUntil(`document.querySelector("#state .badge").textContent === "completed" && document.querySelector("#result pre")`)
	if eval[int](b, "window.same") != 1 {
		t.Error("the page was loaded again")
	}
	b.visit("/ui/agents/slow")
	b.do(chromedp.SendKeys(chromedp.CSS(`[name="p.why"]`), "to be stopped"+kb.Enter))
	b.waitUntil(`document.querySelector("#state .badge")?.textContent === "running"`)
	b.follow("Stop the run")
	b.waitUntil(`document.querySelector("#state .badge").textContent === "stopped"`)
	b.visit("/ui/loops")
	b.follow("octo/shop#9")
	b.untilText("A person has to decide.")
	b.typeInto("Extend by", "2"+kb.Enter)
	b.untilText("It is the fixer's turn.")
	b.follow("Sign out")
	b.waitUntil(`location.pathname === "/ui/sign-in"`)
	if cookies := command(b, network.GetCookies, network.GetCookiesParams{}).Cookies; len(cookies) != 0 {
		t.Errorf("the cookies are %+v", cookies)
	}
	b.harmless()
}

// TestPagesEndWithTheSession asserts that a page that is being looked at shows nothing more
// after its token was revoked.
func TestPagesEndWithTheSession(t *testing.T) {
	t.Parallel()
	c, tokens := pagesServer(t)
	b := openTab(t, newBrowser(t), c.url)
	b.signIn(tokens["ann"])
	b.visit("/ui/agents/slow")
	b.do(chromedp.SendKeys(chromedp.CSS(`[name="p.why"]`), "watched"+kb.Enter))
	b.waitUntil(`document.querySelector("#state .badge")?.textContent === "running"`)
	if r := run(t, c.cmd.Dir, c.cmd.Env, "", "token", "revoke", "ann", "--store", "store.db"); r.code != 0 {
		t.Fatal(r.stderr)
	}
	b.waitUntil(`location.pathname === "/ui/sign-in"`)
	if text := eval[string](b, "document.body.innerText"); strings.Contains(text, "watched") {
		t.Error(text)
	}
	b.harmless()
}

// everyPage are the addresses of all sorts of pages; RUN stands for a run.
var everyPage = []string{"/", "/ui/agents", "/ui/agents/crawler", "/ui/agents/phase-validation", "/ui/agents/crawler?as=json", "/ui/runs", "/ui/runs/RUN", "/ui/loops", "/ui/loops/octo%2Fshop%239.1", "/ui/loops/octo%2Fshop%239.1/decision?decision=abort", "/ui/nothing"}

// contrast is JavaScript that finds the text with the least contrast to its background, and how light
// the page is.
const contrast = `(() => {
	const rgb = c => (c.match(/[\d.]+/g) || []).map(Number);
	const light = c => { const [r, g, b] = rgb(c).map(v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }); return .2126 * r + .7152 * g + .0722 * b; };
	const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (rgb(c)[3] !== 0) return c; } return "rgb(255, 255, 255)"; };
	let worst = 21, where = "";
	for (const e of document.querySelectorAll("body *")) {
		if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || !e.getClientRects().length) continue;
		const svg = e.namespaceURI.endsWith("svg");
		const a = light(svg ? getComputedStyle(e).fill : getComputedStyle(e).color), b = light(behind(svg ? e.ownerSVGElement || e : e));
		const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
		if (ratio < worst) { worst = ratio; where = e.outerHTML.slice(0, 100); }
	}
	return JSON.stringify({worst, where, page: light(getComputedStyle(document.body).backgroundColor)});
})()`

// TestPagesOnAPhoneAndInTheDark asserts that no page is wider than a phone, that each can be read in
// both colour schemes, and that a run can be started, looked at and stopped without script.
func TestPagesOnAPhoneAndInTheDark(t *testing.T) {
	t.Parallel()
	c, tokens := pagesServer(t)
	b := openTab(t, newBrowser(t), c.url)
	b.visit("/ui/sign-in")
	command(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 360, Height: 740, DeviceScaleFactor: 2, Mobile: true})
	width := func(path string) {
		t.Helper()
		if w := eval[int](b, "document.documentElement.scrollWidth"); w > 360 {
			t.Errorf("%s is %d pixels wide: %s", path, w, eval[string](b, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > 361 && !e.closest(".scroll")).map(e => e.outerHTML.slice(0, 120)).join("\n")`))
		}
	}
	// What a row of runs or loops says, such as its status, is visible without scrolling.
	rows := func(path string) {
		t.Helper()
		if hidden := eval[string](b, `[...document.querySelectorAll(".rows td")].filter(e => e.getBoundingClientRect().right > 361).map(e => e.outerHTML.slice(0, 120)).join("\n")`); hidden != "" {
			t.Errorf("%s hides on a phone: %s", path, hidden)
		}
	}
	width("/ui/sign-in")
	// Without script a run is started, looked at and stopped as well.
	command(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.do(chromedp.SendKeys(chromedp.CSS("#token"), tokens["ann"]+kb.Enter))
	b.untilText("What happens")
	b.visit("/ui/agents/slow")
	b.do(chromedp.SendKeys(chromedp.CSS(`[name="p.why"]`), strings.Repeat("w", 45)+kb.Enter))
	b.untilText("to see how far it is")
	id := strings.TrimPrefix(eval[string](b, "location.pathname"), "/ui/runs/")
	eval[int](b, "window.left = 1")
	b.do(chromedp.Click(chromedp.CSS("#stop")))
	// A page that is asked for while another one is on its way may never be reported as loaded.
	b.waitUntil("window.left !== 1")
	if _, answer := ask(t, http.DefaultClient, "GET", c.url+"/runs/"+id+"/wait?timeout=60", "", "Authorization: Bearer "+tokens["ann"]); !strings.Contains(answer, `"status":"stopped"`) {
		t.Error(answer)
	}
	b.visit("/ui/runs/" + id)
	b.untilText("stopped")
	command(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{})
	for _, scheme := range []string{"light", "dark"} {
		command(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		for _, path := range everyPage {
			b.visit(strings.Replace(path, "RUN", id, 1))
			width(path)
			rows(path)
			if found := eval[string](b, `document.querySelector("h1").textContent`) != "Not found"; found == (path == "/ui/nothing") {
				t.Errorf("%s: found: %v", path, found)
			}
			got := parse[struct {
				Worst, Page float64
				Where       string
			}](t, eval[string](b, contrast))
			if got.Worst < 4.5 || (scheme == "dark") != (got.Page < 0.1) {
				t.Errorf("%s, %s: %+v", path, scheme, got)
			}
			if unnamed := eval[string](b, `[...document.querySelectorAll("input:not([type=hidden]), select, textarea")].filter(e => !e.labels.length).map(e => e.outerHTML).join()`); unnamed != "" {
				t.Errorf("%s: without a name: %s", path, unnamed)
			}
		}
	}
	b.harmless()
}

// TestPagesOfOthersInABrowser signs a browser in. It asserts that pages of other sites, and pages
// under other names of this machine, cannot make the browser do anything at the coordinator.
func TestPagesOfOthersInABrowser(t *testing.T) {
	t.Parallel()
	c, tokens := pagesServer(t)
	b := openTab(t, newBrowser(t), c.url)
	b.signIn(tokens["ann"])
	attacker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/form":
			fmt.Fprintf(w, `<form method=post action="%s/ui/agents/slow"><input name=p.why value=evil></form><script>document.forms[0].submit()</script>`, c.url)
		case "/frame":
			fmt.Fprintf(w, `<iframe src="%s/ui/agents/slow"></iframe><a id=link href="%s/ui/agents/slow">x</a><script>fetch("%s/runs", {method: "POST", mode: "no-cors", credentials: "include", body: '{"agent_name":"slow"}'}).finally(() => window.done = 1)</script>`, c.url, c.url, c.url)
		}
	}))
	defer attacker.Close()
	evil := strings.Replace(attacker.URL, "127.0.0.1", "evil.example", 1)
	b.do(chromedp.Navigate(evil + "/form"))
	b.untilText("Refused")
	b.do(chromedp.Navigate(evil + "/frame"))
	b.waitUntil("window.done === 1")
	if frame := eval[bool](b, `(() => { try { return !!document.querySelector("iframe").contentDocument.body.innerText } catch { return false } })()`); frame {
		t.Error("another site sees into a frame")
	}
	b.do(chromedp.Click(chromedp.CSS("#link")))
	b.untilText("A page of another site has led here")
	if eval[bool](b, `document.body.innerText.includes("crawler")`) {
		t.Error("a link from elsewhere shows a page")
	}
	b.follow("Go on to /ui/agents/slow")
	b.waitUntil(`document.querySelector('[name="p.why"]')`)
	// A name of the attacker's that leads here.
	here, err := url.Parse(c.url)
	if err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate("http://rebound.example:" + here.Port() + "/"))
	b.untilText("this server is not called")
	b.visit("/ui/runs")
	if text := eval[string](b, "document.body.innerText"); !strings.Contains(text, "no such runs") {
		t.Errorf("another site has started a run: %s", text)
	}
}
