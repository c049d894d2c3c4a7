package isolate

import "testing"

// TestIdentities are apart, each with a guard of its own, and those that systemd may
// lend to a service come last.
func TestIdentities(t *testing.T) {
	taken, lent := map[uint32]bool{}, false
	for _, id := range identities() {
		if taken[id.UID] || taken[id.UID+1] || id.UID != id.GID || id.UID < 65000 || id.UID+1 > 65533 {
			t.Errorf("%+v", id)
		}
		if id.UID+1 > 65519 && lent {
			t.Errorf("%d comes behind ids that systemd lends", id.UID)
		}
		lent = lent || id.UID <= 65519
		taken[id.UID], taken[id.UID+1] = true, true
	}
	if len(taken) < 2*64 {
		t.Errorf("%d identities are not enough for many lanes", len(taken)/2)
	}
}
