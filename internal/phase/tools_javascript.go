package phase

import "slices"

// nodeTools returns the tools of JavaScript and TypeScript. A project's own scripts come
// before them.
func nodeTools() []tool {
	return append([]tool{
		{
			check: Formatter, name: "Prettier", usual: true, reads: "prettier",
			signs: slices.Concat(file(".prettierrc", ".prettierrc.*", "prettier.config.*", ".prettierignore"), member("prettier"), runs("prettier")),
			run:   []string{"npx prettier --check ."}, write: "npx prettier --write .", fix: "npx prettier --write --ignore-unknown {files}", endings: anyFile,
		},
		{
			check: Formatter, name: "Biome", reads: "biome",
			signs: []sign{biome("formatter", "biome.json"), biome("formatter", "biome.jsonc"), biome("formatter", ".biome.json"), biome("formatter", ".biome.jsonc")},
			run:   []string{"npx biome format {flags} ."}, write: "npx biome format --write .", fix: "npx biome format --write --no-errors-on-unmatched {files}", endings: anyFile,
		},
		{
			check: Formatter, name: "dprint",
			signs: file("dprint.json", ".dprint.json", "dprint.jsonc", ".dprint.jsonc"),
			run:   []string{"npx dprint check"}, write: "npx dprint fmt", fix: "npx dprint fmt --allow-no-files {files}", endings: anyFile,
		},
		{
			check: Formatter, name: "Oxfmt", reads: "oxfmt",
			signs: slices.Concat(file(".oxfmtrc.json", ".oxfmtrc.jsonc", "oxfmt.config.*"), runs("oxfmt")),
			run:   []string{"npx oxfmt --check ."}, write: "npx oxfmt", fix: "npx oxfmt --no-error-on-unmatched-pattern {files}", endings: anyFile,
		},
		{
			check: Linter, name: "ESLint", reads: "eslint",
			signs: slices.Concat(file("eslint.config.*", ".eslintrc", ".eslintrc.*"), member("eslintConfig")),
			run:   []string{"npx eslint {flags} ."}, fix: "npx eslint --fix {flags} {files}",
		},
		{
			check: Linter, name: "Biome", formats: true, reads: "biome",
			signs: []sign{biome("linter", "biome.json"), biome("linter", "biome.jsonc"), biome("linter", ".biome.json"), biome("linter", ".biome.jsonc")},
			run:   []string{"npx biome lint {flags} ."}, fix: "npx biome lint --write --no-errors-on-unmatched {files}",
		},
		{
			check: Linter, name: "standard", formats: true, reads: "standard",
			signs: member("standard", "dependency standard"),
			run:   []string{"npx standard"}, fix: "npx standard --fix {files}",
		},
		{
			check: Linter, name: "XO", formats: true, reads: "eslint", flags: []string{"--reporter=json"},
			signs: slices.Concat(file("xo.config.*", ".xo-config", ".xo-config.*"), member("xo", "dependency xo")),
			run:   []string{"npx xo {flags}"}, fix: "npx xo --fix {files}",
		},
		{
			check: Linter, name: "Oxlint", reads: "oxlint",
			signs: slices.Concat(file(".oxlintrc.json", "oxlint.config.*"), runs("oxlint")),
			run:   []string{"npx oxlint {flags}"}, fix: "npx oxlint --fix {files}",
		},
	}, denoTools()...)
}

// biome returns the sign that Biome's configuration does not switch off one of its parts.
func biome(part, file string) sign {
	return sign{file: file, without: `"` + part + `"\s*:\s*\{[^{}]*"enabled"\s*:\s*false`, withoutShown: part + " switched off"}
}
