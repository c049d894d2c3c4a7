package agentchanges

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/text"
)

// The first lines of the bundles that are read.
const (
	bundleV2 = "# v2 git bundle"
	bundleV3 = "# v3 git bundle"
)

// bundleStart is how a bundle of any version begins.
var bundleStart = lazyregexp.New(`^# v[0-9]+ git bundle`)

// Limits of a bundle.
const (
	maxBundle      = 256 << 20 // bytes
	maxBundleLines = 10_000    // of its header, after the first: its properties, commits and refs
)

// bundle reads the commits of a bundle.
func (r reader) bundle(ctx context.Context, cfg FileConfig) (gitrepo.Series, error) {
	if len(cfg.Data) > maxBundle {
		return gitrepo.Series{}, fmt.Errorf("%w: %q has %s, and a bundle at most %s", gitrepo.ErrTooLarge, cfg.Name, text.Bytes(len(cfg.Data)), text.Bytes(maxBundle))
	}
	b, err := parseBundle(cfg.Data)
	if err == nil && b.idLen != r.repo.IDLen() {
		err = fmt.Errorf("its object ids have %d digits and the repository's %d", b.idLen, r.repo.IDLen())
	}
	if err != nil {
		return gitrepo.Series{}, fmt.Errorf("the bundle %q cannot be read: %w", cfg.Name, err)
	}
	tip, err := b.tip()
	if err != nil {
		return gitrepo.Series{}, fmt.Errorf("%q: %w", cfg.Name, err)
	}
	found, err := r.existing(ctx, b.needs)
	if err != nil {
		return gitrepo.Series{}, err
	}
	for _, oid := range b.needs {
		if !slices.Contains(found, oid) {
			return gitrepo.Series{}, fmt.Errorf("%w: %q builds on %s, which is not at hand%s: set 'fetch-depth: 0' for actions/checkout, or bundle from a commit that GitHub has", ErrNoBase, cfg.Name, oid, r.repo.WhyMissing())
		}
	}
	if err := checkPack(b.pack, b.idLen/2); err != nil {
		return gitrepo.Series{}, fmt.Errorf("%q cannot be unpacked: %w", cfg.Name, err)
	}
	if tip, err = r.unpack(ctx, b, tip); err != nil {
		return gitrepo.Series{}, fmt.Errorf("%q cannot be unpacked: %w", cfg.Name, err)
	}
	bases, err := r.existing(ctx, cfg.Bases)
	if err != nil {
		return gitrepo.Series{}, err
	}
	if len(bases) == 0 {
		bases = b.needs
	}
	if len(bases) == 0 {
		return gitrepo.Series{}, r.noBase(cfg.Bases)
	}
	base, err := r.baseOf(ctx, tip, bases)
	if err != nil {
		return gitrepo.Series{}, err
	}
	return r.series(ctx, base, tip)
}

// unpack keeps the bundle's objects. It returns the commit that tip is, or that it leads to if it
// is a tag.
func (r reader) unpack(ctx context.Context, b bundle, tip string) (string, error) {
	// Old histories contain the mistakes with these three names, and GitHub accepts them.
	const strict = "--strict=zeroPaddedFilemode=ignore,badTimezone=ignore,missingSpaceBeforeDate=ignore"
	out, err := r.repo.Run(ctx, gitrepo.Call{Stdin: bytes.NewReader(b.pack)}, "index-pack", "--stdin", "--fix-thin", strict, "--max-input-size="+strconv.Itoa(maxBundle))
	if err != nil {
		if m := refusedObject.FindStringSubmatch(out.Stderr); m != nil {
			return "", fmt.Errorf("git refuses the object %s in it (%s): 'git log --find-object=%[1]s' names the commit that brings it; write that commit again without it, and the bundle", m[1], m[2])
		}
		return "", err
	}
	out, err = r.repo.Run(ctx, gitrepo.Call{Limit: 1 << 10, MaxExit: gitrepo.AnyExit}, "rev-parse", "--verify", "--quiet", tip+"^{commit}")
	if err == nil && out.ExitCode != 0 {
		err = fmt.Errorf("its tip %s is not a commit", tip)
	}
	return out.Line(), err
}

// refusedObject matches what git fsck prints about an object: its id, and what is wrong
// with it. See git-fsck(1), "FSCK MESSAGES".
var refusedObject = lazyregexp.New(`(?m)^error: object ([0-9a-f]{40,64}): ([A-Za-z0-9]+: .*)$`)

// bundle is a git bundle: see gitformat-bundle(5).
type bundle struct {
	idLen int      // hex digits of an object id
	needs []string // commits that it builds on
	refs  []ref
	pack  []byte
}

type ref struct{ name, oid string }

func parseBundle(data []byte) (bundle, error) {
	b := bundle{idLen: 40}
	version, rest, _ := bytes.Cut(data, []byte{'\n'})
	if string(version) != bundleV2 && string(version) != bundleV3 {
		return b, fmt.Errorf("it begins with %.40q: 'git bundle create FILE BASE..HEAD' writes one", version)
	}
	for n := 2; ; n++ {
		head, next, complete := bytes.Cut(rest, []byte{'\n'})
		line := string(head)
		switch {
		case !complete:
			return b, fmt.Errorf("line %d: its list of refs does not end: the file is cut off, write it again", n)
		case line == "":
			b.pack = next
			return b, nil
		case n-1 > maxBundleLines:
			return b, fmt.Errorf("its header has more than %d properties, commits and refs: bundle one branch, or HEAD", maxBundleLines)
		case line[0] == '@':
			if err := b.capability(line[1:]); err != nil {
				return b, fmt.Errorf("line %d: %w", n, err)
			}
		default:
			line, need := strings.CutPrefix(line, "-")
			oid, name, _ := strings.Cut(line, " ")
			if !gitrepo.IsObjectID(oid) || len(oid) != b.idLen {
				return b, fmt.Errorf("line %d: %.80q does not begin with an object id of %d digits", n, line, b.idLen)
			}
			if need {
				b.needs = append(b.needs, oid)
			} else {
				b.refs = append(b.refs, ref{name, oid})
			}
		}
		rest = next
	}
}

// capability reads a line that begins with "@" and says how to read the rest.
func (b *bundle) capability(line string) error {
	switch line {
	case "object-format=sha1":
		b.idLen = 40
	case "object-format=sha256":
		b.idLen = 64
	default:
		return fmt.Errorf("it has the property %.80q, which is not understood: make it without a filter", line)
	}
	return nil
}

// tip returns the object that the bundle is about.
func (b *bundle) tip() (string, error) {
	if len(b.refs) == 0 {
		return "", errors.New("it has no tip: bundle one branch, or HEAD")
	}
	var names []string
	several := false
	for _, ref := range b.refs {
		if ref.name == "HEAD" {
			return ref.oid, nil
		}
		names = append(names, ref.name)
		several = several || ref.oid != b.refs[0].oid
	}
	if several {
		return "", fmt.Errorf("it has more than one tip (%s): bundle one branch, or HEAD", text.QuoteList(names))
	}
	return b.refs[0].oid, nil
}
