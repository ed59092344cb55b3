package acp

import (
	"testing"
	"unicode/utf8"
)

// Whatever an agent answers while a session is opened: no panic, valid text.
func FuzzHandshake(f *testing.F) {
	for _, s := range []string{
		initialized(`"loadSession":true,"promptCapabilities":{"image":true},"mcpCapabilities":null,"sessionCapabilities":{"resume":{}}`),
		`{"sessionId":"s1","modes":{"currentModeId":"a","availableModes":[{"id":"a"}]},"models":{"availableModels":[{"modelId":"m"}]},"configOptions":[{"id":"x","category":"mode","options":[{"value":"v","options":[{"value":"w"}]}]}]}`,
		`null`, `[]`, `{"authMethods":[{"id":"\ud83d","name":3},null],"agentInfo":{"name":"\xff"}}`, `{"configOptions":[[[[`, `{"a"`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, result []byte) {
		caps := readCapabilities(result)
		for _, text := range append(caps.authMethods, caps.agent.Name, caps.agent.Version) {
			if !utf8.ValidString(text) {
				t.Errorf("invalid text %q", text)
			}
		}
		tr := newTranslator(caps.agent)
		for _, fact := range tr.opened(result) {
			if fact.Modes == nil && fact.Models == nil {
				t.Errorf("a fact that says nothing: %+v", fact)
			}
		}
		var ids configIDs
		ids.read(result)
	})
}
