//go:build !linux

package isolate

import "context"

func cannotSeparate() string { return "only Linux can keep it apart" }

func (*Room) separate(context.Context, Config) error {
	return &RefusedError{cannotSeparate()}
}

func watchDisk(ctx context.Context, _ string, _ int64) (context.Context, func()) {
	return ctx, func() {}
}

func (*Room) settleLanes(context.Context, []*Lane) error { return nil }

func (*Room) hand(context.Context, []string, *user) error { return nil }
