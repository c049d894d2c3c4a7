package tree

// protectedGroup is a part of the built-in list of protected files. Its patterns are read as
// protected-files are: a name without a slash counts in every directory, and a directory stands
// for everything in it.
type protectedGroup struct {
	name     string // for people who read this list
	patterns []string
}

// ProtectedByDefault returns the patterns that apply where protected-files is not set: files that
// decide about the repository, files that run on other people's machines or with the repository's
// secrets, and files that instruct the next agent.
func ProtectedByDefault() []string { return flatten(protectedByDefault()) }

// Manifests returns the patterns that protect-manifests adds.
func Manifests() []string { return flatten(manifests()) }

func flatten(groups []protectedGroup) (all []string) {
	for _, g := range groups {
		all = append(all, g.patterns...)
	}
	return all
}

// protectedByDefault returns the built-in list. The files of agents in it are those that the
// agents' documentation names, as of 2026-11: AGENTS.md, and each agent's own files and
// directories. Most agents look in every directory from the root to that of the file they work on.
func protectedByDefault() []protectedGroup {
	return []protectedGroup{
		{"GitHub's own files", []string{
			// Everywhere, because agents look for .github/copilot-instructions.md and
			// .github/instructions in the directory they work in.
			".github/",
			// The places that GitHub reads in addition to .github.
			"/CODEOWNERS", "/docs/CODEOWNERS",
		}},
		{"Airlock's own files: the policy, and what agents are told", []string{"/.airlock/"}},
		{"git's own files", []string{".gitmodules", ".gitattributes", ".lfsconfig", ".githooks/", ".husky/", "lefthook.yml", "lefthook.yaml", "lefthook.toml", "lefthook.json", ".lefthook.yml", ".lefthook.yaml", ".lefthook.toml", ".lefthook.json", ".pre-commit-config.yml", ".pre-commit-config.yaml"}},
		{"other CI systems' files, which run with the repository's secrets", []string{
			"/.gitlab-ci.yml", "/.circleci/", "/.buildkite/", "/.travis.yml", "/.drone.yml", "/.drone.yaml", "/.drone.jsonnet", "/.drone.star", "/.woodpecker/", "/.woodpecker.yml", "/.woodpecker.yaml", "/.cirrus.yml", "/.cirrus.star",
			"/appveyor.yml", "/.appveyor.yml", "/.semaphore/", "/.teamcity/", "/bitbucket-pipelines.yml", "/codemagic.yaml",
			"azure-pipelines*.yml", "azure-pipelines*.yaml", "/.azure-pipelines/", "Jenkinsfile*", "cloudbuild.yaml", "cloudbuild.yml", "cloudbuild.json", "buildspec*.yml", "buildspec*.yaml",
		}},
		{"editors' files, which run when a directory is opened", []string{".vscode/", ".devcontainer/", ".devcontainer.json", ".idea/", ".zed/", ".fleet/", ".envrc"}},
		{"agents' instructions and settings", []string{
			"AGENTS.md", "AGENTS.local.md", "AGENTS.override.md", "AGENT.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "QWEN.md", "CRUSH.md", "WARP.md", "JULES.md",
			"copilot-instructions.md", "*.instructions.md", "SKILL.md",
			".agents/", ".agent/", ".claude/", ".codex/", ".gemini/", ".copilot/", ".qwen/",
			".cursor/", ".cursorrules", ".windsurf/", ".windsurfrules", ".cline/", ".clinerules*", ".roo/", ".roorules*", ".roomodes", ".kilocode/", ".kilocoderules*", ".kilocodemodes",
			".aider*", ".continue/", ".continuerules", ".augment/", ".augment-guidelines", ".amazonq/", ".kiro/", ".junie/", ".aiassistant/", ".idx/", ".trae/",
			".opencode/", "opencode.json", "opencode.jsonc", ".crush/", ".crush.json", "crush.json", ".goosehints", ".goose/", ".openhands/", ".openhands_instructions", ".factory/", ".vibe/",
			".warp/", ".pi/", ".rules", ".ruler/", "firebender.json", ".mcp.json", "mcp.json", ".mcp/",
		}},
	}
}

