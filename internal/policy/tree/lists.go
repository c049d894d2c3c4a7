package tree

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// limits holds the changes against the number of files and the size of what is
// new. A file that only moved counts once, and its content not at all.
func (j *judgement) limits() {
	most := j.cfg.MaxFiles
	if most == 0 {
		most = defaultMaxFiles
	}
	if files := j.files(); most > 0 && files > most {
		j.broke(RuleMaxFiles, "", "%s changed, at most %d may; change fewer, or set max-patch-files", text.Count(files, "file"), most)
	}
	kib := int64(j.cfg.MaxSizeKB)
	if kib == 0 {
		kib = defaultMaxSizeKB
	}
	if size := j.size(); kib > 0 && (size+1023)/1024 > kib {
		j.broke(RuleMaxSize, "", "the changes hold %d KiB of new contents, at most %d KiB may be; change less, or set max-patch-size", (size+1023)/1024, kib)
	}
}

// files counts the paths that changed, a moved file once.
func (j *judgement) files() int {
	added := map[string]int{}
	for _, c := range j.tree.Changes {
		if c.OldMode == "" && c.NewOID != "" {
			added[c.NewOID]++
		}
	}
	n := 0
	for _, c := range j.tree.Changes {
		if c.NewMode == "" && added[c.OldOID] > 0 {
			added[c.OldOID]--
			continue
		}
		n++
	}
	return n
}

// size sums the contents that were not there before.
func (j *judgement) size() int64 {
	const most = 1 << 60 // so that no sum overflows
	known := j.tree.known()
	var sum int64
	for _, c := range j.tree.Changes {
		if c.NewMode != "" && !(c.NewOID != "" && known[c.NewOID]) {
			sum = min(sum+min(max(c.Size, 0), most), most)
		}
	}
	return sum
}

// protected holds every changed path, gone ones too, against protected-files.
func (j *judgement) protected() {
	builtIn := 0 // how many of the patterns are Airlock's own
	var patterns []string
	if j.cfg.Protected == nil {
		patterns = ProtectedByDefault()
		builtIn = len(patterns)
	}
	patterns = append(patterns, j.cfg.Protected...)
	patterns = append(patterns, j.cfg.AlsoProtected...)
	own := len(patterns)
	if j.cfg.ProtectManifests {
		patterns = append(patterns, Manifests()...)
	}
	set := newPatternSet(protecting, patterns)
	j.unreadable(RuleProtected, set)
	free := newPatternSet(freeing, j.cfg.Unprotected)
	j.unreadable(RuleProtected, free)
	match := func(path string) (int, bool) {
		i, ok := set.find(path)
		if ok {
			_, freed := free.find(path)
			ok = !freed
		}
		return i, ok
	}
	reached := j.reached(func(path string) bool { _, ok := match(path); return ok })
	for _, c := range j.tree.Changes {
		if link, ok := above(reached, c.Path); ok {
			j.broke(RuleProtected, c.Path, "is what the protected link %s leads to; to allow it, name the link under \"exclude\" of protected-files", quotePath(link))
		}
		i, ok := match(c.Path)
		if !ok {
			continue
		}
		why := ""
		switch {
		case i < builtIn:
			why = " (built-in list)"
		case i >= own:
			why = " (protect-manifests)"
		}
		j.broke(RuleProtected, c.Path, "is protected by %q%s; to allow it, name it under \"exclude\" of protected-files", patterns[i], why)
	}
}

// allowed holds every changed path, gone ones too, against allowed-files.
func (j *judgement) allowed() {
	if j.cfg.Allowed == nil {
		return
	}
	set := newPatternSet(whole, j.cfg.Allowed)
	j.unreadable(RuleAllowedFiles, set)
	words := "none is allowed"
	if len(j.cfg.Allowed) > 0 {
		words = "allowed are " + text.QuoteList(j.cfg.Allowed)
	}
	anywhere := newPatternSet(freeing, j.cfg.Allowed)
	for _, c := range j.tree.Changes {
		if _, ok := set.find(c.Path); ok {
			continue
		}
		hint := ""
		if i, ok := anywhere.find(c.Path); ok && !strings.Contains(j.cfg.Allowed[i], "/") {
			hint = "; to mean every folder, write \"**/" + j.cfg.Allowed[i] + "\""
		}
		j.broke(RuleAllowedFiles, c.Path, "may not be changed: %s%s", words, hint)
	}
}

// unreadable reports a pattern that is none, so that it cannot let anything
// through unseen.
func (j *judgement) unreadable(rule string, set *patternSet) {
	if set.broken != "" {
		j.broke(rule, "", "the pattern %q of the configuration %s", set.broken, set.why)
	}
}
