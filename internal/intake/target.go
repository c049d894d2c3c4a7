package intake

import (
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// checkTarget leaves at most one field that names the item's target: the one with the most
// specific name. Fields that name different targets are a violation.
func (j *recordJudge) checkTarget() {
	var kept safeoutput.NumberField
	var number *int
	for _, f := range j.form.spec.NumberFields {
		n, _ := safeoutput.Field(j.accepted.item, f.Name).(*int)
		switch {
		case n == nil || *n == 0: // not given
		case number == nil: // the first one
			kept, number = f, n
		case *n != *number:
			j.refuse("$."+f.Name, fmt.Sprintf("%s is %d, but %s is %d; name one thing to act on", quote(f.Name), *n, quote(kept.Name), *number))
		case kept.Means != safeoutput.NoTarget && f.Means != safeoutput.NoTarget:
			j.refuse("$."+f.Name, fmt.Sprintf("%s and %s name a %s and a %s with one number; give one of them", quote(kept.Name), quote(f.Name), kept.Means, f.Means))
		case f.Means == safeoutput.NoTarget: // kept is at least as specific
			*n = 0
		default: // f is more specific than kept
			*number = 0
			kept, number = f, n
		}
	}
}

// ownerNames are the fields that name only the owner of a repository, in snake_case.
var ownerNames = map[string]bool{"owner": true, "repo_owner": true, "repository_owner": true, "target_owner": true, "org": true, "organization": true}

// storeOwner reports whether a member names only the repository's owner, and stores the owner
// for checkRepository.
func (j *recordJudge) storeOwner(m schema.Member) bool {
	if !j.form.has("repo") || m.Value[0] != '"' || !ownerNames[safeoutput.SnakeCase(m.Name)] {
		return false
	}
	owner, err := jsontext.AppendUnquote(nil, m.Value)
	switch {
	case err != nil || strings.Contains(string(owner), "/"):
		return false
	case len(owner) == 0:
		return true
	case j.owner != "" && !strings.EqualFold(j.owner, string(owner)):
		j.refuse("$."+m.Name, fmt.Sprintf("%s is %s, but another field names the owner %s", quote(m.Name), quote(string(owner)), quote(j.owner)))
	}
	j.owner = string(owner)
	return true
}

// checkRepository removes the item's repository if it is the workflow run's. Any other one is a
// violation, unless the workflow run's is not known.
func (j *recordJudge) checkRepository() {
	repo, ok := safeoutput.Field(j.accepted.item, "repo").(*string)
	if !ok || *repo == "" && j.owner == "" || j.refused("repo") {
		return
	}
	if j.owner != "" && !j.addOwner(repo) {
		return
	}
	switch own := j.cfg.Repository; {
	case own == "": // not known here
	case safeoutput.SameRepository(*repo, own):
		*repo = ""
	case j.owner != "":
		j.refuse("$.repo", fmt.Sprintf("the repository is given as %s, but items act only on %s, the repository of this workflow run; leave 'repo' and its owner out", quote(*repo), own))
	default:
		j.refuse("$.repo", fmt.Sprintf("'repo' is %s, but items act only on %s, the repository of this workflow run; leave 'repo' out", quote(*repo), own))
	}
}

// addOwner adds j.owner to a repository that the record names without its owner. It returns
// false, and adds a violation, if the two do not name one repository.
func (j *recordJudge) addOwner(repo *string) bool {
	switch owner, _, hasOwner := strings.Cut(*repo, "/"); {
	case hasOwner && !strings.EqualFold(owner, j.owner):
		j.refuse("$.repo", fmt.Sprintf("'repo' is %s, but the owner is given as %s", quote(*repo), quote(j.owner)))
		return false
	case hasOwner:
	case *repo != "":
		*repo = j.owner + "/" + *repo
	case j.cfg.Repository == "":
		j.refuse("$.repo", "the owner "+quote(j.owner)+" alone does not say which repository is meant; write 'repo' as owner/name, or leave both out")
		return false
	default: // only the owner is given, so the name is that of the workflow run's repository
		_, name, _ := strings.Cut(j.cfg.Repository, "/")
		*repo = j.owner + "/" + name
	}
	return true
}
