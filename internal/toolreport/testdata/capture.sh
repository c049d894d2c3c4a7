#!/usr/bin/env bash
# capture.sh [GROUP...]: make the captures again, all of them or those of some
# groups (go, node, style, deno, python, rust, ruby, java, wrapped, more, plain), with the real
# tools.
#
# Each capture is what a tool printed on one of the small projects in projects/:
# captures/NAME.out and NAME.err, and a row in MANIFEST.tsv. The projects stand at
# /src in a mount namespace of this script's own, so that no path of the machine
# gets into a capture; a home directory that still does is written /home/user. From
# Gradle's standard error the traces of Debian's resolver are left out.
# Nothing else is changed. A capture that hangs is ended after 8 to 40 seconds,
# its exit code is then the word "timeout".
#
# Needs Linux, root, the network, Go, Node 20 or later, a Rust toolchain with
# clippy, and Debian 12 with the packages in $debian, which it installs.
set -euo pipefail

debian="python3-pytest black flake8 mypy ruby rubocop ruby-rspec ruby-minitest
  gradle checkstyle default-jdk-headless maven maven-debian-helper libsurefire-java junit4
  libmaven-compiler-plugin-java libmaven-resources-plugin-java libmaven-jar-plugin-java
  make tox nox python3-coverage cmake meson phpunit"
npm="jest@29.7.0 vitest@3.2.7 mocha@11.8.0 eslint@9.39.5 typescript@5.9.3 prettier@3.10.1
  nyc@18.0.0 c8@12.0.0 turbo@2.11.11 npm-run-all@4.1.5 concurrently@9.2.5 lerna@9.0.7 pnpm@9.15.9 yarn@1.22.22 ava@7.0.0
  jasmine@5.13.0 @playwright/test@1.65.1 deno@2.9.6 @oven/bun-linux-x64-baseline@1.2.23"
npm_style="@biomejs/biome@1.9.4 oxlint@1.0.0 oxfmt@0.43.0 standard@17.1.2" # apart: standard needs an ESLint of its own
golangci=github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

here=$(cd "$(dirname "$0")" && pwd)
cache=${CAPTURE_CACHE:-${TMPDIR:-/tmp}/toolreport-capture}
manifest=$here/MANIFEST.tsv

if [ -z "${CAPTURE_INSIDE:-}" ]; then
  mkdir -p "$cache/bin" "$cache/npm" "$cache/home" /src
  dpkg -s $debian >/dev/null 2>&1 || { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $debian; }
  [ -x "$cache/bin/golangci-lint" ] || GOBIN=$cache/bin go install "$golangci"
  [ -d "$cache/npm/node_modules/jest" ] || (cd "$cache/npm" && echo '{"private":true}' >package.json && npm install --no-audit --no-fund --save-exact $npm)
  [ -d "$cache/npm-style/node_modules/oxfmt" ] || (mkdir -p "$cache/npm-style" && cd "$cache/npm-style" && echo '{"private":true}' >package.json && npm install --no-audit --no-fund --save-exact $npm_style)
  CAPTURE_INSIDE=1 exec unshare --mount "$0" "$@"
fi

projects=$(mktemp -d)
trap 'cd / && umount /src && rm -rf "$projects"; rmdir /src 2>/dev/null || true' EXIT
mount --bind "$projects" /src
export PATH=$cache/bin:$PATH LC_ALL=C.UTF-8 NO_COLOR=1 CI=1
user_home=$HOME

