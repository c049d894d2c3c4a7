// Package httpapi is the coordinator's HTTP API, a thin adapter to agents, runs and loops. It also
// decides who may look at the pages that are made of its answers.
package httpapi

import (
	"context"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/time/rate"

	"github.com/agent-airlock/airlock/internal/access"
	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/pages"
	"github.com/agent-airlock/airlock/internal/runs"
	"github.com/agent-airlock/airlock/internal/text"
)

// Limits of requests.
const (
	// maxBody is how large a body may be, in bytes.
	maxBody = 1 << 20
	// maxStreams is how many requests may wait or follow events at once.
	maxStreams = 1024
	// maxHeader is how large the request line and the headers may be, in bytes.
	maxHeader = 64 << 10
	// bodyWithin is how long a request may take to arrive. Most answers have twice that time to leave.
	bodyWithin = 30 * time.Second
)

// Config is what a Server needs.
type Config struct {
	Agents *agents.Registry
	Runs   *runs.Service
	Loops  *loops.Book
	Tokens *access.Tokens
	// Hosts are the names of the server, in addition to those of loopback. If there are none and
	// Public is set, every name is accepted.
	Hosts []string
	// Public is set where the server listens on more than loopback: then the server's own user
	// needs a token as well.
	Public bool
	// Rate is how many requests a second each caller may make; 0 for any number.
	Rate    float64
	Version string
	Log     *slog.Logger // required; changes are written to it as well
}

// Server answers the API. It is an http.Handler.
type Server struct {
	Config
	paths   map[string]map[string]*route // by path and method
	mux     *http.ServeMux
	metrics *metrics
	streams chan struct{}
	stopped chan struct{} // closed by Stop
	stop    sync.Once

	mu       sync.Mutex
	limiters map[string]*rate.Limiter // by caller
	large    map[string]chan struct{} // by caller, see enter
}

// New returns a server.
func New(cfg Config) *Server {
	s := &Server{
		Config: cfg, mux: http.NewServeMux(), metrics: newMetrics(cfg.Runs, cfg.Version, cfg.Log), paths: map[string]map[string]*route{},
		streams: make(chan struct{}, maxStreams), stopped: make(chan struct{}), limiters: map[string]*rate.Limiter{}, large: map[string]chan struct{}{},
	}
	for _, rt := range routes() {
		methods, ok := s.paths[rt.path]
		if !ok {
			methods = map[string]*route{}
			s.paths[rt.path] = methods
			s.mux.HandleFunc(rt.path, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, methods) })
		}
		methods[rt.method] = &rt
	}
	s.mountPages()
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, nil) })
	return s
}

// HTTP returns the http.Server that serves s on listeners; see Listener.
func (s *Server) HTTP() *http.Server {
	return &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: bodyWithin, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: maxHeader - 4<<10, // to which net/http adds 4 KiB
		DisableGeneralOptionsHandler: true,
		ConnContext:                  withConnection, ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelWarn),
	}
}

// Stop ends the requests that wait or follow events, so that the server can shut down.
func (s *Server) Stop() { s.stop.Do(func() { close(s.stopped) }) }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The mux would itself answer a path that is not clean, with a text or a redirection. A
	// redirection turns a POST into a GET.
	if clean := cleanPath(r); clean != r.URL.EscapedPath() && !strings.HasPrefix(clean, pages.CoordinatorPath) {
		s.serve(w, r, nil)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// cleanPath returns the path of a request without empty segments, "." and "..".
func cleanPath(r *http.Request) string {
	escaped := r.URL.EscapedPath()
	clean := path.Clean("/" + escaped)
	if strings.HasSuffix(escaped, "/") && clean != "/" {
		clean += "/"
	}
	return clean
}

// serve answers one request to a path. methods are the routes that the path has; nil if there is no
// such path.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, methods map[string]*route) {
	began := time.Now()
	path, status := "unknown", 0
	rt, err := s.route(r, methods)
	if rt != nil {
		path = rt.path
	}
	grant := access.Grant{}
	setHeaders(w)
	if err == nil {
		grant, err = s.admit(r, rt)
	}
	leave := func() {}
	if err == nil && rt.large {
		leave, err = s.enter(r, grant.Name)
	}
	if err == nil {
		defer leave()
		_ = http.NewResponseController(w).SetWriteDeadline(began.Add(2 * bodyWithin))
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		err = crash.Try(func() (err error) { status, err = rt.handle(s, w, r, grant); return err })
	}
	if err != nil {
		status = s.answerError(w, r, err)
	}
	if rt != nil && rt.changes() {
		s.Log.Info("audit", "who", grant.Name, "method", r.Method, "path", r.URL.Path, "status", status, "created", w.Header().Get("Location"))
	}
	s.metrics.observe(r, path, status, began)
}

