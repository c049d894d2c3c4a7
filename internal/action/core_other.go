//go:build !linux && !darwin

package action

// NoCoreFiles does nothing: Windows, the only other system that Airlock is released for, writes no
// core files by default.
func NoCoreFiles() error { return nil }
