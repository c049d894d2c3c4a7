package sanitize

import (
	"errors"
	"strings"

	"golang.org/x/net/idna"
)

var errNotHost = errors.New(`write a host name such as "example.org"`)

// domainEntry normalises one configured host.
func domainEntry(entry string) (string, error) {
	host := strings.ToLower(strings.TrimSpace(entry))
	host = strings.TrimPrefix(host, "https://")
	host = strings.TrimSuffix(host, "/")
	host = strings.TrimPrefix(host, "*.")
	if i := strings.LastIndexByte(host, ':'); i >= 0 && isPort(host[i+1:]) {
		host = host[:i]
	}
	host, ok := canonicalHost(host)
	if !ok {
		return "", errNotHost
	}
	return host, nil
}

// canonicalHost returns the ASCII form of a host name, without a trailing
// dot. It refuses whatever browsers would read as another name than the one
// that is written: percent escapes, compatibility characters, characters that
// are ignored.
func canonicalHost(host string) (string, bool) {
	host = strings.TrimSuffix(host, ".")
	ascii := true
	for i := 0; i < len(host); i++ {
		if host[i] >= 0x80 {
			ascii = false
			break
		}
	}
	host = strings.ToLower(host)
	if !ascii {
		puny, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return "", false
		}
		back, err := idna.Lookup.ToUnicode(puny)
		if err != nil || back != host {
			return "", false
		}
		host = puny
	}
	return host, isPlainHost(host)
}

// isPlainHost tells that host consists of dot-separated labels of letters,
// digits and hyphens: what can be shown in a note and compared as it is.
func isPlainHost(host string) bool {
	if host == "" || len(host) > 253 {
		return false
	}
	label := 0
	for i := 0; i < len(host); i++ {
		switch c := host[i]; {
		case c == '.':
			if label == 0 {
				return false
			}
			label = 0
			continue
		case c == '-' && label == 0, !isAlnum(c) && c != '-':
			return false
		}
		label++
	}
	return label > 0
}

// hostAllowed tells whether links may lead to a canonical host.
func (s *Sanitizer) hostAllowed(host string) bool {
	for {
		if s.hosts[host] {
			return true
		}
		i := strings.IndexByte(host, '.')
		if i < 0 {
			return false
		}
		host = host[i+1:]
	}
}

func isPort(s string) bool {
	if s == "" || len(s) > 5 {
		return false
	}
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n <= 65535
}

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isAlnum(c byte) bool { return isAlpha(c) || isDigit(c) }
