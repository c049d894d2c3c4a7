//go:build !linux && !darwin

package action

// NoCoreFiles does nothing: other systems write no core files by default.
func NoCoreFiles() error { return nil }
