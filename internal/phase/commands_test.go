package phase_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/google/go-cmp/cmp"
)

// shown validates a project where the given command lines fail and no other program is installed.
// It returns the commands that are shown for formatter, linter, build and tests, and all command
// lines that it tried.
func shown(t *testing.T, contents map[string]string, in phase.Input, config phase.Config, fails ...string) (lines, ran []string, r phase.Result) {
	t.Helper()
	dir := files(t, contents)
	in.WorkingDirectory, in.MaxRetries = dir, 1
	steps := map[string][]step{}
	for _, f := range fails {
		steps[f] = []step{{code: 1}}
		if strings.HasPrefix(f, "cargo clippy") {
			steps[f] = []step{{code: 101}}
		}
	}
	s := newStage(t, dir, steps)
	r = validate(t, phase.Job{Input: in}, config, s.deps())
	c := r.Output.Checks
	return []string{c.Formatter.Command, c.Linter.Command, c.Build.Command, c.Tests.Command}, s.ran, r
}

// TestCommandsOfAProject asserts which commands of formatter, linter, build and tests are shown for
// a project, depending on the tools that its files name. No program is installed, so that the
// formatter and the linter are not configured if the files name no tool for them.
func TestCommandsOfAProject(t *testing.T) {
	t.Parallel()
	pkg := func(members string) string { return "{" + members + "}" }
	scripts := func(list string) string { return pkg(`"scripts":{` + list + "}") }
	plugin := func(name, more string) string {
		return "<plugin><artifactId>" + name + "</artifactId>" + more + "</plugin>"
	}
	execution := func(id string) string {
		return "<executions><execution><id>" + id + "</id><goals><goal>check</goal></goals><configuration/></execution></executions>"
	}
	parent := func(more string) string { return "<parent><artifactId>top</artifactId>" + more + "</parent>" }
	pom := func(head, plugins string) string {
		return "<project><artifactId>top</artifactId>" + head + "<build><plugins>" + plugins + "</plugins></build></project>"
	}
	tests := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"nothing named", map[string]string{"package.json": "{}"}, []string{"", "", "", "npm test"}},
		{"npm", map[string]string{"package.json": scripts(`"build":"x"`), ".prettierrc": "", "eslint.config.mjs": ""}, []string{"npx prettier --check .", "npx eslint .", "npm run build", "npm test"}},
		{"pnpm", map[string]string{"package.json": scripts(`"lint":"x","build":"x"`), "pnpm-lock.yaml": ""}, []string{"", "pnpm run lint", "pnpm run build", "pnpm test"}},
		{"yarn", map[string]string{"package.json": scripts(`"lint":"x"`), "yarn.lock": ""}, []string{"", "yarn run lint", "", "yarn test"}},
		{"yarn without node_modules", map[string]string{"package.json": "{}", "yarn.lock": "", ".pnp.cjs": "", "prettier.config.js": "", ".eslintrc.json": ""}, []string{"yarn run prettier --check .", "yarn run eslint .", "", "yarn test"}},
		{"bun", map[string]string{"package.json": "{}", "bun.lockb": ""}, []string{"", "", "", "bun run test"}},
		{"package.json names the manager", map[string]string{"package.json": pkg(`"packageManager":"pnpm@9.1.0+sha512.ab"`), "yarn.lock": ""}, []string{"", "", "", "pnpm test"}},
		{"package.json names one for development", map[string]string{"package.json": pkg(`"devEngines":{"packageManager":{"name":"yarn"}}`)}, []string{"", "", "", "yarn test"}},
		{"members of package.json", map[string]string{"package.json": pkg(`"prettier":{},"eslintConfig":{}`)}, []string{"npx prettier --check .", "npx eslint .", "", "npm test"}},
		{"a hook's command", map[string]string{"package.json": pkg(`"lint-staged":{"*.js":["prettier --write"]}`)}, []string{"npx prettier --check .", "", "", "npm test"}},
		{"a dependency alone", map[string]string{"package.json": pkg(`"devDependencies":{"prettier":"3","eslint":"9"}`)}, []string{"", "", "", "npm test"}},
		{"Biome", map[string]string{"package.json": "{}", "biome.json": "{}"}, []string{"npx biome format .", "npx biome lint .", "", "npm test"}},
		{"Biome's linter alone", map[string]string{"package.json": "{}", "biome.jsonc": `{"formatter": {"enabled": false}}`}, []string{"", "npx biome lint .", "", "npm test"}},
		{"Biome's formatter, and ESLint", map[string]string{"package.json": "{}", "biome.json": `{"linter": {"enabled": false}}`, ".eslintrc": ""}, []string{"npx biome format .", "npx eslint .", "", "npm test"}},
		{"standard", map[string]string{"package.json": pkg(`"devDependencies":{"standard":"17"}`)}, []string{"", "npx standard", "", "npm test"}},
		{"XO", map[string]string{"package.json": pkg(`"xo":{"space":true}`)}, []string{"", "npx xo", "", "npm test"}},
		{"Oxlint and dprint", map[string]string{"package.json": "{}", ".oxlintrc.json": "", "dprint.json": ""}, []string{"npx dprint check", "npx oxlint", "", "npm test"}},
		{"Oxfmt", map[string]string{"package.json": "{}", ".oxfmtrc.json": "{}"}, []string{"npx oxfmt --check .", "", "", "npm test"}},
		{"a format script of Oxfmt's", map[string]string{"package.json": scripts(`"fmt":"oxfmt src"`)}, []string{"npx oxfmt --check src", "", "", "npm test"}},
		{"a check script of Oxfmt's", map[string]string{"package.json": scripts(`"style":"oxfmt --check src"`)}, []string{"npm run style", "", "", "npm test"}},
		{"a format script and its check", map[string]string{"package.json": scripts(`"format":"x -w","format:check":"x"`)}, []string{"npm run format:check", "", "", "npm test"}},
		{"a script that checks by another name", map[string]string{"package.json": scripts(`"style":"prettier --check src"`)}, []string{"npm run style", "", "", "npm test"}},
		{"a format script of Prettier's", map[string]string{"package.json": scripts(`"format":"prettier --write 'src/**'"`)}, []string{"npx prettier --check 'src/**'", "", "", "npm test"}},
		{"a lint script that fixes", map[string]string{"package.json": scripts(`"lint":"eslint --fix src"`)}, []string{"", "npx eslint src", "", "npm test"}},
		{"Deno", map[string]string{"deno.json": "{}", "a.ts": ""}, []string{"deno fmt --check", "deno lint", "deno check .", "deno test"}},
		{"Deno's tasks", map[string]string{"deno.jsonc": "{\n// \"a\": {\n\"tasks\": {\"test\": \"deno test -A\", /* \"x\" */ \"build\": {\"command\": \"x \\\" // y\"},},\n}\n", "a.ts": ""}, []string{"deno fmt --check", "deno lint", "deno task build", "deno task test"}},
		{"Deno in CI", map[string]string{"deno.json": "{}", ".github/workflows/ci.yml": "      - run: deno test -A --coverage=x --no-check --unstable-kv src\n"}, []string{"deno fmt --check", "deno lint", "", "deno test -A --no-check --unstable-kv"}},
		{"Deno with other tools", map[string]string{"deno.json": `{"imports": {"prettier": "npm:prettier"}}`, "biome.json": "{}"}, []string{"npx biome format .", "npx biome lint .", "deno check .", "deno test"}},
		{"a package that Deno runs, too", map[string]string{"package.json": "{}", "deno.json": "{}"}, []string{"", "", "", "npm test"}},
		{"configuration above the package", map[string]string{"web/package.json": "{}", ".prettierrc": "", "eslint.config.js": ""}, []string{"(cd 'web' && npx prettier --check .)", "(cd 'web' && npx eslint .)", "", "(cd 'web' && npm test)"}},
		{"npm's workspace", map[string]string{"package.json": pkg(`"workspaces":["a"]`), "a/package.json": scripts(`"lint":"x","build":"x","test":"x"`)},
			[]string{"", "npm run lint --workspaces --if-present", "npm run build --workspaces --if-present", "npm run test --workspaces --if-present"}},
		{"pnpm's workspace", map[string]string{"package.json": scripts(`"build":"x"`), "pnpm-lock.yaml": "", "pnpm-workspace.yaml": "packages:\n  - \"p/**\"\n  - '!**/test/**'\n", "eslint.config.js": "", "p/a/package.json": scripts(`"lint":"x","build":"x","test":"x"`)},
			[]string{"", "npx eslint .", "pnpm run build", "pnpm --recursive run --if-present test"}},
		{"other lists of pnpm's workspace", map[string]string{"package.json": "{}", "pnpm-lock.yaml": "", "pnpm-workspace.yaml": "packages: [a]\nonlyBuiltDependencies:\n  - docs\n", "a/package.json": "{}", "docs/package.json": scripts(`"test":"x"`)},
			[]string{"", "", "", "pnpm test && (cd 'docs' && pnpm test)"}},
		{"a package that the workspace excludes", map[string]string{"package.json": pkg(`"workspaces":["*","!docs"]`), "a/package.json": "{}", "docs/package.json": scripts(`"test":"x"`)},
			[]string{"", "", "", "npm test && (cd 'docs' && npm test)"}},
		{"yarn 1's workspace, where npm runs the scripts", map[string]string{"package.json": pkg(`"workspaces":["a"]`), "yarn.lock": "", "a/package.json": scripts(`"test":"x"`)}, []string{"", "", "", "npm run test --workspaces --if-present"}},
		{"a later yarn's workspace, by its pin", map[string]string{"package.json": pkg(`"workspaces":["a"],"packageManager":"yarn@4.9.2"`), "a/package.json": scripts(`"test":"x"`)}, []string{"", "", "", "yarn workspaces foreach --all run test"}},
		{"yarn 1's workspace, by its pin", map[string]string{"package.json": pkg(`"workspaces":["a"],"packageManager":"yarn@1.22.22"`), "a/package.json": scripts(`"test":"x"`)}, []string{"", "", "", "npm run test --workspaces --if-present"}},
		{"a later yarn's workspace", map[string]string{"package.json": pkg(`"workspaces":["a"]`), "yarn.lock": "", ".yarnrc.yml": "", "a/package.json": scripts(`"test":"x"`)}, []string{"", "", "", "yarn workspaces foreach --all run test"}},
		{"bun's workspace", map[string]string{"package.json": pkg(`"workspaces":["a"]`), "bun.lock": "", "a/package.json": scripts(`"test":"x"`)}, []string{"", "", "", "bun run --filter * test"}},
		{"a workspace without tests", map[string]string{"package.json": pkg(`"workspaces":["a"]`), "a/package.json": "{}"}, []string{"", "", "", "npm test"}},
		{"a package below another, without a workspace", map[string]string{"package.json": "{}", "a/package.json": scripts(`"test":"x"`)}, []string{"", "", "", "(cd 'a' && npm test)"}},
		{"python", map[string]string{"setup.py": ""}, []string{"", "", "", "pytest"}},
		{"Poetry", map[string]string{"pyproject.toml": "", "poetry.lock": ""}, []string{"", "", "", "poetry run pytest"}},
		{"Poetry with an environment in the project", map[string]string{"pyproject.toml": "", "poetry.lock": "", ".venv/pyvenv.cfg": ""}, []string{"", "", "", "pytest"}},
		{"Pipenv", map[string]string{"Pipfile": ""}, []string{"", "", "", "pytest"}},
		{"Black", map[string]string{"pyproject.toml": "[tool.black]\nline-length = 100\n"}, []string{"black --check .", "", "", "pytest"}},
		{"Ruff", map[string]string{"pyproject.toml": "[tool.ruff]\nline-length = 100\n"}, []string{"ruff format --check .", "ruff check .", "", "pytest"}},
		{"Ruff lints only", map[string]string{"pyproject.toml": "[tool.ruff.lint]\n", "tox.ini": "[testenv:lint]\ncommands = ruff check src\n"}, []string{"", "ruff check .", "", "pytest"}},
		{"Black formats, Ruff lints", map[string]string{"pyproject.toml": "[tool.black]\n[tool.ruff]\n"}, []string{"black --check .", "ruff check .", "", "pytest"}},
		{"hooks", map[string]string{"setup.py": "", ".pre-commit-config.yaml": "repos:\n- repo: https://x\n  hooks:\n    - id: ruff-format\n    - id: flake8\n"}, []string{"ruff format --check .", "flake8", "", "pytest"}},
		{"a comment is not a command", map[string]string{"setup.py": "", "Makefile": "# black and flake8 are not used\ntest:\n\tpytest\n"}, []string{"", "", "", "pytest"}},
		{"CI", map[string]string{"requirements.txt": "", ".github/workflows/ci.yml": "      - run: python -m black --check .\n"}, []string{"black --check .", "", "", "pytest"}},
		{"setup.cfg", map[string]string{"setup.py": "", "setup.cfg": "[metadata]\n[flake8]\n"}, []string{"", "flake8", "", "pytest"}},
		{"go", map[string]string{"go.mod": ""}, []string{"gofmt -l .", "go vet ./...", "go build ./...", "go test ./..."}},
		{"golangci-lint", map[string]string{"go.mod": "", ".golangci.yml": "version: \"2\"\nformatters:\n  enable: [gofumpt]\n"}, []string{"golangci-lint fmt --diff", "golangci-lint run", "go build ./...", "go test ./..."}},
		{"gofumpt", map[string]string{"go.mod": "", "Makefile": "fmt:\n\tgofumpt -w .\n"}, []string{"gofumpt -l .", "go vet ./...", "go build ./...", "go test ./..."}},
		{"golangci-lint's action", map[string]string{"go.mod": "", ".github/workflows/lint.yaml": "    - uses: golangci/golangci-lint-action@v8\n"}, []string{"gofmt -l .", "golangci-lint run", "go build ./...", "go test ./..."}},
		{"rust", map[string]string{"Cargo.toml": "[package]\n"}, []string{"cargo fmt --check", "cargo clippy", "cargo build", "cargo test"}},
		{"a Rust workspace", map[string]string{"Cargo.toml": "[workspace]\n[package]\n"}, []string{"cargo fmt --all --check", "cargo clippy --workspace", "cargo build --workspace", "cargo test --workspace"}},
		{"a Rust workspace that another table implies", map[string]string{"Cargo.toml": "[workspace.dependencies]\n[package]\n"}, []string{"cargo fmt --all --check", "cargo clippy --workspace", "cargo build --workspace", "cargo test --workspace"}},
		{"a Cargo.toml that cannot be read", map[string]string{"Cargo.toml": "[workspace\n"}, []string{"cargo fmt --all --check", "cargo clippy --workspace", "cargo build --workspace", "cargo test --workspace"}},
		{"Clippy as CI runs it", map[string]string{"Cargo.toml": "", ".github/workflows/ci.yml": "      - run: cargo clippy --all-targets --color always -- -Dwarnings -A clippy::too_many_arguments ${{ x }}\n"},
			[]string{"cargo fmt --check", "cargo clippy --all-targets -- -D warnings -A clippy::too_many_arguments", "cargo build", "cargo test"}},
		{"ruby", map[string]string{"Gemfile": ""}, []string{"", "", "", "rspec"}},
		{"specs of minitest", map[string]string{"Gemfile": "gem \"minitest\"\n", "Rakefile": "Rake::TestTask.new(:spec) { |t| t.pattern = 'spec/*_spec.rb' }\n", "spec/a_spec.rb": "require 'minitest/autorun'\n"}, []string{"", "", "", "rake spec"}},
		{"specs of RSpec", map[string]string{"Gemfile": "gem 'rspec-rails'\n", "Rakefile": "require 'rake'\n", "spec/a_spec.rb": ""}, []string{"", "", "", "rspec"}},
		{"specs and tests", map[string]string{"Gemfile": "gem 'rspec'\n", "Rakefile": "Rake::TestTask.new\n", "spec/a_spec.rb": "", "test/unit/a_test.rb": ""}, []string{"", "", "", "rspec && rake test"}},
		{"Rails with specs and tests", map[string]string{"Gemfile": "", "Gemfile.lock": "", ".rspec": "", "Rakefile": "Rails.application.load_tasks\n", "config/application.rb": "require \"rails/all\"\n", "spec/a_spec.rb": "", "test/models/a_test.rb": ""},
			[]string{"", "", "", "bundle exec rspec && bundle exec rake test"}},
		{"Rails without its tests", map[string]string{"Gemfile": "", ".rspec": "", "Rakefile": "Rails.application.load_tasks\n", "config/application.rb": "require \"rails\"\n# require \"rails/test_unit/railtie\"\n", "spec/a_spec.rb": "", "test/models/a_test.rb": ""},
			[]string{"", "", "", "rspec"}},
		{"specs, and what is left of tests", map[string]string{"Gemfile": "", ".rspec": "", "Rakefile": "Rake::TestTask.new\n", "spec/a_spec.rb": "", "test/test_helper.rb": "", "test/fixtures/.keep": ""}, []string{"", "", "", "rspec"}},
		{"RuboCop", map[string]string{"Gemfile": "", ".rubocop.yml": ""}, []string{"rubocop", "rubocop", "", "rspec"}},
		{"ruby with a lock file", map[string]string{"Gemfile": "gem \"rubocop\", require: false\n", "Gemfile.lock": "", "Rakefile": ""}, []string{"bundle exec rubocop", "bundle exec rubocop", "", "bundle exec rake test"}},
		{"Standard Ruby", map[string]string{"x.gemspec": "  s.add_development_dependency 'standard'\n"}, []string{"standardrb", "standardrb", "", "rspec"}},
		{"maven", map[string]string{"pom.xml": ""}, []string{"", "", "mvn compile", "mvn test"}},
		{"Maven's plugins", map[string]string{"pom.xml": pom("", plugin("spotless-maven-plugin", "")+plugin("maven-checkstyle-plugin", ""))}, []string{"mvn spotless:check", "mvn checkstyle:check", "mvn compile", "mvn test"}},
		{"a plugin's executions with a configuration of their own", map[string]string{"pom.xml": pom("", plugin("maven-checkstyle-plugin", execution("main")+execution("tests")))}, []string{"", "mvn checkstyle:check@main checkstyle:check@tests", "mvn compile", "mvn test"}},
		{"executions next to a configuration", map[string]string{"pom.xml": pom("", plugin("maven-checkstyle-plugin", "<configuration/>"+execution("main")))}, []string{"", "mvn checkstyle:check", "mvn compile", "mvn test"}},
		{"plugins that are managed, report, or belong to a profile", map[string]string{"pom.xml": "<project><build><pluginManagement><plugins>" + plugin("maven-checkstyle-plugin", "") + "</plugins></pluginManagement></build><reporting><plugins>" + plugin("maven-checkstyle-plugin", "") +
			"</plugins></reporting><profiles><profile><id>style</id><build><plugins>" + plugin("spotless-maven-plugin", "") + "</plugins></build></profile></profiles></project>"}, []string{"", "", "mvn compile", "mvn test"}},
		{"a profile by default", map[string]string{"pom.xml": "<project><profiles><profile><activation><activeByDefault>true</activeByDefault></activation><build><plugins>" + plugin("spotless-maven-plugin", "") + "</plugins></build></profile></profiles></project>"},
			[]string{"mvn spotless:check", "", "mvn compile", "mvn test"}},
		{"plugins of modules", map[string]string{"pom.xml": pom("<modules><module>a</module><module>lib/b</module><module>c</module></modules>", ""), "a/pom.xml": pom(parent(""), plugin("spotless-maven-plugin", "")), "lib/b/pom.xml": pom("", plugin("spotless-maven-plugin", "")), "c/pom.xml": pom(parent(""), "")},
			[]string{"mvn -pl a,lib/b spotless:check", "", "mvn compile", "mvn test"}},
		{"a plugin that the parent manages and a module uses", map[string]string{
			"pom.xml":        "<project><artifactId>top</artifactId><modules><module>parent</module><module>a</module></modules></project>",
			"parent/pom.xml": "<project><artifactId>top</artifactId><build><pluginManagement><plugins>" + plugin("maven-checkstyle-plugin", execution("style")) + "</plugins></pluginManagement></build></project>",
			"a/pom.xml":      pom(parent("<relativePath>../parent</relativePath>"), plugin("maven-checkstyle-plugin", "")),
		}, []string{"", "mvn -pl a checkstyle:check@style", "mvn compile", "mvn test"}},
		{"a plugin that modules inherit", map[string]string{"pom.xml": "<?xml version='1.0' encoding='ISO-8859-1'?><!-- \xe4 -->" + pom("<modules><module>a</module></modules>", plugin("spotless-maven-plugin", "")), "a/pom.xml": pom(parent(""), "")}, []string{"mvn spotless:check", "", "mvn compile", "mvn test"}},
		{"a plugin that modules do not inherit", map[string]string{"pom.xml": pom("<modules><module>a</module></modules>", plugin("spotless-maven-plugin", "<inherited>false</inherited>")), "a/pom.xml": pom(parent(""), "")}, []string{"mvn -pl . spotless:check", "", "mvn compile", "mvn test"}},
		{"another parent", map[string]string{"pom.xml": pom("<modules><module>a</module></modules>", plugin("spotless-maven-plugin", "")), "a/pom.xml": pom("<parent><artifactId>other</artifactId></parent>", "")}, []string{"mvn -pl . spotless:check", "", "mvn compile", "mvn test"}},
		{"a module that cannot be an argument", map[string]string{"pom.xml": pom("<modules><module>a b</module></modules>", plugin("spotless-maven-plugin", "")), "a b/pom.xml": pom(parent(""), "")}, []string{"mvn -pl . spotless:check", "", "mvn compile", "mvn test"}},
		{"gradle's wrapper", map[string]string{"build.gradle": "plugins { id 'checkstyle' }", "gradlew": ""}, []string{"", "./gradlew checkstyleMain checkstyleTest", "./gradlew build", "./gradlew test"}},
		{"gradle's wrapper above", map[string]string{"gradlew": "", "x/app/build.gradle": ""}, []string{"", "", "(cd 'x/app' && ../../gradlew build)", "(cd 'x/app' && ../../gradlew test)"}},
		{"gradle without a wrapper", map[string]string{"settings.gradle.kts": "", "build.gradle.kts": "", "app/build.gradle.kts": `id("com.diffplug.spotless")`}, []string{"gradle spotlessCheck", "", "gradle build", "gradle test"}},
	}
	for _, tt := range tests {
		in := phase.Input{}
		for name := range tt.files {
			in.ChangedFiles = append(in.ChangedFiles, name)
		}
		got, _, r := shown(t, tt.files, in, phase.Config{CheckOnly: true})
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
		for i, check := range []phase.Check{phase.Formatter, phase.Linter} {
			if c := checkOf(r, check); (c.NotRun == phase.NotConfigured) != (tt.want[i] == "") || (c.Status == phase.Pass) != (tt.want[i] == "") {
				t.Errorf("%s: %s is %q, %q; a tool that is named and not installed is missing", tt.name, check, c.Status, c.NotRun)
			}
		}
	}
}

