package githubtest

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// conversation is one request while it is handled.
type conversation struct {
	method    string
	query     url.Values
	body      []byte
	exchange  *exchange // nil for GraphQL and for unknown addresses
	graphql   *document // nil for REST
	git       *gitCall  // nil for the API
	params    map[string]string
	token     *Token // nil without authorization
	account   Account
	badToken  bool
	fault     Fault
	rec       *Request
	violation error
	refused   bool // GraphQL answered 200 with errors
}

// receive records a request and checks it against the contracts. The caller
// holds the lock.
func (s *Server) receive(req *http.Request, body []byte) *conversation {
	s.seq++
	rec := &Request{Seq: s.seq, At: s.o.Clock.Now(), Method: req.Method, Path: req.URL.Path, Query: req.URL.Query(), Header: req.Header.Clone(), Write: req.Method != http.MethodGet}
	rec.Header.Del("Authorization")
	if json.Valid(body) {
		rec.Body = body
	}
	s.record = append(s.record, rec)
	c := &conversation{method: req.Method, query: req.URL.Query(), body: body, rec: rec}
	if s.receiveGit(c, req) {
		return c
	}
	s.authenticate(c, req.Header.Get("Authorization"))

	restPrefix, graphQLPath := "", "/graphql"
	if s.o.Enterprise {
		restPrefix, graphQLPath = "/api/v3", "/api/graphql"
	}
	if req.URL.Path == graphQLPath {
		s.receiveGraphQL(c)
		return c
	}
	rest, ok := strings.CutPrefix(req.URL.EscapedPath(), restPrefix)
	if !ok {
		c.violation = errors.New("the address is not below the API's base " + restPrefix)
	} else {
		r2 := req.Clone(req.Context())
		r2.URL.Path, _ = url.PathUnescape(rest)
		r2.URL.RawPath = rest
		rec.Path = r2.URL.Path
		c.exchange, c.violation = s.rest.request(r2, body)
	}
	if c.exchange != nil {
		rec.Operation, c.params = c.exchange.operation(), map[string]string{}
		for k, v := range c.exchange.params() { // the router leaves them escaped
			if plain, err := url.PathUnescape(v); err == nil {
				v = plain
			}
			c.params[k] = v
		}
		rec.Content = rec.Method == http.MethodPost && !slices.Contains([]string{"issues/add-labels", "code-scanning/upload-sarif", "git/create-ref"}, rec.Operation)
	}
	if c.violation == nil && req.Header.Get("User-Agent") == "" {
		c.violation = errors.New("a request without User-Agent is refused by GitHub")
	}
	return c
}

// authenticate finds out whose token it is.
func (s *Server) authenticate(c *conversation, header string) {
	if header == "" {
		return
	}
	secret, ok := strings.CutPrefix(header, "Bearer ")
	if !ok {
		secret, ok = strings.CutPrefix(header, "token ")
	}
	s.recognise(c, secret, ok)
}

// recognise finds a token's entry; ok says whether there was a token to read.
func (s *Server) recognise(c *conversation, secret string, ok bool) {
	c.badToken = !ok || secret == ""
	if c.badToken {
		return
	}
	c.account = s.state.Viewer
	if len(s.state.Tokens) == 0 {
		c.token = &Token{Secret: secret}
	}
	for i, t := range s.state.Tokens {
		if t.Secret == secret {
			c.token = &s.state.Tokens[i]
			if t.Account.ID != 0 {
				c.account = t.Account
			}
		}
	}
	c.badToken = c.token == nil
	if c.token != nil {
		c.rec.Account = c.account.Login
	}
}
