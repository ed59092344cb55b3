#!/usr/bin/env bash
# Installs what `make test` needs and a fresh Debian lacks: a C compiler for the
# race detector, tmux for the tests of the terminal, a browser for those of the
# page, nginx for that of the guides. Everything else is Go's, Node's or the project's own.
set -euo pipefail

packages=()
need() { # COMMAND PACKAGE... WHY
	local command=$1 why=${*: -1}
	if command -v "$command" >/dev/null; then return; fi
	packages+=("${@:2:$#-2}")
	echo "no $command: installing ${*:2:$#-2}, which $why"
}
need "${CC:-gcc}" gcc libc6-dev "go test -race needs"
need tmux tmux "e2e/terminal looks at the command line with"
need chromium chromium "e2e/web looks at the page with"
need nginx nginx-light "e2e/guides streams through"

if [ "${#packages[@]}" -gt 0 ]; then
	sudo=()
	if [ "$(id -u)" != 0 ]; then sudo=(sudo); fi
	"${sudo[@]}" apt-get update -q
	"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${packages[@]}"
fi

if ! command -v npm >/dev/null; then
	echo "npm is missing: the end-to-end tests drive real AG-UI clients on Node 20 or later." >&2
	echo "Install Node, or run the Go tests alone with: make quick" >&2
	exit 1
fi
