//go:build browser

package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/acceptance"
)

// With a real headless Chromium, the documented browser command opens a page whose text a script
// makes. Its pictures are kept as evidence.
func TestBrowserExample(t *testing.T) {
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<title>Shop</title><body style="background:teal"><h1></h1><script>document.querySelector("h1").textContent = "Welcome to " + "the shop" // never shown</script>`)
	}))
	defer app.Close()
	dir := t.TempDir()
	openToOthers(dir)
	request := `{"task_id": "shop", "validation_type": "browser", "services": {"app_url": "` + app.URL + `"}, "acceptance_criteria": [
		{"id": "greets", "description": "d", "validation_hint": "/ shows \"Welcome to the shop\""},
		{"id": "hides", "description": "d", "validation_hint": "/ has no \"never shown\""},
		{"id": "sells", "description": "d", "validation_hint": "/cart shows \"Pay now\""},
		{"id": "pretty", "description": "d", "validation_hint": "It is pretty"}]}`
	write(t, dir, map[string]string{"work/look.py": readFile(t, filepath.Join(root, "examples", "browser", "look.py")), "request.json": request})
	env := []string{"PATH=/usr/bin:/bin", "HOME=" + dir}
	res := run(t, filepath.Join(dir, "work"), env, "", "verify", "--request", "../request.json", "--browser", "python3 look.py", "--evidence", "../evidence")
	r, err := acceptance.ReadResponse([]byte(res.stdout))
	if err != nil {
		t.Fatalf("%v\n%s%s", err, res.stdout, res.stderr)
	}
	var got []string
	for _, c := range r.Results {
		got = append(got, c.ID+" "+string(c.Status))
	}
	if want := "greets PASS, hides PASS, sells FAIL, pretty BLOCKED"; strings.Join(got, ", ") != want || r.Verdict != acceptance.VerdictPartial {
		t.Errorf("%s: %q\n%s", r.Verdict, got, res.stdout)
	}
	if len(r.Evidence.Screenshots) != 3 {
		t.Fatalf("%+v", r.Evidence.Screenshots)
	}
	for _, s := range r.Evidence.Screenshots {
		raw, err := os.ReadFile(filepath.Join(dir, "evidence", s.Path))
		if err != nil {
			t.Error(err)
			continue
		}
		picture, err := png.Decode(bytes.NewReader(raw))
		if err != nil || picture.Bounds().Dx() != 1280 {
			t.Errorf("%s: %v", s.Path, err)
			continue
		}
		if red, green, blue, _ := picture.At(1200, 700).RGBA(); red>>8 != 0 || green>>8 != 128 || blue>>8 != 128 {
			t.Errorf("%s does not show the page, which is teal", s.Path)
		}
	}
	if !json.Valid([]byte(res.stdout)) {
		t.Error(res.stdout)
	}
}
