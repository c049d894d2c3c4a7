package command

import "time"

// Limits bound what a program may use. Each process has its own account, save
// for Processes; a limit that is zero is not set, and none can be raised above
// what this process has itself. Any of them needs Linux, and EnterChild.
type Limits struct {
	// Memory is the private memory that a process may write to, in bytes
	// (RLIMIT_DATA). Address space that is only reserved does not count: Java, Node
	// and Go's race detector reserve far more than they use.
	Memory   int64
	FileSize int64         // of a file that is written, in bytes
	CPU      time.Duration // rounded up to seconds
	// Processes counts processes and threads of the whole user, whoever started them.
	Processes int
	OpenFiles int
}
