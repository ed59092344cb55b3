package recordings_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/e2e/recordings/player"
)

// update is what a session/update tells of what is compared.
type update struct {
	Kind    string          `json:"sessionUpdate"`
	Title   string          `json:"title"`
	Content json.RawMessage `json:"content"`
	CallID  string          `json:"toolCallId"`
	Status  string          `json:"status"`
	Args    json.RawMessage `json:"rawInput"`
}

// said is what came over the wire during the turns, or what a list holds: text
// with status lines, thoughts, and the calls.
type said struct {
	text, thoughts strings.Builder
	calls          map[string]call
}

// call holds the last arguments, "" if there were none, and the status of the
// first terminal, "" if there was none.
type call struct{ args, status string }

// onTheWire reads the script as far as it is of a turn.
func (s *session) onTheWire() *said {
	out := &said{calls: map[string]call{}}
	open := ""
	for _, st := range s.Steps {
		switch {
		case st.Do == player.Await && st.Method == player.Prompt:
			open = st.ID
		case st.Do == player.Answer && st.ID == open:
			open = ""
		case st.Do == player.Say && open != "":
			var m struct {
				Method string
				Params struct{ Update update }
			}
			if json.Unmarshal([]byte(st.Line), &m) == nil && m.Method == "session/update" {
				out.update(m.Params.Update)
			}
		}
	}
	return out
}

func (s *said) update(u update) {
	var c struct{ Text string }
	_ = json.Unmarshal(u.Content, &c) // other updates have other contents
	switch u.Kind {
	case "agent_message_chunk":
		s.text.WriteString(c.Text)
	case "agent_thought_chunk":
		s.thoughts.WriteString(c.Text)
	case "tool_call", "tool_call_update":
		was := s.calls[u.CallID]
		if was.status == "" && len(u.Args) > 2 && string(u.Args) != "null" {
			was.args = string(u.Args)
		}
		if was.status == "" && (u.Status == "completed" || u.Status == "failed") {
			was.status = u.Status
		}
		if was != (call{}) || u.Kind == "tool_call" { // else the output of an earlier turn's call
			s.calls[u.CallID] = was
		}
	}
}

// inTheList reads what a client holds.
func inTheList(t testing.TB, messages []agui.Message) *said {
	t.Helper()
	out := &said{calls: map[string]call{}}
	ids := map[string]string{}
	for _, m := range messages {
		switch m.Role {
		case agui.RoleAssistant:
			out.text.WriteString(m.Text())
			for _, c := range m.ToolCalls {
				id := metadata(t, c.Metadata).ID
				ids[c.ID] = id
				out.calls[id] = call{args: c.Arguments}
			}
		case agui.RoleReasoning:
			out.thoughts.WriteString(m.Text())
		case agui.RoleActivity:
			var notice struct{ Text string }
			_ = json.Unmarshal(m.Content, &notice) // a plan has none
			if m.ActivityType == "notice" && !besideTheText(notice.Text) {
				out.text.WriteString(notice.Text)
			}
		case agui.RoleTool:
			about := metadata(t, m.Metadata)
			c := out.calls[ids[m.ToolCallID]]
			if c.status = about.Status; about.Placeholder != "" || about.Partial {
				c.status = ""
			}
			out.calls[ids[m.ToolCallID]] = c
		}
	}
	return out
}

// besideTheText reports whether a notice does not come from the text on the wire.
func besideTheText(notice string) bool {
	return strings.HasPrefix(notice, "Reconnecting") || strings.HasSuffix(notice, " ended its turn without a word.")
}

type about struct {
	ID          string `json:"id"`
	Status      string `json:"status"`
	Placeholder string `json:"placeholder"`
	Partial     bool   `json:"partial"`
}

func metadata(t testing.TB, data json.RawMessage) about {
	t.Helper()
	var m struct{ Agentstream about }
	if err := json.Unmarshal(data, &m); err != nil {
		t.Errorf("metadata %q: %v", data, err)
	}
	return m.Agentstream
}

// compare holds the list against the wire: the same text and thoughts, every
// call with its last arguments and its first terminal status.
func compare(t testing.TB, wire, list *said) {
	t.Helper()
	if got, want := plain(list.text.String()), plain(wire.text.String()); got != want {
		t.Errorf("text:\n got %q\nwant %q", got, want)
	}
	if got, want := list.thoughts.String(), wire.thoughts.String(); got != want {
		t.Errorf("thoughts:\n got %q\nwant %q", got, want)
	}
	for id, want := range wire.calls {
		got, ok := list.calls[id]
		switch {
		case !ok:
			t.Errorf("call %s is missing", id)
		case want.args != "" && !reflect.DeepEqual(decoded(t, got.args), decoded(t, want.args)):
			t.Errorf("call %s: arguments %s, the wire ended with %s", id, got.args, want.args)
		case want.status != "" && got.status != want.status:
			t.Errorf("call %s is %q, on the wire %q", id, got.status, want.status)
		}
	}
}

// plain takes out what status lines lose when they become notices.
func plain(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "Warning: Model", "Model"), "\n\n", "")
}

func decoded(t testing.TB, s string) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Errorf("%q: %v", s, err)
	}
	return v
}
