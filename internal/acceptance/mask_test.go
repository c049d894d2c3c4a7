package acceptance_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-airlock/airlock/internal/acceptance"
)

// known is a secret that deps masks.
const known = "hunter2"

// texts calls f with each string in v and its path, and stores what f returns. It first fills nil
// pointers, and gives each empty slice an element. An interface counts as a string.
func texts(v reflect.Value, path string, f func(path, s string) string) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		texts(v.Elem(), path, f)
	case reflect.Struct:
		for i := range v.NumField() {
			texts(v.Field(i), path+"."+v.Type().Field(i).Name, f)
		}
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			texts(v.Index(i), path, f)
		}
	case reflect.Interface:
		s, _ := v.Interface().(string)
		v.Set(reflect.ValueOf(f(path, s)))
	case reflect.String:
		v.SetString(f(path, v.String()))
	}
}

// Every field of a response is masked, except ids, the time, and words of fixed lists. A new field
// that is not masked makes this test fail.
func TestMaskOfAllFields(t *testing.T) {
	var r acceptance.Response
	filled := 0
	texts(reflect.ValueOf(&r), "", func(_, _ string) string { filled++; return "a " + known })
	r.Mask(deps(nil).Mask)
	var kept []string
	texts(reflect.ValueOf(&r), "", func(path, s string) string {
		if strings.Contains(s, known) {
			kept = append(kept, path)
		}
		return s
	})
	slices.Sort(kept)
	want := []string{".Claims.Status", ".Dispatch", ".Evidence.Files.CriterionID", ".Gates.Status", ".NextStep", ".Results.ID", ".Results.Status", ".TaskID", ".Timestamp", ".Verdict"}
	if !slices.Equal(kept, want) || filled < 25 {
		t.Errorf("of %d fields, these are not masked: %q, want %q", filled, kept, want)
	}
}

// secretRequest is a request that has a secret wherever one may stand, and criteria of each sort.
const secretRequest = `{"task_id":"t","validation_type":"code","services":{"app_url":"http://user:hunter2@x.example"},
	"claimed_evidence":{"summary":"hunter2","files_modified":["hunter2.md","/hunter2","a.md"],"test_results":"hunter2"},
	"acceptance_criteria":[
		{"id":"hunter2","description":"hunter2","validation_hint":"docs/hunter2.md"},
		{"id":"hunter2.","description":"d","validation_hint":"docs/hunter2.md contains \"hunter2\""},
		{"id":"C","description":"d","validation_hint":"$ print hunter2"},
		{"id":"D","description":"d","validation_hint":"GET https://x.example/hunter2 -> 204"},
		{"id":"E","description":"d","validation_hint":"test:hunter2"},
		{"id":"F","description":"d","validation_hint":"check:hunter"},
		{"id":"G","description":"d","validation_hint":"../hunter2 exists"},
		{"id":"H","description":"d","validation_hint":"no/hunter2.md"},
		{"id":"I","description":"d","validation_hint":"hunter2 is nice"}]}`

// secretAnswer is a validator's answer with a secret in each text.
const secretAnswer = `{"task_id":"t","verdict":"FAIL","reasoning":"hunter2","validator_id":"hunter2","timestamp":"2026-01-01T00:00:00Z",
	"criteria_results":[{"criterion_id":"I","status":"FAIL","evidence":"hunter2","remediation":"hunter2"}],
	"claims":[{"claim":"hunter2","status":"FAIL","evidence":"hunter2"}],"gates":[{"gate":1,"status":"FAIL","evidence":"hunter2"}],
	"evidence_collected":{
		"screenshots":[{"path":"/tmp/hunter2.png","description":"hunter2","step":"hunter2"},{"path":"lost/hunter2.png","step":1}],
		"test_results":[{"command":"hunter2","exit_code":1,"output_snippet":"hunter2"}],
		"api_responses":[{"endpoint":"hunter2","method":"hunter2","status_code":200,"response_snippet":"hunter2"}],
		"file_checks":[{"path":"hunter2","exists":true,"note":"hunter2"}],
		"files":[{"path":"hunter2","criterion_id":"I","description":"hunter2"}]}}`

