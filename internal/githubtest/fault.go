package githubtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Fault is what goes wrong with one request. The zero Fault is none.
type Fault struct {
	// After lets the request take effect first; without it a fault that answers
	// or cuts prevents the effect.
	After bool
	// Delay passes on the server's clock before the answer (and before the
	// effect, without After). A client whose patience ends earlier sees a
	// time-out; the request then takes effect only with After.
	Delay time.Duration
	// Late lets the request take effect that long after the connection was cut
	// without an answer, like a server that goes on working after the client has
	// gone.
	Late time.Duration
	// Status, when it is not 0, is answered with Header and Body instead of the
	// real answer.
	Status int
	Header http.Header
	Body   string
	// Garbage replaces the real answer's body, and keeps its status.
	Garbage string
	// Cut closes the connection instead of answering. git's own client sends the request
	// again if the connection worked before, because curl does so. A FaultRule that fails
	// one push is therefore followed by a second try, which sees what the first one did.
	Cut bool
	// CutBody sends the head and half of the body, then closes the connection.
	CutBody bool `json:"cut_body"`
	// Twice handles a request of the API twice, as where a proxy sends it again: the second
	// answer is the one that arrives.
	Twice bool
	// Unlisted keeps what the request creates out of listings for that long.
	Unlisted time.Duration
	// Hide is how many of the newest entries a listing leaves out.
	Hide int
	// Reverse lists the entries in the opposite order.
	Reverse bool
	// Shift moves the pages of a listing, from the second on, as if that many
	// entries had been added at the front (positive) or removed (negative) since
	// the first page was read.
	Shift int
}

// replaces reports whether the fault replaces the real handler's answer.
func (f Fault) replaces() bool { return f.Status != 0 || f.Cut }

// ServerError answers with a 5xx status.
func ServerError(status int, after bool) Fault {
	return Fault{Status: status, After: after, Body: `{"message":"Server Error"}`, Header: jsonHeader()}
}

// NotJSON answers 200 with a page of HTML, as a broken proxy does.
func NotJSON(after bool) Fault {
	return Fault{Status: http.StatusOK, After: after, Body: "<html><body>Unicorn!</body></html>", Header: http.Header{"Content-Type": {"text/html"}}}
}

// SecondaryLimit answers with GitHub's secondary rate limit. retryAfter is in
// seconds; a negative one leaves the header out.
func SecondaryLimit(status, retryAfter int) Fault {
	h := jsonHeader()
	if retryAfter >= 0 {
		h.Set("Retry-After", strconv.Itoa(retryAfter))
	}
	return Fault{Status: status, Header: h, Body: `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again.","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`}
}

// PrimaryLimit answers that all requests of the hour are used up until reset.
func PrimaryLimit(status int, reset time.Time) Fault {
	h := jsonHeader()
	h.Set("X-RateLimit-Limit", "1000")
	h.Set("X-RateLimit-Remaining", "0")
	h.Set("X-RateLimit-Reset", strconv.FormatInt(reset.Unix(), 10))
	return Fault{Status: status, Header: h, Body: `{"message":"API rate limit exceeded for installation ID 1.","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api"}`}
}

// BareLimit answers 403 or 429 without GitHub's words, as a proxy does that has a rate
// limit of its own. retryAfter is in seconds; a negative one leaves the header out,
// and then only 429 can be recognised as a limit.
func BareLimit(status, retryAfter int) Fault {
	f := SecondaryLimit(status, retryAfter)
	f.Body = `{"message":"Slow down"}`
	return f
}

// TooQuick answers 422 with the wording for content that is created too fast.
func TooQuick() Fault {
	return Fault{Status: http.StatusUnprocessableEntity, Header: jsonHeader(),
		Body: `{"message":"Validation Failed","errors":[{"resource":"IssueComment","code":"custom","field":"base","message":"was submitted too quickly"}],"documentation_url":"https://docs.github.com/rest"}`}
}

// GraphQLLimit answers 200 with GraphQL's error for a rate limit.
func GraphQLLimit() Fault {
	return Fault{Status: http.StatusOK, Header: jsonHeader(), Body: `{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded for installation ID 1."}]}`}
}

// OutsideDiff refuses a review as GitHub does when one of its comments is not on a line of the
// diff. The answer does not name the comment.
func OutsideDiff() Fault {
	return Fault{Status: http.StatusUnprocessableEntity, Header: jsonHeader(),
		Body: `{"message":"Unprocessable Entity","errors":["Pull request review thread line must be part of the diff"],"documentation_url":"https://docs.github.com/rest"}`}
}

// NotThere answers 404, as GitHub does for a moment after something was created.
func NotThere() Fault {
	return Fault{Status: http.StatusNotFound, Header: jsonHeader(), Body: `{"message":"Not Found","documentation_url":"https://docs.github.com/rest"}`}
}

func jsonHeader() http.Header {
	return http.Header{"Content-Type": {"application/json; charset=utf-8"}}
}

// FaultRule lets some requests of an operation fail. As JSON it is an entry of
// the file that the githubserver command reads.
type FaultRule struct {
	Operation string `json:"operation"` // see Request.Operation; empty means every request
	Skip      int    `json:"skip"`      // number of such requests that pass first
	Times     int    `json:"times"`     // number of requests that then fail; 0 means all
	Fault     Fault  `json:"fault"`
}

// Faults returns a hook, which returns the fault of the first rule that applies to a request. Every
// rule counts all requests of its operation, even those to which an earlier rule applies.
func Faults(rules []FaultRule) func(Request) Fault {
	var mu sync.Mutex
	seen := make([]int, len(rules))
	return func(r Request) Fault {
		mu.Lock()
		defer mu.Unlock()
		fault := Fault{}
		found := false
		for i, rule := range rules {
			if rule.Operation != "" && rule.Operation != r.Operation {
				continue
			}
			seen[i]++
			n := seen[i] - rule.Skip
			fails := n > 0 && (rule.Times == 0 || n <= rule.Times)
			if fails && !found {
				fault, found = rule.Fault, true
			}
		}
		return fault
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
	type plain Fault
	var in struct {
		plain
		Delay, Late, Unlisted string
		Header                map[string]string
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return err
	}
	*f = Fault(in.plain)
	for _, d := range []struct {
		text  string
		value *time.Duration
	}{{in.Delay, &f.Delay}, {in.Late, &f.Late}, {in.Unlisted, &f.Unlisted}} {
		if d.text == "" {
			continue
		}
		var err error
		if *d.value, err = time.ParseDuration(d.text); err != nil {
			return err
		}
	}
	for k, v := range in.Header {
		if f.Header == nil {
			f.Header = http.Header{}
		}
		f.Header.Set(k, v)
	}
	return nil
}
