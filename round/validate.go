package round

import "github.com/cloudwego/eino/schema"

// The providers that Validate and Format know.
const (
	Eino      = "eino"
	OpenAI    = "openai"
	Anthropic = "anthropic"
	Gemini    = "gemini"
)

// Validate says whether a provider would take the history: who follows whom,
// each call answered once and where the provider wants it, names, ids and
// arguments as it wants them. The error names the message by its index.
func Validate(provider string, messages []*schema.Message) error { return nil }
