package agents_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream/source"
)

// agent is a real agent: how it is started, and what it does in its own way. In
// env, ask and files $URL is the scripted model and $HOME the agent's home folder.
type agent struct {
	name  string
	argv  []string          // "node" and a script, or a program; below the folder it is installed in
	auth  string            // ACP method to log in by
	env   map[string]string // beside what every agent gets
	ask   map[string]string // further variables with which it asks before it writes; nil: it does anyway
	files map[string]string // below HOME

	// What differs from agent to agent; the zero value is what most do.
	mute      bool              // results of reads are empty
	bare      bool              // says nothing of what the model thinks
	lenient   bool              // reading a file that is not there counts as completed
	sandboxed bool              // where it asks, what is allowed still cannot write
	stubborn  bool              // a refused call ends the turn as cancelled
	fault     int               // HTTP status of the model at which it does not go silent
	faultCode string            // the run's error code then; "": it ends as finished
	hushes    bool              // goes on trying and says nothing: only a cancel ends it
	dropCode  string            // the same, when the model's stream breaks once
	dropKeeps bool              // a broken stream is the end of the answer, as if it were whole
	loops     source.StopReason // how a long answer ends, if cut
}

const codexConfig = `model = "gpt-5-codex"
model_provider = "fake"
model_reasoning_summary = "detailed"
approval_policy = "on-request"
sandbox_mode = "MODE"
check_for_update_on_startup = false
[model_providers.fake]
name = "Fake"
base_url = "$URL/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
requires_openai_auth = false
request_max_retries = 1
stream_max_retries = 1
`

var codexFiles = map[string]string{
	".codex/config.toml":     strings.Replace(codexConfig, "MODE", "danger-full-access", 1),
	".codex-ask/config.toml": strings.Replace(codexConfig, "MODE", "read-only", 1),
}

const openCodeConfig = `{"model":"fake/fake-model","small_model":"fake/fake-model",PERMISSION"provider":{"fake":{"npm":"@ai-sdk/openai-compatible","name":"Fake",
"options":{"baseURL":"$URL/v1","apiKey":"dummy"},"models":{"fake-model":{"name":"Fake","reasoning":true,"tool_call":true,"limit":{"context":128000,"output":8192}}}}}}`

var claudeEnv = map[string]string{
	"ANTHROPIC_BASE_URL": "$URL", "ANTHROPIC_API_KEY": "dummy", "ANTHROPIC_MODEL": "claude-sonnet-4-5",
	"ANTHROPIC_SMALL_FAST_MODEL": "claude-haiku-4-5", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1",
	"DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1", "CLAUDE_CONFIG_DIR": "$HOME/.claude",
}

