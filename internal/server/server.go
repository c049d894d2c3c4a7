// Package server adapts the gate, and the coordinator's API, to the Model Context Protocol,
// by which agents and orchestrators call tools. It is the only importer of that protocol's
// SDK.
package server
