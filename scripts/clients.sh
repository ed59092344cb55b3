#!/usr/bin/env bash
# Installs what the end-to-end tests' lock files pin; does nothing where that
# is done already.
set -euo pipefail
cd "$(dirname "$0")/.."

for lock in e2e/*/package-lock.json clients/*/package-lock.json web/package-lock.json; do
	[ -f "$lock" ] || continue
	dir=$(dirname "$lock")
	stamp=$dir/node_modules/.agentstream-lock
	if cmp -s "$lock" "$stamp"; then continue; fi
	echo "npm ci in $dir"
	(cd "$dir" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
	cp "$lock" "$stamp"
done
