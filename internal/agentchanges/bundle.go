package agentchanges

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/text"
)

// The first lines of the bundles that are read.
const (
	bundleV2 = "# v2 git bundle"
	bundleV3 = "# v3 git bundle"
)

// maxBundle is how large a bundle may be, in bytes.
const maxBundle = 256 << 20

// bundle reads the commits of a bundle.
func (r reader) bundle(ctx context.Context, cfg FileConfig) (gitrepo.Series, error) {
	if len(cfg.Data) > maxBundle {
		return gitrepo.Series{}, fmt.Errorf("%w: %q has %s, and a bundle at most %s", gitrepo.ErrTooLarge, cfg.Name, text.Bytes(len(cfg.Data)), text.Bytes(maxBundle))
	}
	b, err := parseBundle(cfg.Data)
	if err == nil && b.oidLen != r.repo.IDLen() {
		err = fmt.Errorf("its object ids have %d digits and the repository's %d", b.oidLen, r.repo.IDLen())
	}
	if err != nil {
		return gitrepo.Series{}, fmt.Errorf("%q is no bundle that can be read: %w", cfg.Name, err)
	}
	tip, err := b.tip()
	if err != nil {
		return gitrepo.Series{}, fmt.Errorf("%q: %w", cfg.Name, err)
	}
	there, err := r.usable(ctx, b.needs)
	if err != nil {
		return gitrepo.Series{}, err
	}
	for _, oid := range b.needs {
		if !slices.Contains(there, oid) {
			return gitrepo.Series{}, fmt.Errorf("%w: %q builds on %s, which is not at hand%s: set 'fetch-depth: 0' for actions/checkout, or bundle from a commit that GitHub has", ErrNoBase, cfg.Name, oid, r.repo.WhyMissing())
		}
	}
	if tip, err = r.unpack(ctx, b, tip); err != nil {
		return gitrepo.Series{}, fmt.Errorf("%q cannot be unpacked: %w", cfg.Name, err)
	}
	bases, err := r.usable(ctx, cfg.Bases)
	if err != nil {
		return gitrepo.Series{}, err
	}
	if len(bases) == 0 && len(b.needs) == 0 {
		return gitrepo.Series{}, r.noBase(cfg.Bases)
	}
	if len(bases) == 0 {
		bases = b.needs
	}
	base, err := r.baseOf(ctx, tip, bases)
	if err != nil {
		return gitrepo.Series{}, err
	}
	return r.series(ctx, base, tip)
}

// unpack keeps the bundle's objects and returns the commit that its tip is.
func (r reader) unpack(ctx context.Context, b bundle, tip string) (string, error) {
	// Old histories hold what these three names stand for; GitHub takes it.
	const strict = "--strict=zeroPaddedFilemode=ignore,badTimezone=ignore,missingSpaceBeforeDate=ignore"
	if _, err := r.repo.Run(ctx, gitrepo.Call{Stdin: bytes.NewReader(b.pack)}, "index-pack", "--stdin", "--fix-thin", strict, "--max-input-size="+strconv.Itoa(maxBundle)); err != nil {
		return "", err
	}
	a, err := r.repo.Run(ctx, gitrepo.Call{Limit: 1 << 10, AnyExit: true}, "rev-parse", "--verify", "--quiet", tip+"^{commit}")
	if err == nil && a.ExitCode != 0 {
		err = fmt.Errorf("its tip %s is no commit", tip)
	}
	return a.Line(), err
}

// bundle is what a bundle says of itself before its pack: see
// gitformat-bundle(5).
type bundle struct {
	oidLen int
	needs  []string // commits that it builds on
	refs   []gitrepo.Ref
	pack   []byte
}

// maxBundleLines is how many commits and refs a bundle may name.
const maxBundleLines = 10_000

func parseBundle(data []byte) (bundle, error) {
	b := bundle{oidLen: 40}
	version, rest, _ := bytes.Cut(data, []byte{'\n'})
	if string(version) != bundleV2 && string(version) != bundleV3 {
		return b, fmt.Errorf("it begins with %.40q: 'git bundle create FILE BASE..HEAD' writes one", version)
	}
	for n := 2; ; n++ {
		head, next, whole := bytes.Cut(rest, []byte{'\n'})
		line := string(head)
		switch {
		case !whole || n > maxBundleLines:
			return b, fmt.Errorf("line %d: its list of refs does not end: the file is cut off, write it again", n)
		case line == "":
			b.pack = next
			return b, nil
		case line[0] == '@':
			if err := b.capability(line[1:]); err != nil {
				return b, fmt.Errorf("line %d: %w", n, err)
			}
		default:
			line, need := strings.CutPrefix(line, "-")
			oid, name, _ := strings.Cut(line, " ")
			if !gitrepo.IsObjectID(oid) || len(oid) != b.oidLen {
				return b, fmt.Errorf("line %d: %.80q begins with no object id of %d digits", n, line, b.oidLen)
			}
			if need {
				b.needs = append(b.needs, oid)
			} else {
				b.refs = append(b.refs, gitrepo.Ref{Name: name, OID: oid})
			}
		}
		rest = next
	}
}

// capability reads what changes the meaning of the rest.
func (b *bundle) capability(text string) error {
	switch text {
	case "object-format=sha1":
		b.oidLen = 40
	case "object-format=sha256":
		b.oidLen = 64
	default:
		return fmt.Errorf("it has the property %.80q, which is not understood: make it without a filter", text)
	}
	return nil
}

// tip returns the object that the bundle is about.
func (b *bundle) tip() (string, error) {
	var names []string
	for _, ref := range b.refs {
		if ref.Name == "HEAD" {
			return ref.OID, nil
		}
		names = append(names, ref.Name)
	}
	for _, ref := range b.refs {
		if ref.OID != b.refs[0].OID {
			return "", fmt.Errorf("it has more than one tip (%s): bundle one branch, or HEAD", text.QuoteList(names))
		}
	}
	if len(b.refs) == 0 {
		return "", fmt.Errorf("it has no tip: bundle one branch, or HEAD")
	}
	return b.refs[0].OID, nil
}
