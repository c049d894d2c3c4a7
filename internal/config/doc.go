// Package config decodes and merges configuration from inputs, files,
// environment and flags into the packages' own Config types, and says with line
// and column what is wrong with it.
package config
