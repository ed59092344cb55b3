package acp

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/agentstream-go/agentstream/internal/acpwire"
	"github.com/agentstream-go/agentstream/internal/fixture"
)

// FuzzTranslate feeds lines of arbitrary bytes. The first byte of a line says
// what it is: u an update, h a replayed one, a a permission, e an elicitation,
// y and n answers, o a session's opening, E the end of the turn.
func FuzzTranslate(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatalf("no scenarios: %v", err)
	}
	for i, file := range files {
		for _, agent := range []byte{0, byte(i)} {
			f.Add(agent, seedOf(frames(fixture.Load(f, file).Lines("wire"))))
		}
	}
	agents := []string{"", "@agentclientprotocol/codex-acp", "@agentclientprotocol/claude-agent-acp", "gemini-cli", "OpenCode", "copilot", "pi-acp"}
	f.Fuzz(func(t *testing.T, agent byte, data []byte) {
		s := &played{t: newTranslator(agentInfo{Name: agents[int(agent)%len(agents)]})}
		s.prompt()
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			if len(line) > 0 {
				s.fuzzed(line[0], line[1:])
			}
		}
		if s.open != nil {
			s.end(nil, nil)
		}
		for _, turn := range s.turns {
			turn.check(t)
		}
		for _, fact := range s.facts {
			if line := factLine(fact); !utf8.ValidString(line) {
				t.Errorf("fact %q", line)
			}
		}
	})
}

func (s *played) fuzzed(op byte, params []byte) {
	switch op {
	case 'u':
		s.facts = append(s.facts, s.t.update(params)...)
	case 'h':
		s.t.history(params)
	case 'a':
		if q, err := s.t.ask(params); err == nil {
			s.last = q.ToolCallID
		}
	case 'e':
		_, _ = s.t.elicit(params)
	case 'y':
		s.t.answered(s.last, "allow_once")
	case 'n':
		s.t.answered(s.last, "reject_once")
	case 'o':
		s.facts = append(s.facts, s.t.opened(params)...)
	case 'E':
		if len(params) == 0 {
			s.end(nil, &acpwire.Error{Code: -32603, Data: params})
		} else {
			s.end(params, nil)
		}
		s.prompt()
	}
}

func seedOf(wire []frame) []byte {
	var b bytes.Buffer
	for _, f := range wire {
		var m rpc
		if json.Unmarshal([]byte(f.line), &m) != nil {
			continue
		}
		switch {
		case m.Method == "session/update":
			b.WriteString("u" + string(m.Params) + "\n")
		case m.Method == "session/request_permission":
			b.WriteString("a" + string(m.Params) + "\n")
		case !f.fromAgent && m.Method == "":
			b.WriteString("n\n")
		case f.fromAgent && m.Method == "":
			b.WriteString("E" + string(m.Result) + "\n")
		}
	}
	return b.Bytes()
}
