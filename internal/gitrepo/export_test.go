package gitrepo

// GitDir is the repository itself, so that a test can ask git what is in it.
func (r *Repo) GitDir() string { return r.gitDir() }
