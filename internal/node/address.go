package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/agent-airlock/airlock/internal/httpapi"
)

// Address is where a node is served.
type Address struct {
	HostPort    string // required
	Cert, Key   string // the files for TLS; "" for none
	BehindProxy bool   // a proxy in front has TLS
}

// check returns what is wrong with an address; public reports that more than this machine can reach
// it.
func (a Address) check() (public bool, err error) {
	host, port, err := net.SplitHostPort(a.HostPort)
	if err != nil || strings.Contains(port, "/") {
		return false, fmt.Errorf("--addr: %q is not HOST:PORT, such as 127.0.0.1:8417", a.HostPort)
	}
	if (a.Cert == "") != (a.Key == "") {
		return false, errors.New("--tls-cert and --tls-key belong together")
	}
	ip := net.ParseIP(host)
	public = host != "localhost" && (ip == nil || !ip.IsLoopback())
	if public && a.Cert == "" && !a.BehindProxy {
		return true, fmt.Errorf("--addr: %s can be reached from other machines: give --tls-cert and --tls-key, or --insecure-behind-proxy where a proxy has them", a.HostPort)
	}
	return public, nil
}

// listen listens at the address.
func (a Address) listen(ctx context.Context) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", a.HostPort)
	if err != nil {
		return nil, fmt.Errorf("--addr: %w; give an address of this machine with a port that is free, such as 127.0.0.1:0 for any", err)
	}
	listener = httpapi.Listener(listener)
	if a.Cert == "" {
		return listener, nil
	}
	pair, err := tls.LoadX509KeyPair(a.Cert, a.Key)
	if err != nil {
		_ = listener.Close()
		return nil, fmt.Errorf("--tls-cert: %w", err)
	}
	return tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}), nil
}

// url returns the address at which a client reaches a server that listens at addr.
func (a Address) url(addr net.Addr) string {
	if a.Cert != "" {
		return "https://" + addr.String()
	}
	return "http://" + addr.String()
}
