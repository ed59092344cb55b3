package round

import (
	"encoding/json"
	"fmt"

	"github.com/cloudwego/eino/schema"
)

type anthropicMessage struct {
	Role    string   `json:"role"`
	Content []fields `json:"content"`
}

var anthropicImages = map[string]bool{"image/jpeg": true, "image/png": true, "image/gif": true, "image/webp": true}

// anthropic puts results into the user's message that follows them, as this
// provider wants: neighbours of one role are one message, results first.
func anthropic(messages []*schema.Message) ([]any, error) {
	var turns []*anthropicMessage
	say := func(role string, blocks ...fields) {
		if len(blocks) == 0 {
			return
		}
		if n := len(turns); n > 0 && turns[n-1].Role == role {
			turns[n-1].Content = append(turns[n-1].Content, blocks...)
			return
		}
		turns = append(turns, &anthropicMessage{role, blocks})
	}
	for i, m := range messages {
		switch m.Role {
		case schema.User:
			say("user", anthropicBlocks(m)...)
		case schema.Assistant:
			say("assistant", anthropicAnswer(m)...)
		case schema.Tool:
			say("user", anthropicResult(m))
		default:
			return nil, fmt.Errorf("message %d has the role %q", i, m.Role)
		}
	}
	out := []any{}
	for _, t := range turns {
		out = append(out, t)
	}
	return out, nil
}

func anthropicAnswer(m *schema.Message) []fields {
	var blocks []fields
	if !blank(m.Content) {
		blocks = append(blocks, fields{"type": "text", "text": m.Content})
	}
	for _, c := range m.ToolCalls {
		input, _ := object([]byte(c.Function.Arguments))
		blocks = append(blocks, fields{
			"type": "tool_use", "id": c.ID, "name": c.Function.Name,
			"input": json.RawMessage(input),
		})
	}
	return blocks
}

func anthropicResult(m *schema.Message) fields {
	result := fields{"type": "tool_result", "tool_use_id": m.ToolCallID}
	if blocks := anthropicBlocks(m); len(blocks) > 0 {
		result["content"] = blocks
	}
	if info, ok := InfoOf(m); ok && info.Status == "failed" {
		result["is_error"] = true
	}
	return result
}

// anthropicBlocks leaves out blank texts, which this provider refuses.
func anthropicBlocks(m *schema.Message) []fields {
	var blocks []fields
	for _, p := range partsOf(m) {
		source := fields{"type": "url", "url": p.url}
		if p.data != "" {
			source = fields{"type": "base64", "media_type": p.mime, "data": p.data}
		}
		switch {
		case p.kind == "image" && (p.data == "" || anthropicImages[p.mime]):
			blocks = append(blocks, fields{"type": "image", "source": source})
		case p.kind == "file" && p.mime == "application/pdf":
			blocks = append(blocks, fields{"type": "document", "source": source})
		case !blank(p.line()):
			blocks = append(blocks, fields{"type": "text", "text": p.line()})
		}
	}
	return blocks
}
