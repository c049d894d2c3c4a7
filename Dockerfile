# Everything: the gate, and the toolchains that phase validation runs. The action in the
# root runs it; Dockerfile.gate is the gate alone. It sets no USER and no WORKDIR: the
# runner needs root and mounts the workspace over the image.

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY cmd cmd
COPY internal internal
COPY schemas schemas
ARG VERSION=devel
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/airlock ./cmd/airlock

# Go without what its own developers need.
FROM golang:1.26-bookworm AS go
RUN cd /usr/local/go && rm -rf api doc misc test src/cmd/compile \
 && find src -type d -name testdata -prune -exec rm -rf {} + \
 && find src -type f -name '*_test.go' -exec rm -f {} +

# Tools that Debian does not have. Their images are named by what they contain.
FROM golangci/golangci-lint:v2.14.0@sha256:ad862ba6b3798cbe0fd9fd7408d498fd74fbd2623a92406b2fd3898faf0bf98f AS golangci-lint
FROM ghcr.io/astral-sh/ruff:0.16.5@sha256:8355b79edf35788aef97ac9b1ff3b758604a5d67963ead617c45c72e1d92871f AS ruff
FROM oven/bun:1.3.14@sha256:e10577f0db68676a7024391c6e5cb4b879ebd17188ab750cf10024a6d700e5c4 AS bun

# The toolchain itself, without rustup: the proxies that it puts before each program write
# to the directory of the toolchains, which the user of the checks may not. The runtimes of
# sanitizers are for nightly toolchains.
FROM rust:1-slim-bookworm AS rust
RUN rustup component add clippy rustfmt \
 && cp -a "$(rustc --print sysroot)" /opt/rust \
 && cd /opt/rust && rm -rf share lib/rustlib/src lib/rustlib/*/lib/librustc-*_rt.*.a lib/rustlib/*/bin/wasm-component-ld bin/rls bin/rust-* \
 && chmod -R go-w /opt/rust

FROM node:22-bookworm-slim AS node

FROM debian:bookworm-slim
# Without documents, and without parts that no check needs: Java's for linking programs
# with a Java of their own and for heaps above 32 GB, GCC's for optimizing while it links
# and for sanitizers in static programs, git's servers and its second copy of itself.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends \
      black build-essential bundler ca-certificates default-jdk-headless flake8 git maven mypy \
      python3 python3-pytest python3-venv rake rubocop ruby ruby-rspec \
 && apt-get clean \
 && rm -rf /var/lib/apt/lists/* /usr/share/doc /usr/share/man /usr/share/locale /usr/lib/jvm/*/jmods \
      /usr/lib/jvm/*/lib/server/classes_nocoops.jsa /usr/lib/gcc/*/*/lto1 /usr/bin/*-lto-dump-* \
      /usr/lib/gcc/*/*/lib?san.a /usr/lib/gcc/*/*/libubsan.a \
      /usr/bin/scalar /usr/bin/git-shell /usr/lib/git-core/scalar /usr/lib/git-core/git-shell \
      /usr/lib/git-core/git-daemon /usr/lib/git-core/git-http-backend /usr/lib/git-core/git-http-push /usr/lib/git-core/git-imap-send \
 && ln -sf ../../bin/git /usr/lib/git-core/git
COPY --from=go /usr/local/go /usr/local/go
COPY --from=rust /opt/rust /usr/local/rust
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=node /usr/local/lib/node_modules /usr/local/lib/node_modules
COPY --from=golangci-lint /usr/bin/golangci-lint /usr/local/bin/golangci-lint
COPY --from=ruff /ruff /usr/local/bin/ruff
COPY --from=bun /usr/local/bin/bun /usr/local/lib/bun/bun
COPY image/bun /usr/local/bin/bun

# COREPACK_DEFAULT_TO_LATEST: a project that pins no version gets the one below, not the
# newest, for which the registry would have to be asked.
ENV PATH=/usr/local/go/bin:/usr/local/rust/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    COREPACK_DEFAULT_TO_LATEST=0
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \
 && ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx \
 && ln -s ../lib/node_modules/corepack/dist/corepack.js /usr/local/bin/corepack \
 && corepack enable pnpm yarn

# The beginning of each home directory of the checks: Go's standard library, compiled and
# with the facts that vet needs of it, and the package managers. Airlock links it there file
# by file, read-only.
RUN export HOME=/usr/local/share/airlock/home NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt \
 && mkdir -p "$HOME" /tmp/seed && cd /tmp/seed \
 && go mod init seed 2>/dev/null \
 && { echo 'package seed'; go list std | grep -Ev '(^|/)(internal|vendor)(/|$)' | sed 's/.*/import _ "&"/'; } >seed.go \
 && go vet . \
 && corepack install --global \
      pnpm@10.34.8+sha512.f627a8e971343afe49dfd0f63d028234201dfa831d5cb588733e1e5f8db26bf16989a32161ab5c1b4db3b1fdbc373160606b5b89e002df6dd19a85adf91fc5a8 \
      yarn@1.22.22+sha512.a6b2f7906b721bba3d67d4aff083df04dad64c399707841b7acf00f6b133b7ac24255f2652fa22ae3534329dc6180534e98d17432037ff6fd140556e2bb3137e \
 && rm -rf /tmp/seed "$HOME/.config" "$HOME/.npm"

# The checks run as a user who may not write below /usr, whatever the images above allow.
RUN find /usr /etc /opt ! -type l -perm -o+w -exec chmod o-w {} +
COPY --from=build /out/airlock /usr/local/bin/airlock
ENTRYPOINT ["/usr/local/bin/airlock", "action", "--image=checks"]
