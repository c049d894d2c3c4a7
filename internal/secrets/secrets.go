// Package secrets finds and masks secrets in text.
//
// Two kinds are found: values that Airlock was given (its token, the lines of the `secrets` input)
// in the forms in which encoders write them, and whatever looks like a credential by the rules of
// gitleaks and by ours. gitleaks' detector is not used, only its rules: the detector needs
// quadratic time on long lines, obeys comments such as `gitleaks:allow`, returns the columns of
// later lines one too high, and writes secrets into its log. No comment in a text lets a secret
// pass.
package secrets

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// KnownRule is the rule of a hit on a Known value.
const KnownRule = "known-value"

// Hit is a place where a secret is. The secret itself is not in it.
type Hit struct {
	Rule string // KnownRule, or the stable name of another rule, such as "github-pat"
	Name string // for people: the Known value's name, or what the rule finds
	// Start and End are the secret's bytes in the text: text[Start:End].
	Start, End int
	// Line and Column are where the secret starts, EndLine and EndColumn where it ends. EndColumn
	// is the column after the last character. All count from 1. Lines end with a line feed.
	// Columns count UTF-16 code units, as finding.Range does; a byte that is not UTF-8 counts as
	// one unit.
	Line, Column       int
	EndLine, EndColumn int
	// Encoded is set if the secret stands there encoded, for example as Base64. The
	// place is that of the encoded text.
	Encoded bool
	// Digest is the SHA-256 of the secret as it is when decoded, in hexadecimal. It is empty for
	// a Known value.
	Digest string
	// InSignature is set if the secret is the id of an AWS access key and is part of a signature,
	// such as that of a signed URL. Whoever may see the signature may see the id, which is of no use
	// without the key.
	InSignature bool
	// Explained is "a test" or "documentation" if the file's path says that it is one, where people
	// make up values of that kind. The secret is probably not in use then. "" otherwise.
	Explained string
	// around is set if only the text around the secret shows that it is one. A rule that knows the
	// secret's own form names it better.
	around bool
}

// Scanner finds secrets. It is safe for concurrent use.
type Scanner struct {
	known   *knownSet
	ignored []string
	allowed Allowed
	cut     bool // it also finds the rest of a secret that was cut
}

// New returns a scanner for the known values and for everything that the rules
// find. It is cheap: the rules are read by the first scan.
// Values that are too short are not looked for: see Ignored.
func New(known []Known) *Scanner {
	s := &Scanner{}
	s.known, s.ignored = newKnownSet(known)
	return s
}

// Ignored returns the names of the known values of less than six bytes. They are not looked for,
// because ordinary text contains such values. The caller can report the names. Values without a
// letter or a digit are not among them.
func (s *Scanner) Ignored() []string { return s.ignored }

// defaultRules returns all rules. They are constant, so they are read once a process.
var defaultRules = sync.OnceValues(loadRules)

// Scan returns the secrets in a text of unknown origin, such as a title, a body or
// a commit message, ordered by place. Of hits that overlap it returns the most
// precise: a known value, then the rule of one vendor, then a general rule. Time
// grows linearly with the text. Text that is not UTF-8 is scanned as it is.
func (s *Scanner) Scan(text string) []Hit { return s.ScanFile("", text) }

// ScanFile is Scan for the content of a file. The path, which is relative and
// slash-separated, adds the rules that are for such files only, such as the one
// for passwords in Terraform's files; no path takes any rule away.
func (s *Scanner) ScanFile(path, text string) []Hit {
	hits := distinct(s.find(path, text, 0))
	explainByPath(path, hits)
	locate(text, hits)
	return hits
}

// find returns every hit in a text that was decoded depth times, without lines and columns, in no
// particular order.
func (s *Scanner) find(path, text string, depth int) []Hit {
	hits := s.scanPlain(path, text)
	if depth < mostDecodings {
		hits = append(hits, s.scanEncoded(path, text, depth)...)
	}
	return hits
}

// scanPlain returns the hits in a text as it is, without decoding any of it.
func (s *Scanner) scanPlain(path, text string) []Hit {
	rules, err := defaultRules()
	if err != nil {
		// The rules are part of the program, so this cannot happen to a program that
		// passed its tests; without rules nothing may pass for clean.
		return []Hit{{Rule: "no-rules", Name: "secrets cannot be looked for: " + err.Error(), End: len(text)}}
	}
	found := rules.find(path, text)
	if s.cut {
		found = slices.Concat(found, rules.findCut(text), findCutKeys(text))
	}
	for i, h := range found {
		digest := sha256.Sum256([]byte(text[h.Start:h.End]))
		found[i].Digest = hex.EncodeToString(digest[:])
	}
	hits := append(s.known.find(text), s.withoutAllowed(found)...)
	if s.cut {
		hits = append(hits, s.known.findCut(text)...)
	}
	return hits
}

