package httpapi

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/access"
	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/pages"
)

// mountPages serves the pages for people, which are made of answers of the API. Host, origin,
// scopes and rate are checked as for the API. Visitors can also identify themselves by the cookie
// of a session. The API never looks at this cookie.
func (s *Server) mountPages() {
	site := pages.NewCoordinator(s.Log)
	s.mux.HandleFunc(pages.CoordinatorPath, func(w http.ResponseWriter, r *http.Request) { s.servePage(site, w, r) })
	s.mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) {
		if !wantsHTML(r) {
			s.serve(w, r, nil)
			return
		}
		s.servePage(site, w, r)
	})
}

// wantsHTML reports whether a page is asked for, as browsers do.
func wantsHTML(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(strings.Join(r.Header.Values("Accept"), ","), "text/html")
}

func (s *Server) servePage(site *pages.Coordinator, w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	counting := &statusWriter{ResponseWriter: w}
	err := crash.Try(func() error { return s.tryPage(site, counting, r) })
	if err != nil && counting.status == 0 {
		e := s.describe(r, err)
		maps.Copy(w.Header(), e.header)
		again := ""
		if e.ErrorBody.Error == "forbidden_origin" && isNavigation(r) {
			again = r.URL.RequestURI()
			e.Message = "A page of another site has led here. If you want to go on, use the link"
		}
		site.Refuse(counting, r, e.status, e.Message, again)
	}
	s.metrics.observe(r, pages.CoordinatorPath, counting.status, began)
}

// isNavigation reports whether a person follows a link to a path of this server. The browser then
// shows the answer to the person, and no other page sees it.
func isNavigation(r *http.Request) bool {
	opensPage := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	target := r.URL.RequestURI()
	return opensPage && strings.HasPrefix(target, "/") && !strings.HasPrefix(target, "//")
}

func (s *Server) tryPage(site *pages.Coordinator, w *statusWriter, r *http.Request) error {
	if err := checkTexts(r); err != nil {
		return err
	}
	if err := s.checkOrigin(r); err != nil {
		return err
	}
	changes := r.Method != http.MethodGet && r.Method != http.MethodHead
	fromOwnPage := r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") == "same-origin" // checkOrigin has refused another Origin
	if changes && !fromOwnPage {
		return refuse(http.StatusForbidden, "forbidden_origin", "a form is taken from this server's own pages only; programs use the API, which /openapi.json describes")
	}
	if site.ServeAsset(w, r) {
		return nil
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(2 * bodyWithin))
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	v, grant, err := s.visitor(w, r)
	if err != nil {
		return err
	}
	if err := s.limit(cmp.Or(grant.Name, addressOf(r)), 1); err != nil {
		return err
	}
	site.Serve(w, r, v)
	return nil
}

// visitor returns who asks for a page, with the grant. The grant of somebody unknown has no name.
func (s *Server) visitor(w http.ResponseWriter, r *http.Request) (v pages.Visitor, g access.Grant, err error) {
	cookie := sessionCookie(r, s.Public)
	secret := ""
	if given, err := r.Cookie(cookie.Name); err == nil && r.Header.Get("Authorization") == "" {
		secret = given.Value
	}
	if v, g, err = s.identifyVisitor(r, secret); err != nil {
		return v, g, err
	}
	v.Allows = func(scope string) bool { return g.Allows(access.Scope(scope)) }
	v.Ask = func(method, target, key string, body []byte) (int, []byte, error) {
		header := http.Header{}
		if key != "" {
			header.Set("Idempotency-Key", key)
		}
		return s.call(r.Context(), g, method, target, header, body)
	}
	v.Pass = func(target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil { // impossible: target is part of an address that was parsed
			s.answerError(w, r, err)
			return
		}
		passed := r.WithContext(context.WithValue(context.WithValue(r.Context(), grantKey{}, g), countedKey{}, true))
		passed.URL, passed.RequestURI = u, target
		s.mux.ServeHTTP(w, passed)
	}
	v.SignIn = func(token string) (int, error) {
		if secret != "" { // end the old session, whose secret somebody else may know
			if err := s.Tokens.SignOut(r.Context(), secret); err != nil {
				e := s.describe(r, err)
				return e.status, e
			}
		}
		return s.signIn(w, r, token, *cookie)
	}
	v.SignOut = func() error {
		removed := *cookie
		removed.MaxAge = -1
		http.SetCookie(w, &removed)
		return s.Tokens.SignOut(r.Context(), secret)
	}
	return v, g, nil
}

// identifyVisitor returns the visitor to whom a session's secret belongs. Without such a session, it
// identifies the caller as the API does. It sets only the fields that describe the visitor, not the
// functions.
func (s *Server) identifyVisitor(r *http.Request, secret string) (v pages.Visitor, g access.Grant, err error) {
	if g, v.Session, err = s.Tokens.CheckSession(r.Context(), secret); err != nil {
		return v, g, err
	}
	if v.CanSignIn, err = s.Tokens.Any(r.Context()); err != nil {
		return v, g, err
	}
	if !v.Session {
		g, err = s.identify(r)
		if refused, ok := errors.AsType[*apiError](err); ok {
			v.WhyNotSignedIn, err = refused.Message, nil
		}
	}
	v.Name = g.Name
	return v, g, err
}

// signIn begins a session with a token, and gives the browser its cookie. It returns the status
// of the answer.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request, token string, cookie http.Cookie) (int, error) {
	secret, signedIn, ok, err := s.Tokens.SignIn(r.Context(), token)
	if err == nil && !ok {
		err = refuse(http.StatusUnauthorized, "invalid_token", "the token is not known, or was revoked")
	}
	if err != nil {
		e := s.describe(r, err)
		s.Log.Info("audit", "who", addressOf(r), "method", "sign-in", "path", r.URL.Path, "status", e.status)
		return e.status, e
	}
	s.Log.Info("audit", "who", signedIn.Name, "method", "sign-in", "path", r.URL.Path, "status", http.StatusSeeOther)
	cookie.Value, cookie.MaxAge = secret, int(access.SessionLife.Seconds())
	http.SetCookie(w, &cookie)
	return http.StatusSeeOther, nil
}

// sessionCookie returns the cookie of a session, without its value. If the connection is known to
// be encrypted, browsers send the cookie over encrypted connections only, and accept it from this
// host only.
func sessionCookie(r *http.Request, public bool) *http.Cookie {
	c := &http.Cookie{Name: "airlock-session", Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode}
	// A server that is public, which means beyond loopback, is reached over TLS: its own or a proxy's.
	if r.TLS != nil || public || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		c.Name, c.Secure = "__Host-"+c.Name, true
	}
	return c
}

// addressOf returns "from " and the address from which a request comes, without the port.
func addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return "from " + host
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *statusWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
