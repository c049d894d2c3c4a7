package tree

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// rules are the owner's lists of files, ready to match many paths.
type rules struct {
	protected, unprotected, allowed *patternSet
	anywhere                        *patternSet // those of allowed, but a name counts in any directory; for a hint
	patterns                        []string    // of protected
	builtIn                         int         // how many of the patterns are the built-in list; they come first
	manifests                       int         // where those of ProtectManifests begin
}

func newRules(cfg Config) rules {
	r := rules{patterns: cfg.ProtectedPatterns()}
	if cfg.Protected == nil {
		r.builtIn = len(ProtectedByDefault())
	}
	r.manifests = len(r.patterns)
	if cfg.ProtectManifests {
		r.manifests -= len(Manifests())
	}
	r.protected, r.unprotected = newPatternSet(protecting, r.patterns), newPatternSet(freeing, cfg.Unprotected)
	r.allowed, r.anywhere = newPatternSet(allowing, cfg.Allowed), newPatternSet(freeing, cfg.Allowed)
	return r
}

// protects returns the index of a pattern that protects a path.
func (r rules) protects(path string) (int, bool) {
	i, ok := r.protected.find(path)
	if ok {
		_, freed := r.unprotected.find(path)
		ok = !freed
	}
	return i, ok
}

// checkProtected reports the changed paths, removed ones too, that protected-files protects, that a
// protected link leads to or through (targets, from linkTargets), or that a protected pattern
// reaches through a link (behind, from behindLinks).
func (j *judgement) checkProtected(targets map[string]string, behind *patternSet) {
	toAllow, toAllowLink := "name it under \"exclude\" of protected-files", "name the link under \"exclude\" of protected-files"
	if len(j.cfg.Protected) > 0 { // the owner's list, next to which there can be no "exclude"
		toAllow = "change the list of protected-files, or write a mapping with \"exclude\" instead"
		toAllowLink = toAllow
	}
	for _, c := range j.tree.Changes {
		link, isTarget := lookUpAbove(targets, c.Path)
		if isTarget {
			j.report(RuleProtected, c.Path, "is what the protected link %s leads to or through; to allow it, %s", quotePath(link), toAllowLink)
		}
		i, ok := j.rules.protects(c.Path)
		verb := "is protected by"
		if !ok && !isTarget {
			if i, ok = behind.find(c.Path); ok {
				_, freed := j.rules.unprotected.find(c.Path)
				ok = !freed
			}
			verb = "is a link, or is reached through one, on a path that is protected by"
		}
		if !ok {
			continue
		}
		why := ""
		switch {
		case i < j.rules.builtIn:
			why = " (built-in list)"
		case i >= j.rules.manifests:
			why = " (protect-manifests)"
		}
		j.report(RuleProtected, c.Path, "%s %q%s; to allow it, %s", verb, j.rules.patterns[i], why, toAllow)
	}
}

// checkAllowed checks every changed path, removed ones too, against allowed-files.
func (j *judgement) checkAllowed() {
	if j.cfg.Allowed == nil {
		return
	}
	allowed := "none is allowed"
	if len(j.cfg.Allowed) > 0 {
		allowed = "allowed are " + text.QuoteList(j.cfg.Allowed)
	}
	for _, c := range j.tree.Changes {
		if _, ok := j.rules.allowed.find(c.Path); ok {
			continue
		}
		hint := ""
		if i, ok := j.rules.anywhere.find(c.Path); ok && !strings.Contains(j.cfg.Allowed[i], "/") {
			hint = "; to mean every directory, write \"**/" + j.cfg.Allowed[i] + "\""
		}
		j.report(RuleAllowedFiles, c.Path, "may not be changed: %s%s", allowed, hint)
	}
}

// reportBroken reports patterns that cannot be read, so that they never let anything
// through unseen.
func (j *judgement) reportBroken() {
	for _, list := range []struct {
		rule string
		set  *patternSet
	}{{RuleProtected, j.rules.protected}, {RuleProtected, j.rules.unprotected}, {RuleAllowedFiles, j.rules.allowed}} {
		if list.set.why != "" {
			j.report(list.rule, "", "the pattern %q of the configuration %s", list.set.broken, list.set.why)
		}
	}
}
