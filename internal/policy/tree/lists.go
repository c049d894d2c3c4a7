package tree

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// checkProtected checks every changed path, removed ones too, against protected-files.
func (j *judgement) checkProtected() {
	builtIn := 0 // how many of the patterns, the first ones, are the built-in list
	var patterns []string
	if j.cfg.Protected == nil {
		patterns = ProtectedByDefault()
		builtIn = len(patterns)
	}
	patterns = append(patterns, j.cfg.Protected...)
	patterns = append(patterns, j.cfg.AlsoProtected...)
	manifests := len(patterns) // where those of ProtectManifests begin
	if j.cfg.ProtectManifests {
		patterns = append(patterns, Manifests()...)
	}
	set := newPatternSet(protecting, patterns)
	j.checkPatterns(RuleProtected, set)
	free := newPatternSet(freeing, j.cfg.Unprotected)
	j.checkPatterns(RuleProtected, free)
	match := func(path string) (int, bool) {
		i, ok := set.find(path)
		if ok {
			_, freed := free.find(path)
			ok = !freed
		}
		return i, ok
	}
	targets := j.linkTargets(func(path string) bool { _, ok := match(path); return ok })
	for _, c := range j.tree.Changes {
		if link, ok := lookUpAbove(targets, c.Path); ok {
			j.report(RuleProtected, c.Path, "is what the protected link %s leads to; to allow it, name the link under \"exclude\" of protected-files", quotePath(link))
		}
		i, ok := match(c.Path)
		if !ok {
			continue
		}
		why := ""
		switch {
		case i < builtIn:
			why = " (built-in list)"
		case i >= manifests:
			why = " (protect-manifests)"
		}
		j.report(RuleProtected, c.Path, "is protected by %q%s; to allow it, name it under \"exclude\" of protected-files", patterns[i], why)
	}
}

// checkAllowed checks every changed path, removed ones too, against allowed-files.
func (j *judgement) checkAllowed() {
	if j.cfg.Allowed == nil {
		return
	}
	set := newPatternSet(allowing, j.cfg.Allowed)
	j.checkPatterns(RuleAllowedFiles, set)
	allowed := "none is allowed"
	if len(j.cfg.Allowed) > 0 {
		allowed = "allowed are " + text.QuoteList(j.cfg.Allowed)
	}
	anywhere := newPatternSet(freeing, j.cfg.Allowed)
	for _, c := range j.tree.Changes {
		if _, ok := set.find(c.Path); ok {
			continue
		}
		hint := ""
		if i, ok := anywhere.find(c.Path); ok && !strings.Contains(j.cfg.Allowed[i], "/") {
			hint = "; to mean every directory, write \"**/" + j.cfg.Allowed[i] + "\""
		}
		j.report(RuleAllowedFiles, c.Path, "may not be changed: %s%s", allowed, hint)
	}
}

// checkPatterns reports a pattern that cannot be read, so that it never lets anything
// through unseen.
func (j *judgement) checkPatterns(rule string, set *patternSet) {
	if set.why != "" {
		j.report(rule, "", "the pattern %q of the configuration %s", set.broken, set.why)
	}
}