const (
	// stars is what stands for a secret in a masked text.
	stars = "***"
	// mostPasses is how often a text is masked at most. Once is enough, unless masking a secret
	// makes the text around it part of another secret.
	mostPasses = 8
)

// Mask returns the text with every secret replaced by ***. The result contains no known value in
// any form and nothing that Scan finds, and masking it again changes nothing. The rest of a secret
// that was cut is masked too, if it is directly before the mark of text.Truncate or includes the
// first or the last line of a private key. So a text can be masked even after somebody who does
// not know the secrets has cut it. The result is *** alone if masking takes too many passes, and
// empty if the rules cannot be read.
func (s *Scanner) Mask(text string) string {
	cutting := *s
	cutting.cut = true
	s = &cutting
	for range mostPasses {
		hits := s.find("", text, 0)
		if len(hits) == 0 {
			return text
		}
		text = replace(text, hits, func(string) string { return stars })
	}
	if len(s.find("", text, 0)) == 0 {
		return text
	}
	if len(s.find("", stars, 0)) != 0 {
		return "" // the rules cannot be read, so every text is a hit
	}
	return stars // the text was made so that masking it would take long
}

// MaskFile returns the content of a file with every hit of ScanFile replaced by ***. The stars are
// in UTF-16 if the hit is. clean reports whether ScanFile finds nothing in the result: a content
// may be made so that masking one secret makes another.
func (s *Scanner) MaskFile(path, content string) (masked string, clean bool) {
	hits := s.ScanFile(path, content)
	if len(hits) == 0 {
		return content, true
	}
	masked = replace(content, hits, starsFor)
	return masked, len(s.ScanFile(path, masked)) == 0
}

// replace replaces each hit by what standIn returns for its text. Hits that overlap or touch become
// one, for which standIn gets the text of the first.
func replace(text string, hits []Hit, standIn func(secret string) string) string {
	slices.SortFunc(hits, comparePlaces)
	var out strings.Builder
	end := 0
	for i, h := range hits {
		if i == 0 || h.Start > end {
			out.WriteString(text[end:h.Start])
			out.WriteString(standIn(text[h.Start:h.End]))
		}
		end = max(end, h.End)
	}
	out.WriteString(text[end:])
	return out.String()
}

// starsFor returns the stars for a secret, in UTF-16 if the secret is.
func starsFor(secret string) string {
	if len(secret) < 2*fewestWide {
		return stars
	}
	switch {
	case secret[0] == 0 && secret[2] == 0: // big-endian
		return wideForms(stars)[1]
	case secret[1] == 0 && secret[3] == 0: // little-endian
		return wideForms(stars)[0]
	}
	return stars
}

// precedence orders hits at one place: known values, vendors' rules, the general rule.
func precedence(h Hit) int {
	switch h.Rule {
	case KnownRule:
		return 0
	case GeneralRule:
		return 2
	}
	return 1
}

// distinct orders hits by place. Of hits that overlap it keeps the one with the higher
// precedence, then the earlier, then the longer.
func distinct(hits []Hit) []Hit {
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(precedence(a), precedence(b)), comparePlaces(a, b), falseFirst(a.around, b.around),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Name, b.Name), falseFirst(a.Encoded, b.Encoded))
	})
	var kept []Hit // ordered by place
	for len(hits) > 0 {
		n := 1
		for n < len(hits) && precedence(hits[n]) == precedence(hits[0]) {
			n++
		}
		kept = withoutOverlaps(kept, hits[:n])
		hits = hits[n:]
	}
	return kept
}

// comparePlaces orders hits by where they start. Of hits with the same start, the longer comes
// first.
func comparePlaces(a, b Hit) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
}

// falseFirst orders false before true.
func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// withoutOverlaps adds to kept each hit that overlaps none of them and none that was
// added before. Both lists are ordered by place.
func withoutOverlaps(kept, more []Hit) []Hit {
	out := make([]Hit, 0, len(kept)+len(more))
	for _, h := range more {
		for len(kept) > 0 && kept[0].End <= h.Start {
			out = append(out, kept[0])
			kept = kept[1:]
		}
		if len(out) > 0 && out[len(out)-1].End > h.Start || len(kept) > 0 && kept[0].Start < h.End {
			continue
		}
		out = append(out, h)
	}
	return append(out, kept...)
}

// locate sets lines and columns of hits, which must be ordered by place and not
// overlap. It reads the text once.
func locate(text string, hits []Hit) {
	at, line, column := 0, 1, 1
	move := func(to int) (int, int) {
		for at < to {
			r, size := utf8.DecodeRuneInString(text[at:])
			switch {
			case r == '\n':
				line, column = line+1, 1
			case r > 0xFFFF:
				column += 2
			default:
				column++
			}
			at += size
		}
		return line, column
	}
	for i := range hits {
		h := &hits[i]
		h.Line, h.Column = move(h.Start)
		h.EndLine, h.EndColumn = move(h.End)
	}
}
