package secrets

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const tenMB = 10 << 20

// source returns 10 MB of Go's own source.
func source(b *testing.B) string {
	b.Helper()
	var text strings.Builder
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	err = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(root)), "src"), func(path string, d os.DirEntry, err error) error {
		if err != nil || text.Len() > tenMB {
			return err
		}
		if filepath.Ext(path) == ".go" {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text.Write(data)
		}
		return nil
	})
	if err != nil || text.Len() < tenMB {
		b.Fatalf("%d bytes of source: %v", text.Len(), err)
	}
	return text.String()[:tenMB]
}

func BenchmarkScan(b *testing.B) {
	go10 := source(b)
	texts := map[string]string{
		"source":   go10,
		"one line": strings.ReplaceAll(go10, "\n", " "),
		"base64":   base64.StdEncoding.EncodeToString([]byte(go10))[:tenMB],
		"prose":    strings.Repeat("The key of the house and the token for the API are a secret: keep the password safe.\n", tenMB/85),
		"hits":     strings.Repeat(newSamples().match(b, `key-[0-9a-f]{32}`)+" ", tenMB/37),
	}
	for name, text := range hostile {
		texts["hostile/"+name] = text(tenMB)
	}
	s := New([]Known{known("the token", "a-token-for-nothing-0123456789")}).Allowing(Allowed{Values: []string{"0"}})
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				s.ScanFile("a.yaml", text)
			}
		})
	}
}

func BenchmarkScanTitle(b *testing.B) {
	s := New([]Known{known("the token", "a-token-for-nothing-0123456789")})
	b.ReportAllocs()
	for b.Loop() {
		s.Scan("Fix the key handling in the token refresh")
	}
}

func BenchmarkLoadRules(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := loadRules(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFirstScan measures what the first scan of a process costs at most: reading the
// rules and compiling each expression that a scan may use. Most texts need only a few of these.
func BenchmarkFirstScan(b *testing.B) {
	for b.Loop() {
		set, err := loadRules()
		if err != nil {
			b.Fatal(err)
		}
		for _, r := range set.rules {
			if r.find != nil {
				continue
			}
			if e := r.expression(); e.start == nil || e.endless {
				e.re.MatchString("")
			}
		}
	}
}

func BenchmarkNew(b *testing.B) {
	pem := []Known{known("a key", strings.Repeat(strings.Repeat("A", 63)+"\n", 50)+"b")}
	b.ReportAllocs()
	for b.Loop() {
		New(pem)
	}
}

// BenchmarkMaskCuts measures texts that are made so that cuts are looked for everywhere.
func BenchmarkMaskCuts(b *testing.B) {
	s := New([]Known{known("the token", "a-token-for-nothing-0123456789")})
	for name, part := range map[string]string{
		"marks":     "…",
		"beginning": "a-token-for-…",
		"nearly":    "a-token-for-nothing-012345678 …",
		"tokens":    "ghp_a1b2c3d4-glpat-a1b2c3d4-",
		"cut token": "-ghp_a1b2c3d4e5…",
		"keys":      "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg\n",
		"ends":      "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg\n-----END PRIVATE KEY-----",
		"begins":    "-----BEGIN PRIVATE KEY-----",
		"lines":     "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg\n",
	} {
		text := strings.Repeat(part, tenMB/10/len(part)) + cutMark
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s.Mask(text)
			}
		})
	}
}
