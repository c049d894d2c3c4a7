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

FROM rust:1-slim-bookworm AS rust
# Everybody may write there in that image, and could replace what others run.
RUN chmod -R go-w /usr/local/cargo /usr/local/rustup

FROM node:22-bookworm-slim AS node

FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install --yes --no-install-recommends \
      black build-essential bundler ca-certificates default-jdk-headless flake8 git maven mypy \
      python3 python3-pytest python3-venv rake rubocop ruby ruby-rspec \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /usr/local/go /usr/local/go
COPY --from=rust /usr/local/cargo /usr/local/cargo
COPY --from=rust /usr/local/rustup /usr/local/rustup
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=node /usr/local/lib/node_modules /usr/local/lib/node_modules
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \
 && ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx \
 && ln -s ../lib/node_modules/corepack/dist/corepack.js /usr/local/bin/corepack
# CARGO_HOME is left to each user's own directory: the checks run as one who may not
# write below /usr, whatever the images above allow.
RUN find /usr /etc /opt ! -type l -perm -o+w -exec chmod o-w {} +
ENV RUSTUP_HOME=/usr/local/rustup \
    PATH=/usr/local/go/bin:/usr/local/cargo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
COPY --from=build /out/airlock /usr/local/bin/airlock
ENTRYPOINT ["/usr/local/bin/airlock", "action", "--image=checks"]