// TestPoetryWithoutTheTool asserts that a tool which Poetry's environment lacks is looked for in
// PATH.
func TestPoetryWithoutTheTool(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"pyproject.toml": "", "poetry.lock": "", "a.py": ""})
	s := newStage(t, dir, map[string][]step{"poetry run pytest": {{code: 1, stderr: "Command not found: pytest\n"}}, "pytest": ok})
	r := validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"a.py"}}}, phase.Config{CheckOnly: true}, s.deps())
	if c := r.Output.Checks.Tests; c.Status != phase.Pass || c.Command != "pytest" {
		t.Errorf("%q, %s", c.Command, c.Status)
	}
}

// TestMavenWrapper: the project's own Maven runs where none is installed.
func TestMavenWrapper(t *testing.T) {
	t.Parallel()
	const build = "<build><plugins><plugin><artifactId>spotless-maven-plugin</artifactId></plugin></plugins></build></project>"
	dir := files(t, map[string]string{"pom.xml": "<project><modules><module>app</module></modules>" + build, "mvnw": "", "app/pom.xml": "<project>" + build})
	in := phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"app/pom.xml"}}
	for _, installed := range []string{"mvn", filepath.Join(dir, "mvnw")} {
		s := newStage(t, dir, map[string][]step{installed + " spotless:check": ok, installed + " compile": ok, installed + " test": ok})
		r := validate(t, phase.Job{Input: in}, phase.Config{CheckOnly: true}, s.deps())
		want := []string{"mvn spotless:check", "mvn compile", "mvn test"}
		if installed != "mvn" {
			want = []string{"./mvnw spotless:check", "./mvnw compile", "./mvnw test"}
		}
		c := r.Output.Checks
		if diff := cmp.Diff(want, []string{c.Formatter.Command, c.Build.Command, c.Tests.Command}); diff != "" || r.Output.Status != phase.Pass {
			t.Errorf("with %s: %s\n%s", installed, r.Output.Status, diff)
		}
	}
}

