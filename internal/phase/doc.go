// Package phase is phase validation (spec 000): which language and which
// commands a project has, the six checks in their order with their retries, and
// one output that says what is true of them.
//
// What a check noticed is data; an error means that the validation itself could
// not go on. Nothing here starts a process or reads a clock by itself: both are
// passed in.
package phase
