package node

import (
	"context"

	"github.com/agent-airlock/airlock/internal/runs"
)

// Local does for a node in this process what client.Client does for a server.
type Local struct {
	*runs.Service
	node *Node
}

// Local returns the node with the methods of a client.
func (n *Node) Local() Local { return Local{n.Runs, n} }

// Create starts a run, unless one was started with the same key, and returns its id.
func (l Local) Create(ctx context.Context, q runs.Request) (string, error) {
	r, _, err := l.Service.Create(ctx, q)
	return r.ID, err
}

// Close closes the node.
func (l Local) Close() { l.node.Close() }
