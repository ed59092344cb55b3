#!/usr/bin/env bash
# Installs what `make test` needs and a fresh Debian lacks: a C compiler, for
# the race detector. Everything else is Go's, Node's or the project's own.
set -euo pipefail

if ! command -v "${CC:-gcc}" >/dev/null; then
	echo "no C compiler: installing gcc, which go test -race needs"
	sudo=()
	if [ "$(id -u)" != 0 ]; then sudo=(sudo); fi
	"${sudo[@]}" apt-get update -q
	"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends gcc libc6-dev
fi

if ! command -v npm >/dev/null; then
	echo "npm is missing: the end-to-end tests drive real AG-UI clients on Node 20 or later." >&2
	echo "Install Node, or run the Go tests alone with: make quick" >&2
	exit 1
fi
