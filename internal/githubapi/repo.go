package githubapi

import (
	"fmt"
	"strings"
)

// Repo names a repository.
type Repo struct{ Owner, Name string }

// String is the form owner/name.
func (r Repo) String() string { return r.Owner + "/" + r.Name }

// IsZero reports whether r names nothing.
func (r Repo) IsZero() bool { return r == Repo{} }

// ParseRepo reads owner/name. Names are restricted to the characters that
// GitHub allows, so that a name can never reach another address of the API.
func ParseRepo(s string) (Repo, error) {
	owner, name, _ := strings.Cut(s, "/")
	r := Repo{Owner: owner, Name: name}
	if err := r.check(); err != nil {
		return Repo{}, err
	}
	return r, nil
}

// check refuses names that GitHub would not give out.
func (r Repo) check() error {
	if nameOK(r.Owner) && nameOK(r.Name) {
		return nil
	}
	return fmt.Errorf("%q is not a repository: write it as owner/name", r.String())
}

func nameOK(s string) bool {
	if s == "" || s == "." || s == ".." || len(s) > 100 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
		default:
			return false
		}
	}
	return true
}
