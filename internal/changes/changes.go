// Package changes describes what a pull request changes: which files, what kind of
// files they are and which of their lines are new (Set), and which lines can carry a
// review comment (Anchors).
package changes

// Status is what happened to a file.
type Status string

// The statuses, as GitHub's API names them, except Deleted ("removed" there).
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
	PreviousPath string // the old path of a renamed or copied file, otherwise ""
	Status       Status
	Binary       bool
	// Patch is the hunks of the unified diff, without any header before the
	// first "@@". It is "" where there is none: a binary file, a pure rename, a
	// change of mode, or a diff that GitHub finds too large.
	Patch string
	// PatchMissing reports that the file's lines changed but the source of the
	// diff left Patch out.
	PatchMissing bool
}

// FromAPI makes a ChangedFile of the fields that GitHub's API gives for a file of a pull request;
// an unknown status is Modified. If there is no patch although lines are changed, GitHub has left
// it out. The number of changed lines of a binary file is 0, as that of an empty file, which counts
// as binary too.
func FromAPI(path, previous, status, patch string, changedLines int) ChangedFile {
	f := ChangedFile{Path: path, Status: Modified, Patch: patch}
	switch status {
	case "added", "renamed", "copied", "changed", "unchanged":
		f.Status = Status(status)
	case "removed":
		f.Status = Deleted
	}
	if f.Status == Renamed || f.Status == Copied {
		f.PreviousPath = previous
	}
	if patch == "" {
		f.PatchMissing = changedLines > 0
		f.Binary = changedLines == 0 && (f.Status == Modified || f.Status == Added || f.Status == Deleted)
	}
	return f
}
