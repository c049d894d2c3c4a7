package sarif

import (
	"strings"
	"testing"
)

func TestRepoPath(t *testing.T) {
	roots := []string{"/srv/checkout/", `C:\code`}
	for uri, want := range map[string]string{
		"src/x.go":                             "src/x.go",
		"./src//x.go":                          "src/x.go",
		"src/a/../x.go":                        "src/x.go",
		`src\win\x.cs`:                         "src/win/x.cs",
		"src%5Cx.cs":                           "src/x.cs",
		"a%20b.go":                             "a b.go",
		"a b.go":                               "a b.go",
		"100%.txt":                             "100%.txt",
		"%e4%b8%ad.txt":                        "中.txt",
		"C#/x.cs":                              "C#/x.cs",
		"what?.md":                             "what?.md",
		"src/x.go#L10":                         "src/x.go",
		"src/x.go#L10-L20":                     "src/x.go",
		"file:///srv/checkout/x.go":            "x.go",
		"FILE://localhost/srv/checkout/a%20b":  "a b",
		"file:/srv/checkout/x.go":              "x.go",
		"/srv/checkout/x.go":                   "x.go",
		`C:\code\x.cs`:                         "x.cs",
		"file:///C:/code/x.cs":                 "x.cs",
		`c:\code\X.cs`:                         "X.cs",
		"file:///c:/Code/x.cs":                 "x.cs",
		"D:/a/Repo/repo/x.cs":                  "x.cs",
		"d:/a/repo/repo/x.cs":                  "x.cs",
		"/github/workspace/x.go":               "x.go",
		"/home/runner/work/repo/repo/cmd/x.go": "cmd/x.go",
		"file:///D:/a/repo/repo/x.cs":          "x.cs",
		"a+b/@scope/c,d;e=f&(g)":               "a+b/@scope/c,d;e=f&(g)",
	} {
		got, err := RepoPath(uri, roots)
		if err != nil || got != want {
			t.Errorf("RepoPath(%q) = %q, %v; want %q", uri, got, err, want)
			continue
		}
		if again, err := RepoPath(encodePath(got), nil); err != nil || again != got {
			t.Errorf("%q is encoded as %q, which reads %q, %v", got, encodePath(got), again, err)
		}
	}
}

func TestFilePath(t *testing.T) {
	for uri, want := range map[string]bool{
		"/a": true, `\a\b`: true, "%2Fa": true, "%5ca": true, " /a": true, "file:///a": true, "File:/a": true, "file://localhost/a": true, `C:\a`: true, "C%3a/a": true, "/a:b": true, "/a#L1": true,
		"a": false, " a": false, "a:b": false, "a/b:c": false, "a%3A/b": true, "%20/a": false, "./a": false, "": false,
		"//host/a": false, "https://host/a": false, "file://host/a": false, "/a\x00": false, // they name no file
	} {
		if path, got, err := FilePath(uri); got != want {
			t.Errorf("FilePath(%q) = %q, %t, %v", uri, path, got, err)
		}
	}
}

func TestRepoPathRefuses(t *testing.T) {
	for uri, want := range map[string]error{
		"":                               errNoFile,
		".":                              errNoFile,
		"a/..":                           errNoFile,
		"../x":                           errOutside,
		"a/../../x":                      errOutside,
		"%2e%2e/x":                       errOutside,
		`..%5cx`:                         errOutside,
		"/etc/passwd":                    errAbsolute,
		"file:///etc/passwd":             errAbsolute,
		"file://host/share/x":            errAbsolute,
		"/srv/checkout/../x":             errOutside,
		"/srv/checkoutx/y":               errAbsolute,
		`C:\other\x`:                     errAbsolute,
		"/SRV/checkout/x":                errAbsolute, // letter case matters where there are no drives
		"/__w/Repo/repo/x":               errAbsolute,
		"/home/runner/work/a/b/x":        errAbsolute,
		"https://example.com/x.go":       errScheme,
		"data:text/plain,x":              errScheme,
		"javascript:alert(1)":            errScheme,
		"main.go:42":                     errScheme,
		"//example.com/x":                errScheme,
		`\\host\share`:                   errScheme,
		"a\x00b":                         errText,
		"a%00b":                          errText,
		"a%0Ab":                          errText,
		"a%ff":                           errText,
		strings.Repeat("a", maxPath+1):   errLong,
		strings.Repeat("a/", 10*maxPath): errLong,
	} {
		if got, err := RepoPath(uri, []string{"/srv/checkout", ""}); err != want {
			t.Errorf("RepoPath(%.40q) = %.40q, %v; want %v", uri, got, err, want)
		}
	}
}

func TestEncodePath(t *testing.T) {
	for path, want := range map[string]string{
		"src/x.go":  "src/x.go",
		"a b#c?d%e": "a%20b%23c%3Fd%25e",
		"中":         "%E4%B8%AD",
		"a:b":       "a%3Ab",
		"[x]":       "%5Bx%5D",
	} {
		if got := encodePath(path); got != want {
			t.Errorf("encodePath(%q) = %q, want %q", path, got, want)
		}
	}
}

func FuzzRepoPath(f *testing.F) {
	for _, seed := range []string{"a/b", "%2e%2e/x", `C:\x`, "file:///github/workspace/a%20b#L1", "a%", "//x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		path, err := RepoPath(uri, nil)
		if err != nil {
			return
		}
		if path == "" || strings.HasPrefix(path, "/") || strings.Contains("/"+path+"/", "/../") || strings.Contains(path, `\`) {
			t.Fatalf("%q became %q", uri, path)
		}
		if again, err := RepoPath(encodePath(path), nil); err != nil || again != path {
			t.Fatalf("%q is encoded as %q, which reads %q, %v", path, encodePath(path), again, err)
		}
	})
}