// No secret of a request, a program, a repository or an error is in a line of progress, in a file of
// evidence, in its name, or, apart from ids, in the response.
func TestNoSecretComesOut(t *testing.T) {
	w := &tree{files: map[string]string{"docs/hunter2.md": "hunter2", "a.md": ""}, changed: []string{"a.md"}, printed: "hunter2\nhunter2"}
	d := deps(w)
	var saving sync.Mutex
	saved := map[string]string{}
	d.Save = func(name string, data []byte) error {
		saving.Lock()
		defer saving.Unlock()
		if strings.HasPrefix(name, "checks/") {
			return errors.New("hunter2: no space left")
		}
		saved[name] = string(data)
		return nil
	}
	var lines []string
	d.Progress = func(s acceptance.Step) { lines = append(lines, s.Line(func(s string) string { return s })) }
	d.Validator = &acceptance.Program{Name: known, Find: func() error { return nil },
		Ask: func(context.Context, []byte) ([]byte, error) { return []byte(secretAnswer), nil },
		Collect: func(path string) ([]byte, error) {
			if strings.HasPrefix(path, "lost") {
				return nil, errors.New("there is no " + path)
			}
			return []byte("picture"), nil
		}}
	d.Judge = &acceptance.Program{Name: known, Find: func() error { return nil },
		Ask: func(context.Context, []byte) ([]byte, error) {
			return []byte(`{"verdict":"FAIL","reasoning":"hunter2"}`), nil
		}}
	missing := *d.Validator
	missing.Find = func() error { return errors.New("there is no hunter2") }
	onBranch := strings.Replace(secretRequest, `"services"`, `"branch":"hunter2","services"`, 1)
	passing := `{"task_id":"t","validation_type":"code","acceptance_criteria":[{"id":"A","description":"d","validation_hint":"a.md"}]}`
	for name, c := range map[string]struct {
		request string
		trust   acceptance.Trust
		change  func(*acceptance.Deps)
	}{
		"an owner's":          {secretRequest, acceptance.Owner, nil},
		"a stranger's":        {strings.Replace(secretRequest, `"services":{"app_url":"http://user:hunter2@x.example"},`, "", 1), acceptance.Stranger, nil},
		"another branch":      {onBranch, acceptance.Owner, nil},
		"no service":          {secretRequest, acceptance.Owner, func(d *acceptance.Deps) { d.Reach = func(context.Context, string) error { return errors.New(known) } }},
		"no validator":        {secretRequest, acceptance.Owner, func(d *acceptance.Deps) { d.Validator = &missing }},
		"the judge":           {passing, acceptance.Owner, nil},
		"a judge's error":     {passing, acceptance.Owner, func(d *acceptance.Deps) { d.Judge = failing(known) }},
		"a validator's error": {secretRequest, acceptance.Owner, func(d *acceptance.Deps) { d.Validator = failing(known) }},
		"a validator's nonsense": {secretRequest, acceptance.Owner, func(d *acceptance.Deps) {
			d.Validator = answering(strings.ReplaceAll(secretAnswer, `"criterion_id":"I"`, `"criterion_id":"hunter2"`))
		}},
	} {
		clear(saved)
		lines = nil
		given := d
		if c.change != nil {
			c.change(&given)
		}
		req, err := acceptance.ReadRequest([]byte(c.request))
		if err != nil {
			t.Fatal(err)
		}
		r, err := acceptance.Verify(t.Context(), req, acceptance.Config{Trust: c.trust}, given)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if shown := withoutIDs(t, r) + "\n" + strings.Join(lines, "\n"); strings.Contains(shown, known) {
			t.Errorf("%s: %s", name, shown)
		}
		for file, data := range saved {
			if file != "response.json" && strings.Contains(file+data, known) {
				t.Errorf("%s: %s: %s", name, file, data)
			}
		}
		if len(saved) < 2 {
			t.Errorf("%s: %d files were saved", name, len(saved))
		}
	}
}

// A response from elsewhere is masked in the same way as a response that is made here.
func TestNoSecretOfAnotherResponse(t *testing.T) {
	req, err := acceptance.ReadRequest([]byte(secretRequest))
	if err != nil {
		t.Fatal(err)
	}
	r, err := acceptance.ReadResponse([]byte(secretAnswer))
	if err != nil {
		t.Fatal(err)
	}
	r, err = acceptance.Conclude(t.Context(), req, r.Complete(req), acceptance.Config{Trust: acceptance.Owner}, deps(&tree{}))
	if shown := withoutIDs(t, r); err != nil || strings.Contains(shown, known) {
		t.Errorf("%v\n%s", err, shown)
	}
}