// TestConfiguredAboveTheWorkingDirectory asserts that a tool is in use if a file names it in any directory
// from the working directory up to the repository.
func TestConfiguredAboveTheWorkingDirectory(t *testing.T) {
	t.Parallel()
	repository := files(t, map[string]string{".flake8": "", "a/b/setup.py": "", "a/pyproject.toml": "[tool.black]\n"})
	dir := filepath.Join(repository, "a", "b")
	s := newStage(t, dir, map[string][]step{"black --check --diff .": ok, "flake8": ok, "pytest": ok})
	r := validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir}, Repository: repository}, phase.Config{}, s.deps())
	if c := r.Output.Checks; c.Formatter.Command != "black --check ." || c.Linter.Command != "flake8" || c.Formatter.Status != phase.Pass {
		t.Errorf("%+v", c)
	}
}

// TestAUsualTool asserts that an installed usual tool does a check for which the project names no
// tool. It does not run if it would contradict a linter that the project names, or if it is not a
// dependency although the project has dependencies in package.json.
func TestAUsualTool(t *testing.T) {
	t.Parallel()
	steps := func() map[string][]step {
		return map[string][]step{"prettier --check .": ok, "black --check --diff .": ok, "flake8": ok, "ruff check --output-format=json .": ok, "standard": ok, "npm test": ok, "pytest": ok, "rubocop --format json": ok, "rspec": ok}
	}
	for name, tt := range map[string]struct {
		files          map[string]string
		format, linter string
	}{
		"python":                       {map[string]string{"setup.py": ""}, "black --check .", "ruff check ."},
		"Ruff alone is named":          {map[string]string{"setup.py": "", "ruff.toml": "", "tox.ini": "commands = ruff check .\n"}, "", "ruff check ."},
		"javascript":                   {map[string]string{"package.json": "{}"}, "npx prettier --check .", ""},
		"standard checks the format":   {map[string]string{"package.json": `{"devDependencies":{"standard":"1","prettier":"3"}}`}, "", "npx standard"},
		"Prettier is not a dependency": {map[string]string{"package.json": `{"devDependencies":{"jest":"29"}}`}, "", ""},
		"Prettier is a dependency":     {map[string]string{"package.json": `{"devDependencies":{"prettier":"3"}}`}, "npx prettier --check .", ""},
		"ruby":                         {map[string]string{"Gemfile": ""}, "rubocop", "rubocop"},
	} {
		dir := files(t, tt.files)
		r := validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir}}, phase.Config{}, newStage(t, dir, steps()).deps())
		if c := r.Output.Checks; c.Formatter.Command != tt.format || c.Linter.Command != tt.linter || r.Output.Status != phase.Pass {
			t.Errorf("%s: %q, %q, %s", name, c.Formatter.Command, c.Linter.Command, r.Output.Status)
		}
	}
}

