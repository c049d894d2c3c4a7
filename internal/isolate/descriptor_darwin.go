package isolate

import "strconv"

// descriptorName is a name for messages. The file systems of macOS tell the kinds of
// entries, so that none is asked for by it.
func descriptorName(fd int) string { return "directory " + strconv.Itoa(fd) }