# project NAME lays the files of projects/NAME.txtar at /src.
project() {
  rm -rf /src/* && cd /src
  awk '/^-- .* --$/ { f = substr($0, 4, length($0) - 6); d = f; if (sub("/[^/]*$", "", d)) system("mkdir -p \"" d "\""); printf "" > f; next }
       f { print > f }' "$here/projects/$1.txtar"
}

# capture NAME CHECK FOLDER HOLDS COMMAND...: tool and version come from the variables.
capture() {
  local name=$1 check=$2 folder=$3 holds=$4 code=0 to=$here/captures/$1
  shift 4
  mkdir -p "$(dirname "$to")"
  echo "$name" >&2
  (cd "/src/$folder" && timeout -k 5 "${limit:-30}" "$@") >"$to.out" 2>"$to.err" </dev/null || code=$?
  [ $code != 124 ] && [ $code != 137 -o -z "${limit:-}" ] || code=timeout
  sed -i "s#$user_home#/home/user#g" "$to.out" "$to.err"
  case $name in gradle/*) sed -i '/^\tat /d' "$to.err" ;; esac
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$tool" "$version" "$check" "${folder:-.}" "$*" "$code" "$holds" >>"$manifest.rows"
}

hanging() { limit=${limit:-8} capture "$@"; }

group_go() {
  project go; tool=go version=$(go env GOVERSION | sed s/^go//)
  export GOFLAGS=-count=1 GOTOOLCHAIN=local
  local form arguments
  for form in go-test go-test-json; do
    arguments=(); [ $form = go-test ] || arguments=(-json)
    capture $form/pass tests pass "one test passes" go test "${arguments[@]}" ./...
    capture $form/fail tests fail "two of three subtests and one test fail; a test prints what looks like a failure" go test "${arguments[@]}" ./...
    capture $form/crash tests crash "a test fails, a subtest panics; in another package TestMain exits" go test "${arguments[@]}" ./...
    capture $form/hang tests hang "a test hangs until go test's own limit ends it" go test -timeout 1s "${arguments[@]}" ./...
    hanging $form/killed tests hang "a test hangs until it is killed" go test "${arguments[@]}" ./...
    capture $form/nocompile tests nocompile "two packages do not compile, one of them only its test; a test of a third fails" go test "${arguments[@]}" ./...
  done
  capture go-test/verbose tests fail "the same as go-test/fail, with -v" go test -v ./...
  capture go-build/fail build nocompile "a package does not compile" go build ./...
  capture go-build/syntax build syntax "a file that cannot be parsed" go build ./...
  capture go-vet/pass linter pass "nothing to say" go vet ./...
  capture go-vet/fail linter lint "a wrong format and code after a return" go vet ./...
  capture go-vet/nocompile linter nocompile "type errors" go vet ./...
  capture go-vet-json/fail linter lint "the same as go-vet/fail" go vet -json ./...
  tool=gofmt
  capture gofmt/pass formatter pass "nothing to format" gofmt -l .
  capture gofmt/fail formatter lint "two files to format" gofmt -l .
  capture gofmt/diff formatter lint "the same, as a diff" gofmt -d .
  capture gofmt/syntax formatter syntax "a file that cannot be parsed" gofmt -l .
  tool=golangci-lint version=2.15.0
  capture golangci-lint/pass linter pass "nothing to say" golangci-lint run
  capture golangci-lint/fail linter lint "findings of three linters" golangci-lint run
  capture golangci-lint/nocompile linter nocompile "type errors" golangci-lint run
  capture golangci-lint-json/fail linter lint "the same as golangci-lint/fail" golangci-lint run --output.json.path=stdout --show-stats=false
  capture golangci-lint-json/pass linter pass "nothing to say" golangci-lint run --output.json.path=stdout --show-stats=false
}

group_node() {
  project node; mkdir node_modules; mount --bind "$cache/npm/node_modules" node_modules
  npm_version() { version=$(node -p "require('/src/node_modules/$tool/package.json').version"); }
  local bin=/src/node_modules/.bin state
  tool=jest; npm_version
  jest() { local how=capture; [ "$1" != hang ] || how=hanging; $how "jest/$1" tests "jest/$1" "$2" node $bin/jest --rootDir . "${@:3}"; }
  jest pass "one test passes"
  jest fail "two tests of three fail, one with the separator of suites in its name"
  jest crash "a test fails, and a file throws while it is loaded"
  jest hang "a test never ends"
  jest nocompile "a file that cannot be parsed, and one that requires a file that is not there"
  jest none "there are no tests"
  tool=vitest; npm_version
  vitest() { local how=capture; [ "$1" != hang ] || how=hanging; $how "vitest/$1" tests "vitest/$1" "$2" node $bin/vitest run --root . "${@:3}"; }
  vitest pass "one test passes"
  vitest fail "two tests of three fail, one with the separator of suites in its name"
  vitest crash "a test fails, and a file throws while it is loaded"
  vitest hang "a test never ends"
  vitest nocompile "a file that cannot be parsed"
  vitest none "there are no tests"
  tool=mocha; npm_version
  mocha() { local how=capture; [ "$1" != hang ] || how=hanging; $how "mocha/$1" tests "mocha/$1" "$2" node $bin/mocha '*.test.js' "${@:3}"; }
  mocha pass "one test passes"
  mocha fail "two tests of three fail"
  mocha crash "a hook throws before two tests"
  mocha hang "a test never ends"
  mocha nocompile "a file that cannot be parsed"
  mocha none "a file without tests"
  tool=jest; npm_version
  capture jest-json/crash tests jest/crash "the same as jest/crash, with --json" node $bin/jest --rootDir . --json
  tool=vitest; npm_version
  capture vitest-json/crash tests vitest/crash "the same as vitest/crash, as JSON" node $bin/vitest run --root . --reporter=json
  tool=mocha; npm_version
  capture mocha-json/fail tests mocha/fail "the same as mocha/fail, as JSON" node $bin/mocha '*.test.js' --reporter json
  tool=node version=$(node --version | sed s/^v//)
  local form
  for form in node-spec node-tap; do
    arguments=(--test --test-reporter="${form#node-}")
    capture $form/pass tests builtin/pass "one test passes" node "${arguments[@]}"
    capture $form/fail tests builtin/fail "two tests of three fail and a third below another test; one with todo fails" node "${arguments[@]}"
    capture $form/crash tests builtin/crash "a file throws while it is loaded, and one exits in a test" node "${arguments[@]}"
    hanging $form/hang tests builtin/hang "a test never ends" node "${arguments[@]}"
    capture $form/nocompile tests builtin/nocompile "a file that cannot be parsed" node "${arguments[@]}"
    capture $form/none tests builtin/none "there are no tests" node "${arguments[@]}"
  done
  tool=eslint; npm_version
  for form in eslint eslint-json; do
    arguments=(); [ $form = eslint ] || arguments=(--format json)
    capture $form/pass linter lint/pass "nothing to say" node $bin/eslint "${arguments[@]}" .
    capture $form/fail linter lint/fail "errors and a warning in three files" node $bin/eslint "${arguments[@]}" .
    capture $form/syntax linter lint/syntax "a file that cannot be parsed" node $bin/eslint "${arguments[@]}" .
    capture $form/crash linter lint/pass "a configuration that is not there" node $bin/eslint -c missing.mjs "${arguments[@]}" .
  done
  tool=typescript; npm_version
  capture tsc/fail build . "type errors, one over several lines" node $bin/tsc --pretty false
  capture tsc/pretty build . "the same with colours and frames" node $bin/tsc --pretty true
  capture tsc/syntax build . "a file that cannot be parsed" node $bin/tsc --pretty false --noEmit broken/syntax.ts
  capture tsc/pass build . "nothing to say" node $bin/tsc --pretty false --noEmit types/good.ts
  capture tsc/crash build . "an option that does not exist" node $bin/tsc --no-such-option
  tool=prettier; npm_version
  capture prettier/pass formatter format/pass "nothing to format" node $bin/prettier --check .
  capture prettier/fail formatter format/fail "two files to format" node $bin/prettier --check .
  capture prettier/syntax formatter format/syntax "a file that cannot be parsed" node $bin/prettier --check .
  tool=npm version=$(npm --version)
  capture npm/lint linter . "npm runs eslint and tells so" npm run lint
  capture npm/test tests . "npm runs jest and tells so" npm test
  cd / && umount /src/node_modules
}

debian_version() { dpkg-query -W -f '${Version}' "$1"; }

group_style() {
  project node; mkdir node_modules; mount --bind "$cache/npm-style/node_modules" node_modules
  local bin=/src/node_modules/.bin flags=(--reporter=github --max-diagnostics=none) state
  tool=biome version=1.9.4
  for state in pass fail syntax; do
    capture biome-format/$state formatter format/$state "what biome format finds in format/$state" node $bin/biome format "${flags[@]}" .
    capture biome-lint/$state linter lint/$state "what biome lint finds in lint/$state" node $bin/biome lint "${flags[@]}" .
  done
  tool=oxlint version=1.0.0
  for state in pass fail syntax; do
    capture oxlint/$state linter lint/$state "what oxlint finds in lint/$state" node $bin/oxlint --format=github
  done
  tool=oxfmt version=0.43.0
  for state in pass fail syntax; do
    capture oxfmt/$state formatter format/$state "what oxfmt finds in format/$state" node $bin/oxfmt --check .
  done
  tool=standard version=17.1.2
  for state in pass fail syntax; do
    capture standard/$state linter lint/$state "what standard finds in lint/$state" node $bin/standard
  done
}

group_python() {
  project python
  export PYTHONDONTWRITEBYTECODE=1 PYTEST_ADDOPTS="-p no:cacheprovider"
  local py=/usr/bin/python3 state
  for state in pass fail crash nocompile none; do
    tool=pytest version=$(debian_version python3-pytest)
    capture pytest/$state tests $state "see projects/python.txtar" $py -m pytest
    tool=unittest version=$(debian_version python3)
    capture unittest/$state tests $state "see projects/python.txtar" $py -m unittest
  done
  tool=pytest version=$(debian_version python3-pytest)
  hanging pytest/hang tests hang "a test fails, another never ends" $py -m pytest
  capture pytest/quiet tests fail "the same as pytest/fail, with -q" $py -m pytest -q
  capture pytest/verbose tests fail "the same as pytest/fail, with -v" $py -m pytest -v
  tool=unittest version=$(debian_version python3)
  hanging unittest/hang tests hang "a test fails, another never ends" $py -m unittest
  tool=black version=$(debian_version black)
  capture black/pass formatter lint_clean "nothing to format" black --check .
  capture black/fail formatter lint "two files to format" black --check .
  capture black/diff formatter lint "the same, as a diff" black --diff --check .
  capture black/syntax formatter lint_syntax "a file that cannot be parsed" black --check .
  tool=flake8 version=$(debian_version flake8)
  capture flake8/pass linter lint_clean "nothing to say" $py -m flake8
  capture flake8/fail linter lint "findings in two files, one with a space in its name" $py -m flake8
  capture flake8/syntax linter lint_syntax "a file that cannot be parsed" $py -m flake8
  tool=mypy version=$(debian_version mypy)
  capture mypy/pass linter lint_clean "nothing to say" mypy --cache-dir=/dev/null app.py
  capture mypy/fail linter lint "a type error" mypy --cache-dir=/dev/null --show-column-numbers app.py
  capture mypy/syntax linter lint_syntax "a file that cannot be parsed" mypy --cache-dir=/dev/null app.py
}

group_rust() {
  project rust; tool=cargo version=$(cargo --version | cut -d' ' -f2)
  export CARGO_TERM_COLOR=never RUST_BACKTRACE=0 CARGO_NET_OFFLINE=true
  export CARGO_TARGET_DIR=target
  capture cargo-test/pass tests pass "one test passes" cargo test
  capture cargo-test/fail tests fail "two unit tests fail, so nothing more is run" cargo test
  capture cargo-test/all tests fail "two unit tests, an integration test and a doc test fail" cargo test --no-fail-fast
  capture cargo-test/crash tests crash "a test aborts the process" cargo test
  hanging cargo-test/hang tests hang "a test fails, another never ends" cargo test
  capture cargo-test/nocompile tests nocompile "two errors and a warning" cargo test
  capture cargo-build/fail build nocompile "two errors and a warning" cargo build
  capture cargo-build-json/fail build nocompile "two errors and a warning" cargo build --message-format=json
  tool=clippy version=$(cargo clippy --version | cut -d' ' -f2)
  capture clippy/fail linter lint "four warnings" cargo clippy
  capture clippy-json/pass linter pass "nothing to say" cargo clippy --message-format=json
  touch lint/src/lib.rs
  capture clippy-json/fail linter lint "the same as clippy/fail" cargo clippy --message-format=json
  tool=rustfmt version=$(cargo fmt --version | cut -d' ' -f2)
  capture cargo-fmt/pass formatter crash "nothing to format" cargo fmt --check
  capture cargo-fmt/fail formatter lint "two places to format" cargo fmt --check
}

group_ruby() {
  project ruby
  local state how
  for state in pass fail crash hang nocompile none; do
    how=capture; [ $state != hang ] || how=hanging
    tool=rspec version=$(debian_version ruby-rspec-core)
    $how rspec/$state tests spec_$state "see projects/ruby.txtar" rspec .
    tool=minitest version=$(debian_version ruby-minitest)
    $how minitest/$state tests mini_$state "see projects/ruby.txtar" ruby app_test.rb --seed 1
  done
  tool=rspec version=$(debian_version ruby-rspec-core)
  capture rspec/documentation tests spec_fail "the same as rspec/fail, in the documentation format" rspec --format documentation .
  capture rspec-json/fail tests spec_fail "the same as rspec/fail, as JSON" rspec --format json .
  capture rspec-json/nocompile tests spec_nocompile "the same as rspec/nocompile, as JSON" rspec --format json .
  tool=minitest version=$(debian_version ruby-minitest)
  capture minitest/verbose tests mini_fail "the same as minitest/fail, with -v" ruby app_test.rb --seed 1 -v
  tool=rubocop version=$(debian_version rubocop)
  local form
  for form in rubocop rubocop-json; do
    arguments=(); [ $form = rubocop ] || arguments=(--format json)
    capture $form/pass linter lint_clean "nothing to say" rubocop --cache false "${arguments[@]}"
    capture $form/fail linter lint "findings in two files, one with a space in its name" rubocop --cache false "${arguments[@]}"
    capture $form/syntax linter lint_syntax "a file that cannot be parsed" rubocop --cache false "${arguments[@]}"
    capture $form/crash linter lint_clean "an option that does not exist" rubocop --no-such-option "${arguments[@]}"
  done
}

group_java() {
  project java
  cat >/tmp/pom.$$ <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>app</groupId><artifactId>app</artifactId><version>1</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.x</version><scope>test</scope></dependency></dependencies>
</project>
POM
  cat >/tmp/gradle.$$ <<'GRADLE'
apply plugin: 'java'
repositories { maven { url 'file:///usr/share/maven-repo' } }
dependencies { testCompile 'junit:junit:4.x' }
GRADLE
  local f state how
  for f in */pom.xml; do cp /tmp/pom.$$ "$f"; done
  for f in */build.gradle; do cp /tmp/gradle.$$ "$f"; touch "${f%/*}/settings.gradle"; done
  rm /tmp/pom.$$ /tmp/gradle.$$
  tool=maven version=$(debian_version maven)
  local mvn=(mvn -B -o -s /etc/maven/settings-debian.xml -Dmaven.repo.local=/usr/share/maven-repo)
  capture maven-compile/fail build mvn_nocompile "two errors" "${mvn[@]}" compile
  capture maven-compile/pass build mvn_pass "compiles" "${mvn[@]}" compile
  for state in pass fail crash hang nocompile; do
    how=capture; [ $state != hang ] || how=hanging
    limit=60; [ $state != hang ] || limit=25
    $how maven/$state tests mvn_$state "see projects/java.txtar" "${mvn[@]}" test
  done
  if [ -d mvn_fail/target/surefire-reports ]; then
    tool=junit-xml
    capture junit-xml/fail tests mvn_fail "the reports that surefire wrote in maven/fail, without the properties of the machine" sh -c 'grep -hv "<property " target/surefire-reports/*.xml'
  fi
  tool=javac version=$(debian_version openjdk-17-jdk-headless)
  capture javac/fail build javac_fail "two errors and two warnings" javac -Xlint:all App.java
  capture javac/syntax build javac_syntax "a file that cannot be parsed" javac App.java
  tool=checkstyle version=$(debian_version checkstyle)
  capture checkstyle/fail linter checkstyle "errors and warnings" checkstyle -c checks.xml App.java
  capture checkstyle-xml/fail linter checkstyle "the same as XML" checkstyle -f xml -c checks.xml App.java
  tool=gradle version=$(debian_version gradle)
  export GRADLE_USER_HOME=$projects/.gradle-home
  local gradle=(gradle --offline --no-daemon --console=plain)
  limit=120
  for state in pass fail crash hang nocompile; do
    [ $state != hang ] || limit=40
    capture gradle/$state tests gradle_$state "see projects/java.txtar" "${gradle[@]}" test
    limit=120
  done
  unset limit
}

