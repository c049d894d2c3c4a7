package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/agent-airlock/airlock/internal/token"
)

// remote is a server that is asked over HTTP.
type remote struct {
	base   *url.URL
	token  token.Token
	client *http.Client
}

func newRemote(env Environment, server string) (*remote, error) {
	base, err := url.Parse(strings.TrimRight(server, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, exitcode.UsageError(fmt.Errorf("--server: %q is not a URL such as http://127.0.0.1:8417", server))
	}
	r := &remote{base: base, client: &http.Client{Timeout: 90 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if value := env.Getenv("AIRLOCK_TOKEN"); value != "" {
		if ip := net.ParseIP(base.Hostname()); base.Scheme == "http" && base.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return nil, exitcode.UsageError(fmt.Errorf("--server: the token is not sent to %s without TLS: use https", base.Host))
		}
		r.token = token.New(value, base.String())
	}
	return r, nil
}

func (r *remote) close() { r.client.CloseIdleConnections() }

// maxAnswer bounds what a server may answer, in bytes.
const maxAnswer = 64 << 20

// do sends a request and decodes the answer.
func (r *remote) do(ctx context.Context, method, path string, body any, header http.Header, into any) error {
	var sent []byte
	if body != nil {
		var err error
		if sent, err = json.Marshal(body); err != nil {
			return exitcode.UsageError(fmt.Errorf("the parameters are not JSON: %w", err))
		}
	}
	status, raw, err := r.send(ctx, method, path, sent, header)
	if err != nil {
		return err
	}
	if status >= 300 {
		return refusal(status, raw)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("the server answered something else than Airlock's JSON: %w", err)
	}
	return nil
}

// send sends a request, whose body is JSON or nil, and returns the answer.
func (r *remote) send(ctx context.Context, method, path string, body []byte, header http.Header) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, r.base.String()+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if !r.token.IsZero() {
		if err := r.token.Authorize(req); err != nil {
			return 0, nil, exitcode.UsageError(fmt.Errorf("AIRLOCK_TOKEN: %w", err))
		}
	}
	res, err := r.client.Do(req)
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

// refusal makes the error of an answer.
func refusal(status int, raw []byte) error {
	var parameters agents.ParameterErrorBody
	if json.Unmarshal(raw, &parameters) == nil && parameters.ParametersSchema != nil {
		return &agents.ParameterError{AgentName: parameters.AgentName, Violations: parameters.ValidationErrors, Schema: parameters.ParametersSchema}
	}
	var body httpapi.ErrorBody
	if json.Unmarshal(raw, &body) != nil || body.Message == "" {
		return fmt.Errorf("the server answered %d %s", status, http.StatusText(status))
	}
	err := errors.New(body.Message + violationLines(body.ValidationErrors))
	if status < 500 {
		return exitcode.UsageError(err)
	}
	return err
}

func violationLines(list []schema.Violation) string {
	var b strings.Builder
	for _, v := range list {
		fmt.Fprintf(&b, "\n  %s: %s", v.Path, v.Message)
	}
	return b.String()
}

func (r *remote) create(ctx context.Context, q runs.Request) (string, error) {
	header := http.Header{}
	if q.Key != "" {
		header.Set("Idempotency-Key", q.Key)
	}
	body := map[string]any{"agent_name": q.AgentName, "parameters": q.Parameters}
	if len(q.Needs) > 0 {
		body["needs"] = q.Needs
	}
	var run runs.Run
	err := r.do(ctx, http.MethodPost, "/runs", body, header, &run)
	return run.ID, err
}

func (r *remote) workers(ctx context.Context) ([]runs.WorkerState, error) {
	var answer struct{ Workers []runs.WorkerState }
	err := r.do(ctx, http.MethodGet, "/workers", nil, nil, &answer)
	return answer.Workers, err
}

func (r *remote) get(ctx context.Context, id string) (run runs.Run, err error) {
	return run, r.do(ctx, http.MethodGet, "/runs/"+url.PathEscape(id), nil, nil, &run)
}

func (r *remote) result(ctx context.Context, id string) (result json.RawMessage, err error) {
	return result, r.do(ctx, http.MethodGet, "/runs/"+url.PathEscape(id)+"/result", nil, nil, &result)
}

func (r *remote) list(ctx context.Context, f runs.Filter) (list []runs.Run, more bool, err error) {
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
	err = r.do(ctx, http.MethodGet, "/runs?"+q.Encode(), nil, nil, &answer)
	return answer.Runs, answer.NextCursor != "" && len(answer.Runs) > 0, err
}

func (r *remote) stop(ctx context.Context, id string) (run runs.Run, err error) {
	if err := r.do(ctx, http.MethodPost, "/runs/"+url.PathEscape(id)+"/stop", nil, nil, &run); err != nil {
		return run, err
	}
	return r.get(ctx, id)
}
