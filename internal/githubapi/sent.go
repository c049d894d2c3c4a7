package githubapi

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http/httptrace"
	"sync/atomic"
)

// sentTrace watches a transport to learn whether a request can have left. It
// believes positive evidence only: a transport that does not report at all says
// nothing.
type sentTrace struct{ asked, got atomic.Bool }

func (t *sentTrace) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn: func(string) { t.asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { t.got.Store(true) },
	}
}

// never reports that a connection was asked for and none was had: no name, no
// route, no proxy, no TLS.
func (t *sentTrace) never() bool { return t.asked.Load() && !t.got.Load() }

// neverSent reports whether an error came before the request could have left:
// no connection, no TLS.
func neverSent(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
		return true
	}
	var (
		dns      *net.DNSError
		unknown  x509.UnknownAuthorityError
		host     x509.HostnameError
		invalid  x509.CertificateInvalidError
		verify   *tls.CertificateVerificationError
		badRec   tls.RecordHeaderError
		tlsAlert tls.AlertError
	)
	return errors.As(err, &dns) || errors.As(err, &unknown) || errors.As(err, &host) || errors.As(err, &invalid) ||
		errors.As(err, &verify) || errors.As(err, &badRec) || errors.As(err, &tlsAlert)
}
