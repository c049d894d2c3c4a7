// Package checkreport tells what phase validation found: as the findings document
// that one job hands to another, to people in a terminal, a summary, a comment and
// annotations, and as Airlock's own items, which go through both doors like any
// other.
//
// Everything is made from the Document alone, so that a job which only reads it
// says the same as the one that wrote it. A document that comes from a file is
// untrusted: its job ran the pull request's code.
package checkreport
