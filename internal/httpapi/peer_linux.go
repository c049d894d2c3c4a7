package httpapi

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// peerUser returns the user whose process is at the other end of a connection of this
// machine, as the kernel knows it. here and there are the two ends as this process sees
// them.
func peerUser(here, there netip.AddrPort) (uid int, err error) {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		uid, found, err := socketOwner(table, there, here)
		if found || err != nil {
			return uid, err
		}
	}
	return 0, fmt.Errorf("no process of this machine is known to be at %s", there)
}

// socketOwner finds the socket that is bound to local and connected to remote.
func socketOwner(table string, local, remote netip.AddrPort) (uid int, found bool, err error) {
	f, err := os.Open(table)
	if os.IsNotExist(err) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 8 || !isSocket(fields[1], local) || !isSocket(fields[2], remote) {
			continue
		}
		uid, err := strconv.Atoi(fields[7])
		return uid, err == nil, err
	}
	return 0, false, nil
}

// isSocket reports whether a field such as 0100007F:1F90 is the address. Each group of
// four bytes of the address is written as a number in the order of a little-endian
// machine; the port is not.
func isSocket(field string, a netip.AddrPort) bool {
	host, port, _ := strings.Cut(field, ":")
	raw, err := hex.DecodeString(host)
	n, portErr := strconv.ParseUint(port, 16, 16)
	if err != nil || portErr != nil || len(raw)%4 != 0 || uint16(n) != a.Port() {
		return false
	}
	for i := 0; i < len(raw); i += 4 {
		slices.Reverse(raw[i : i+4])
	}
	addr, ok := netip.AddrFromSlice(raw)
	return ok && addr.Unmap() == a.Addr().Unmap()
}
