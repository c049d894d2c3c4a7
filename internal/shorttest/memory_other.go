//go:build !linux

package shorttest

// TempInMemory does nothing. Only on Linux does it put the temporary files of tests into memory.
func TempInMemory() {}
