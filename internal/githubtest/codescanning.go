package githubtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// uploadSARIF receives a SARIF file: base64 of gzip, at most 10 MiB packed. As on GitHub, what is wrong
// inside the file shows only when the upload's status is read.
func (s *Server) uploadSARIF(c *conversation) reply {
	var in struct {
		CommitSHA string `json:"commit_sha"`
		Ref       string
		Sarif     string
	}
	decode(c, &in)
	packed, err := base64.StdEncoding.DecodeString(in.Sarif)
	if err != nil {
		return fail(http.StatusBadRequest, "sarif is not valid base64")
	}
	if len(packed) > 10<<20 {
		return fail(http.StatusRequestEntityTooLarge, "The SARIF file is larger than 10 MB")
	}
	raw, err := gunzip(packed)
	if err != nil {
		return fail(http.StatusBadRequest, "sarif is not gzip")
	}
	u := &Upload{ID: fmt.Sprintf("47177e22-5596-11eb-80a1-%012x", s.id()), CommitSHA: in.CommitSHA, Ref: in.Ref, ReadyAt: s.o.Clock.Now().Add(s.o.Processing)}
	if json.Valid(raw) {
		u.SARIF = raw
	}
	u.Errors = sarifErrors(raw)
	s.state.Uploads = append(s.state.Uploads, u)
	return reply{status: http.StatusAccepted, body: object{"id": u.ID, "url": s.repoURL() + "/code-scanning/sarifs/" + u.ID}}
}

// withCodeScanning returns a handler that refuses if code scanning is not enabled or the token lacks
// the permission, and otherwise calls h.
func withCodeScanning(permission string, h handler) handler {
	return func(s *Server, c *conversation) reply {
		if s.state.Repo.NoAdvancedSecurity {
			return fail(http.StatusForbidden, "Advanced Security must be enabled for this repository to use code scanning.")
		}
		if r, ok := s.need(c, permission); !ok {
			return r
		}
		return h(s, c)
	}
}

// sarifErrors returns what processing would complain about: the limits and demands
// that GitHub documents.
func sarifErrors(raw []byte) []string {
	var doc struct {
		Version string `json:"version"`
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name  string            `json:"name"`
					Rules []json.RawMessage `json:"rules"`
				} `json:"driver"`
			} `json:"tool"`
			AutomationDetails struct {
				ID string `json:"id"`
			} `json:"automationDetails"`
			Results *[]struct {
				Message struct {
					Text string `json:"text"`
				} `json:"message"`
				Locations []json.RawMessage `json:"locations"`
			} `json:"results"`
		} `json:"runs"`
	}
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&doc); err != nil {
		return []string{"Invalid SARIF. JSON syntax error: " + err.Error()}
	}
	if doc.Version != "2.1.0" {
		return []string{"Invalid SARIF. unsupported version: " + doc.Version}
	}
	if len(doc.Runs) == 0 || len(doc.Runs) > 20 {
		return []string{fmt.Sprintf("rejecting SARIF, as there are %d runs; between 1 and 20 are allowed", len(doc.Runs))}
	}
	var errs []string
	seen := map[string]bool{}
	for i, r := range doc.Runs {
		if r.Tool.Driver.Name == "" {
			errs = append(errs, fmt.Sprintf("run %d: the tool has no name", i))
		}
		category := r.AutomationDetails.ID[:strings.LastIndex(r.AutomationDetails.ID, "/")+1]
		if key := r.Tool.Driver.Name + "\x00" + category; seen[key] {
			errs = append(errs, fmt.Sprintf("run %d: more than one run with the tool %q and the category %q", i, r.Tool.Driver.Name, category))
		} else {
			seen[key] = true
		}
		if r.Results == nil {
			errs = append(errs, fmt.Sprintf("run %d: results is missing", i))
			continue
		}
		if len(*r.Results) > 25000 || len(r.Tool.Driver.Rules) > 25000 {
			errs = append(errs, fmt.Sprintf("run %d: more than 25000 results or rules", i))
		}
		for k, res := range *r.Results {
			if res.Message.Text == "" || len(res.Locations) == 0 {
				errs = append(errs, fmt.Sprintf("run %d, result %d: it needs a message and a location", i, k))
				break
			}
		}
	}
	return errs
}

func (s *Server) getSARIF(c *conversation) reply {
	u := find(s.state.Uploads, func(u *Upload) bool { return u.ID == c.params["sarif_id"] })
	if u == nil {
		return notFound()
	}
	o := object{"processing_status": "pending", "analyses_url": nil, "errors": nil}
	switch {
	case s.o.Clock.Now().Before(u.ReadyAt):
	case len(u.Errors) > 0:
		o["processing_status"], o["errors"] = "failed", u.Errors
	default:
		o["processing_status"], o["analyses_url"] = "complete", s.repoURL()+"/code-scanning/analyses?sarif_id="+u.ID
	}
	return okay(o)
}
