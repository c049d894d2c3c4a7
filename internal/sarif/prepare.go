// Package sarif builds, validates, cleans and merges SARIF 2.1.0 logs, and
// prepares the one log that is uploaded to GitHub's code scanning.
package sarif

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// schemaURI identifies the schema of a prepared log; it is never loaded.
const schemaURI = "https://json.schemastore.org/sarif-2.1.0.json"

// Source is one SARIF log to deliver.
type Source struct {
	// SARIF is a log that Validate accepts and, if it is an agent's, that Clean
	// returned.
	SARIF json.RawMessage
	// Category, if set, replaces the categories of the log's runs.
	Category string
}

// Options are the settings of Prepare.
type Options struct {
	// Category is that of runs without one; "" leaves them without.
	Category string
	// Roots are absolute paths of the repository's checkout that logs may contain,
	// in addition to those that GitHub's runners use.
	Roots []string
	// ReadFile returns the content of a file at the commit that the alerts are
	// for; the path is relative to the repository's root. If it is nil, there are
	// no line hashes.
	ReadFile func(path string) ([]byte, error)
	// MaxPacked is the size limit in bytes of gzip; 0 means that of code scanning.
	MaxPacked int
}

// Upload is a log, ready to be delivered.
type Upload struct {
	SARIF   json.RawMessage
	Packed  string // the log as the API takes it: Base64 of gzip
	Tools   []string
	Results int
	Notes   []Note // what was repaired or left out, sorted
}

// Prepare merges logs into one that code scanning accepts completely. All runs of one tool and
// category become one run, and indexes still refer to the same objects. Paths are relative to the
// repository's root; rules are complete; messages have their text; no limit is exceeded. Each
// result has its line hash if its file can be read. If results have to be left out, they are the
// least severe, and Notes reports how many. Besides sorting, Prepare takes linear time.
//
// Results without a place in the repository are left out, because code scanning would reject the
// delivery. A run that loses all its results this way is left out as well, because an empty run
// would close its alerts.
//
// The error is about a source that is not a SARIF log, about logs that have nothing left, or about
// rules that alone exceed the size limit.
func Prepare(sources []Source, opts Options) (*Upload, error) {
	n := notes{}
	groups, err := gather(sources, opts, n)
	if err != nil {
		return nil, err
	}
	if groups, err = dropEmptied(groups, n); err != nil {
		return nil, err
	}
	for _, g := range groups {
		g.rules.complete(n) // for the severities
		for i := range g.extensionTable {
			g.extensionTable[i].complete(n)
		}
	}
	groups = cutRuns(groups, n)
	for _, g := range groups {
		n.add(RuleResults, "", g.cutResults(maxResults))
		n.add(RuleExtensions, "", g.cutExtensions(maxExtensions))
		n.add(RuleRules, "", g.cutRules(maxRules))
		g.fingerprint(opts.ReadFile)
	}
	u := &Upload{}
	if err := u.fit(groups, cmp.Or(opts.MaxPacked, maxPacked), n); err != nil {
		return nil, err
	}
	for _, g := range groups {
		u.Tools = append(u.Tools, stringMember(g.driver, "name"))
		u.Results += len(g.results)
	}
	u.Notes = n.list()
	return u, nil
}

// gather reads the sources and merges their runs.
func gather(sources []Source, opts Options, n notes) (groups []*group, err error) {
	type key struct{ tool, category string }
	known := make(map[key]*group)
	for i, s := range sources {
		log, nulls, err := decode(s.SARIF)
		if err != nil {
			return nil, fmt.Errorf("security report %d: %w", i+1, err)
		}
		n.add(RuleNulls, "", nulls)
		if _, ok := log["inlineExternalProperties"]; ok {
			n.add(RuleUnused, "inlineExternalProperties", 1)
		}
		for _, run := range objects(list(log, "runs")) {
			c := category(run)
			if s.Category != "" {
				c = automationID(s.Category)
			}
			c = cmp.Or(c, automationID(opts.Category))
			k := key{stringMember(child(child(run, "tool"), "driver"), "name"), c}
			if k.tool == "" {
				n.add(RuleRuns, "no tool", 1) // Validate refuses such a run
				continue
			}
			g := known[k]
			if g == nil {
				g = newGroup(c, n, opts.Roots)
				known[k] = g
				groups = append(groups, g)
			}
			g.add(run)
		}
	}
	return groups, nil
}

// dropEmptied returns the groups without those that had problems to report, but have no
// result left. It is an error if that leaves no group.
func dropEmptied(groups []*group, n notes) ([]*group, error) {
	var kept []*group
	var emptied *group
	for _, g := range groups {
		if g.problems > 0 && len(g.results) == 0 {
			n.add(RuleRuns, "none of its results is in the repository", 1)
			emptied = g
			continue
		}
		kept = append(kept, g)
	}
	if len(kept) == 0 && emptied != nil {
		return nil, fmt.Errorf("none of the results of %q has a message and is in a file of the repository; of the last one: %s. Write paths relative to the repository's root", stringMember(emptied.driver, "name"), emptied.reason)
	}
	return kept, nil
}

// automationID returns the automation id of a category; the empty category has
// none. Code scanning reads the id up to its last slash as the category.
func automationID(category string) string {
	category = strings.TrimRight(strings.TrimSpace(category), "/")
	if category == "" {
		return ""
	}
	return category + "/"
}

// fit encodes and packs the log, and removes unused rules and results until it is small enough.
func (u *Upload) fit(groups []*group, most int, n notes) error {
	for {
		u.SARIF = encode(assemble(groups))
		packed, size, err := pack(u.SARIF)
		if err != nil {
			return err
		}
		u.Packed = packed
		if size <= most {
			return nil
		}
		total, cut := 0, 0
		for _, g := range groups {
			total += len(g.results)
			n.add(RuleRules, "", g.cutRules(0))
			// Somewhat fewer than would fit if all results had the same size.
			keep := int(float64(len(g.results)) * 0.9 * float64(most) / float64(size))
			cut += g.cutResults(keep)
		}
		n.add(RuleSize, "", cut)
		if total == 0 {
			return fmt.Errorf("the SARIF log has %s packed, more than the %s that code scanning takes, even without results: shorten its rules", text.Bytes(size), text.Bytes(most))
		}
	}
}

// assemble returns the log of the groups' runs.
func assemble(groups []*group) object {
	runs := make([]any, len(groups))
	for i, g := range groups {
		runs[i] = maps.Clone(g.finish())
	}
	return object{"$schema": schemaURI, "version": "2.1.0", "runs": runs}
}

// maxPacked is the limit of code scanning in bytes of gzip.
const maxPacked = 10_000_000

// pack returns the Base64 of a log's gzip, and the size of the gzip. Equal logs
// have equal results.
func pack(log []byte) (packed string, size int, err error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err = z.Write(log)
	if err = errors.Join(err, z.Close()); err != nil {
		return "", 0, fmt.Errorf("packing the SARIF log: %w", err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), b.Len(), nil
}
