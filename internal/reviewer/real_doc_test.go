package reviewer

import (
	"fmt"
	"strings"
)

// describeSources says for the document what was measured.
func describeSources(sources []realSource) string {
	var b strings.Builder
	b.WriteString(`
## Precision in real sources

testdata/real pins the sources by their sums and holds the verdict of everything that was found in them, with
its reason. Each was reviewed as a pull request that adds all of it. Every finding was read with the lines around
it, and with more where these did not tell; of a note without an issue, the note.
` + "`go test -tags real -run RealSources ./internal/reviewer`" + ` fetches the sources, reviews them again and
fails for a finding without a verdict. The seconds are those of both reviews on two cores, with -update measured anew.

The tuned sources chose and mended the rules, so their numbers are better than what other code will show. The
held-out ones were named before anything was run on them, and judged with the rules as they were.

| source | package | files | MB | seconds | found | right |
| --- | --- | --- | --- | --- | --- | --- |
`)
	for _, part := range []struct {
		name string
		keep func(realSource) bool
	}{{"all tuned", tuned}, {"all held out", heldOut}} {
		total := realSource{Name: part.name}
		for _, s := range among(sources, part.keep) {
			describeSource(&b, s)
			total.Verdicts = append(total.Verdicts, s.Verdicts...)
			total.Measured.Files += s.Measured.Files
			total.Measured.Bytes += s.Measured.Bytes
			total.Measured.Seconds += s.Measured.Seconds
		}
		describeSource(&b, total)
	}
	return b.String() + describeKnown(sources)
}

func describeSource(b *strings.Builder, s realSource) {
	var found score
	for _, v := range s.Verdicts {
		found.add(v)
	}
	fmt.Fprintf(b, "| %s | %s | %d | %.1f | %.1f | %d | %d |\n", s.Name, strings.TrimSpace(s.Client+" "+s.Package+" "+s.Version), s.Measured.Files,
		float64(s.Measured.Bytes)/1e6, s.Measured.Seconds, found.all, found.right)
}

// describeKnown says which published weaknesses of the sources the rules find.
func describeKnown(sources []realSource) string {
	var b strings.Builder
	b.WriteString(`
## Published weaknesses

Some of the held-out sources are versions with a weakness that was published. The package and the kind of the
weakness chose them, not what the rules find in them.

| advisory | source | rule | line | found |
| --- | --- | --- | --- | --- |
`)
	n, all := 0, 0
	for _, s := range sources {
		for _, k := range s.Known {
			said := "no"
			if all++; s.found(k) {
				said = "yes"
				n++
			}
			fmt.Fprintf(&b, "| %s | %s | `%s` | %s:%d | %s |\n", k.Advisory, s.Name, k.Rule, k.Path, k.Line, said)
		}
	}
	fmt.Fprintf(&b, "| all together | | | | %d of %d |\n", n, all)
	return b.String()
}
