package githubtest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// Request is one request as it was received. No secret is kept.
type Request struct {
	Seq    int        `json:"seq"` // counts from 1
	At     time.Time  `json:"at"`
	Method string     `json:"method"`
	Path   string     `json:"path"` // decoded; that of a REST request is below the API's base
	Query  url.Values `json:"query,omitempty"`
	// Operation is GitHub's operation id, or graphql/ or git-http/ and the operation's name.
	Operation string          `json:"operation"`
	Write     bool            `json:"write"`
	Content   bool            `json:"content"` // creates content
	Body      json.RawMessage `json:"body,omitempty"`
	Account   string          `json:"account,omitempty"` // the account that its token belongs to
	Header    http.Header     `json:"-"`
	Status    int             `json:"status"` // answered; 0 when the connection was cut
	Effect    bool            `json:"effect"` // the handler ran and succeeded
}

// JSON returns a member of the body, decoded; nil if the body is not an object or has no such
// member.
func (r Request) JSON(member string) any {
	var m map[string]any
	if json.Unmarshal(r.Body, &m) != nil {
		return nil
	}
	return m[member]
}

// Points returns what GitHub charges for a request: 1 to read, 5 to write.
func Points(r Request) int {
	if r.Write {
		return 5
	}
	return 1
}

// Contents returns 1 for a request that creates content, otherwise 0.
func Contents(r Request) int {
	if r.Content {
		return 1
	}
	return 0
}

// Peak returns the highest sum of the weights of requests within any span of this length, its end not
// included. The requests must be in the order of their times.
func Peak(reqs []Request, span time.Duration, weight func(Request) int) int {
	peak, sum, from := 0, 0, 0
	for _, r := range reqs {
		for reqs[from].At.Add(span).Compare(r.At) <= 0 {
			sum -= weight(reqs[from])
			from++
		}
		sum += weight(r)
		peak = max(peak, sum)
	}
	return peak
}