group_wrapped() {
  project wrapped; chmod +x py/cover.sh; mkdir node_modules; mount --bind "$cache/npm/node_modules" node_modules
  export PATH=/src/node_modules/.bin:$PATH TURBO_TELEMETRY_DISABLED=1 NX_DAEMON=false NO_UPDATE_NOTIFIER=1 HOME=$cache/home
  npm_version() { version=$(node -p "require('/src/node_modules/$tool/package.json').version"); }
  tool=nyc; npm_version
  capture wrapped/nyc tests . "eslint, then nyc and mocha" npm test
  tool=ava; npm_version
  capture wrapped/ava tests ava "two tests fail, and a file that does not load; one is expected to" ava
  tool=c8; npm_version
  capture wrapped/c8 tests packages/a "mocha's TAP reporter in c8" c8 --reporter=none mocha --reporter tap
  tool=npm-run-all; npm_version
  capture wrapped/run-p tests . "two runs of mocha side by side, with labels" run-p --print-label --continue-on-error test:a test:b
  capture wrapped/run-s tests . "two runs of mocha one after the other" run-s --continue-on-error test:a test:b
  tool=concurrently; npm_version
  capture wrapped/concurrently tests . "two runs of mocha side by side" concurrently npm:test:a npm:test:b
  tool=turbo; npm_version
  git init -q . && printf 'node_modules\n.turbo\n' >.gitignore && echo '{"name":"root","lockfileVersion":3,"packages":{"":{"name":"root","workspaces":["packages/*"]},"packages/a":{"name":"@app/a"},"packages/b":{"name":"b"}}}' >package-lock.json
  capture wrapped/turbo tests . "two workspaces, with prefixes" turbo run test --continue --log-order=stream
  tool=lerna; npm_version
  capture wrapped/lerna tests . "two workspaces, with prefixes" lerna run test --stream --no-bail --no-sort --skip-nx-cache
  tool=pnpm; npm_version
  capture wrapped/pnpm tests . "two workspaces, with prefixes" pnpm --recursive --no-bail --config.package-manager-strict=false test
  tool=yarn; npm_version
  sed -i '/packageManager/s/"packageManager": "[^"]*", //' package.json
  capture wrapped/yarn tests packages/a "mocha by yarn" yarn --no-default-rc test
  cd / && umount /src/node_modules && cd /src && rm -rf node_modules .git
  export PYTHONDONTWRITEBYTECODE=1 PYTEST_ADDOPTS="-p no:cacheprovider"
  tool=make version=$(debian_version make)
  capture wrapped/make tests py "flake8, then coverage and pytest, in a script" make test
  tool=coverage version=$(debian_version python3-coverage)
  capture wrapped/coverage tests py "unittest in coverage" /usr/bin/python3 -m coverage run --branch -m unittest
  tool=nox version=$(debian_version nox)
  capture wrapped/nox tests py "pytest in a session of nox" nox --no-color
  export TOX_WORK_DIR=$cache/tox
  tool=tox version=$(debian_version tox)
  capture wrapped/tox tests py "pytest in two environments of tox" tox --sitepackages
  sed -i -E '/^(one|two) (create|installed): /d' "$here/captures/wrapped/tox.out"
}

