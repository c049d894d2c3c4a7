//go:build !linux

package command

import (
	"errors"
	"os"
)

// Probe reports whether a program can be run as the identity; here it cannot.
func Probe(Identity) error {
	return errors.New("running a program as a user of its own is possible on Linux only")
}

// ProbeNoNetwork reports whether a program can be run with NoNetwork; here it cannot.
func ProbeNoNetwork() error {
	return errors.New("running a program in a network of its own is possible on Linux only")
}

func (p *running) start(spec Spec) error {
	if spec.Identity != nil || spec.Limits != (Limits{}) || spec.NoNetwork {
		return errors.New("a user of its own, limits and a network of its own for a program are possible on Linux only")
	}
	return p.cmd.Start()
}

func (p *running) terminate() bool { return terminateGroup(p.cmd.Process) }

func (p *running) killEverything() { killGroup(p.cmd.Process) }

func limitMemory(int, int64) {}

func endUser(Identity, *os.Process) error { return nil }

// awaitExit returns false, because it cannot wait without reaping on this system. The
// group is killed right after the reaping.
func awaitExit(*os.Process) bool { return false }