// withoutIDs encodes a response without the ids of criteria.
func withoutIDs(t *testing.T, r acceptance.Response) string {
	t.Helper()
	raw, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var read acceptance.Response
	if err := json.Unmarshal(raw, &read); err != nil {
		t.Fatal(err)
	}
	for i := range read.Results {
		read.Results[i].ID = ""
	}
	if read.Evidence != nil {
		for i := range read.Evidence.Files {
			read.Evidence.Files[i].CriterionID = ""
		}
	}
	raw, _ = json.MarshalIndent(read, "", "  ")
	return string(raw)
}

// answering returns a program that gives one answer.
func answering(answer string) *acceptance.Program {
	return &acceptance.Program{Name: "p", Find: func() error { return nil }, Ask: func(context.Context, []byte) ([]byte, error) { return []byte(answer), nil }}
}

// failing returns a program that ends with an error.
func failing(why string) *acceptance.Program {
	return &acceptance.Program{Name: "p", Find: func() error { return nil }, Ask: func(context.Context, []byte) ([]byte, error) { return nil, errors.New(why) }}
}

// A text is masked before it is cut: no part of a secret is left, wherever a cut divides it.
func TestSecretsAreMaskedBeforeTheCut(t *testing.T) {
	for _, limit := range []int{80, 200, 500, 4000} {
		for before := limit - len(known) - 2; before <= limit; before++ {
			long := strings.Repeat("x", before) + known + strings.Repeat("y", 5000)
			endKept := strings.Repeat("x", 5000) + known + strings.Repeat("y", before) // only its end is kept
			hints := []string{"$ print", "/" + long, "test:" + long, "check the beauty"}
			w := &tree{files: map[string]string{"a.md": ""}, printed: long}
			d := deps(w)
			d.Validator = answering(answer("FAIL", `{"criterion_id":"D","status":"FAIL","evidence":"`+long+`","remediation":"`+long+`"}`))
			claim := `"validation_type": "code", "claimed_evidence": {"files_modified": ["/` + long + `"], "test_results": "` + long + `"}`
			verify := func(what string, req acceptance.Request, cfg acceptance.Config) {
				t.Helper()
				r, err := acceptance.Verify(t.Context(), req, cfg, d)
				if err != nil {
					t.Fatal(err)
				}
				raw, _ := r.Encode()
				if i := strings.Index(string(raw), known[:2]); i >= 0 {
					t.Errorf("%s: %d before %d: %s", what, before, limit, raw[max(i-20, 0):i+20])
				}
				if i := strings.Index(string(raw), known[5:]+"y"); i >= 0 {
					t.Errorf("%s: %d before %d: %s", what, before, limit, raw[max(i-20, 0):i+20])
				}
			}
			owner := acceptance.Config{Trust: acceptance.Owner}
			verify("hints, claims and a validator", request(t, claim, hints...), owner)
			verify("a stranger's command", request(t, "", "$ "+long), acceptance.Config{})
			verify("another branch", request(t, `"validation_type": "code", "branch": "`+long+`"`, "a.md"), owner)
			w.printed = endKept
			verify("the end of an output", request(t, "", "$ print"), owner)
			for _, nonsense := range []string{`["` + long + `"]`, answer("FAIL", `{"criterion_id":"`+long+`","status":"FAIL","evidence":"e"}`), answer(long, `{"criterion_id":"A","status":"FAIL","evidence":"e"}`)} {
				d.Validator = answering(nonsense)
				verify("a validator's nonsense", request(t, "", "judge"), owner)
			}
			for _, judge := range []string{`["` + long + `"]`, `{"verdict":"FAIL","reasoning":"` + long + `"}`} {
				d.Judge = answering(judge)
				verify("the judge", request(t, "", "a.md"), owner)
			}
			d.Judge = nil
			d.Validator = failing("x")
			d.Validator.Name, d.Validator.Find = long, func() error { return errors.New("it is missing") }
			verify("a program that is missing", request(t, "", "judge"), owner)
		}
	}
}