group_deno() {
  project deno
  export PATH=$cache/npm/node_modules/@deno/linux-x64-glibc:$PATH HOME=$cache/home
  local state tool version
  version=$(deno --version | sed -n 's/^deno \([^ ]*\).*/\1/p')
  for state in fail pass syntax; do
    tool="deno fmt"
    capture deno-fmt/$state formatter $state "a file is not formatted, all are, or one cannot be parsed" deno fmt --check
    tool="deno lint"
    capture deno-lint/$state linter $state "three findings, none, or a file that cannot be parsed" deno lint --compact
  done
}

group_more() {
  project more; mkdir node_modules; mount --bind "$cache/npm/node_modules" node_modules
  export PATH=/src/node_modules/@oven/bun-linux-x64-baseline/bin:/src/node_modules/@deno/linux-x64-glibc:/src/node_modules/.bin:$PATH HOME=$cache/home
  local state in
  for state in fail pass; do
    in=; [ $state = fail ] || in=/pass
    tool=bun version=$(bun --version)
    capture bun/$state tests bun$in "two tests fail, and a file that does not load; or one passes" bun test $([ $state = pass ] && echo ok || echo add load)
    tool=jasmine version=$(node -p "require('/src/node_modules/jasmine/package.json').version")
    capture jasmine/$state tests jasmine$in "two tests of three fail, or one passes" jasmine --random=false './*Spec.js'
    tool=deno version=$(deno --version | sed -n 's/^deno \([^ ]*\).*/\1/p')
    capture deno/$state tests deno$in "a test and a step of another fail, or one passes" deno test --no-check ./*_test.js
    tool=playwright version=$(node -p "require('/src/node_modules/@playwright/test/package.json').version")
    capture playwright/$state tests playwright$in "two tests of three fail, or one passes" playwright test --output /tmp/playwright-results add.spec ok.spec
  done
  rm -rf /tmp/playwright-results
  cd / && umount /src/node_modules
}

group_plain() {
  project plain
  local tool=ctest version
  version=$(debian_version cmake)
  cmake -S ctest -B ctest/build >/dev/null
  capture ctest/pass tests ctest/build "one test passes" ctest -R '^adds$'
  capture ctest/fail tests ctest/build "a test fails, one hangs, and one is skipped" ctest
  capture ctest/none tests ctest/build "no test has the name" ctest -R nowhere
  tool=meson version=$(debian_version meson)
  meson setup meson/build meson >/dev/null
  capture meson/pass tests meson "one test passes" meson test -C build --no-rebuild adds
  capture meson/fail tests meson "a test fails, one hangs, and one is skipped" meson test -C build --no-rebuild
  capture meson/none tests meson "no test has the name" meson test -C build --no-rebuild nowhere
  tool=phpunit version=$(debian_version phpunit)
  capture phpunit/pass tests phpunit "one test passes" phpunit --filter Adds tests
  capture phpunit/fail tests phpunit "a test fails, one throws, and one is skipped" phpunit tests
  capture phpunit/none tests phpunit "no test has the name" phpunit --filter nowhere tests
  tool=tap version=$(perl -MTAP::Harness -e 'print TAP::Harness->VERSION')
  capture prove/none tests prove "all tests are skipped" prove t
}

groups=("$@"); [ $# -gt 0 ] || groups=(go node style deno python rust ruby java wrapped more plain)
: >"$manifest.rows"
for g in "${groups[@]}"; do (trap - EXIT; "group_$g"); done
# Rows of captures that were not made again are kept.
{ [ ! -f "$manifest" ] || awk -F'\t' 'NR == FNR { new[$1] = 1; next } !($1 in new) && $1 != "capture"' "$manifest.rows" "$manifest"
  cat "$manifest.rows"; } | sort -t "$(printf '\t')" -k1,1 >"$manifest.sorted"
{ printf 'capture\ttool\tversion\tcheck\tfolder\tcommand\texit\tholds\n'; cat "$manifest.sorted"; } >"$manifest"
rm "$manifest.rows" "$manifest.sorted"
