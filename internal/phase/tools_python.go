package phase

import "slices"

// pythonTools returns the tools of Python.
func pythonTools() []tool {
	ruffFormat := func(signs ...sign) tool {
		return tool{
			check: Formatter, name: "Ruff", reads: "ruff", flags: []string{}, signs: signs,
			run: []string{"ruff format --check ."}, write: "ruff format .", fix: "ruff format --force-exclude {files}",
		}
	}
	return []tool{
		ruffFormat(slices.Concat([]sign{section("pyproject.toml", "tool.ruff.format"), section("ruff.toml", "format"), section(".ruff.toml", "format")}, runs("ruff format", "ruff-format"))...),
		{
			check: Formatter, name: "Black", usual: true, reads: "black",
			signs: slices.Concat([]sign{section("pyproject.toml", "tool.black")}, runs("black")),
			run:   []string{"black --check {flags} ."}, write: "black .", fix: "black {files}",
		},
		{
			check: Formatter, name: "YAPF",
			signs: slices.Concat([]sign{section("pyproject.toml", "tool.yapf"), section("setup.cfg", "yapf")}, file(".style.yapf"), runs("yapf")),
			run:   []string{"yapf --diff --recursive ."}, write: "yapf --in-place --recursive .", fix: "yapf --in-place {files}",
		},
		ruffFormat(
			sign{file: "ruff.toml", unless: "ruff"}, sign{file: ".ruff.toml", unless: "ruff"},
			sign{file: "pyproject.toml", text: section("pyproject.toml", "tool.ruff").text, shown: "[tool.ruff]", unless: "ruff"},
		),
		{
			check: Linter, name: "Ruff", usual: true, formats: true, reads: "ruff",
			signs: slices.Concat(file("ruff.toml", ".ruff.toml"), []sign{section("pyproject.toml", "tool.ruff"),
				{file: ".pre-commit-config.y*ml", text: `(?m)\bid:[ \t]*ruff[ \t]*$`, shown: "id: ruff"}}, runs("ruff check", "ruff-check", "ruff .")),
			run: []string{"ruff check {flags} ."}, fix: "ruff check --fix --force-exclude {flags} {files}",
		},
		{
			check: Linter, name: "Flake8", usual: true, reads: "flake8",
			signs: slices.Concat(file(".flake8"), []sign{section("setup.cfg", "flake8"), section("tox.ini", "flake8")}, runs("flake8")),
			run:   []string{"flake8"},
		},
		{
			check: Linter, name: "Pylint",
			signs: slices.Concat(file(".pylintrc", "pylintrc"), []sign{section("pyproject.toml", "tool.pylint")}, runs("pylint")),
			run:   []string{"pylint --recursive=y ."},
		},
	}
}