// TestAUsualToolThatTheProjectDoesNotFollow asserts that a tool which no file names decides
// nothing, and fixes nothing, where it finds problems on lines that did not change. It fails the
// check all the same if it crashes, or if nobody knows which lines changed.
func TestAUsualToolThatTheProjectDoesNotFollow(t *testing.T) {
	t.Parallel()
	diff := []changes.ChangedFile{{Path: "new.py", Status: changes.Added, Patch: "@@ -0,0 +1 @@\n+import os"}}
	const inNew, inOld = "new.py:1:1: F401 'os' imported but unused\n", "old.py:9:1: E302 expected 2 blank lines\n"
	for _, tt := range []struct {
		name, named, printed string
		code                 int
		diff                 []changes.ChangedFile
		status               phase.Status
		ran                  string // the command in the output
	}{
		{"old and new problems", "", inNew + inOld, 1, diff, phase.Pass, ""},
		{"old problems alone", "", inOld, 1, diff, phase.Pass, ""},
		{"new problems alone", "", inNew, 1, diff, phase.Fail, "flake8"},
		{"it crashes", "", inOld + "Traceback\n", 3, diff, phase.Fail, "flake8"},
		{"the project names it", "[flake8]\n", inNew + inOld, 1, diff, phase.Fail, "flake8"},
		{"nobody knows which lines changed", "", inNew + inOld, 1, nil, phase.Fail, "flake8"},
		{"nothing is found", "", "", 0, diff, phase.Pass, "flake8"},
	} {
		dir := files(t, map[string]string{"setup.cfg": tt.named, "setup.py": "", "new.py": "", "old.py": ""})
		s := newStage(t, dir, map[string][]step{"flake8": {{code: tt.code, stdout: tt.printed}}, "black --check --diff .": ok, "pytest": ok})
		job := phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"new.py"}, MaxRetries: 3}, Diff: tt.diff}
		for _, newOnly := range []bool{true, false} {
			r := validate(t, job, phase.Config{NewOnly: newOnly}, s.deps())
			c := checkOf(r, phase.Linter)
			if c.Status != tt.status || c.Command != tt.ran || (c.NotRun == phase.NotConfigured) != (tt.ran == "") || c.Retries > 0 || tt.ran == "" && len(c.Notes) != 1 {
				t.Errorf("%s, only new: %v: %+v", tt.name, newOnly, c)
			}
		}
	}
}

