//go:build !race

package shorttest

const raceDetector = false
