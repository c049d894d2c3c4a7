package phase

import "testing"

func TestGist(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, excerpt, want string }{
		{"nothing", "\n \n----\n", ""},
		{"the first lines", "one\n\n  two   words\nthree\nfour\nfive", ": one / two words / three / four"},
		{"Maven", "Downloading from central: https://x\n[INFO] ----\n[INFO] BUILD FAILURE\n[ERROR] Plugin x could not be resolved\n[ERROR]\n[ERROR] Re-run", ": [ERROR] Plugin x could not be resolved / [ERROR] Re-run"},
		{"marks", "a.js:1\n  x(\n   ^\n=== short summary ===", ": a.js:1 / x( / short summary"},
		{"npm", "npm warn exec eslint will be installed\n\nOops!\n\nESLint: 10", ": Oops! / ESLint: 10"},
		{"only chatter", "[INFO] BUILD FAILURE\n", ": [INFO] BUILD FAILURE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := gist(c.excerpt); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