// fleet is the agents that scripts/agents.sh installs and that run on Node 20.
var fleet = []agent{
	{
		name: "opencode", argv: []string{"opencode-linux-x64/bin/opencode", "acp"},
		env: map[string]string{
			"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
			"OPENCODE_DISABLE_DEFAULT_PLUGINS": "1", "OPENCODE_DISABLE_SHARE": "1",
			"OPENCODE_CONFIG_CONTENT": strings.Replace(openCodeConfig, "PERMISSION", "", 1),
		},
		ask:   map[string]string{"OPENCODE_CONFIG_CONTENT": strings.Replace(openCodeConfig, "PERMISSION", `"permission":{"bash":"ask","edit":"ask"},`, 1)},
		fault: 500, hushes: true,
	},
	{
		name: "gemini", argv: []string{"node", "@google/gemini-cli/bundle/gemini.js", "--acp"}, auth: "gemini-api-key",
		env: map[string]string{"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": "$URL"},
		files: map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"},"folderTrust":{"enabled":false}},` +
			`"privacy":{"usageStatisticsEnabled":false},"general":{"disableAutoUpdate":true}}`},
		mute: true, fault: 400, faultCode: "agent_error", dropCode: "agent_error",
	},
	{
		name: "codex", argv: []string{"node", "@agentclientprotocol/codex-acp/dist/index.js"},
		env:   map[string]string{"OPENAI_API_KEY": "dummy", "CODEX_HOME": "$HOME/.codex", "NO_BROWSER": "1", "INITIAL_AGENT_MODE": "agent-full-access"},
		ask:   map[string]string{"INITIAL_AGENT_MODE": "read-only", "CODEX_HOME": "$HOME/.codex-ask"},
		files: codexFiles, sandboxed: true, stubborn: true, fault: 400, faultCode: "agent_error",
	},
	{
		name: "zed-codex", argv: []string{"@zed-industries/codex-acp-linux-x64/bin/codex-acp"},
		env:   map[string]string{"OPENAI_API_KEY": "dummy", "CODEX_HOME": "$HOME/.codex"},
		ask:   map[string]string{"CODEX_HOME": "$HOME/.codex-ask"},
		files: codexFiles, sandboxed: true, stubborn: true, fault: 400, faultCode: "agent_error",
	},
	{
		name: "claude", argv: []string{"node", "@agentclientprotocol/claude-agent-acp/dist/index.js"},
		env: claudeEnv, fault: 400, faultCode: "agent_error",
	},
	{
		name: "zed-claude", argv: []string{"node", "@zed-industries/claude-agent-acp/dist/index.js"},
		env: claudeEnv, fault: 400, faultCode: "agent_error", dropKeeps: true,
	},
	{
		name: "qwen", argv: []string{"node", "@qwen-code/qwen-code/cli-entry.js", "--acp", "--auth-type", "openai", "--approval-mode", "default"},
		env: map[string]string{"OPENAI_API_KEY": "dummy", "OPENAI_BASE_URL": "$URL/v1", "OPENAI_MODEL": "fake-model"},
		files: map[string]string{".qwen/settings.json": `{"security":{"auth":{"selectedType":"openai"}},"privacy":{"usageStatisticsEnabled":false},` +
			`"general":{"disableAutoUpdate":true}}`},
		fault: 400, faultCode: "agent_error",
	},
	{
		name: "copilot", argv: []string{"@github/copilot-linux-x64/copilot", "--acp"},
		env: map[string]string{
			"COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false", "COPILOT_PROVIDER_BASE_URL": "$URL/v1", "COPILOT_PROVIDER_TYPE": "openai",
			"COPILOT_PROVIDER_API_KEY": "dummy", "COPILOT_MODEL": "gpt-5-mini", "COPILOT_PROVIDER_WIRE_API": "completions",
		},
		fault: 400, // says the failure as its answer
	},
}

// folder is where the agent is installed.
func (a agent) folder() string {
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		cache = filepath.Join(os.Getenv("HOME"), ".cache")
	}
	return filepath.Join(cache, "agentstream", "agents", a.name)
}

// command is the agent's command line, for this machine.
func (a agent) command() (argv []string) {
	for i, word := range a.argv {
		if word != "node" && (i == 0 || i == 1 && a.argv[0] == "node") {
			word = filepath.Join(a.folder(), "node_modules", word)
		}
		argv = append(argv, word)
	}
	return argv
}

// wanted skips the test of an agent that is not installed or not asked for.
func (a agent) wanted(t *testing.T) {
	t.Helper()
	if list := strings.Fields(os.Getenv("AGENTSTREAM_AGENTS")); len(list) > 0 && !slices.Contains(list, a.name) {
		t.Skipf("%s is not among AGENTSTREAM_AGENTS", a.name)
	}
	if _, err := os.Stat(filepath.Join(a.folder(), ".installed")); err != nil {
		t.Skipf("%s is not installed: make agents AGENTS=%s", a.name, a.name)
	}
}

// asking is the variables of the agent that asks.
func (a agent) asking() map[string]string {
	all := maps.Clone(a.env)
	maps.Copy(all, a.ask)
	return all
}
