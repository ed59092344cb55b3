package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
)

func TestStartIsIdempotent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"go": untilCancelled("working")})
		defer w.close()
		r := w.request("t", "r1", "go")
		first, err := w.Start(bg, r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := w.Start(bg, r)
		if err != nil || !again.Attached || again.After != first.After || again.Run.ID != "r1" {
			t.Errorf("the same again: %+v, %v", again, err)
		}
		for name, x := range map[string]struct {
			change func(*StartRequest)
			code   string
		}{
			"other content": {func(r *StartRequest) { r.Input.Messages = []agui.Message{user("u1", "stop")} }, "run_conflict"},
			"more messages": {func(r *StartRequest) { r.Input.Messages = append(r.Input.Messages, user("u9", "and")) }, "run_conflict"},
			"no messages":   {func(r *StartRequest) { r.Input.Messages = nil }, "run_conflict"},
			"other agent":   {func(r *StartRequest) { r.Agent = "other" }, "agent_mismatch"},
			"other run":     {func(r *StartRequest) { r.Input.RunID = "r2" }, "run_active"},
			"no thread":     {func(r *StartRequest) { r.Input.ThreadID = "" }, "bad_request"},
			"internal name": {func(r *StartRequest) { r.Input.ThreadID = requestThread }, "bad_request"},
			"long run id":   {func(r *StartRequest) { r.Input.RunID = strings.Repeat("x", 257) }, "bad_request"},
			"unknown agent": {func(r *StartRequest) { r.Input.ThreadID, r.Agent = "new", "nobody" }, "agent_unknown"},
		} {
			other := r
			other.Input.Messages = append([]agui.Message(nil), r.Input.Messages...)
			x.change(&other)
			_, err := w.Start(bg, other)
			if code(err) != x.code {
				t.Errorf("%s: %v", name, err)
			}
			if e, ok := err.(*Error); ok && x.code == "run_active" && e.Run != "r1" {
				t.Errorf("run_active names %q", e.Run)
			}
		}
		if _, err := w.Cancel(bg, "t", "r1"); err != nil {
			t.Fatal(err)
		}
		ended, err := w.Start(bg, r)
		if err != nil || !ended.Attached || ended.Run.State != RunCancelled {
			t.Errorf("after its end: %+v, %v", ended, err)
		}
		got := w.stream(ended)
		if got[0] != "started" || got[len(got)-1] != `finished {"stopReason":"cancelled"}` {
			t.Errorf("%q", got)
		}
	})
}

func TestConcurrentStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), nil)
		defer w.close()
		r := w.request("t", "r1", "hello")
		var wg sync.WaitGroup
		var mu sync.Mutex
		started := 0
		for range 8 {
			wg.Go(func() {
				s, err := w.Start(bg, r)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				if !s.Attached {
					started++
				}
			})
		}
		wg.Wait()
		w.settled("t", "r1")
		if started != 1 || len(w.agent.prompts) != 1 {
			t.Errorf("%d started, %d prompts", started, len(w.agent.prompts))
		}
	})
}

// TestNextRunRightAfterTerminal: who sees the end of a run may start the next
// one at once.
func TestNextRunRightAfterTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), nil)
		defer w.close()
		for i := range 50 {
			s := w.start("t", fmt.Sprintf("r%d", i), fmt.Sprintf("text %d", i))
			w.stream(s)
		}
		runs, err := w.Runs(bg, "t")
		if err != nil || len(runs) != 50 {
			t.Fatalf("%d runs, %v", len(runs), err)
		}
		w.free("t")
		rounds, _, _ := w.Rounds(bg, "t")
		ids := map[string]bool{}
		m, _ := w.Messages(bg, "t", 0, "")
		for _, one := range m.Messages {
			if ids[one.ID] {
				t.Errorf("message id %q twice", one.ID)
			}
			ids[one.ID] = true
		}
		if len(rounds) != 50 || rounds[49].Round != 50 || len(ids) != 100 {
			t.Errorf("%d rounds, %d messages", len(rounds), len(ids))
		}
	})
}

