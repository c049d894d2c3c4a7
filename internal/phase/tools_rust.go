package phase

// rustTools returns the tools of Rust.
func rustTools() []tool {
	return []tool{
		{
			check: Formatter, name: "rustfmt", reads: "rustfmt",
			run: []string{"cargo fmt --check"}, write: "cargo fmt", fix: "cargo fmt",
		},
		{
			check: Linter, name: "Clippy", reads: "cargo",
			run: []string{"cargo clippy {flags}"}, fix: "cargo clippy --fix --allow-dirty --allow-no-vcs {flags}",
		},
	}
}