// manifests returns the files that name the packages to install, and the files that package
// managers run or obey during the installation.
func manifests() []protectedGroup {
	return []protectedGroup{
		{"JavaScript", []string{
			"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "pnpm-workspace.yaml", ".pnpmfile.cjs", ".pnpmfile.mjs", ".npmrc", ".yarnrc", ".yarnrc.yml", ".yarn/",
			"bun.lock", "bun.lockb", "bunfig.toml", "deno.json", "deno.jsonc", "deno.lock", "bower.json", "lerna.json",
		}},
		{"Go", []string{"go.mod", "go.sum", "go.work", "go.work.sum", "Gopkg.toml", "Gopkg.lock"}},
		{"Rust", []string{"Cargo.toml", "Cargo.lock", "rust-toolchain", "rust-toolchain.toml", ".cargo/"}},
		{"Python", []string{
			"pyproject.toml", "setup.py", "setup.cfg", "requirements*.txt", "requirements*.in", "constraints*.txt", "requirements/*.txt", "requirements/*.in", "Pipfile", "Pipfile.lock", "poetry.lock", "poetry.toml",
			"uv.lock", "uv.toml", "pdm.lock", "pylock*.toml", "pixi.toml", "pixi.lock", "environment.yml", "environment.yaml", "conda-lock.yml", "pip.conf",
		}},
		{"Ruby", []string{"Gemfile", "Gemfile.lock", "gems.rb", "gems.locked", "*.gemspec", ".bundle/"}},
		{"Java, Kotlin and Scala", []string{
			"pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradle.properties", "gradle.lockfile", "*.versions.toml", "verification-metadata.xml",
			"gradle-wrapper.properties", "gradle-wrapper.jar", "gradlew", "gradlew.bat", ".mvn/", "mvnw", "mvnw.cmd", "build.sbt", "project/*.sbt", "project/build.properties", "ivy.xml", "deps.edn", "project.clj",
		}},
		{".NET", []string{
			"*.csproj", "*.fsproj", "*.vbproj", "packages.config", "packages.lock.json", "paket.dependencies", "paket.lock", "nuget.config", "global.json",
			"Directory.Packages.props", "Directory.Build.props", "Directory.Build.targets",
		}},
		{"PHP", []string{"composer.json", "composer.lock"}},
		{"Swift and Objective-C", []string{"Package.swift", "Package.resolved", "Podfile", "Podfile.lock", "*.podspec", "Cartfile", "Cartfile.resolved"}},
		{"Dart", []string{"pubspec.yaml", "pubspec.lock"}},
		{"Elixir and Erlang", []string{"mix.exs", "mix.lock", "rebar.config", "rebar.lock"}},
		{"Haskell", []string{"*.cabal", "cabal.project*", "stack.yaml", "stack.yaml.lock", "package.yaml"}},
		{"C and C++", []string{"conanfile.txt", "conanfile.py", "conan.lock", "vcpkg.json", "vcpkg-configuration.json"}},
		{"Bazel and Nix", []string{"MODULE.bazel", "MODULE.bazel.lock", "WORKSPACE", "WORKSPACE.bazel", ".bazelrc", ".bazelversion", "flake.nix", "flake.lock"}},
		{"other languages", []string{"renv.lock", "Manifest.toml", "Project.toml", "cpanfile", "cpanfile.snapshot", "shard.yml", "shard.lock", "elm.json", "dub.json", "dub.selections.json", "opam", "*.opam", "*.opam.locked", "rockspec", "*.rockspec"}},
		{"infrastructure", []string{".terraform.lock.hcl", "Chart.yaml", "Chart.lock", "galaxy.yml", "mise.toml", ".mise.toml", ".tool-versions", "devbox.json", "devbox.lock"}},
	}
}
