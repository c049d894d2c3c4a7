// Package sarif reads, builds, validates, cleans and merges SARIF 2.1.0 logs,
// and makes of them the one log that GitHub's code scanning takes.
package sarif
