// Package sarif reads, builds, validates, cleans and merges SARIF 2.1.0 logs,
// and makes of them the one log that GitHub's code scanning takes.
package sarif

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// schemaURI is the address of the final schema; it is never loaded.
const schemaURI = "https://json.schemastore.org/sarif-2.1.0.json"

// Source is one SARIF log to deliver.
type Source struct {
	// SARIF is a log that Validate accepts and, where it is an agent's, that
	// Clean returned.
	SARIF json.RawMessage
	// Category, if set, replaces the categories of the log's runs.
	Category string
}

// Options are the world that Prepare needs.
type Options struct {
	// Roots are absolute paths of the repository's checkout, as tools may have
	// written them: $GITHUB_WORKSPACE. The usual ones are known.
	Roots []string
	// ReadFile returns the content of a file at the commit that the alerts are
	// for; the path is relative to the repository's root. Nil: no line hashes.
	ReadFile func(path string) ([]byte, error)
	// MaxPacked is the size limit in bytes of gzip; 0 means MaxPacked.
	MaxPacked int
}

// Upload is a log, ready to be delivered.
type Upload struct {
	SARIF   json.RawMessage
	Packed  string // the same, as the API takes it
	Tools   []string
	Results int
	Notes   []Note // what was mended or cut, sorted
}

// Prepare makes one log of many that code scanning takes whole: all runs of one
// tool and category are one; every index leads to what it led to; paths are
// relative to the repository's root; rules are complete; messages are written
// out; each result has its line hash; no limit is exceeded. What has to go is
// the least severe, and Notes says what went and how many. Prepare takes time
// linear in its input, save for sorting.
//
// Results without a place in the repository are left out, as code scanning
// would reject the delivery for their sake. If that leaves none of a SARIF run's
// results, the run is left out, too: to deliver it empty would close its alerts.
//
// An error is about a source that is no SARIF log, about logs of which nothing
// is left, or about rules that exceed the size limit on their own.
func Prepare(sources []Source, opts Options) (*Upload, error) {
	n := notes{}
	groups, err := gather(sources, opts, n)
	if err != nil {
		return nil, err
	}
	if groups, err = placed(groups, n); err != nil {
		return nil, err
	}
	for _, g := range groups {
		g.rules.list(n) // the severities that cutting goes by
		for i := range g.extensionTable {
			g.extensionTable[i].list(n)
		}
	}
	groups = cutRuns(groups, n)
	for _, g := range groups {
		n.add(RuleResults, "", g.cutResults(MaxResults))
		n.add(RuleExtensions, "", g.cutExtensions(MaxExtensions))
		n.add(RuleRules, "", g.cutRules(MaxRules))
		g.fingerprint(opts.ReadFile)
	}
	most := opts.MaxPacked
	if most <= 0 {
		most = MaxPacked
	}
	u := &Upload{}
	if err := u.fit(groups, most, n); err != nil {
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
				c = AutomationID(s.Category)
			}
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

// placed leaves out the groups that lost all their results.
func placed(groups []*group, n notes) (kept []*group, err error) {
	for _, g := range groups {
		if g.asked > 0 && len(g.results) == 0 {
			n.add(RuleRuns, "none of its results is in the repository", 1)
			err = fmt.Errorf("none of the results of %q is at a file of the repository: %s; write the path relative to the repository's root", stringMember(g.driver, "name"), g.reason)
			continue
		}
		kept = append(kept, g)
	}
	if len(kept) > 0 {
		err = nil
	}
	return kept, err
}

// AutomationID returns the automation id of a category. Code scanning takes
// what is before the last slash as the category, so there is always one at the
// end; the empty category has no id.
func AutomationID(category string) string {
	category = strings.TrimRight(strings.TrimSpace(category), "/")
	if category == "" {
		return ""
	}
	return category + "/"
}

// fit encodes and packs the log, and cuts results until it is small enough.
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
			keep := int(float64(len(g.results)) * 0.9 * float64(most) / float64(size))
			cut += g.cutResults(keep)
		}
		n.add(RuleSize, "", cut)
		if total == 0 {
			return fmt.Errorf("the SARIF log has %s packed, more than the %s that code scanning takes, even without results: shorten its rules", text.Bytes(size), text.Bytes(most))
		}
	}
}

func assemble(groups []*group) object {
	runs := make([]any, len(groups))
	for i, g := range groups {
		runs[i] = maps.Clone(g.finish())
	}
	return object{"$schema": schemaURI, "version": "2.1.0", "runs": runs}
}

// MaxPacked is the most that code scanning takes, in bytes of gzip.
const MaxPacked = 10_000_000

// Pack returns a log as code scanning takes it: the base64 of its gzip. The
// same log packs the same every time.
func Pack(log []byte) (string, error) {
	packed, _, err := pack(log)
	return packed, err
}

// Unpack undoes Pack, for tests and for showing what was sent; it reads at most
// limit bytes.
func Unpack(packed string, limit int64) ([]byte, error) {
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
	if err != nil {
		return nil, fmt.Errorf("the packed SARIF log is no gzip in base64: %w", err)
	}
	log, err := io.ReadAll(io.LimitReader(z, limit+1))
	if err != nil {
		return nil, fmt.Errorf("the packed SARIF log is damaged: %w", err)
	}
	if int64(len(log)) > limit {
		return nil, fmt.Errorf("the packed SARIF log is longer than %s", text.Bytes(limit))
	}
	return log, nil
}

func pack(log []byte) (packed string, size int, err error) {
	var b strings.Builder
	encoder := base64.NewEncoder(base64.StdEncoding, &b)
	counted := &counter{Writer: encoder}
	z := gzip.NewWriter(counted)
	_, err = z.Write(log)
	for _, closer := range []io.Closer{z, encoder} {
		if e := closer.Close(); err == nil {
			err = e
		}
	}
	if err != nil {
		return "", 0, fmt.Errorf("packing the SARIF log: %w", err)
	}
	return b.String(), counted.n, nil
}

// counter counts what is written through it.
type counter struct {
	io.Writer
	n int
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n += n
	return n, err
}
