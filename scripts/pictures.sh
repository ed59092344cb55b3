#!/usr/bin/env bash
# Takes the pictures of the README and the guides (docs/pictures) from the running
# product: `make build clients`, then this. Look at them before they are committed.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ ! -x "${AGENTSTREAM_BIN:-bin/agentstream}" ]; then
	echo "the binary is not built: make build" >&2
	exit 1
fi
mkdir -p docs/pictures
AGENTSTREAM_SCREENS=$PWD/docs/pictures node scripts/pictures.mjs
for picture in docs/pictures/*.png; do
	size=$(wc -c < "$picture")
	echo "$picture: $((size / 1024)) kB"
	if [ "$size" -gt 153600 ]; then
		echo "$picture is larger than 150 kB" >&2
		exit 1
	fi
done