// setHeaders sets the headers of every answer.
func setHeaders(w http.ResponseWriter) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
}

// maxShown is how much of a request's texts an error repeats, in characters.
const maxShown = 200

// shown returns a text of a request as an error repeats it: on one line, without what acts on
// a terminal.
func shown(s string) string { return text.Truncate(text.OneLine(s), maxShown) }

// route finds what answers a request. HEAD is a GET whose body nobody sees. If only the texts of
// the request are wrong, the route is returned with the error.
func (s *Server) route(r *http.Request, methods map[string]*route) (*route, error) {
	if methods == nil {
		return nil, refuse(http.StatusNotFound, "not_found", "there is nothing at %q: GET /openapi.json describes what there is", text.Truncate(r.URL.Path, maxShown))
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if rt, ok := methods[method]; ok {
		if err := checkTexts(r); err != nil {
			return rt, err
		}
		return rt, rt.checkQuery(r.URL.Query())
	}
	allowed := slices.Sorted(maps.Keys(methods))
	return nil, refuse(http.StatusMethodNotAllowed, "method_not_allowed", "%s is not possible at %s: send %s", shown(r.Method), shown(r.URL.Path), strings.Join(allowed, " or ")).
		with("Allow", strings.Join(allowed, ", "))
}

// checkTexts refuses a path or a query that cannot be read, is not UTF-8 or contains NUL. Such a
// text is never a name, and a store may not be able to look for it.
func checkTexts(r *http.Request) error {
	query, err := url.QueryUnescape(r.URL.RawQuery)
	if err == nil {
		if _, unclear := url.ParseQuery(r.URL.RawQuery); unclear != nil { // URL.Query would leave it out
			return invalidRequest("the query cannot be read (%s): separate its members by '&'", unclear)
		}
	}
	if err != nil || !utf8.ValidString(query) || !utf8.ValidString(r.URL.Path) || strings.ContainsRune(query+r.URL.Path, 0) {
		return invalidRequest("the path and the query must be valid UTF-8 without NUL, escaped as in URLs")
	}
	return nil
}

// checkQuery refuses parameters that the route does not have, and parameters that are given twice.
// A route without parameters accepts every query, such as a prober's.
func (rt *route) checkQuery(q url.Values) error {
	if rt.query == nil {
		return nil
	}
	var known []string
	for _, p := range rt.query {
		known = append(known, p.name)
	}
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if !slices.Contains(known, name) {
			return invalidRequest("there is no parameter %q of %s: these are known: %s", text.Truncate(name, maxShown), rt.path, strings.Join(known, ", "))
		}
		if n := len(q[name]); n > 1 {
			return invalidRequest("%s is there %d times: send it once", name, n)
		}
	}
	return nil
}

// connection is what is known of a request's connection.
type connection struct {
	net.Conn
	once  sync.Once
	local bool // the peer is this process's own user or root, on this machine
}

type connectionKey struct{}

func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, &connection{Conn: c})
}

// isOwnUser reports whether the user who runs this server, or root, is at the other end of
// the request's connection.
func isOwnUser(ctx context.Context) bool {
	c, ok := ctx.Value(connectionKey{}).(*connection)
	if !ok {
		return false
	}
	c.once.Do(func() {
		here, okHere := c.LocalAddr().(*net.TCPAddr)
		there, okThere := c.RemoteAddr().(*net.TCPAddr)
		if !okHere || !okThere || !there.IP.IsLoopback() {
			return
		}
		uid, err := peerUser(here.AddrPort(), there.AddrPort())
		c.local = err == nil && (uid == os.Geteuid() || uid == 0)
	})
	return c.local
}
