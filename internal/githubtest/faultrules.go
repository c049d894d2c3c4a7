package githubtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// FaultRule lets some requests of an operation fail. As JSON it is an entry of
// the file that the githubserver command reads.
type FaultRule struct {
	Operation string `json:"operation"` // as in Request.Operation; empty: every request
	Skip      int    `json:"skip"`      // how many such requests pass first
	Times     int    `json:"times"`     // how many then fail; 0: all
	Fault     Fault  `json:"fault"`
}

// Faults is a hook that applies the first rule that fits.
func Faults(rules []FaultRule) func(Request) Fault {
	var mu sync.Mutex
	seen := make([]int, len(rules))
	return func(r Request) Fault {
		mu.Lock()
		defer mu.Unlock()
		found := Fault{}
		done := false
		for i, rule := range rules {
			if rule.Operation != "" && rule.Operation != r.Operation {
				continue
			}
			seen[i]++
			if n := seen[i] - rule.Skip; !done && n > 0 && (rule.Times == 0 || n <= rule.Times) {
				found, done = rule.Fault, true
			}
		}
		return found
	}
}

// ParseFaultRules reads a file of rules; unknown members are errors.
func ParseFaultRules(data []byte) ([]FaultRule, error) {
	var rules []FaultRule
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&rules); err != nil {
		return nil, fmt.Errorf("the faults cannot be read: %w", err)
	}
	return rules, nil
}

// UnmarshalJSON reads a fault: delays are written as "30s", headers as an object
// of strings.
func (f *Fault) UnmarshalJSON(data []byte) error {
	var in struct {
		After   bool              `json:"after"`
		Delay   string            `json:"delay"`
		Late    string            `json:"late"`
		Status  int               `json:"status"`
		Header  map[string]string `json:"header"`
		Body    string            `json:"body"`
		Garbage string            `json:"garbage"`
		Cut     bool              `json:"cut"`
		CutBody bool              `json:"cut_body"`
		Hide    int               `json:"hide"`
		Shift   int               `json:"shift"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return err
	}
	*f = Fault{After: in.After, Status: in.Status, Body: in.Body, Garbage: in.Garbage, Cut: in.Cut, CutBody: in.CutBody, Hide: in.Hide, Shift: in.Shift}
	for text, at := range map[string]*time.Duration{in.Delay: &f.Delay, in.Late: &f.Late} {
		if text == "" {
			continue
		}
		d, err := time.ParseDuration(text)
		if err != nil {
			return err
		}
		*at = d
	}
	for k, v := range in.Header {
		if f.Header == nil {
			f.Header = http.Header{}
		}
		f.Header.Set(k, v)
	}
	return nil
}
