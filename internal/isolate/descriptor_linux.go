package isolate

import "strconv"

// descriptorName is a name by which this process finds an open directory, whatever it
// is called meanwhile.
func descriptorName(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }
