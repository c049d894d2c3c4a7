//go:build !limits

package shorttest

const atLimits = false
