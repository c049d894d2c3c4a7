// Package plugin runs reviewers that the owner configures, such as a linter or an
// AI agent, and turns what they print into findings.
//
// The command is the owner's word alone. Of what a pull request holds, only the
// paths of changed files can become arguments, each one of its own that begins
// with "./", and the diff standard input. What a reviewer prints is hostile, since
// it reads a stranger's files: it is bounded, and says nothing about files outside
// the repository.
package plugin