func TestFixes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string]string
		input phase.Input
		fails string
		fix   string // "" for none
	}{
		{"npm's scripts take arguments after --", map[string]string{"package.json": `{"scripts":{"lint":"x"}}`}, phase.Input{}, "npm run lint", "npm run lint -- --fix"},
		{"other managers' do not", map[string]string{"package.json": `{"scripts":{"lint":"x"}}`, "yarn.lock": ""}, phase.Input{}, "yarn run lint", "yarn run lint --fix"},
		{"a script that fixes", map[string]string{"package.json": `{"scripts":{"lint":"x","lint:fix":"y"}}`}, phase.Input{}, "npm run lint", "npm run lint:fix"},
		{"a lint script that fixes", map[string]string{"package.json": `{"scripts":{"lint":"eslint --fix src"}}`}, phase.Input{}, "eslint src", "npm run lint"},
		{"a format script that only checks", map[string]string{"package.json": `{"scripts":{"format":"prettier --check ."}}`, ".prettierrc": "", "a.js": ""}, phase.Input{ChangedFiles: []string{"a.js"}}, "npm run format", "prettier --write --ignore-unknown a.js"},
		{"a fmt script that only checks", map[string]string{"package.json": `{"scripts":{"fmt":"npx oxfmt --check"}}`, ".oxfmtrc.json": "", "a.js": ""}, phase.Input{ChangedFiles: []string{"a.js"}}, "npm run fmt", "oxfmt --no-error-on-unmatched-pattern a.js"},
		{"a format script that only checks, next to one that writes", map[string]string{"package.json": `{"scripts":{"format":"biome format .","prettier":"prettier -l .","format:fix":"x"}}`, ".prettierrc": "", "a.js": ""}, phase.Input{ChangedFiles: []string{"a.js"}}, "npm run format", "npm run format:fix"},
		{"a check script, and a format script that only checks", map[string]string{"package.json": `{"scripts":{"format":"prettier -c .","format:check":"x"}}`, ".prettierrc": "", "a.js": ""}, phase.Input{ChangedFiles: []string{"a.js"}}, "npm run format:check", "prettier --write --ignore-unknown a.js"},
		{"a format script that only checks, and no tool", map[string]string{"package.json": `{"scripts":{"format":"biome format ."},"dependencies":{"x":"1"}}`, "a.js": ""}, phase.Input{ChangedFiles: []string{"a.js"}}, "npm run format", ""},
		{"a prettier script that only checks", map[string]string{"package.json": `{"scripts":{"prettier":"prettier --check ."}}`, ".prettierrc": "", "a.js": ""}, phase.Input{ChangedFiles: []string{"a.js"}}, "npm run prettier", "prettier --write --ignore-unknown a.js"},
		{"the changed files alone", map[string]string{"pyproject.toml": "[tool.black]\n", "a.py": "", "-b.py": "", "c.txt": "", "old.py": ""}, phase.Input{ChangedFiles: []string{"a.py", "-b.py", "c.txt", "gone.py"}}, "black --check --diff .", "black a.py ./-b.py"},
		{"clippy, and the changed file is deleted", map[string]string{"Cargo.toml": ""}, phase.Input{ChangedFiles: []string{"a.rs"}}, "cargo clippy --message-format=json", ""},
		{"clippy", map[string]string{"Cargo.toml": "", "a.rs": ""}, phase.Input{ChangedFiles: []string{"a.rs"}}, "cargo clippy --message-format=json", "cargo clippy --fix --allow-dirty --allow-no-vcs --message-format=json"},
		{"an override of the formatter", map[string]string{"Cargo.toml": "", "a.rs": ""}, phase.Input{FormatCommand: "make fmt", ChangedFiles: []string{"a.rs"}}, "make fmt", "cargo fmt"},
		{"an override of a known linter", map[string]string{"setup.py": "", "a.py": ""}, phase.Input{LintCommand: "ruff check src", ChangedFiles: []string{"a.py"}}, "ruff check src", "ruff check --fix --force-exclude --output-format=json a.py"},
		{"an override that fixes", map[string]string{"setup.py": ""}, phase.Input{LintCommand: "mine --fix"}, "mine --fix", "mine --fix"},
		{"an unknown linter", map[string]string{"setup.py": "", "a.py": ""}, phase.Input{LintCommand: "mine", ChangedFiles: []string{"a.py"}}, "mine", ""},
		{"a writing override", map[string]string{"Cargo.toml": "", "a.rs": ""}, phase.Input{FormatCommand: "cargo fmt", ChangedFiles: []string{"a.rs"}}, "cargo fmt --check", "cargo fmt"},
		{"a writing override with another tool", map[string]string{"setup.py": "", "a.py": ""}, phase.Input{FormatCommand: "ruff format .", ChangedFiles: []string{"a.py"}}, "ruff format --check .", "ruff format --force-exclude a.py"},
	}
	for _, tt := range tests {
		_, ran, r := shown(t, tt.files, tt.input, phase.Config{}, tt.fails, tt.fix)
		at := slices.Index(ran, tt.fails)
		switch {
		case at < 0:
			t.Errorf("%s: %q did not run: %q", tt.name, tt.fails, ran)
		case tt.fix == "" && r.Output.TotalRetries != 0:
			t.Errorf("%s: %q is repeated though nothing fixes it", tt.name, ran)
		case tt.fix != "" && (ran[at+1] != tt.fix || ran[at+2] != tt.fails || r.Output.TotalRetries != 1):
			t.Errorf("%s: %q, want the fix %q and the check again", tt.name, ran, tt.fix)
		}
	}
}

