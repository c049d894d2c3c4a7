//go:build unix

package main_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestCoordinatorBearsHostileRequests sends invalid and hostile requests to a coordinator whose
// store is a SQLite file; TestPostgresBearsHostileRequests does so with PostgreSQL.
func TestCoordinatorBearsHostileRequests(t *testing.T) {
	t.Parallel()
	bearHostileRequests(t, "store.db")
}

// hostileRequest is a request and its documented answer.
type hostileRequest struct {
	request string // method and path
	body    string
	status  int
	code    string // "" for a success
	says    string // part of the answer
	key     string // its Idempotency-Key
}

// hostileRequests are requests to a server with the built-in agents, the agent "researcher", which
// takes a prompt, and the agent "anything", which takes any object. They are sent in this order.
func hostileRequests() []hostileRequest {
	var all []hostileRequest
	add := func(request, body string, status int, code, says string) {
		all = append(all, hostileRequest{request: request, body: body, status: status, code: code, says: says})
	}
	blueprint := func(members string, says string) {
		add("POST /agents", `{"name":"x","type":"agent","command":["cat"],`+members+`}`, 400, "invalid_request", says)
	}
	schema := func(text, says string) {
		add("POST /agents", `{"name":"x","type":"deterministic","command":["cat"],"parameters_schema":`+text+`}`, 400, "invalid_request", says)
	}
	parameters := func(text string, status int, code, says string) {
		add("POST /runs", `{"agent_name":"researcher","parameters":`+text+`}`, status, code, says)
	}
	nested := func(open, inner, closing string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(closing, n)
	}

	// Blueprints.
	for _, name := range []string{`"A"`, `"-a"`, `"a/b"`, `"a\u0000"`, `""`, `"a b"`, `"é"`, `7`, `null`, `["a"]`, `"\ud800"`, `"` + strings.Repeat("a", 64) + `"`} {
		add("POST /agents", `{"name":`+name+`,"type":"agent","command":["cat"]}`, 400, "invalid_request", "$.name")
	}
	for _, command := range []string{`"sh -c x"`, `[]`, `[""]`, `[1]`, `["a\u0000b"]`, `null`, `{"0":"sh"}`, `[["cat"]]`, `[` + strings.Repeat(`"x",`, 300) + `"x"]`} {
		add("POST /agents", `{"name":"x","type":"agent","command":`+command+`}`, 400, "invalid_request", "$.command")
	}
	for members, says := range map[string]string{
		`"type":"agent"`: "the member is there twice", `"extra":1`: "$.extra", `"Tags":[]`: "$.Tags", `"source":"built-in"`: "$.source", `"version":7`: "$.version",
		`"description":7`: "$.description", `"description":"a\u0000b"`: "$.description", `"description":"` + strings.Repeat("x", 5000) + `"`: "$.description",
		`"tags":["x","x"]`: "$.tags", `"tags":"x"`: "$.tags", `"tags":[1]`: "$.tags[0]", `"tags":["a\u0000"]`: "$.tags[0]", `"needs":["GPU"]`: "$.needs[0]", `"needs":["a","a"]`: "$.needs",
		`"time_limit_seconds":0`: "$.time_limit_seconds", `"time_limit_seconds":1.5`: "$.time_limit_seconds", `"time_limit_seconds":"5"`: "$.time_limit_seconds", `"time_limit_seconds":1e30`: "$.time_limit_seconds",
		`"max_attempts":-1`: "$.max_attempts", `"max_attempts":1000`: "$.max_attempts", `"output_schema":"x"`: "$.output_schema", `"output_schema":{"pattern":"("}`: "$.output_schema",
		`"output_schema":{"$ref":"https://evil.example/s.json"}`: "only references within the schema",
	} {
		blueprint(members, says)
	}
	for text, says := range map[string]string{
		`"x"`: "$.parameters_schema", `true`: "$.parameters_schema", `[]`: "$.parameters_schema", `{}`: "must be of type object", `{"type":"array"}`: "must be of type object", `{"type":["object","null"]}`: "must be of type object",
		`{"type":"object","properties":{"a":{"$ref":"http://evil.example/x"}}}`:      "only references within the schema",
		`{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`:         "only references within the schema",
		`{"type":"object","properties":{"a":{"$ref":"#/definitions/none"}}}`:         "cannot be compiled",
		`{"type":"object","$ref":"#"}`:                                               "cannot be compiled",
		`{"type":"object","properties":{"a":{"pattern":"(?=a)"}}}`:                   "$.properties.a.pattern",
		`{"type":"object","properties":{"a":{"pattern":"((a{100}){100}){100}"}}}`:    "$.properties.a.pattern",
		`{"type":"object","patternProperties":{"[":{}}}`:                             "regex",
		`{"type":"object","properties":{"a":{"minimum":"x"}}}`:                       "$.properties.a.minimum",
		`{"type":"object","properties":{"a":{"multipleOf":0}}}`:                      "$.properties.a.multipleOf",
		`{"type":"object","properties":{"a":{"type":"text"}}}`:                       "$.properties.a.type",
		`{"type":"object","required":["a","a"]}`:                                     "$.required",
		`{"type":"object","enum":[]}`:                                                "$.enum",
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object"}`: "only draft-07",
		`{"type":"object","description":"` + strings.Repeat("x", 300_000) + `"}`:     "256 KiB",
		nested(`{"type":"object","properties":{"a":`, `{}`, `}}`, 400):               "$",
	} {
		schema(text, says)
	}
	add("POST /agents", `{"name":"x","type":"deterministic","command":["cat"]}`, 400, "invalid_request", "$.parameters_schema")
	add("POST /agents", `{"name":"x","type":"robot","command":["cat"]}`, 400, "invalid_request", "$.type")
	add("POST /agents", `{"name":"phase-validation","type":"agent","command":["cat"]}`, 409, "agent_exists", "phase-validation")
	for _, body := range []string{`{"name":"x",}`, `{'name':'x'}`, `NaN`, `"x"`, `null`, `[]`, "\x00", "\xff\xfe{\x00}\x00", `{"name":"x"/**/}`, `{"a":1}{"b":2}`, ` `} {
		add("POST /agents", body, 400, "invalid_request", "")
	}
	// A schema that explodes: 2^30 ways through it. It is accepted, and the value is refused.
	var definitions []string
	for n := range 30 {
		definitions = append(definitions, fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/definitions/d%d"},{"$ref":"#/definitions/d%d"}]}`, n, n+1, n+1))
	}
	add("POST /agents", `{"name":"bomb","type":"deterministic","command":["cat"],"parameters_schema":{"type":"object","definitions":{"d30":{"type":"object"},`+strings.Join(definitions, ",")+`},"properties":{"a":{"$ref":"#/definitions/d0"}}}}`, 201, "", "")
	add("POST /runs", `{"agent_name":"bomb","parameters":{"a":{}}}`, 400, "parameter_validation_failed", "too large or too deeply nested to be checked")

	// Changes.
	for body, says := range map[string]string{`null`: "$", `"x"`: "$", `{"type":null}`: "$.type", `{"command":null}`: "$.command", `{"command":[]}`: "$.command", `{"name":"other"}`: "$.name", `{"name":null}`: "$.name",
		`{"version":9}`: "$.version", `{"type":"deterministic"}`: "$.parameters_schema", `{"parameters_schema":{"type":"array"}}`: "$.parameters_schema", nested(`{"a":`, `1`, `}`, 600): "", `{`: "", ``: "the body is empty"} {
		add("PATCH /agents/researcher", body, 400, "invalid_request", says)
	}
	for _, name := range []string{"nobody", "%2e%2e", "a%0Ab", strings.Repeat("a", 5000), "Researcher", "researcher%20", "%F0%9F%92%A5", "'%20OR%201=1"} {
		add("GET /agents/"+name, "", 404, "agent_not_found", "GET /agents and the tool list_agent_blueprints list")
		add("PATCH /agents/"+name, "{}", 404, "agent_not_found", "GET /agents and the tool list_agent_blueprints list")
		add("DELETE /agents/"+name, "", 404, "agent_not_found", "GET /agents and the tool list_agent_blueprints list")
	}
	add("DELETE /agents/acceptance", "", 409, "agent_read_only", "built in")

	// Runs.
	for _, name := range []string{`""`, `"a\u0000b"`, `"../agents"`, `"Researcher"`, `"researcher "`, `"\ud800"`, `"` + strings.Repeat("x", 100_000) + `"`} {
		add("POST /runs", `{"agent_name":`+name+`,"parameters":{"prompt":"x"}}`, 404, "agent_not_found", "GET /agents and the tool list_agent_blueprints list")
	}
	for _, name := range []string{`null`, `7`, `["researcher"]`} {
		add("POST /runs", `{"agent_name":`+name+`}`, 400, "invalid_request", "$.agent_name")
	}
	for text, says := range map[string]string{`"x"`: `"path":"$"`, `7`: `"path":"$"`, `true`: `"path":"$"`, `[]`: `"path":"$"`, `[{"prompt":"x"}]`: `"path":"$"`, `null`: `"path":"$"`, `{"prompt":""}`: "$.prompt", `{"prompt":null}`: "$.prompt",
		`{"prompt":["x"]}`: "$.prompt", `{"Prompt":"x"}`: "$.Prompt", `{"prompt":"x","":1}`: "$['']", `{"prompt":"x","__proto__":{}}`: "$.__proto__", `{"prompt":1e400}`: "$.prompt", `{"prompt":` + nested(`[`, ``, `]`, 500) + `}`: "$.prompt"} {
		parameters(text, 400, "parameter_validation_failed", says)
	}
	for text, says := range map[string]string{`{"prompt":"x","prompt":"y"}`: "the member is there twice", `{"prompt":-}`: "not valid JSON", `{"prompt":01}`: "not valid JSON", `{"prompt":"x"`: "not valid JSON", "{\"prompt\":\"\t\"}": "not valid JSON",
		`{"prompt":` + nested(`{"a":`, `1`, `}`, 600) + `}`: "", `{"prompt":"` + "\xed\xa0\x80" + `"}`: "not UTF-8"} {
		parameters(text, 400, "invalid_request", says)
	}
	for needs, says := range map[string]string{`"gpu"`: "$.needs", `[1]`: "$.needs[0]", `[null]`: "$.needs[0]", `["a","a"]`: "$.needs", `["GPU"]`: "$.needs[0]", `["a+b"]`: "$.needs[0]", `[""]`: "$.needs[0]", `["a\u0000"]`: "$.needs[0]", `{}`: "$.needs", `null`: "$.needs",
		`["` + strings.Repeat("a", 64) + `"]`: "$.needs[0]", `[` + strings.Repeat(`"a",`, 20) + `"b"]`: "$.needs"} {
		add("POST /runs", `{"agent_name":"researcher","parameters":{"prompt":"x"},"needs":`+needs+`}`, 400, "invalid_request", says)
	}
	add("POST /runs", `{"agent_name":"anything","parameters":{"a":[`+strings.Repeat("1,", 200_000)+`1]}}`, 201, "", "")
	add("POST /runs", `{"agent_name":"anything","parameters":{"a":"\u0000\ud800\udc00 '; DROP TABLE runs; --"}}`, 201, "", "")
	add("POST /runs", `{"agent_name":"anything","parameters":{"a":`+nested(`[`, ``, `]`, 500)+`,"n":1e400,"m":123456789012345678901234567890}}`, 201, "", "")
	add("POST /runs", `{"agent_name":"anything","parameters":{"a":"`+strings.Repeat("x", 1<<20)+`"}}`, 413, "request_too_large", "1048576 bytes")

	// Keys.
	keyed := func(key, body string, status int, code, says string) {
		all = append(all, hostileRequest{"POST /runs", body, status, code, says, key})
	}
	const good = `{"agent_name":"researcher","parameters":{"prompt":"x"}}`
	keyed("k", good, 201, "", "run_id")
	keyed("k", ` { "parameters":{"prompt":"\u0078"}, "agent_name" : "researcher" }`, 201, "", "run_id")
	keyed("k", `{"agent_name":"researcher","parameters":{"prompt":"y"}}`, 409, "idempotency_conflict", "use a new key")
	keyed("k", `{"agent_name":"anything","parameters":{"prompt":"x"}}`, 409, "idempotency_conflict", "use a new key")
	keyed("k", `{"agent_name":"researcher","parameters":{"prompt":"x"},"needs":["gpu"]}`, 409, "idempotency_conflict", "use a new key")
	keyed("bad", `{"agent_name":"researcher"}`, 400, "parameter_validation_failed", "$.prompt")
	keyed("bad", good, 201, "", "run_id") // the refused request has not used up the key
	keyed(strings.Repeat("k", 255), good, 201, "", "run_id")
	keyed(strings.Repeat("k", 256), good, 400, "invalid_request", "Idempotency-Key")
	keyed("é", good, 400, "invalid_request", "Idempotency-Key")

	// Questions.
	for query, says := range map[string]string{"limit=1e3": "limit", "limit=-1": "limit", "limit=99999999999999999999": "limit", "limit=%D9%A3": "limit", "limit=1&limit=2": "send it once", "status=FAILED": "status", "status=failed&status=failed": "send it once",
		"cursor=run_": "cursor", "cursor=run_zzzzzzzzzzzzzzzzzzzzzzzz": "cursor", "x=1": "no parameter", "LIMIT=1": "no parameter", "%00=1": "NUL", "agent_name=%C3%28": "UTF-8", "status=failed;limit=1": "'&'", "limit=%": "escaped"} {
		add("GET /runs?"+query, "", 400, "invalid_request", says)
	}
	for _, path := range []string{"/runs/none/wait?timeout=-1", "/runs/none/wait?timeout=NaN", "/runs/none/wait?timeot=5", "/runs/none/log?from=-1", "/runs/none/log?from=99999999999", "/loops?limit=0", "/loops?open=maybe", "/loops?waits_for=me", "/loops?cursor=x", "/loops?z=1"} {
		add("GET "+path, "", 400, "invalid_request", "")
	}
	for _, id := range []string{"%27", "run_000000000000000000000000", "..%2Fagents", strings.Repeat("a", 20_000), "run_%E2%80%AE"} {
		for _, path := range []string{"", "/result", "/log", "/events", "/wait?timeout=0"} {
			add("GET /runs/"+id+path, "", 404, "run_not_found", "")
		}
		add("POST /runs/"+id+"/stop", "{", 404, "run_not_found", "")
		add("GET /loops/"+id, "", 404, "loop_not_found", "")
	}
	add("GET /runs?agent_name='%20OR%201=1", "", 200, "", `{"runs":[]}`)
	add("POST /loops/none/decision", `{"decision":"destroy"}`, 400, "invalid_request", "$.decision")
	add("POST /loops/none/decision", `{"decision":"abort"}`, 404, "loop_not_found", "")
	for body, says := range map[string]string{`{"files":"x"}`: "$.files", `{"files":[7]}`: "$.files[0]", `{"iteration":0}`: "$.iteration", `{"head_sha":null}`: "$.head_sha", `{"x":1}`: "$.x", `[]`: `"path":"$"`} {
		add("POST /loops/none/fixed", body, 400, "invalid_request", says)
	}
	add("POST /agents/nobody/validate", `{}`, 404, "agent_not_found", "")
	add("POST /agents/researcher/validate", `7`, 400, "parameter_validation_failed", `"path":"$"`)
	return all
}

// bearHostileRequests asserts that a coordinator with a store answers each hostile request as
// documented, and records exactly the accepted runs. It also asserts what each token allows.
func bearHostileRequests(t *testing.T, location string) {
	dir := t.TempDir()
	cmd := exec.Command(binary, "serve", "--addr", "127.0.0.1:0", "--store", location, "--concurrency", "0")
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	url := startServer(t, cmd)
	send := func(r hostileRequest, headers ...string) (status int, answer string) {
		method, path, _ := strings.Cut(r.request, " ")
		if r.key != "" {
			headers = append(headers, "Idempotency-Key: "+r.key)
		}
		return ask(t, http.DefaultClient, method, url+path, r.body, headers...)
	}
	for _, b := range []string{`{"name":"researcher","type":"agent","command":["cat"]}`, `{"name":"anything","type":"deterministic","command":["cat"],"parameters_schema":{"type":"object"}}`} {
		if status, answer := send(hostileRequest{request: "POST /agents", body: b}); status != 201 {
			t.Fatal(status, answer)
		}
	}
	recorded := map[string]bool{}
	for _, r := range hostileRequests() {
		status, answer := send(r)
		var body struct {
			Error, Message string
			ID             string `json:"run_id"`
		}
		err := json.Unmarshal([]byte(answer), &body)
		if err != nil || status != r.status || body.Error != r.code || !strings.Contains(answer, r.says) || r.code != "" && (len(body.Message) < 15 || len(body.Message) > 2000) {
			t.Errorf("%.100s %.200s: %d %.500s, want %d %s with %q", r.request, r.body, status, answer, r.status, r.code, r.says)
		}
		if body.ID != "" {
			recorded[body.ID] = true
		}
	}
	var list struct {
		Runs []struct {
			ID string `json:"run_id"`
		}
	}
	if _, answer := send(hostileRequest{request: "GET /runs?limit=200"}); json.Unmarshal([]byte(answer), &list) != nil || len(list.Runs) != len(recorded) {
		t.Errorf("%d runs are recorded, and %d were accepted", len(list.Runs), len(recorded))
	}
	if _, answer := send(hostileRequest{request: "GET /agents"}); strings.Contains(answer, `"name":"x"`) || strings.Count(answer, `"source":"stored"`) != 3 {
		t.Errorf("an agent that was refused is there: %s", answer)
	}

	tokens := map[string]string{"": "", "wrong": "airlock_wrong", "long": strings.Repeat("a", 8000), "split": "airlock_a b"}
	for _, scope := range []string{"read", "run", "decide", "admin", "revoked"} {
		r := run(t, dir, nil, "", "token", "add", scope, "--scope", cmp.Or(map[string]string{"revoked": "admin"}[scope], scope), "--store", location)
		if r.code != 0 {
			t.Fatal(r.stderr)
		}
		tokens[scope] = strings.TrimSpace(r.stdout)
	}
	if r := run(t, dir, nil, "", "token", "revoke", "revoked", "--store", location); r.code != 0 {
		t.Fatal(r.stderr)
	}
	eventually(t, func() bool { // the server reads the tokens once a second
		known, _ := send(hostileRequest{request: "GET /agents"}, "Authorization: Bearer "+tokens["admin"])
		revoked, _ := send(hostileRequest{request: "GET /agents"}, "Authorization: Bearer "+tokens["revoked"])
		return known == 200 && revoked == 401
	}, "the tokens are not known, or one that was revoked still is")
	for _, r := range []struct {
		request, body string
		allowed       string // the scopes
		status        int    // where it is allowed
	}{
		{"GET /agents", "", "read run decide admin", 200},
		{"GET /metrics", "", "read run decide admin", 200},
		{"GET /workers", "", "read run decide admin", 200},
		{"GET /loops/none", "", "read run decide admin", 404},
		{"POST /agents/researcher/validate", `{"prompt":"x"}`, "read run decide admin", 200},
		{"POST /runs", `{"agent_name":"nobody"}`, "run admin", 404},
		{"POST /runs/run_none/stop", "", "run admin", 404},
		{"POST /loops/none/fixed", "{}", "run admin", 404},
		{"POST /loops/none/decision", `{"decision":"abort"}`, "decide admin", 404},
		{"POST /agents", "{}", "admin", 400},
		{"PATCH /agents/researcher", "[]", "admin", 400},
		{"DELETE /agents/nobody", "", "admin", 404},
		{"GET /healthz", "", "anybody", 200},
		{"GET /openapi.json", "", "anybody", 200},
	} {
		for name, token := range tokens {
			want, code := r.status, ""
			known := strings.Contains(" read run decide admin ", " "+name+" ")
			switch {
			case r.allowed == "anybody" || known && strings.Contains(" "+r.allowed+" ", " "+name+" "):
			case name == "":
				want, code = 401, `"error":"unauthorized"`
			case !known:
				want, code = 401, `"error":"invalid_token"`
			default:
				want, code = 403, `"error":"forbidden"`
			}
			var headers []string
			if token != "" {
				headers = []string{"Authorization: Bearer " + token}
			}
			if status, answer := send(hostileRequest{request: r.request, body: r.body}, headers...); status != want || !strings.Contains(answer, code) || token != "" && strings.Contains(answer, token) {
				t.Errorf("%s with the token %q: %d %.300s, want %d %s", r.request, name, status, answer, want, code)
			}
		}
	}
}
