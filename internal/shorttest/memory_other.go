//go:build !linux

package shorttest

// TempInMemory puts the temporary files of a package's tests into memory, on Linux.
func TempInMemory() {}
