package phase

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-airlock/airlock/internal/command"
)

// pins caches how the package managers that projects pin are run.
type pins struct {
	mu    sync.Mutex
	found map[string]pinnedManager // by "manager@version"
}

// pinnedManager is how a pinned package manager is run.
type pinnedManager struct {
	corepack bool   // by corepack, which has the version or fetches it
	note     string // for people, if another version runs
}

// pinTime bounds how long a package manager may take to report its version, or corepack to
// fetch one.
const pinTime = 60 * time.Second

// pinned returns a spec that runs a package manager in the version that the project pins: the
// installed one if it has that version, otherwise by corepack. If corepack cannot run it, the
// installed one runs, and a note says so. The error is the context's.
func (e *engine) pinned(ctx context.Context, r root, pin string, spec command.Spec, a *attempt) (command.Spec, error) {
	e.pins.mu.Lock()
	defer e.pins.mu.Unlock()
	found, ok := e.pins.found[pin]
	if !ok {
		var err error
		if found, err = e.findPinned(ctx, r, pin, spec); err != nil {
			return spec, err
		}
		e.pins.found[pin] = found
	}
	if found.note != "" {
		a.notes = append(a.notes, found.note)
	}
	if found.corepack {
		spec.Program, spec.Args = "corepack", append([]string{pin}, spec.Args...)
		spec.Env = append(slices.Clip(spec.Env), corepackSettings...)
	}
	return spec, nil
}

// corepackSettings keep corepack from asking and from writing into package.json.
var corepackSettings = []string{"COREPACK_ENABLE_DOWNLOAD_PROMPT=0", "COREPACK_ENABLE_AUTO_PIN=0"}

func (e *engine) findPinned(ctx context.Context, r root, pin string, spec command.Spec) (pinnedManager, error) {
	manager, want, _ := strings.Cut(pin, "@")
	installed, err := e.version(ctx, r, spec, manager)
	if err != nil || installed == want {
		return pinnedManager{}, err
	}
	why := "corepack does not know it"
	if manager != "bun" {
		got, err := e.version(ctx, r, spec, "corepack", pin)
		if err != nil || got == want {
			return pinnedManager{corepack: true}, err
		}
		why = "corepack is not installed, or could not fetch it"
	}
	if installed == "" {
		return pinnedManager{}, nil // it is missing, and reported as that
	}
	return pinnedManager{note: fmt.Sprintf("package.json pins %s, and %s %s ran: %s", pin, manager, installed, why)}, nil
}

// version returns what a package manager reports as its version, "" if it does not run.
func (e *engine) version(ctx context.Context, r root, spec command.Spec, words ...string) (string, error) {
	spec.Program, spec.Args = words[0], append(slices.Clone(words[1:]), "--version")
	spec.Env = append(slices.Clip(spec.Env), corepackSettings...)
	spec.Stdout, spec.Stderr, spec.Timeout = nil, nil, pinTime
	result, err := e.runner(r)(ctx, spec)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil || !result.OK() {
		return "", nil //nolint:nilerr // it cannot be run, which is an answer
	}
	return strings.TrimSpace(result.Stdout.String()), nil
}
