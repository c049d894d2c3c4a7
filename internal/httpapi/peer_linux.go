package httpapi

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// peerUser returns the user whose process is at the other end of a connection of this machine, as
// the kernel knows it. The parameter here is the address of this process's end; the parameter there
// is the address of the other end.
func peerUser(here, there netip.AddrPort) (uid int, err error) {
	if uid, found, err := diagnosedOwner(there, here); found && err == nil {
		return uid, nil
	}
	// There is no such connection, or the kernel was built without this query.
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		uid, found, err := listedOwner(table, there, here)
		if found || err != nil {
			return uid, err
		}
	}
	return 0, fmt.Errorf("no process of this machine is known to have a connection open at %s", there)
}

// What the kernel's linux/inet_diag.h lays out: a request has a header and 56 bytes, and an
// answer a header and 72 bytes.
const (
	diagRequest   = unix.NLMSG_HDRLEN + 56
	diagAnswer    = unix.NLMSG_HDRLEN + 72
	diagByFamily  = 20 // SOCK_DIAG_BY_FAMILY
	diagPorts     = unix.NLMSG_HDRLEN + 4
	diagUser      = unix.NLMSG_HDRLEN + 64
	diagInode     = unix.NLMSG_HDRLEN + 68
	diagAddresses = unix.NLMSG_HDRLEN + 8 // of the request: ports, addresses, interface, cookie
)

// diagnosedOwner asks the kernel who has the socket that is bound to local and connected to remote.
// Its cost does not grow with the number of connections. Reading a table takes longer the more
// connections there are, and the table also lists those that ended in the last minute. An error means
// that the kernel cannot be asked in this way.
func diagnosedOwner(local, remote netip.AddrPort) (uid int, found bool, err error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
	if err != nil {
		return 0, false, err
	}
	defer unix.Close(fd)
	wait := unix.NsecToTimeval(time.Second.Nanoseconds())
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait); err != nil {
		return 0, false, err
	}
	request := make([]byte, diagRequest)
	native := binary.NativeEndian
	native.PutUint32(request, diagRequest)
	native.PutUint16(request[4:], diagByFamily)
	native.PutUint16(request[6:], unix.NLM_F_REQUEST)
	request[unix.NLMSG_HDRLEN], request[unix.NLMSG_HDRLEN+1] = unix.AF_INET, unix.IPPROTO_TCP
	native.PutUint32(request[unix.NLMSG_HDRLEN+4:], ^uint32(0)) // in whichever state
	from, to := local.Addr().Unmap(), remote.Addr().Unmap()
	if !from.Is4() {
		request[unix.NLMSG_HDRLEN] = unix.AF_INET6
	}
	binary.BigEndian.PutUint16(request[diagAddresses:], local.Port())
	binary.BigEndian.PutUint16(request[diagAddresses+2:], remote.Port())
	copy(request[diagAddresses+4:], from.AsSlice())
	copy(request[diagAddresses+20:], to.AsSlice())
	native.PutUint64(request[diagAddresses+40:], ^uint64(0)) // no cookie
	if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return 0, false, err
	}
	answer := make([]byte, os.Getpagesize())
	n, _, err := unix.Recvfrom(fd, answer, 0)
	if err != nil {
		return 0, false, err
	}
	answer = answer[:n]
	if n < diagAnswer || native.Uint16(answer[4:]) != diagByFamily { // an error, most likely that there is no such connection
		return 0, false, nil
	}
	// Without such a connection, the kernel answers with the socket that listens at local.
	same := bytes.Equal(answer[diagPorts:diagPorts+4], request[diagAddresses:diagAddresses+4])
	isOpen := native.Uint32(answer[diagInode:]) != 0 // see listedOwner
	return int(native.Uint32(answer[diagUser:])), same && isOpen, nil
}

// listedOwner returns who has the socket that is bound to local and connected to remote, according
// to a table. A socket without an inode was closed by its process. listedOwner does not return its
// owner, because the kernel lists it as one of root's.
func listedOwner(table string, local, remote netip.AddrPort) (uid int, found bool, err error) {
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
		if len(fields) < 10 || !isSocket(fields[1], local) || !isSocket(fields[2], remote) {
			continue
		}
		if inode := fields[9]; inode == "0" {
			return 0, false, nil
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
