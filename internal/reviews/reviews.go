// Package reviews is the code review and the security review of phase validation:
// the built-in reviewer and those that the owner configures, side by side, with what
// they say joined into one list.
package reviews

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/plugin"
	"github.com/agent-airlock/airlock/internal/reviewer"
	"github.com/agent-airlock/airlock/internal/secrets"
)

// Config says who reviews what.
type Config struct {
	// CodeReview and SecurityReview are the built-in reviewers' settings; Skip leaves
	// one out.
	CodeReview, SecurityReview         reviewer.Config
	SkipCodeReview, SkipSecurityReview bool
	Plugins                            []plugin.Config // sound; each for one of the two
	Scanner                            *secrets.Scanner
	// Set is what changed. The built-in reviewers read its texts, which are those of
	// the commit, not what commands have made of the work tree meanwhile.
	Set *changes.Set
	Run phase.Runner // of the plug-ins' commands
	Env []string     // of the plug-ins' commands, as NAME=value
}

// Reviews are both reviews of one change.
type Reviews struct {
	cfg            Config
	code, security *review
}

// New returns the reviews. The error says that a setting names no rule, or that
// something is missing that is needed.
func New(cfg Config) (*Reviews, error) {
	if cfg.Set == nil || cfg.Scanner == nil || cfg.Run == nil && len(cfg.Plugins) > 0 {
		return nil, errors.New("reviews: a Config needs Set and Scanner, and Run where there are Plugins")
	}
	r := &Reviews{cfg: cfg, code: &review{check: phase.CodeReviewed}, security: &review{check: phase.SecurityReview}}
	if err := r.builtIn(r.code, cfg.SkipCodeReview, cfg.CodeReview, (*reviewer.Reviewer).Code); err != nil {
		return nil, err
	}
	if err := r.builtIn(r.security, cfg.SkipSecurityReview, cfg.SecurityReview, (*reviewer.Reviewer).Security); err != nil {
		return nil, err
	}
	for _, p := range cfg.Plugins {
		of := r.code
		if p.Check == phase.SecurityReview {
			of = r.security
		}
		of.parts = append(of.parts, &part{name: p.Name, precision: p.Precision, run: r.plugIn(p, of.check)})
	}
	return r, nil
}

// Code returns the code review, nil where nobody is to do it.
func (r *Reviews) Code() phase.Reviewer { return r.code.reviewer(r.cfg.Scanner) }

// Security returns the security review, nil where nobody is to do it.
func (r *Reviews) Security() phase.Reviewer { return r.security.reviewer(r.cfg.Scanner) }

// review is one of the two.
type review struct {
	check phase.Check
	parts []*part

	mu      sync.Mutex
	files   []string // that the parts were asked about
	details details
}

// part is one reviewer's part, and what has become of it.
type part struct {
	name      string
	precision finding.Precision
	run       func(ctx context.Context, r phase.ReviewRequest) (said, error)

	done bool // it need not be asked again
	said said
	err  error
}

// said is what a part found.
type said struct {
	findings   []finding.Finding
	rules      map[[2]string]finding.Rule // by tool and ID
	suppressed []reviewer.Suppressed
	skipped    []reviewer.Skipped
	notes      []string
}

func (v *review) reviewer(scanner *secrets.Scanner) phase.Reviewer {
	if len(v.parts) == 0 {
		return nil
	}
	return func(ctx context.Context, r phase.ReviewRequest) ([]finding.Finding, error) {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.ask(ctx, r)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return v.join(scanner)
	}
}

// ask asks every part side by side. One that has answered about these files is not
// asked again: phase validation repeats a review of which a part failed.
func (v *review) ask(ctx context.Context, r phase.ReviewRequest) {
	if !slices.Equal(v.files, r.Files) {
		for _, p := range v.parts {
			p.done = false
		}
		v.files = slices.Clone(r.Files)
	}
	var wg sync.WaitGroup
	for _, p := range v.parts {
		if p.done {
			continue
		}
		wg.Go(func() {
			p.said, p.err = p.guarded(ctx, r)
			var missing *plugin.MissingError
			p.done = p.err == nil || errors.As(p.err, &missing)
		})
	}
	wg.Wait()
}
