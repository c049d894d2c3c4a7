package amount_test

import (
	"math"
	"testing"

	"github.com/agent-airlock/airlock/internal/amount"
)

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		-1: "-1 bytes", 0: "0 bytes", 1: "1 byte", 1023: "1023 bytes", 1024: "1 KiB", 1025: "1.1 KiB", 1536: "1.5 KiB",
		1<<20 - 1: "1024 KiB", 1 << 20: "1 MiB", 64 << 20: "64 MiB", 64<<20 + 1: "64.1 MiB", 10_000_000: "9.6 MiB",
		24 << 30: "24 GiB", 3 << 40: "3 TiB", math.MaxInt64: "8388608 TiB",
	} {
		if got := amount.Bytes(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestOf(t *testing.T) {
	for n, want := range map[int]string{-1: "-1 items", 0: "0 items", 1: "1 item", 2: "2 items", 1000: "1000 items"} {
		if got := amount.Of(n, "item"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
