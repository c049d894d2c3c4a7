//go:build !linux

package isolate

import "context"

// cannotSeparate returns why this process cannot keep a program apart from a credential. The text
// calls the credential "it".
func cannotSeparate() string { return "Airlock can keep the code apart from it only on Linux" }

func (*Sandbox) separate(context.Context, Config) error {
	return &RefusedError{cannotSeparate()}
}

func watchDisk(ctx context.Context, _ string, _ int64) (context.Context, func()) {
	return ctx, func() {}
}

func (*Sandbox) addUsers(context.Context, []*Worker) error { return nil }

func (*Sandbox) giveDirs(context.Context, []string, *user) error { return nil }
