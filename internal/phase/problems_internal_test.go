package phase

import "testing"

func TestSummarise(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, excerpt, want string }{
		{"nothing", "\n \n----\n", ""},
		{"the first lines", "one\n\n  two   words\nthree\nfour\nfive", ": one / two words / three / four"},
		{"Maven", "Downloading from central: https://x\n[INFO] ----\n[INFO] BUILD FAILURE\n[ERROR] Plugin x could not be resolved\n[ERROR]\n[ERROR] Re-run", ": [ERROR] Plugin x could not be resolved"},
		{"marks", "a.js:1\n  x(\n   ^\n=== short summary ===", ": a.js:1 / x( / short summary"},
		{"npm", "npm warn exec eslint will be installed\n\nOops!\n\nESLint: 10", ": Oops! / ESLint: 10"},
		{"only chatter", "[INFO] BUILD FAILURE\n", ": [INFO] BUILD FAILURE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := summarise(c.excerpt); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestSummariseEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, excerpt, want string }{
		{"nothing", "\n----\n", ""},
		{"the last lines", "✔ one\n✔ two\n✔ three\nTypeError: x\n  at a.js:1\n\nNode.js v20\n", ": ✔ three / TypeError: x / at a.js:1 / Node.js v20"},
		{"without what make, npm and yarn add", "1 of 3 suites failed\nmake[1]: *** [Makefile:2: unit] Error 1\nmake: *** [Makefile:4: test] Error 2\nnpm error code 2\nerror Command failed with exit code 2.\n", ": 1 of 3 suites failed"},
		{"only what npm adds", "npm error Missing script: \"test\"\nnpm error\nnpm error To see a list of scripts, run:\nnpm error   npm run\nnpm error A complete log of this run can be found in: x\n",
			": npm error Missing script: \"test\" / npm error / npm error To see a list of scripts, run: / npm error npm run"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := summariseEnd(c.excerpt); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
