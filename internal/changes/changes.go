// Package changes knows which files a pull request changes, what kind of files
// they are and which of their lines are new (Set), and which lines can carry a
// review comment (Anchors).
package changes

// Status says what happened to a file.
type Status string

// The statuses, in the words of GitHub's API, except Deleted ("removed" there).
const (
	Added       Status = "added"
	Modified    Status = "modified"
	Deleted     Status = "deleted"
	Renamed     Status = "renamed"
	Copied      Status = "copied"
	TypeChanged Status = "changed" // a file became a link, a submodule, or the other way round; or only its mode changed
	Unchanged   Status = "unchanged"
)

// ChangedFile is one file of a diff.
type ChangedFile struct {
	Path         string // the new path; of a deleted file, the old one. Slash-separated, raw bytes
	PreviousPath string // the old path of a renamed or copied file, else ""
	Status       Status
	Binary       bool
	// Patch holds the hunks of the unified diff, without any header before the
	// first "@@". It is "" where there is none: a binary file, a pure rename, a
	// change of mode, or a diff that GitHub finds too large.
	Patch string
	// PatchMissing reports that the file's lines changed but the source of the
	// diff left Patch out.
	PatchMissing bool
}

// APIStatus translates the "status" of GitHub's API; an unknown one is Modified.
func APIStatus(s string) Status {
	switch s {
	case "added", "modified", "renamed", "copied", "changed", "unchanged":
		return Status(s)
	case "removed":
		return Deleted
	}
	return Modified
}

// FromAPI makes a ChangedFile of the fields that GitHub's API gives for a file
// of a pull request. The number of changed lines tells a patch that is left out
// from one that is empty; GitHub counts 0 for a binary file.
func FromAPI(path, previous, status, patch string, changedLines int) ChangedFile {
	f := ChangedFile{Path: path, Status: APIStatus(status), Patch: patch}
	if f.Status == Renamed || f.Status == Copied {
		f.PreviousPath = previous
	}
	if patch == "" {
		f.PatchMissing = changedLines > 0
		f.Binary = changedLines == 0 && (f.Status == Modified || f.Status == Added || f.Status == Deleted)
	}
	return f
}