// TestAFixLeavesOtherFiles asserts that a fix changes neither the contents nor the times of other
// files, even if the tool cannot be limited to some files.
func TestAFixLeavesOtherFiles(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"Cargo.toml": "", "src/a.rs": "a", "src/old.rs": "old", "src/other.rs": "other"})
	before, err := os.Stat(filepath.Join(dir, "src/old.rs"))
	if err != nil {
		t.Fatal(err)
	}
	const check, fix = "cargo fmt --check", "cargo fmt"
	s := newStage(t, dir, map[string][]step{check: {{code: 1}, {}}, fix: {writing(map[string]string{"src/a.rs": "fixed", "src/old.rs": "fixed, too"})}})
	r := validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"src/a.rs"}, MaxRetries: 3}}, phase.Config{}, s.deps())
	if c := checkOf(r, phase.Formatter); c.Status != phase.Pass || c.Retries != 1 || !slices.Equal(c.Rewritten, []string{"src/a.rs"}) {
		t.Errorf("%+v", c)
	}
	for name, want := range map[string]string{"a.rs": "fixed", "old.rs": "old", "other.rs": "other"} {
		if text, err := os.ReadFile(filepath.Join(dir, "src", name)); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	after, err := os.Stat(filepath.Join(dir, "src/old.rs"))
	if err != nil || !after.ModTime().Equal(before.ModTime()) || after.Mode() != before.Mode() {
		t.Errorf("%v, %v, %v", before, after, err)
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "src")); err != nil || len(entries) != 3 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestWhatAFixCannotHelp asserts that the linter's fix does not run if the linter fails because of
// its configuration, or finds problems only in files that did not change.
func TestWhatAFixCannotHelp(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]step{
		"its configuration": {code: 2, stderr: "Oops! Something went wrong! :(\n"},
		"other files":       {code: 1, stdout: `[{"filePath":"b.js","messages":[{"ruleId":"r","severity":2,"message":"bad","line":1,"column":1}]}]`},
	} {
		dir := files(t, map[string]string{"package.json": withESLint, "a.js": "", "b.js": ""})
		s := newStage(t, dir, map[string][]step{eslintLine: {fails}, eslintFix: ok})
		r := validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"a.js"}, MaxRetries: 3}}, phase.Config{}, s.deps())
		if c := checkOf(r, phase.Linter); c.Status != phase.Fail || c.Retries != 0 || slices.Contains(s.ran, eslintFix) {
			t.Errorf("%s: %+v, %q", name, c, s.ran)
		}
	}
}

