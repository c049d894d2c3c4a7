package phase

import "slices"

// goTools returns the tools of Go.
func goTools() []tool {
	return []tool{
		{
			check: Formatter, name: "golangci-lint's formatters", reads: "gofmt", silent: true,
			signs: []sign{{file: ".golangci.*", text: `(?s)\bversion["']?\s*[:=]\s*["']?2.*\bformatters\b.*\benable\b`, shown: "formatters: enable"}},
			run:   []string{"golangci-lint fmt --diff"}, write: "golangci-lint fmt", fix: "golangci-lint fmt {files}",
		},
		{
			check: Formatter, name: "gofumpt", reads: "gofmt", silent: true,
			signs: slices.Concat([]sign{mention("go.mod", "mvdan.cc/gofumpt")}, runs("gofumpt")),
			run:   []string{"gofumpt -l {flags} .", "go tool gofumpt -l {flags} ."}, write: "gofumpt -w .", fix: "gofumpt -w {files}",
		},
		{
			check: Formatter, name: "gofmt", reads: "gofmt", silent: true,
			run: []string{"gofmt -l {flags} ."}, write: "go fmt ./...", fix: "gofmt -w {files}",
		},
		{
			check: Linter, name: "golangci-lint", reads: "golangci-lint",
			signs: slices.Concat(file(".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"), runs("golangci-lint", "golangci-lint-action")),
			run:   []string{"golangci-lint run {flags}"}, fix: "golangci-lint run --fix {flags}",
		},
		{check: Linter, name: "go vet", reads: "go vet", run: []string{"go vet ./..."}},
	}
}
