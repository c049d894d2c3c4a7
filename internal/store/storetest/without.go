//go:build !postgres

package storetest

import "testing"

func startServer() (stop func()) { return func() {} }

func eachServer(*testing.T, func(*testing.T, string)) {}