// TestOneRunOfRuboCop asserts that formatter and linter read one run of RuboCop: findings of its
// layout cops are the formatter's, and a syntax error is reported by both.
func TestOneRunOfRuboCop(t *testing.T) {
	t.Parallel()
	offense := func(cop, severity string) string {
		return `{"severity":"` + severity + `","message":"bad","cop_name":"` + cop + `","location":{"start_line":1,"start_column":1,"last_line":1,"last_column":2}}`
	}
	printed := func(offenses ...string) step {
		return step{code: 1, stdout: `{"metadata":{},"files":[{"path":"a.rb","offenses":[` + strings.Join(offenses, ",") + `]}],"summary":{"offense_count":1}}`}
	}
	const line, layoutFix, lintFix = "rubocop --format json", "rubocop -x --force-exclusion a.rb", "rubocop -a --force-exclusion a.rb"
	layout, lint, syntax := offense("Layout/ExtraSpacing", "convention"), offense("Lint/UselessAssignment", "warning"), offense("Lint/Syntax", "fatal")
	for name, tt := range map[string]struct {
		first          step
		format, linter phase.Status
		retries        int
		ran            []string
	}{
		"well":    {step{stdout: `{"files":[],"summary":{}}`}, phase.Pass, phase.Pass, 0, []string{line, "rspec"}},
		"layout":  {printed(layout), phase.Fail, phase.Pass, 0, []string{line, "rspec"}},
		"a lint":  {printed(lint), phase.Pass, phase.Fail, 0, []string{line, "rspec"}},
		"both":    {printed(layout, lint), phase.Fail, phase.Fail, 0, []string{line, "rspec"}},
		"syntax":  {printed(syntax), phase.Fail, phase.Fail, 0, []string{line, "rspec"}},
		"a crash": {step{code: 2, stderr: "undefined method\n"}, phase.Fail, phase.Fail, 0, []string{line, "rspec"}},
		"fixes":   {printed(layout, lint), phase.Fail, phase.Fail, 1, []string{line, layoutFix, line, lintFix, line, "rspec"}},
	} {
		dir := files(t, map[string]string{"Gemfile": "", ".rubocop.yml": "", "a.rb": ""})
		s := newStage(t, dir, map[string][]step{line: {tt.first}, layoutFix: ok, lintFix: ok, "rspec": ok})
		r := validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"a.rb"}, MaxRetries: tt.retries}}, phase.Config{}, s.deps())
		f, l := checkOf(r, phase.Formatter), checkOf(r, phase.Linter)
		if f.Status != tt.format || l.Status != tt.linter || f.Command != "rubocop" || l.Command != "rubocop" {
			t.Errorf("%s: %+v\n%+v", name, f, l)
		}
		if diff := cmp.Diff(tt.ran, s.ran); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		for _, g := range f.Blocking {
			if g.Check != "formatter" || !strings.HasPrefix(g.Rule, "Layout/") && g.Rule != "Lint/Syntax" {
				t.Errorf("%s: %s of the check %s is the formatter's", name, g.Rule, g.Check)
			}
		}
		for _, g := range l.Blocking {
			if g.Check != "linter" || strings.HasPrefix(g.Rule, "Layout/") {
				t.Errorf("%s: %s of the check %s is the linter's", name, g.Rule, g.Check)
			}
		}
	}
}

// TestClippysWarnings asserts that Clippy's warnings fail the check if the project's CI denies
// them. Airlock has Clippy print them as warnings, because errors would end it at the first crate.
func TestClippysWarnings(t *testing.T) {
	t.Parallel()
	warning := `{"reason":"compiler-message","message":{"level":"warning","message":"needless return","code":{"code":"clippy::needless_return"},"spans":[{"file_name":"src/a.rs","line_start":1,"line_end":1,"column_start":1,"column_end":2,"is_primary":true}],"children":[]}}` + "\n"
	for ci, want := range map[string]struct {
		line   string
		status phase.Status
	}{
		"run: cargo clippy":                {"cargo clippy --message-format=json", phase.Pass},
		"run: cargo clippy -- -D warnings": {"cargo clippy --message-format=json -- -W warnings", phase.Fail},
		"env:\n  RUSTFLAGS: -Dwarnings\nrun: cargo clippy --all-targets": {"cargo clippy --message-format=json --all-targets -- -W warnings", phase.Fail},
		"run: cargo clippy -- --deny=warnings --allow=clippy::all":       {"cargo clippy --message-format=json -- -W warnings -A clippy::all", phase.Fail},
		"run: cargo clippy -- -D warnings -W rust-2018-idioms":           {"cargo clippy --message-format=json -- -W warnings -W rust-2018-idioms", phase.Fail},
		"run: cargo clippy -- --deny clippy::unwrap_used":                {"cargo clippy --message-format=json -- -D clippy::unwrap_used", phase.Pass},
	} {
		dir := files(t, map[string]string{"Cargo.toml": "", "src/a.rs": "", ".github/workflows/ci.yml": ci})
		s := newStage(t, dir, map[string][]step{want.line: {{stdout: warning}}})
		r := validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"src/a.rs"}}}, phase.Config{CheckOnly: true}, s.deps())
		if c := checkOf(r, phase.Linter); c.Status != want.status || c.ExitCode != 0 || c.Status == phase.Fail && !slices.Equal(c.Problems, []string{"needless return [clippy::needless_return] at src/a.rs:1"}) {
			t.Errorf("%s: %+v, %q", ci, c, s.ran)
		}
	}
}

