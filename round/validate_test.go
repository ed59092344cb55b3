package round

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
)

func calls(ids ...string) *schema.Message {
	m := &schema.Message{Role: schema.Assistant}
	for _, id := range ids {
		m.ToolCalls = append(m.ToolCalls, schema.ToolCall{
			ID: id, Type: "function", Function: schema.FunctionCall{Name: "ls", Arguments: "{}"},
		})
	}
	return m
}

func withCall(change func(*schema.ToolCall)) *schema.Message {
	m := calls("a")
	change(&m.ToolCalls[0])
	return m
}

func answers(ids ...string) []*schema.Message {
	var out []*schema.Message
	for _, id := range ids {
		out = append(out, schema.ToolMessage("ok", id))
	}
	return out
}

func TestValidate(t *testing.T) {
	const all = "eino openai anthropic gemini"
	user, text := schema.UserMessage("Hi"), schema.AssistantMessage("Hello", nil)
	list := func(parts ...any) []*schema.Message {
		var out []*schema.Message
		for _, p := range parts {
			switch p := p.(type) {
			case *schema.Message:
				out = append(out, p)
			case []*schema.Message:
				out = append(out, p...)
			}
		}
		return out
	}
	for _, test := range []struct {
		name     string
		messages []*schema.Message
		refuse   string // the providers that do
		says     string
	}{
		{"nothing", nil, "", ""},
		{"a conversation", list(user, text, user, calls("a", "b"), answers("a", "b"), text), "", ""},
		{"no result", list(user, calls("a")), all, `no result for the call "a"`},
		{"text before the result", list(user, calls("a"), text, answers("a")), all, `message 2`},
		{"user before the result", list(user, calls("a"), user), all, `a user message where the result of the call "a"`},
		{"one of two results", list(user, calls("a", "b"), answers("a"), text), all, `the call "b"`},
		{"a result too many", list(user, calls("a"), answers("a", "a")), all, `a result for "a"`},
		{"a result of nothing", list(user, text, answers("a")), all, `a result for "a"`},
		{"a result that comes late", list(user, calls("a"), answers("a"), text, answers("a")), all, `a result for "a"`},
		{"another order", list(user, calls("a", "b"), answers("b", "a")), "eino gemini", `"b" before that of "a"`},
		{"an id twice in a message", list(user, calls("a", "a"), answers("a", "a")), all, "twice"},
		{"an id again later", list(user, calls("a"), answers("a"), user, calls("a"), answers("a")), "anthropic", "twice"},
		{"an empty id", list(user, calls(""), answers("")), all, `the call id ""`},
		{"an id with a dot", list(user, calls("a.b"), answers("a.b")), "anthropic", "the call id"},
		{"a long id", list(user, calls(strings.Repeat("a", 41)), answers(strings.Repeat("a", 41))), "openai", "the call id"},
		{"a name with a space", list(user, withCall(func(c *schema.ToolCall) { c.Function.Name = "list files" }), answers("a")), all, "a function named"},
		{"a name that begins with a digit", list(user, withCall(func(c *schema.ToolCall) { c.Function.Name = "9lives" }), answers("a")), "eino gemini", "a function named"},
		{"no type", list(user, withCall(func(c *schema.ToolCall) { c.Type = "" }), answers("a")), all, "of type"},
		{"no arguments", list(user, withCall(func(c *schema.ToolCall) { c.Function.Arguments = "" }), answers("a")), all, "no JSON object"},
		{"arguments of another kind", list(user, withCall(func(c *schema.ToolCall) { c.Function.Arguments = "[1]" }), answers("a")), all, "no JSON object"},
		{"cut arguments", list(user, withCall(func(c *schema.ToolCall) { c.Function.Arguments = `{"a":` }), answers("a")), all, "no JSON object"},
		{"the assistant first", list(text, user), "anthropic gemini", "begins with the assistant"},
		{"thoughts only", list(&schema.Message{Role: schema.Assistant, ReasoningContent: "hm"}, user, text), "", ""},
		{"an empty user message", list(schema.UserMessage(" ")), "anthropic gemini", "without content"},
		{"system among the others", list(schema.SystemMessage("be brief"), user), "anthropic gemini", "a field of their own"},
		{"calls right after text", list(user, text, calls("a"), answers("a")), "gemini", "follow neither"},
		{"an unknown role", list(&schema.Message{Role: "robot"}), all, `the role "robot"`},
		{"nil", []*schema.Message{nil}, all, "there is none"},
	} {
		for _, provider := range strings.Fields(all) {
			t.Run(test.name+"/"+provider, func(t *testing.T) {
				err := Validate(provider, test.messages)
				refused := strings.Contains(test.refuse, provider)
				switch {
				case !refused && err != nil:
					t.Error(err)
				case refused && err == nil:
					t.Error("accepted")
				case refused && !strings.Contains(err.Error(), test.says):
					t.Errorf("the error is %q, want %q in it", err, test.says)
				}
			})
		}
	}
	if err := Validate("mistral", nil); err == nil {
		t.Error("an unknown provider is no error")
	}
}

func ExampleValidate() {
	fmt.Println(Validate(OpenAI, []*schema.Message{schema.UserMessage("Hi"), calls("a")}))
	// Output: round: the end for openai: no result for the call "a"
}
