// Package server adapts the gate to protocols: the Model Context Protocol, by which agents
// call tools. It is the only importer of that protocol's SDK.
package server
