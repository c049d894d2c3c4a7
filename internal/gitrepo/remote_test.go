//go:build unix

package gitrepo_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/token"
)

func TestNewRemote(t *testing.T) {
	for name, opt := range map[string]gitrepo.RemoteOptions{
		"GitHub":            {URL: "https://github.com/o/r.git", Token: token.New(secret, "https://api.github.com")},
		"a server":          {URL: "https://git.example.com:8443/o/r", Token: token.New(secret, "https://git.example.com:8443/api/v3")},
		"a tenant":          {URL: "https://t.ghe.com/o/r", Token: token.New(secret, "https://api.t.ghe.com")},
		"upper case":        {URL: "https://GitHub.com/o/r", Token: token.New(secret, "https://api.github.com")},
		"no token":          {URL: "https://example.com/o/r"},
		"a proxy":           {URL: "https://example.com/o/r", Proxy: "http://user:pass@proxy:3128"},
		"loopback in tests": {URL: "http://127.0.0.1:80/o/r", AllowLoopback: true},
	} {
		if m, err := gitrepo.NewRemote(opt); err != nil || m.String() != strings.Replace(opt.URL, "GitHub.com/", "GitHub.com/", 1) {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
	for name, opt := range map[string]gitrepo.RemoteOptions{
		"nothing":               {},
		"http":                  {URL: "http://github.com/o/r"},
		"loopback":              {URL: "http://127.0.0.1/o/r"},
		"http elsewhere":        {URL: "http://10.0.0.1/o/r", AllowLoopback: true},
		"a name for loopback":   {URL: "http://localhost/o/r", AllowLoopback: true},
		"a file":                {URL: "file:///etc"},
		"a path":                {URL: "/etc"},
		"ext":                   {URL: "ext::sh -c touch% x"},
		"ext with host":         {URL: "ext::https://github.com/o/r"},
		"an option":             {URL: "--upload-pack=touch x"},
		"ssh":                   {URL: "ssh://git@github.com/o/r"},
		"scp":                   {URL: "git@github.com:o/r"},
		"a user":                {URL: "https://pass-word@github.com/o/r"},
		"a password":            {URL: "https://u:pass-word@github.com/o/r"},
		"a broken password":     {URL: "https://u:pass-word%zz@github.com/o/r"},
		"a query":               {URL: "https://github.com/o/r?x=y"},
		"a fragment":            {URL: "https://github.com/o/r#x"},
		"no path":               {URL: "https://github.com/"},
		"a space":               {URL: "https://github.com/o r"},
		"a line":                {URL: "https://github.com/o\nr"},
		"a backslash":           {URL: `https://github.com\@evil.example/o/r`},
		"a token of elsewhere":  {URL: "https://evil.example/o/r", Token: token.New(secret, "https://api.github.com")},
		"a token of a like one": {URL: "https://github.com.evil.example/o/r", Token: token.New(secret, "https://api.github.com")},
		"another port":          {URL: "https://github.com:444/o/r", Token: token.New(secret, "https://api.github.com")},
		"a token of nowhere":    {URL: "https://github.com/o/r", Token: token.New(secret, "nonsense")},
		"a proxy program":       {URL: "https://github.com/o/r", Proxy: "ext::x"},
		"a proxy in two lines":  {URL: "https://github.com/o/r", Proxy: "http://u:pass-word@p\n[core]\n\tsshCommand = x"},
	} {
		m, err := gitrepo.NewRemote(opt)
		if err == nil {
			t.Errorf("%s: %v", name, m)
		} else if text := err.Error(); strings.Contains(text, "pass-word") || strings.Contains(text, secret) {
			t.Errorf("%s: the error tells a secret: %v", name, err)
		}
	}
}

func TestRemotePrintsNoSecret(t *testing.T) {
	m, err := gitrepo.NewRemote(gitrepo.RemoteOptions{URL: "https://github.com/o/r", Token: token.New(secret, "https://api.github.com")})
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%v %+v %#v %s", m, m, *m, m); strings.Contains(text, secret) {
		t.Errorf("it prints as %s", text)
	}
}
