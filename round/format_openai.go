package round

import (
	"fmt"
	"strings"

	"github.com/cloudwego/eino/schema"
)

type (
	openAIMessage struct {
		Role       string       `json:"role"`
		Content    any          `json:"content"` // text, parts, or null beside calls
		ToolCalls  []openAICall `json:"tool_calls,omitempty"`
		ToolCallID string       `json:"tool_call_id,omitempty"`
	}
	openAICall struct {
		ID       string              `json:"id"`
		Type     string              `json:"type"`
		Function schema.FunctionCall `json:"function"`
	}
	fields = map[string]any
)

func openAI(messages []*schema.Message) ([]any, error) {
	out := []any{}
	for i, m := range messages {
		switch m.Role {
		case schema.System:
			out = append(out, openAIMessage{Role: "system", Content: m.Content})
		case schema.User:
			out = append(out, openAIMessage{Role: "user", Content: openAIContent(m)})
		case schema.Assistant:
			if silent(m) {
				continue
			}
			message := openAIMessage{Role: "assistant"}
			if m.Content != "" {
				message.Content = m.Content
			}
			for _, c := range m.ToolCalls {
				message.ToolCalls = append(message.ToolCalls, openAICall{c.ID, c.Type, c.Function})
			}
			out = append(out, message)
		case schema.Tool:
			out = append(out, openAIMessage{Role: "tool", ToolCallID: m.ToolCallID, Content: text(m)})
		default:
			return nil, fmt.Errorf("message %d has the role %q", i, m.Role)
		}
	}
	return out, nil
}

func openAIContent(m *schema.Message) any {
	if len(m.UserInputMultiContent) == 0 {
		return m.Content
	}
	parts := []fields{}
	for _, p := range partsOf(m) {
		switch _, format, _ := strings.Cut(p.mime, "/"); {
		case p.kind == "image":
			parts = append(parts, fields{"type": "image_url", "image_url": fields{"url": p.dataURL()}})
		case p.kind == "audio" && p.data != "" && (format == "wav" || format == "mp3"):
			parts = append(parts, fields{"type": "input_audio", "input_audio": fields{"data": p.data, "format": format}})
		case p.kind == "file" && p.data != "":
			parts = append(parts, fields{"type": "file", "file": fields{"filename": p.name, "file_data": p.dataURL()}})
		default:
			parts = append(parts, fields{"type": "text", "text": p.line()})
		}
	}
	return parts
}
