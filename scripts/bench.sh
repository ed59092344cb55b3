#!/usr/bin/env bash
# Runs the benchmarks whose figures docs/performance.md shows and writes them
# there, between the marks, with a description of the machine.
#
#   bench.sh [BENCHTIME]    default 500ms
#
# It takes about three minutes with 500ms. Nothing else should run meanwhile. The
# stock clients are measured where `make clients` has installed them.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go} time=${1:-500ms} page=docs/performance.md
figures=$(mktemp)
trap 'rm -f "$figures" "$figures.page"' EXIT

# table FOLDER PATTERN TITLE [BENCHTIME]: the results as a table, one column a metric.
table() {
	echo "measuring: $3" >&2
	printf '### %s\n\n' "$3"
	(cd "$1" && "$go" test -run '^$' -bench "$2" -benchmem -benchtime "${4:-$time}" .) | awk '
		/^Benchmark/ {
			name[++n] = $1
			sub(/^Benchmark/, "", name[n]); sub(/-[0-9]+$/, "", name[n])
			for (i = 3; i < NF; i += 2) {
				unit = $(i + 1)
				if (!(unit in seen)) { seen[unit] = 1; units[++m] = unit }
				value[n, unit] = $i
			}
		}
		/^(FAIL|panic)/ { bad = 1 }
		END {
			if (bad || n == 0) { print "the benchmarks failed" > "/dev/stderr"; exit 1 }
			row = "|"; rule = "|---|"
			for (j = 1; j <= m; j++) { row = row " | " units[j]; rule = rule "--:|" }
			print row " |"; print rule
			for (k = 1; k <= n; k++) {
				row = "| " name[k]
				for (j = 1; j <= m; j++) row = row " | " value[k, units[j]]
				print row " |"
			}
			print ""
		}'
}

{
	printf 'Measured with `scripts/bench.sh %s` on ' "$time"
	lscpu | sed -nE 's/^Model name: *(.*[^ ]) *$/\1/p' | head -1 | tr -d '\n'
	printf ', %s logical CPUs, %s, %s, load %s at the start.\n\n' "$(nproc)" "$(uname -s) $(uname -r | cut -d- -f1)" \
		"$("$go" env GOVERSION)" "$(cut -d' ' -f1 /proc/loadavg)"
	table eventlog/sqlite '^Benchmark(Append|AppendPaced|ReadBack|ReadBackAged|Tail|Open|IdleReaders)$' 'The log'
	table bench '^Benchmark(Path|PathLatency|FanOut)$' 'From the agent to the client'
	table bench '^BenchmarkPipes$' '200 pipes' 20000x
	AGENTSTREAM_E2E=1 table bench '^BenchmarkReconnect$' 'Coming back to a run of 100,000 events' 5x
	table bench '^BenchmarkViewers$' 'A thousand viewers' 200x
	table bench '^Benchmark(Stalled|IdleMemory)$' 'Memory' 1x
	table bench '^BenchmarkACP' 'ACP connection'
	table bench '^BenchmarkAGUI' 'AG-UI events'
	table agui '^Benchmark' 'AG-UI, the parts'
	table round '^Benchmark' 'Rounds'
	table internal/sse '^Benchmark' 'SSE frames'
} >"$figures"

awk -v figures="$figures" '
	/<!-- figures -->/ { print; print ""; while ((getline line < figures) > 0) print line; skip = 1 }
	/<!-- end -->/ { skip = 0 }
	!skip && !/<!-- figures -->/ { print }' "$page" >"$figures.page"
cp "$figures.page" "$page"
