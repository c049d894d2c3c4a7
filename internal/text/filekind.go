package text

import "io/fs"

// FileKind names what a file that is not an ordinary one is, for people: "directory",
// "symbolic link", "FIFO", "socket" or "device".
func FileKind(mode fs.FileMode) string {
	switch mode.Type() {
	case fs.ModeDir:
		return "directory"
	case fs.ModeSymlink:
		return "symbolic link"
	case fs.ModeNamedPipe:
		return "FIFO"
	case fs.ModeSocket:
		return "socket"
	default:
		return "device"
	}
}