func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"go": untilCancelled("working")})
		defer w.close()
		w.start("t", "r1", "go")
		var queued []Started
		for i := range 3 {
			r := w.request("t", fmt.Sprintf("q%d", i), fmt.Sprintf("next %d", i))
			r.Enqueue = true
			s, err := w.Start(bg, r)
			if err != nil || s.Run.State != RunQueued {
				t.Fatalf("%+v, %v", s, err)
			}
			queued = append(queued, s)
			again, err := w.Start(bg, r)
			if err != nil || !again.Attached || again.Run.State != RunQueued {
				t.Errorf("again: %+v, %v", again, err)
			}
		}
		if run, err := w.Cancel(bg, "t", "q1"); err != nil || run.State != RunCancelled {
			t.Errorf("%+v, %v", run, err)
		}
		if runs, err := w.Runs(bg, "t"); err != nil || len(runs) != 4 || runs[0].Prompt != "" || runs[1].Prompt != "next 0" || runs[2].Prompt != "" || runs[3].Prompt != "next 2" {
			t.Errorf("what is queued: %+v, %v", runs, err)
		}
		if _, err := w.Cancel(bg, "t", "r1"); err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{`finished {"stopReason":"end_turn"}`, `finished {"stopReason":"cancelled"}`, `finished {"stopReason":"end_turn"}`} {
			got := w.stream(queued[i])
			if got[0] != "started" || got[len(got)-1] != want {
				t.Errorf("q%d: %q", i, got)
			}
		}
		w.free("t")
		if list, err := w.Messages(bg, "t", 0, ""); err != nil || slices.ContainsFunc(list.Messages, func(m agui.Message) bool { return m.Text() == "next 1" }) {
			t.Errorf("what was taken back is said: %+v, %v", list.Messages, err)
		}
		if runs, _ := w.Runs(bg, "t"); len(runs) != 4 || runs[3].State != RunFinished || runs[2].State != RunCancelled {
			t.Errorf("%+v", runs)
		}
	})
}

func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"go": untilCancelled("working")}, func(o *Options) { o.Limits.Processes = 2 })
		defer w.close()
		w.start("a", "r", "go")
		synctest.Wait()
		w.stream(w.start("b", "r", "hi"))
		w.free("b")
		// The idle session of b makes place.
		w.start("c", "r", "go")
		synctest.Wait()
		if !w.agent.session(1).isClosed() || w.agent.session(0).isClosed() {
			t.Error("the wrong session made place")
		}
		if _, err := w.Start(bg, w.request("d", "r", "hi")); code(err) != "limited" {
			t.Errorf("%v", err)
		}
		if _, err := w.Thread(bg, "d"); code(err) != "thread_unknown" {
			t.Errorf("a refused start made a thread: %v", err)
		}
		if st := w.Stats(); st.OpenRuns != 2 || st.Sessions != 2 {
			t.Errorf("%+v", st)
		}
	})
}

func TestWhatRunStartedTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), nil)
		defer w.close()
		w.stream(w.start("t", "r1", "one"))
		r := w.request("t", "r2", "two")
		r.Input.State = json.RawMessage(`{"a":1}`)
		r.Input.Context = []agui.ContextEntry{{Description: "the page", Value: "home"}}
		r.Input.ProtocolVersion = "1.0"
		s, err := w.Start(bg, r)
		if err != nil {
			t.Fatal(err)
		}
		got := w.stream(s)
		if got[1] != "state_snapshot" {
			t.Errorf("%q", got)
		}
		for f, err := range w.Events(bg, "t", s.After, EventOptions{Run: "r2"}) {
			if err != nil {
				t.Fatal(err)
			}
			e, _ := agui.Decode(f.Data)
			started, ok := e.(*agui.RunStarted)
			if !ok {
				break
			}
			in := started.Input
			if in == nil || len(in.Messages) != 1 || in.Messages[0].Text() != "two" || in.Tools == nil || in.Context == nil || len(in.Context) > 0 || started.ProtocolVersion != "" {
				t.Errorf("%s", f.Data)
			}
		}
		if got := w.agent.prompt(1); got != "resource:the page\nhome|text:two" {
			t.Errorf("prompt %q", got)
		}
		// The same state again is no news.
		w.free("t")
		r = w.request("t", "r3", "three")
		r.Input.State = json.RawMessage(`{"a": 1}`)
		s, _ = w.Start(bg, r)
		if got := w.stream(s); got[1] == "state_snapshot" {
			t.Errorf("%q", got)
		}
	})
}

func TestFolder(t *testing.T) {
	root := t.TempDir()
	in := filepath.Join(root, "in")
	out := t.TempDir()
	link := filepath.Join(root, "link")
	for _, err := range []error{os.Mkdir(in, 0o755), os.Symlink(out, link), os.WriteFile(filepath.Join(root, "file"), nil, 0o644)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), nil, func(o *Options) { o.Cwd, o.Roots = in, []string{root} })
		defer w.close()
		for i, x := range []struct{ cwd, props, want, code string }{
			{"", "", in, ""},
			{root, "", root, ""},
			{"", `{"agentstream":{"cwd":"` + in + `"}}`, in, ""},
			{link, "", "", "cwd_forbidden"},
			{out, "", "", "cwd_forbidden"},
			{in + "/../../x", "", "", "cwd_forbidden"},
			{"in", "", "", "cwd_forbidden"},
			{filepath.Join(root, "file"), "", "", "cwd_forbidden"},
			{filepath.Join(root, "gone"), "", "", "cwd_forbidden"},
		} {
			id := fmt.Sprint("t", i)
			r := w.request(id, "r", "hi")
			r.Cwd, r.Input.ForwardedProps = x.cwd, json.RawMessage(x.props)
			s, err := w.Start(bg, r)
			if code(err) != x.code {
				t.Errorf("%+v: %v", x, err)
				continue
			}
			if err != nil {
				continue
			}
			w.stream(s)
			if th, _ := w.Thread(bg, id); th.Cwd != x.want {
				t.Errorf("%+v: cwd %q", x, th.Cwd)
			}
			w.free(id)
			r = w.request(id, "r2", "hi")
			r.Cwd = out // counts only when the thread is made
			if _, err := w.Start(bg, r); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestSift(t *testing.T) {
	a := func(id string) agui.Message { return agui.Message{ID: id, Role: agui.RoleAssistant} }
	tool := agui.Message{ID: "made up", Role: agui.RoleTool}
	u := func(id string) agui.Message { return user(id, id) }
	for _, x := range []struct {
		name             string
		posted           []agui.Message
		known            []string
		prompt, imported []string
	}{
		{"first", []agui.Message{u("1")}, nil, []string{"1"}, nil},
		{"two at once", []agui.Message{u("1"), u("2")}, nil, []string{"1", "2"}, nil},
		{"foreign history", []agui.Message{u("1"), a("2"), tool, u("3")}, nil, []string{"3"}, []string{"1", "2", "made up"}},
		{"next", []agui.Message{u("1"), a("2"), u("3")}, []string{"1", "2"}, []string{"3"}, nil},
		{"made-up result", []agui.Message{u("1"), a("2"), tool, u("3")}, []string{"1", "2"}, []string{"3"}, nil},
		{"unknown in the middle", []agui.Message{u("0"), u("1"), a("2"), u("3")}, []string{"1", "2"}, []string{"3"}, []string{"0"}},
		{"two new ones", []agui.Message{u("1"), a("2"), u("3"), u("4")}, []string{"1", "2"}, []string{"3", "4"}, nil},
		{"again", []agui.Message{u("1")}, []string{"1"}, []string{"1"}, nil},
		{"nothing", []agui.Message{u("1"), a("2")}, []string{"1", "2"}, nil, nil},
	} {
		known := map[string]bool{}
		for _, id := range x.known {
			known[id] = true
		}
		n := sift(x.posted, known)
		names := func(m []agui.Message) (out []string) {
			for _, one := range m {
				out = append(out, one.ID)
			}
			return out
		}
		if diff := cmp.Diff([][]string{x.prompt, x.imported}, [][]string{names(n.prompt), names(n.imported)}); diff != "" {
			t.Errorf("%s: %s", x.name, diff)
		}
	}
}

func TestParts(t *testing.T) {
	content := `[{"type":"text","text":"look"},
		{"type":"image","source":{"type":"data","value":"aGk=","mimeType":"image/png"}},
		{"type":"audio","source":{"type":"data","value":"aGk=","mimeType":"audio/wav"}},
		{"type":"document","source":{"type":"data","value":"aGk=","mimeType":"application/pdf"}},
		{"type":"document","source":{"type":"url","value":"https://example.org/x"}},
		{"type":"binary","mimeType":"image/gif","data":"aGk="}]`
	var got []string
	for _, p := range parts([]agui.Message{{Content: json.RawMessage(content)}}, nil) {
		got = append(got, string(p.Type)+" "+p.MIMEType+" "+p.URI+p.Text)
	}
	want := []string{"text  look", "image image/png ", "audio audio/wav ", "resource application/pdf attachment://document", "resource_link  https://example.org/x", "image image/gif "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestUnnamedRunsAndMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), nil)
		defer w.close()
		r := StartRequest{Agent: "fake", Input: agui.Input{ThreadID: "t", RunID: "r", Messages: []agui.Message{user("", "hi")}}}
		if _, err := w.Start(bg, r); err != nil {
			t.Fatal(err)
		}
		if s, err := w.Start(bg, r); err != nil || !s.Attached {
			t.Errorf("a retry: %+v, %v", s, err)
		}
		r.Input.ThreadID, r.Input.RunID = "t2", ""
		if s, err := w.Start(bg, r); err != nil || s.Run.ID == "" {
			t.Errorf("%+v, %v", s, err)
		}
		r.Input.Messages = nil
		if _, err := w.Start(bg, r); code(err) != "run_active" && code(err) != "bad_request" {
			t.Errorf("nothing to say: %v", err)
		}
	})
}

func TestHundredThreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), nil, func(o *Options) { o.Limits.Processes = 100 })
		defer w.close()
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				id := fmt.Sprint("t", i)
				r := StartRequest{Agent: "fake", Input: agui.Input{ThreadID: id, RunID: "r", Messages: []agui.Message{user("u", id)}}}
				s, err := w.Start(context.Background(), r)
				if err != nil {
					t.Error(err)
					return
				}
				if got := w.stream(s); got[2] != "text you said "+id {
					t.Errorf("%q", got)
				}
			})
		}
		wg.Wait()
		page, err := w.Threads(bg, ThreadQuery{Limit: 30})
		seen := map[string]bool{}
		for err == nil {
			for i, th := range page.Threads {
				if seen[th.ID] || i > 0 && th.UpdatedAt.After(page.Threads[i-1].UpdatedAt) {
					t.Errorf("%s is twice or out of order", th.ID)
				}
				seen[th.ID] = true
			}
			if page.Next == "" {
				break
			}
			page, err = w.Threads(bg, ThreadQuery{Limit: 30, Before: page.Next})
		}
		if err != nil || len(seen) != 100 {
			t.Errorf("%d threads, %v", len(seen), err)
		}
		if _, err := w.Run(bg, "", "r"); code(err) != "bad_request" {
			t.Errorf("an ambiguous run: %v", err)
		}
	})
}
