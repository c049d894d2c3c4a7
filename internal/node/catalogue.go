package node

import (
	"context"
	"errors"

	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/store"
)

// Catalogue names the agents that a user looks at or changes: those built in, and those of a store
// and of a directory.
type Catalogue struct {
	Store  string // the location of the store; "" for the usual one
	Agents string // a directory of blueprints; "" for none
}

// Read calls f with the registry. There need not be a store, unless the user names one. The error
// carries its exit code, as do those of the other methods. There is one exception: an error of f
// that the user can mend, such as a name that is taken, has no exit code, which means wrong usage.
func (c Catalogue) Read(ctx context.Context, getenv func(string) string, f func(*agents.Registry) error) error {
	s, err := store.OpenNamedExisting(ctx, c.Store, "airlock agents add", getenv, agents.Tables)
	if c.Store == "" && errors.Is(err, store.ErrAbsent) {
		s, err = nil, nil
	}
	return c.use(s, err, f)
}

// Add calls f, which adds an agent, with the registry. The store is made if there is none.
func (c Catalogue) Add(ctx context.Context, getenv func(string) string, f func(*agents.Registry) error) error {
	s, err := store.OpenNamed(ctx, c.Store, getenv, agents.Tables)
	return c.use(s, err, f)
}

// Remove calls f, which removes an agent, with the registry. There must be a store.
func (c Catalogue) Remove(ctx context.Context, getenv func(string) string, f func(*agents.Registry) error) error {
	s, err := store.OpenNamedExisting(ctx, c.Store, "airlock agents add", getenv, agents.Tables)
	return c.use(s, err, f)
}

// use calls f with the registry of a store, and closes the store. s is nil if there is none; err is
// the error of opening it, which use returns.
func (c Catalogue) use(s *store.Store, err error, f func(*agents.Registry) error) error {
	if err != nil {
		return err
	}
	if s != nil {
		defer s.Close()
	}
	r, err := Registry(s, c.Agents)
	if err != nil {
		return err
	}
	return exitcode.FailedUnless(agents.IsRefusal, f(r))
}