// TestAPinnedPackageManager asserts that a package manager runs in the version that package.json pins,
// through corepack if that version is not installed. If corepack cannot do that, the installed
// version runs, and a note says so.
func TestAPinnedPackageManager(t *testing.T) {
	t.Parallel()
	const asked, fetched = "pnpm --version", "corepack pnpm@9.1.0 --version"
	printed := func(version string) []step { return []step{{stdout: version + "\n"}} }
	for name, tt := range map[string]struct {
		steps map[string][]step
		ran   string
		note  bool
	}{
		"installed":            {map[string][]step{asked: printed("9.1.0")}, "pnpm test", false},
		"by corepack":          {map[string][]step{asked: printed("10.2.0"), fetched: printed("9.1.0")}, "corepack pnpm@9.1.0 test", false},
		"corepack alone":       {map[string][]step{fetched: printed("9.1.0")}, "corepack pnpm@9.1.0 test", false},
		"without corepack":     {map[string][]step{asked: printed("10.2.0")}, "pnpm test", true},
		"corepack has none":    {map[string][]step{asked: printed("10.2.0"), fetched: {{code: 1}}}, "pnpm test", true},
		"nothing is installed": {nil, "pnpm test", false},
	} {
		dir := files(t, map[string]string{"package.json": `{"packageManager":"pnpm@9.1.0+sha512.abc","scripts":{"lint":"x","test":"x"}}`})
		steps := map[string][]step{"pnpm run lint": ok, "pnpm test": ok, "corepack pnpm@9.1.0 run lint": ok, "corepack pnpm@9.1.0 test": ok}
		if tt.steps == nil {
			steps = map[string][]step{}
		}
		maps.Copy(steps, tt.steps)
		s := newStage(t, dir, steps)
		r := validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir}}, phase.Config{}, s.deps())
		c := checkOf(r, phase.Tests)
		if !slices.Contains(s.ran, tt.ran) || c.Command != "pnpm test" || (len(c.Notes) > 0) != tt.note || (c.Status == phase.Pass) != (tt.steps != nil) {
			t.Errorf("%s: %+v, %q", name, c, s.ran)
		}
		if tt.steps == nil && (len(r.Missing) != 1 || r.Missing[0].Tool != "pnpm") {
			t.Errorf("%s: %+v", name, r.Missing)
		}
	}
}

func TestChangedFilesAsArguments(t *testing.T) {
	t.Parallel()
	contents := map[string]string{"go.mod": "", "a b.go": "", "-x.go": "", "$(id).go": "", "c.py": ""}
	in := phase.Input{ChangedFiles: []string{"a b.go", "-x.go", "$(id).go", "c.py", "gone.go"}}
	for line, want := range map[string]string{
		"lint '--a b' {files}": "[lint --a b a b.go ./-x.go $(id).go]",
		`lint \$x {files} "y"`: "[lint $x a b.go ./-x.go $(id).go y]",
	} {
		in.LintCommand = line
		dir := files(t, contents)
		in.WorkingDirectory = dir
		s := newStage(t, dir, nil)
		validate(t, phase.Job{Input: in}, phase.Config{}, s.deps())
		spec := s.specs[slices.IndexFunc(s.ran, func(l string) bool { return strings.HasPrefix(l, "lint") })]
		if got := "[" + strings.Join(append([]string{spec.Program}, spec.Args...), " ") + "]"; got != want {
			t.Errorf("%s runs %s, want %s", line, got, want)
		}
	}
	for _, line := range []string{"lint {files} | cat", "lint --files={files}", "lint 'x {files}", "{files}", "lint {files} > x", `lint {files} \`, "lint $HOME {files}"} {
		in.LintCommand = line
		_, ran, r := shown(t, contents, in, phase.Config{})
		if c := checkOf(r, phase.Linter); c.Status != phase.Fail || len(c.Problems) != 1 || !strings.Contains(c.Problems[0], "{files}") {
			t.Errorf("%s: %+v ran %q", line, c, ran)
		}
	}
	in.ChangedFiles, in.LintCommand = []string{"c.py"}, "lint {files}"
	if _, _, r := shown(t, contents, in, phase.Config{}); checkOf(r, phase.Linter).Status != phase.Pass || len(checkOf(r, phase.Linter).Notes) != 1 {
		t.Error("without a file of the language nothing is run, and that is noted")
	}
}

func TestAFormatterThatOnlyWrites(t *testing.T) {
	t.Parallel()
	contents := map[string]string{"package.json": `{"scripts":{"format":"mine --write"}}`, "a.js": "x"}
	writes := writing(map[string]string{"a.js": "longer"})
	tests := []struct {
		name   string
		config phase.Config
		status phase.Status
		ran    bool
		wrote  []string
	}{
		{"in place it fixes", phase.Config{}, phase.Pass, true, []string{"a.js"}},
		{"in a copy it is judged by what it changes", phase.Config{CheckOnly: true, Scratch: true}, phase.Fail, true, []string{"a.js"}},
		{"where nothing may be written it cannot be judged", phase.Config{CheckOnly: true}, phase.Fail, false, nil},
	}
	for _, tt := range tests {
		dir := files(t, contents)
		s := newStage(t, dir, map[string][]step{"npm run format": {writes}})
		r := validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir}}, tt.config, s.deps())
		c := checkOf(r, phase.Formatter)
		if c.Status != tt.status || slices.Contains(s.ran, "npm run format") != tt.ran || !slices.Equal(c.Rewritten, tt.wrote) {
			t.Errorf("%s: %+v ran %q", tt.name, c, s.ran)
		}
	}
}

func TestAPackageThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{oops":                           "package.json cannot be read: invalid character 'o'",
		"[]":                              "package.json cannot be read: it is not a JSON object",
		`{"scripts": {"test": 5}}`:        "package.json cannot be read: its scripts are not an object of texts",
		strings.Repeat(" ", 4<<20) + "{}": "package.json cannot be read: package.json is not a regular file, or has more than 4 MiB",
	} {
		lines, ran, r := shown(t, map[string]string{"package.json": text}, phase.Input{}, phase.Config{})
		if len(ran) != 0 || r.Output.Status != phase.Fail || !strings.HasPrefix(r.Output.Checks.Build.Errors[0], want) {
			t.Errorf("%.40q: %q ran %q: %q", text, lines, ran, r.Output.Checks.Build.Errors)
		}
	}
}
