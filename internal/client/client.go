// Package client asks a coordinator's server over HTTP. An error about wrong usage carries the
// exit code for that, unless it is an *agents.ParameterError.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/httpapi"
	"github.com/agent-airlock/airlock/internal/runs"
	"github.com/agent-airlock/airlock/internal/token"
)

// Client asks one server.
type Client struct {
	base  *url.URL
	token token.Token // zero where the server needs none
	http  *http.Client
}

// New returns a client of the server at a URL. bearer is the token, "" if the server needs none. It
// is not sent to another machine without TLS.
func New(server, bearer string) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(server, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, exitcode.UsageError(fmt.Errorf("--server: %q is not a URL such as http://127.0.0.1:8417", server))
	}
	c := &Client{base: base, http: &http.Client{Timeout: 90 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if bearer == "" {
		return c, nil
	}
	ip := net.ParseIP(base.Hostname())
	isLocal := base.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if base.Scheme == "http" && !isLocal {
		return nil, exitcode.UsageError(fmt.Errorf("--server: the token is not sent to %s without TLS: use https", base.Host))
	}
	c.token = token.New(bearer, base.String())
	return c, nil
}

// Close closes the connections to the server.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// maxAnswer bounds what a server may answer, in bytes.
const maxAnswer = 64 << 20

// do sends a request with body as JSON, or without a body if that is nil, and decodes the answer. A
// refusal is an error with the server's message.
func (c *Client) do(ctx context.Context, method, path string, body any, header http.Header, into any) error {
	var sent []byte
	if body != nil {
		var err error
		if sent, err = json.Marshal(body); err != nil {
			if raw, ok := errors.AsType[*json.MarshalerError](err); ok {
				err = raw.Unwrap()
			}
			return exitcode.UsageError(fmt.Errorf("the parameters are not JSON: %w", err))
		}
	}
	status, answer, err := c.send(ctx, method, path, sent, header)
	if err != nil {
		return err
	}
	if status >= 300 {
		return refusal(status, answer)
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return fmt.Errorf("the server answered something else than Airlock's JSON: %w", err)
	}
	return nil
}

func (c *Client) get(ctx context.Context, path string, into any) error {
	return c.do(ctx, http.MethodGet, path, nil, nil, into)
}

// Send sends a request, whose body is JSON or nil, and returns the answer, even a refusal.
func (c *Client) Send(ctx context.Context, method, path string, body []byte) (status int, answer []byte, err error) {
	return c.send(ctx, method, path, body, nil)
}

func (c *Client) send(ctx context.Context, method, path string, body []byte, header http.Header) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base.String()+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	maps.Copy(req.Header, header)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if !c.token.IsZero() {
		if err := c.token.Authorize(req); err != nil {
			return 0, nil, exitcode.UsageError(fmt.Errorf("AIRLOCK_TOKEN: %w", err))
		}
	}
	res, err := c.http.Do(req)
	if err != nil {
		return 0, nil, fmt.Errorf("the server cannot be asked: %w", err)
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return 0, nil, fmt.Errorf("the server's answer cannot be read: %w", err)
	}
	return res.StatusCode, answer, nil
}

// refusal returns the error for an answer that is a refusal.
func refusal(status int, raw []byte) error {
	var parameters agents.ParameterErrorBody
	if json.Unmarshal(raw, &parameters) == nil && parameters.ParametersSchema != nil {
		return &agents.ParameterError{AgentName: parameters.AgentName, Violations: parameters.ValidationErrors, Schema: parameters.ParametersSchema}
	}
	var body httpapi.ErrorBody
	if json.Unmarshal(raw, &body) != nil || body.Message == "" {
		return fmt.Errorf("the server answered %d %s", status, http.StatusText(status))
	}
	err := errors.New(body.Message)
	if v := body.ValidationErrors; len(v) > 1 || len(v) == 1 && !strings.Contains(body.Message, v[0].Message) {
		err = errors.New(body.Message + agents.ViolationLines(body.ValidationErrors))
	}
	if status < 500 {
		return exitcode.UsageError(err)
	}
	return err
}

// Create starts a run, unless one was started with the same key, and returns its id.
func (c *Client) Create(ctx context.Context, q runs.Request) (id string, err error) {
	header := http.Header{}
	if q.Key != "" {
		header.Set("Idempotency-Key", q.Key)
	}
	body := map[string]any{"agent_name": q.AgentName, "parameters": q.Parameters}
	if len(q.Needs) > 0 {
		body["needs"] = q.Needs
	}
	var run runs.Run
	err = c.do(ctx, http.MethodPost, "/runs", body, header, &run)
	return run.ID, err
}

// Get returns a run.
func (c *Client) Get(ctx context.Context, id string) (run runs.Run, err error) {
	err = c.get(ctx, "/runs/"+url.PathEscape(id), &run)
	return run, err
}

// Result returns what a run that has completed answered.
func (c *Client) Result(ctx context.Context, id string) (result json.RawMessage, err error) {
	err = c.get(ctx, "/runs/"+url.PathEscape(id)+"/result", &result)
	return result, err
}

// List returns runs, the newest first; more reports whether there are older ones.
func (c *Client) List(ctx context.Context, f runs.Filter) (list []runs.Run, more bool, err error) {
	q := url.Values{"limit": {strconv.Itoa(f.Limit)}}
	for name, value := range map[string]string{"agent_name": f.AgentName, "status": string(f.Status), "cursor": f.Before} {
		if value != "" {
			q.Set(name, value)
		}
	}
	var answer struct {
		Runs       []runs.Run
		NextCursor string `json:"next_cursor"`
	}
	err = c.get(ctx, "/runs?"+q.Encode(), &answer)
	return answer.Runs, answer.NextCursor != "" && len(answer.Runs) > 0, err
}

// Stop asks a run to end, and returns it.
func (c *Client) Stop(ctx context.Context, id string) (run runs.Run, err error) {
	if err := c.do(ctx, http.MethodPost, "/runs/"+url.PathEscape(id)+"/stop", nil, nil, &run); err != nil {
		return run, err
	}
	return c.Get(ctx, id)
}

// Workers returns the workers that carry out runs.
func (c *Client) Workers(ctx context.Context) ([]runs.WorkerState, error) {
	var answer struct{ Workers []runs.WorkerState }
	err := c.get(ctx, "/workers", &answer)
	return answer.Workers, err
}
