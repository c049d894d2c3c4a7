package gitrepo

// GitDir returns the repository's git directory, for tests that run git in it.
func (r *Repo) GitDir() string { return r.gitDir() }
