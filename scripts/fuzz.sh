#!/usr/bin/env bash
# Runs every fuzz target of the tree.
#
#   fuzz.sh each 30s    each target that long; a find fails
#   fuzz.sh total 60    so many seconds over all targets; a find is written to
#                       the target's testdata and shown, and fails nothing: it
#                       says nothing about the change at hand. Once committed,
#                       the find is an ordinary test.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=$1 time=$2

mapfile -t targets < <(grep -rE --include='*_test.go' --exclude-dir=node_modules --exclude-dir=bench '^func Fuzz[A-Za-z0-9_]*\(f \*testing\.F\)' . |
	sed -E 's|^(.*)/[^/]*:func (Fuzz[A-Za-z0-9_]*).*|\1 \2|' | sort)
if [ ${#targets[@]} = 0 ]; then
	echo "no fuzz target found" >&2
	exit 1
fi
if [ "$mode" = total ]; then
	time=$((time * 1000 / ${#targets[@]}))ms
fi

echo "fuzzing ${#targets[@]} targets, $time each"
finds=()
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for target in "${targets[@]}"; do
	read -r dir name <<<"$target"
	if "${GO:-go}" test -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 20x "$dir" >"$log" 2>&1; then
		echo "  ok   $dir $name$(sed -nE 's/.*execs: ([0-9]+).*/ (\1 runs)/p' "$log" | tail -1)"
	else
		echo "  FIND $dir $name"
		sed 's/^/       /' "$log" | tail -40
		finds+=("$dir $name")
	fi
done

if [ ${#finds[@]} -gt 0 ]; then
	echo
	echo "==== fuzzing found something in: ${finds[*]}"
	echo "==== the input is in the target's testdata/fuzz folder: fix it and commit the input with the fix"
	if [ "$mode" = each ]; then exit 1; fi
fi
