package catalog

// agent is what is known about one agent.
type agent struct {
	name     string
	commands []string // looked for on PATH, in this order
	args     []string // for ACP mode
	needs    []need
	env      map[string]string // added
	keys     []string          // variables that log in; passed on
	inherit  []string          // further variables that are passed on
	logins   []place
	free     string // why no login is needed, if so
	auth     func(Machine) string
	version  []string // arguments that ask for the version without starting a session
	install  string
	login    string
}

// need is another command that must be on PATH.
type need struct{ command, install string }

var (
	ask = []string{"--version"}

	// providers are the model APIs that agents of any provider read.
	providers = []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY",
		"OPENROUTER_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "XAI_API_KEY", "DEEPSEEK_API_KEY", "MOONSHOT_API_KEY"}
	aws = []string{"AWS_PROFILE", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"}
	gcp = []string{"GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_APPLICATION_CREDENTIALS"}
)

// known is the catalog, in the order in which it is shown.
var known = []agent{
	{
		name:     "claude",
		commands: []string{"claude-agent-acp", "claude-code-acp"},
		keys:     []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"},
		inherit: join(aws, gcp, []string{"ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "ANTHROPIC_SMALL_FAST_MODEL", "ANTHROPIC_CUSTOM_HEADERS",
			"ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
			"DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "DISABLE_ERROR_REPORTING"}),
		logins: []place{
			{env: "CLAUDE_CONFIG_DIR", folder: "~/.claude", file: ".credentials.json"},
			{folder: "~", file: ".claude.json", needles: []string{"oauthAccount", "primaryApiKey"}}, // macOS keeps the rest in its keychain
		},
		install: "npm install -g @agentclientprotocol/claude-agent-acp",
		login:   "claude-agent-acp --cli auth login",
	},
	{
		name:     "codex",
		commands: []string{"codex-acp"},
		keys:     []string{"OPENAI_API_KEY", "CODEX_API_KEY"},
		inherit:  []string{"CODEX_HOME", "OPENAI_BASE_URL", "NO_BROWSER", "INITIAL_AGENT_MODE"},
		logins: []place{
			{env: "CODEX_HOME", folder: "~/.codex", file: "auth.json"},
			{env: "CODEX_HOME", folder: "~/.codex", file: "config.toml", needles: []string{"model_provider"}},
		},
		install: "npm install -g @agentclientprotocol/codex-acp",
		login:   "codex login",
	},
	{
		name:     "gemini",
		commands: []string{"gemini"},
		args:     []string{"--acp"},
		keys:     []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"},
		inherit:  join(gcp, []string{"GOOGLE_GEMINI_BASE_URL", "GEMINI_MODEL", "GEMINI_SANDBOX"}),
		logins: []place{
			{folder: "~/.gemini", file: "oauth_creds.json"},
			{folder: "~/.gemini", file: "settings.json", needles: []string{"selectedType", "selectedAuthType"}},
			{folder: "~/.gemini", file: ".env", needles: []string{"GEMINI_API_KEY"}},
		},
		auth:    geminiAuth,
		version: ask,
		install: "npm install -g @google/gemini-cli",
		login:   "gemini",
	},
	{
		name:     "opencode",
		commands: []string{"opencode"},
		args:     []string{"acp"},
		env:      map[string]string{"OPENCODE_DISABLE_AUTOUPDATE": "1"},
		keys:     providers,
		inherit: join(aws, gcp, []string{"OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG_CONTENT", "OPENCODE_API_KEY",
			"OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_LSP_DOWNLOAD", "OPENCODE_DISABLE_DEFAULT_PLUGINS", "OPENCODE_DISABLE_SHARE"}),
		logins: []place{
			{env: "XDG_DATA_HOME", folder: "~/.local/share/opencode", file: "auth.json"},
			{env: "XDG_CONFIG_HOME", folder: "~/.config/opencode", file: "opencode.json"},
		},
		free:    "no login was found; it has models that need none",
		version: ask,
		install: "npm install -g opencode-ai",
		login:   "opencode auth login",
	},
	{
		name:     "qwen",
		commands: []string{"qwen"},
		args:     []string{"--acp"},
		keys:     []string{"OPENAI_API_KEY", "DASHSCOPE_API_KEY"},
		inherit:  []string{"OPENAI_BASE_URL", "OPENAI_MODEL"},
		logins: []place{
			{folder: "~/.qwen", file: "oauth_creds.json"},
			{folder: "~/.qwen", file: "settings.json", needles: []string{"selectedType", "selectedAuthType"}},
		},
		version: ask,
		install: "npm install -g @qwen-code/qwen-code",
		login:   "qwen",
	},
	{
		name:     "copilot",
		commands: []string{"copilot"},
		args:     []string{"--acp"},
		env:      map[string]string{"COPILOT_AUTO_UPDATE": "false"},
		keys:     []string{"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_BASE_URL"},
		inherit: []string{"COPILOT_OFFLINE", "COPILOT_PROVIDER_TYPE", "COPILOT_PROVIDER_API_KEY", "COPILOT_MODEL",
			"COPILOT_PROVIDER_WIRE_API", "COPILOT_HOME", "GH_HOST"},
		logins: []place{{env: "COPILOT_HOME", folder: "~/.copilot", file: "config.json",
			needles: []string{"logged_in_user", "loggedInUser", "lastLoggedInUser", "copilot_tokens"}}},
		version: ask,
		install: "npm install -g @github/copilot",
		login:   "copilot login",
	},
	{
		name:     "cursor",
		commands: []string{"cursor-agent"},
		args:     []string{"acp"},
		keys:     []string{"CURSOR_API_KEY", "CURSOR_AUTH_TOKEN"},
		logins: []place{
			{env: "XDG_CONFIG_HOME", folder: "~/.config/cursor", file: "auth.json"},
			{folder: "~/.cursor", file: "cli-config.json", needles: []string{"authInfo"}},
		},
		version: ask,
		install: "curl https://cursor.com/install -fsS | bash",
		login:   "cursor-agent login",
	},
	{
		name:     "goose",
		commands: []string{"goose"},
		args:     []string{"acp"},
		keys:     []string{"GOOSE_PROVIDER"},
		inherit:  join(providers, aws, gcp, []string{"GOOSE_MODEL", "GOOSE_MODE", "OPENAI_HOST", "ANTHROPIC_HOST", "OLLAMA_HOST"}),
		logins:   []place{{env: "XDG_CONFIG_HOME", folder: "~/.config/goose", file: "config.yaml", needles: []string{"GOOSE_PROVIDER", "active_provider"}}},
		version:  ask,
		install:  "curl -fsSL https://github.com/block/goose/releases/download/stable/download_cli.sh | bash",
		login:    "goose configure",
	},
	{
		name:     "kimi",
		commands: []string{"kimi"},
		args:     []string{"acp"},
		keys:     []string{"KIMI_API_KEY", "MOONSHOT_API_KEY"},
		inherit:  []string{"KIMI_BASE_URL", "KIMI_MODEL_NAME", "KIMI_SHARE_DIR"},
		logins: []place{
			{env: "KIMI_SHARE_DIR", folder: "~/.kimi", file: "credentials/kimi-code.json"},
			{env: "KIMI_SHARE_DIR", folder: "~/.kimi", file: "config.toml", needles: []string{"api_key"}},
		},
		version: ask,
		install: "uv tool install --python 3.13 kimi-cli",
		login:   "kimi login",
	},
	{
		name:     "kilo",
		commands: []string{"kilo", "kilocode"},
		args:     []string{"acp"},
		env:      map[string]string{"KILO_DISABLE_AUTOUPDATE": "1"},
		keys:     join([]string{"KILO_API_KEY"}, providers),
		inherit:  join(aws, gcp, []string{"KILO_CONFIG", "KILO_CONFIG_CONTENT", "KILO_DISABLE_MODELS_FETCH"}),
		logins: []place{
			{env: "XDG_DATA_HOME", folder: "~/.local/share/kilo", file: "auth.json"},
			{env: "XDG_CONFIG_HOME", folder: "~/.config/kilo", file: "opencode.json"},
		},
		version: ask,
		install: "npm install -g @kilocode/cli",
		login:   "kilo auth login",
	},
	{
		name:     "cline",
		commands: []string{"cline"},
		args:     []string{"--acp"},
		keys:     []string{"CLINE_API_KEY"},
		inherit:  join(providers, []string{"CLINE_PROVIDER", "CLINE_MODEL", "CLINE_TELEMETRY_DISABLED", "CLINE_DIR"}),
		logins: []place{
			{folder: "~/.cline", file: "data/settings/providers.json"},
			{folder: "~/.cline", file: "data/secrets.json"},
		},
		version: ask,
		install: "npm install -g cline",
		login:   "cline auth",
	},
	{
		name:     "pi",
		commands: []string{"pi-acp"},
		needs:    []need{{"pi", "npm install -g @earendil-works/pi-coding-agent"}},
		keys:     providers,
		inherit:  join(aws, gcp, []string{"PI_OFFLINE", "PI_TELEMETRY", "PI_SKIP_VERSION_CHECK", "PI_CODING_AGENT_DIR"}),
		logins: []place{
			{env: "PI_CODING_AGENT_DIR", folder: "~/.pi/agent", file: "auth.json"},
			{env: "PI_CODING_AGENT_DIR", folder: "~/.pi/agent", file: "models.json", needles: []string{"apiKey"}},
		},
		install: "npm install -g pi-acp @earendil-works/pi-coding-agent",
		login:   "pi",
	},
}

// geminiAuth chooses the method that gemini wants to be called before a
// session, for what the environment has; else its own settings decide.
func geminiAuth(m Machine) string {
	switch {
	case m.Getenv("GEMINI_API_KEY") != "":
		return "gemini-api-key"
	case m.Getenv("GOOGLE_GENAI_USE_VERTEXAI") != "":
		return "vertex-ai"
	}
	return ""
}

func join(lists ...[]string) []string {
	var all []string
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}
