package pages

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/agent-airlock/airlock/internal/schema"
)

// CoordinatorPath is the path below which all pages of the coordinator are, except for the start
// page, which is at "/".
const CoordinatorPath = "/ui/"

// signInPath is the one page for visitors who are not signed in.
const signInPath = CoordinatorPath + "sign-in"

// Visitor is who looks at a page of the coordinator. All that a page shows and does goes through
// Ask, so that a page can do no more than its visitor can over the API.
type Visitor struct {
	// Name is the visitor's; "" where nobody is signed in.
	Name string
	// WhyNotSignedIn is why nobody is signed in, such as that the request has no token, and what to
	// do. It is "" where somebody is signed in.
	WhyNotSignedIn string
	// CanSignIn is set where there is a token to sign in with.
	CanSignIn bool
	// Session reports that the visitor has signed in here, and can sign out.
	Session bool
	// Allows reports whether the visitor has a scope: read, run, decide or admin.
	Allows func(scope string) bool
	// Ask asks the coordinator's API in the visitor's name; key is the Idempotency-Key, ""
	// for none.
	Ask func(method, target, key string, body []byte) (status int, answer []byte, err error)
	// Pass answers the request as the API answers GET target, a stream included.
	Pass func(target string)
	// SignIn begins a session of a token's owner and sets its cookie. The error's text is
	// for the visitor.
	SignIn func(token string) (status int, err error)
	// SignOut ends the session and removes its cookie.
	SignOut func() error
}

// Coordinator serves the pages of a coordinator. It is safe for concurrent use.
type Coordinator struct {
	log *slog.Logger
	mux *http.ServeMux
}

// NewCoordinator returns the pages. What goes wrong with a page is written to log.
func NewCoordinator(log *slog.Logger) *Coordinator {
	c := &Coordinator{log: log, mux: http.NewServeMux()}
	handle := func(pattern string, do func(*visit) error) {
		c.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			x := &visit{c: c, w: w, r: r}
			x.Visitor, _ = r.Context().Value(visitorKey{}).(Visitor)
			x.answer(do)
		})
	}
	handle("GET /{$}", (*visit).start)
	handle("GET /ui/{$}", func(x *visit) error { return x.goTo("/") })
	handle("GET /ui/agents", (*visit).agents)
	handle("GET /ui/agents/{name}", (*visit).agent)
	handle("POST /ui/agents/{name}", (*visit).startRun)
	handle("GET /ui/runs", (*visit).runs)
	handle("GET /ui/runs/{id}", (*visit).run)
	handle("POST /ui/runs/{id}/stop", (*visit).stopRun)
	handle("GET /ui/loops", (*visit).loops)
	handle("GET /ui/loops/{id}", (*visit).loop)
	handle("GET /ui/loops/{id}/decision", (*visit).confirm)
	handle("POST /ui/loops/{id}/decision", (*visit).decide)
	for _, part := range []string{"runs/{id}/events", "runs/{id}/log", "runs/{id}/result", "loops/{id}/log"} {
		handle("GET /ui/"+part, (*visit).pass)
	}
	handle("GET "+signInPath, (*visit).signIn)
	handle("POST "+signInPath, (*visit).signIn)
	handle("POST /ui/sign-out", (*visit).signOut)
	handle(CoordinatorPath, func(x *visit) error {
		return &problem{Status: http.StatusNotFound, Message: "There is no such page."}
	})
	return c
}

// visitorKey is the key of the Visitor in a request's context.
type visitorKey struct{}

// ServeAsset answers a request for the stylesheet or the script of the pages, which
// everybody may have, and reports whether it is one.
func (c *Coordinator) ServeAsset(w http.ResponseWriter, r *http.Request) bool {
	a, ok := coordinatorAssets().files[r.URL.Path]
	if !ok {
		return false
	}
	setHeaders(w.Header())
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable") // another content has another name
	_, _ = w.Write(a.content)
	return true
}

// Serve answers one request by the visitor. The request's Host and Origin were checked.
func (c *Coordinator) Serve(w http.ResponseWriter, r *http.Request, v Visitor) {
	setHeaders(w.Header())
	c.mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), visitorKey{}, v)))
}

// Refuse answers a request that must not reach a page. If retry is not "", the answer has a link to
// that address: whoever follows it comes from this server and is not refused any more.
func (c *Coordinator) Refuse(w http.ResponseWriter, r *http.Request, status int, message, retry string) {
	setHeaders(w.Header())
	x := &visit{c: c, w: w, r: r}
	x.show(status, problemPage, "Refused", problem{Status: status, Message: message, Again: retry})
}

// setHeaders sets the headers of each page. With them, the page loads nothing from another host,
// only our own script acts in it, and no other page can contain it.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer a browser sends forms with the origin null
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept, Cookie")
}

// asset is a file that the pages load.
type asset struct {
	kind    string
	content []byte
}

// coordinatorAssets are the addresses of the stylesheet and the script, and the files by their
// address. An address changes with the content of its file.
var coordinatorAssets = sync.OnceValue(func() (all struct {
	style, script string
	files         map[string]asset
}) {
	all.files = map[string]asset{}
	read := func(name string) []byte {
		raw, err := files.ReadFile("templates/coordinator/" + name)
		if err != nil {
			panic(err) // it is embedded
		}
		return raw
	}
	add := func(name, suffix, kind string, content []byte) string {
		sum := sha256.Sum256(content)
		address := CoordinatorPath + name + "-" + hex.EncodeToString(sum[:6]) + suffix
		all.files[address] = asset{kind, content}
		return address
	}
	all.style = add("style", ".css", "text/css; charset=utf-8", bytes.Join([][]byte{Stylesheet(), read("coordinator.css")}, []byte("\n")))
	all.script = add("live", ".js", "text/javascript; charset=utf-8", read("live.js"))
	return all
})

