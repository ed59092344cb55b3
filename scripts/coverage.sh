#!/usr/bin/env bash
# Prints the coverage of each package in a profile and fails where one is below
# its floor.  usage: coverage.sh PROFILE
set -euo pipefail

awk -v module=github.com/agentstream-go/agentstream '
BEGIN {
	floor["."] = 100
	floor["round"] = floor["agui"] = floor["source/acp"] = floor["eventlog"] = floor["eventlog/sqlite"] = floor["engine"] = 85
}
NR > 1 {
	split($1, at, ":")
	pkg = at[1]
	sub("^" module "/?", "", pkg)
	if (!sub("/[^/]*$", "", pkg)) pkg = "."
	if (!(($1) in size)) { size[$1] = $2; of[$1] = pkg }
	if ($3 > 0) hit[$1] = 1
}
END {
	for (b in size) { all[of[b]] += size[b]; if (b in hit) done[of[b]] += size[b] }
	bad = 0
	for (p in all) {
		percent = 100 * done[p] / all[p]
		note = ""
		if (p in floor && percent < floor[p]) { note = "  below its floor of " floor[p] " %"; bad = 1 }
		printf "%6.1f %%  %s%s\n", percent, p, note | "sort -k3"
	}
	close("sort -k3")
	exit bad
}' "$1"
