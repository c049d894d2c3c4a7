//go:build !linux && !darwin

package isolate

import (
	"context"
	"errors"
	"math"
	"os"
	"runtime"
)

func copyTree(context.Context, string, string, copyOptions) ([]Note, error) {
	return nil, errors.New("Airlock cannot copy a workspace on " + runtime.GOOS)
}

func freeBytes(string) int64 { return math.MaxInt64 }

func removeAll(name string) error { return os.RemoveAll(name) }