// visit is one request by a visitor.
type visit struct {
	Visitor
	c *Coordinator
	w http.ResponseWriter
	r *http.Request
}

// coordinatorView is what each page of the coordinator is rendered from.
type coordinatorView struct {
	Title   string
	Section string // the address of the link at the top that is shown as the current one
	Name    string // the visitor's
	Session bool
	Now     time.Time
	Body    any
}

// problem is why a page cannot be shown, or why something cannot be done.
type problem struct {
	Status           int                `json:"-"`
	Code             string             `json:"error"`
	Message          string             `json:"message"`
	ValidationErrors []schema.Violation `json:"validation_errors"`
	Again            string             `json:"-"` // the address of a link that leads on; "" for none
}

// Error implements error.
func (p *problem) Error() string { return p.Message }

var problemPage = coordinatorPage("problem.html")

func coordinatorPage(name string) page {
	return newPage(coordinatorFuncs, "coordinator/base.html", "coordinator/"+name)
}

// answer calls do, and shows a page with its error. A visitor who is not signed in has to sign in
// first.
func (x *visit) answer(do func(*visit) error) {
	if x.Name == "" && x.r.URL.Path != signInPath {
		if x.r.Method != http.MethodGet && x.r.Method != http.MethodHead {
			x.showSignIn(http.StatusUnauthorized, "You are not signed in, or your session has ended: sign in, and send the form again.")
			return
		}
		_ = x.goTo(signInPath + "?" + url.Values{"next": {x.r.URL.RequestURI()}}.Encode())
		return
	}
	err := do(x)
	if err == nil {
		return
	}
	p, known := errors.AsType[*problem](err)
	if !known {
		if x.r.Context().Err() != nil {
			return // nobody waits for an answer
		}
		x.c.log.Error("a page failed", "path", x.r.URL.Path, "error", err)
		p = &problem{Status: http.StatusServiceUnavailable, Message: "The page cannot be shown now: the server's log says why. Try again later."}
	}
	x.show(p.Status, problemPage, http.StatusText(p.Status), problem{Status: p.Status, Message: sentence(p.Message), ValidationErrors: p.ValidationErrors})
}

// goTo sends the visitor to another page of this server.
func (x *visit) goTo(target string) error {
	x.w.Header().Set("Location", target)
	x.w.WriteHeader(http.StatusSeeOther)
	return nil
}

// show answers with a page.
func (x *visit) show(status int, p page, title string, body any) {
	section := "/"
	for _, s := range []string{"/ui/agents", "/ui/runs", "/ui/loops"} {
		if strings.HasPrefix(x.r.URL.Path, s) {
			section = s
		}
	}
	assets := coordinatorAssets()
	f := frame{Stylesheet: assets.style, Scripts: []string{assets.script}}
	html, err := p.renderWhole(f, coordinatorView{Title: title, Section: section, Name: x.Name, Session: x.Session, Now: time.Now(), Body: body})
	if err != nil {
		x.c.log.Error("a page cannot be rendered", "path", x.r.URL.Path, "error", err)
		http.Error(x.w, "The page cannot be shown: the server's log says why.", http.StatusInternalServerError)
		return
	}
	x.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	x.w.WriteHeader(status)
	_, _ = x.w.Write(html) // if it fails, nobody reads the answer any more
}

// withQuery returns an address with a query, which may be empty.
func withQuery(path string, q url.Values) string {
	return (&url.URL{Path: path, RawQuery: q.Encode()}).String()
}

// get asks the API and decodes its answer. The error may be a *problem.
func (x *visit) get(target string, into any) error {
	return x.ask(http.MethodGet, target, "", nil, into)
}

// ask asks the API. Unless into is nil, it decodes the answer into it. The error may be a *problem.
func (x *visit) ask(method, target, key string, body []byte, into any) error {
	status, answer, err := x.Ask(method, target, key, body)
	if err != nil {
		return err
	}
	if status >= http.StatusBadRequest {
		p := &problem{Status: status}
		if err := json.Unmarshal(answer, p); err != nil {
			return fmt.Errorf("%s %s: %w", method, target, err)
		}
		return p
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return fmt.Errorf("%s %s: %w", method, target, err)
	}
	return nil
}

// form reads the form of a POST. A line break, which browsers send as CRLF, becomes LF, and invalid
// UTF-8 becomes U+FFFD.
func (x *visit) form() (url.Values, error) {
	if kind, _, _ := strings.Cut(x.r.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(kind), "application/x-www-form-urlencoded") {
		return nil, &problem{Status: http.StatusUnsupportedMediaType, Message: "A page takes a form: send application/x-www-form-urlencoded."}
	}
	if err := x.r.ParseForm(); err != nil {
		if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, &problem{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf("The form is larger than %d bytes.", tooLarge.Limit)}
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, &problem{Status: http.StatusRequestTimeout, Message: "The form took too long to arrive: send it again."}
		}
		return nil, &problem{Status: http.StatusBadRequest, Message: "The form cannot be read."}
	}
	typed := url.Values{}
	clean := func(s string) string {
		return strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\uFFFD")
	}
	for name, values := range x.r.PostForm {
		for _, v := range values {
			typed.Add(clean(name), clean(v))
		}
	}
	return typed, nil
}

// pass answers what the API answers at the same path, without CoordinatorPath.
func (x *visit) pass() error {
	x.w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
	target := "/" + strings.TrimPrefix(x.r.URL.EscapedPath(), CoordinatorPath)
	if x.r.URL.RawQuery != "" {
		target += "?" + x.r.URL.RawQuery
	}
	x.Pass(target)
	return nil
}
