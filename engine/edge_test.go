package engine

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/source"
)

func TestNewRefuses(t *testing.T) {
	agent := Agent{Name: "fake", Source: &fakeAgent{}}
	for name, o := range map[string]Options{
		"no log":      {},
		"bad name":    {Log: newMemlog(), Agents: []Agent{{Name: "Fake!", Source: agent.Source}}},
		"no source":   {Log: newMemlog(), Agents: []Agent{{Name: "fake"}}},
		"twice":       {Log: newMemlog(), Agents: []Agent{agent, agent}},
		"bad policy":  {Log: newMemlog(), Policy: "perhaps"},
		"damaged log": {Log: damaged(), Agents: []Agent{agent}},
	} {
		e, err := New(bg, o)
		if name == "damaged log" {
			// One thread that cannot be read keeps nobody from the others.
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if err := e.Close(bg); err != nil {
				t.Error(err)
			}
			continue
		}
		if err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func damaged() *memlog {
	l := newMemlog()
	l.global[keyOpen+"t"] = []byte("x")
	l.global[keyThread+"t"] = []byte("no JSON")
	return l
}

// TestEverySixAndRich: each event goes through the gate, live and held.
func TestEverySixAndRich(t *testing.T) {
	everything := func(h agentstream.StreamHandler, id string) {
		h.OnThoughtChunk("hm")
		agentstream.Send(h, agentstream.ToolCallInfo{ID: id, Name: "tool" + id, Kind: "read"})
		h.OnToolCall(id, "look")
		h.OnToolCallUpdate(id, `{"a":`, agentstream.ToolCallStatusPending)
		h.OnToolCallUpdate(id, `1}`, agentstream.ToolCallStatusPending)
		h.OnToolCallArgsSnapshot(id, `{"a":1}`)
		h.OnToolCallUpdate(id, "", agentstream.ToolCallStatusInProgress)
		agentstream.Send(h, agentstream.Output{ID: id, Data: "out"})
		h.OnToolCallUpdate(id, "seen", agentstream.ToolCallStatusCompleted)
		agentstream.Send(h, agentstream.Plan{Entries: []agentstream.PlanEntry{{Content: "one"}}})
		agentstream.Send(h, agentstream.Notice{Severity: "info", Text: "note"})
		h.OnTokenUsage(7)
		h.OnMessageChunk("done " + id)
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"go": func(ctx context.Context, _ *fakeSession, tn source.Turn) (source.StopReason, error) {
			everything(tn.Handler, "a")
			tn.Handler.OnToolCall("ask", "ask")
			got := put(ctx, tn, source.Request{ToolCallID: "ask", Title: "ask", Kind: "execute", Options: yesNo})
			<-time.After(time.Second)
			everything(tn.Handler, "b")
			if _, err := await(ctx, got); err != nil {
				return "", err
			}
			tn.Handler.OnToolCallUpdate("ask", "ok", agentstream.ToolCallStatusCompleted)
			return "", nil
		}})
		w.stream(w.start("t", "r1", "go"))
		w.pass(time.Minute)
		s, err := w.Start(bg, w.answer("t", "r2", approve(w.pending()[0].ID, `{"approved":true}`)))
		if err != nil {
			t.Fatal(err)
		}
		got := w.stream(s)
		for _, want := range []string{"text done b", `args {"a":1}`, `result seen`, `result ok`, `finished {"stopReason":"end_turn"}`} {
			if !slices.Contains(unquote(got), want) {
				t.Errorf("no %q in %q", want, got)
			}
		}
		w.free("t")
		for provider, key := range map[string]string{"openai": "role", "anthropic": "role", "eino": "role"} {
			data, err := w.History(bg, "t", provider)
			var messages []map[string]any
			if err != nil || json.Unmarshal(data, &messages) != nil || len(messages) == 0 || messages[0][key] != "user" {
				t.Errorf("%s: %s, %v", provider, data, err)
			}
		}
		w.close()
	})
}

// TestDefectEndsTheTurnAlone: a panic while a turn ends, or while an event is
// taken, is that turn's failure and nobody else's.
func TestDefectEndsTheTurnAlone(t *testing.T) {
	for name, breaks := range map[string]func(w *world, t *turn){
		"at the end":        func(w *world, _ *turn) {},
		"while it receives": func(w *world, _ *turn) { w.agent.session(0).o.Observe(source.Fact{}) },
	} {
		synctest.Test(t, func(t *testing.T) {
			poke := make(chan struct{})
			w := newWorld(t, newMemlog(), map[string]script{"go": func(ctx context.Context, _ *fakeSession, tn source.Turn) (source.StopReason, error) {
				tn.Handler.OnMessageChunk("kept")
				<-poke
				tn.Handler.OnMessageChunk("lost")
				<-ctx.Done()
				return "", context.Cause(ctx)
			}})
			s := w.start("t", "r1", "go")
			synctest.Wait()
			broken := w.use("t").open()
			broken.mu.Lock()
			broken.b = nil
			broken.mu.Unlock()
			breaks(w, broken)
			close(poke)
			got := w.stream(s)
			if got[len(got)-1] != "error internal" || !slices.Contains(got, "text kept") {
				t.Errorf("%s: %q", name, got)
			}
			if got := w.stream(w.start("t", "r2", "hi")); !slices.Contains(got, "text you said hi") {
				t.Errorf("%s: then %q", name, got)
			}
			w.close()
		})
	}
}

func TestEventsOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), nil)
		defer w.close()
		for i := range 3 {
			w.stream(w.start("t", []string{"r0", "r1", "r2"}[i], "hi"))
			w.free("t")
		}
		read := func(after eventlog.Cursor, o EventOptions) (ids []string, err error) {
			ctx, cancel := context.WithTimeout(bg, time.Second)
			defer cancel()
			for f, e := range w.Events(ctx, "t", after, o) {
				if err = e; e == nil {
					ids = append(ids, f.ID)
				}
			}
			return ids, err
		}
		all, err := read(eventlog.Cursor{}, EventOptions{NoWait: true})
		if err != nil || len(all) != 15 {
			t.Fatalf("%d events, %v", len(all), err)
		}
		note := eventlog.Event{Kind: eventlog.KindNote, Data: []byte(`{"said":"afterwards"}`)}
		if _, err := w.log.Append(bg, eventlog.Batch{Thread: "t", Events: []eventlog.Event{note, note, note}}); err != nil {
			t.Fatal(err)
		}
		noted, err := read(eventlog.Cursor{}, EventOptions{NoWait: true, Notes: true})
		if err != nil || len(noted) != 18 {
			t.Fatalf("%d records, %v", len(noted), err)
		}
		for name, x := range map[string]struct {
			after string
			o     EventOptions
			want  []string
		}{
			"live":            {"", EventOptions{}, all},
			"tail":            {"", EventOptions{Tail: 4, NoWait: true}, all[11:]},
			"last":            {"", EventOptions{Tail: 1, NoWait: true}, all[14:]},
			"tail, notes":     {"", EventOptions{Tail: 4, NoWait: true, Notes: true}, noted[14:]},
			"whole tail":      {"", EventOptions{Tail: 15, NoWait: true}, all},
			"most":            {"", EventOptions{Tail: 14, NoWait: true}, all[1:]},
			"long tail":       {"", EventOptions{Tail: 99, NoWait: true}, all},
			"after":           {all[11], EventOptions{NoWait: true}, all[12:]},
			"at the end":      {all[14], EventOptions{NoWait: true}, nil},
			"run":             {"", EventOptions{Run: "r1"}, all[5:10]},
			"run, from after": {all[7], EventOptions{Run: "r1"}, all[8:10]},
			"run, over":       {all[12], EventOptions{Run: "r1"}, nil},
		} {
			var after eventlog.Cursor
			if x.after != "" {
				after, _ = eventlog.ParseCursor(x.after)
			}
			got, err := read(after, x.o)
			if diff := cmp.Diff(x.want, got); diff != "" || err != nil {
				t.Errorf("%s: %v %s", name, err, diff)
			}
		}
		last, _ := eventlog.ParseCursor(all[14])
		for name, x := range map[string]struct {
			after eventlog.Cursor
			o     EventOptions
			code  string
		}{
			"future":           {eventlog.Cursor{Gen: last.Gen, Seq: 99}, EventOptions{}, "cursor_gone"},
			"future, stored":   {eventlog.Cursor{Gen: last.Gen, Seq: 99}, EventOptions{NoWait: true}, "cursor_gone"},
			"other generation": {eventlog.Cursor{Gen: last.Gen + 1, Seq: 1}, EventOptions{}, "cursor_gone"},
			"unknown run":      {eventlog.Cursor{}, EventOptions{Run: "r9"}, "run_unknown"},
		} {
			if _, err := read(x.after, x.o); code(err) != x.code {
				t.Errorf("%s: %v", name, err)
			}
		}
		for range w.Events(bg, requestThread, eventlog.Cursor{}, EventOptions{}) {
			t.Error("the engine's own log can be read as a thread")
		}
	})
}

func TestPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), nil)
		defer w.close()
		for i := range 3 {
			w.stream(w.start("t", []string{"r0", "r1", "r2"}[i], "Topic"))
			w.free("t")
		}
		all, _ := w.Messages(bg, "t", 0, "")
		page, err := w.Messages(bg, "t", 2, all.Messages[4].ID)
		if err != nil || len(page.Messages) != 2 || page.Messages[1].ID != all.Messages[3].ID || !page.More {
			t.Errorf("%+v, %v", page, err)
		}
		if page, err := w.Messages(bg, "t", 9, all.Messages[0].ID); err != nil || len(page.Messages) != 0 || page.More {
			t.Errorf("%+v, %v", page, err)
		}
		for what, err := range map[string]error{
			"bad_request":    second(w.Messages(bg, "t", 2, "nope")),
			"thread_unknown": second(w.Messages(bg, "nope", 2, "")),
			"run_unknown":    second(w.Engine.Run(bg, "t", "nope")),
		} {
			if code(err) != what || err.Error() == "" {
				t.Errorf("want %s, got %v", what, err)
			}
		}
		if _, err := w.Threads(bg, ThreadQuery{Before: "!"}); code(err) != "bad_request" {
			t.Errorf("%v", err)
		}
		for q, n := range map[string]int{"": 1, "TOPIC": 1, "t": 1, "zzz": 0} {
			if page, err := w.Threads(bg, ThreadQuery{Text: q}); err != nil || len(page.Threads) != n {
				t.Errorf("%q: %+v, %v", q, page, err)
			}
		}
		if run, err := w.Run(bg, "", "r1"); err != nil || run.State.Open() || !RunQueued.Open() {
			t.Errorf("%+v, %v", run, err)
		}
		if agents := w.Agents(); len(agents) != 2 || agents[0].Name != "fake" || agents[0].IdleTimeout != 10*time.Minute {
			t.Errorf("%+v", agents)
		}
	})
}

func second[T any](_ T, err error) error { return err }

// TestJanitor: on a shared log somebody ends what a dead owner left, without
// anybody asking.
func TestJanitor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemlog()
		shared := func(o *Options) { o.Shared = true }
		a := newWorld(t, log, map[string]script{"go": untilCancelled("x")}, shared)
		b := newWorld(t, log, nil, shared)
		a.start("t", "r1", "go")
		synctest.Wait()
		dead := a.use("t").open()
		dead.mu.Lock()
		dead.leaseTimer.Stop() // a no longer renews
		dead.mu.Unlock()
		ctx, cancel := context.WithTimeout(bg, time.Hour)
		defer cancel()
		var last agui.Event
		for f, err := range b.Events(ctx, "t", eventlog.Cursor{}, EventOptions{Run: "r1"}) {
			if err != nil {
				t.Fatal(err)
			}
			last, _ = agui.Decode(f.Data)
		}
		if e, ok := last.(*agui.RunError); !ok || e.Code != "run_lost" {
			t.Errorf("%+v", last)
		}
		a.close()
		b.close()
	})
}

// TestHeldIsBounded: an agent that talks on while an approval waits is made to
// wait, and nothing of it is lost.
func TestHeldIsBounded(t *testing.T) {
	said := 0
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"go": func(ctx context.Context, _ *fakeSession, tn source.Turn) (source.StopReason, error) {
			got := put(ctx, tn, source.Request{Title: "ask", Kind: "execute", Options: yesNo})
			<-time.After(time.Second)
			for said = range 1000 {
				tn.Handler.OnMessageChunk("0123456789")
			}
			_, err := await(ctx, got)
			return source.EndTurn, err
		}}, func(o *Options) { o.Limits.JournalBytes = 4 << 10 })
		w.stream(w.start("t", "r1", "go"))
		w.pass(time.Minute)
		if said > 200 {
			t.Errorf("%d chunks are held", said)
		}
		if _, err := w.Resolve(bg, w.pending()[0].ID, Answer{OptionID: "yes"}); err != nil {
			t.Fatal(err)
		}
		w.free("t")
		if m, _ := w.Messages(bg, "t", 1, ""); len(m.Messages[0].Text()) != 10_000 {
			t.Errorf("%d bytes", len(m.Messages[0].Text()))
		}
		w.close()
	})
}

// TestSenselessEvents: a turn whose events cannot be folded back is ended all the
// same.
func TestSenselessEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemlog()
		a := newWorld(t, log, map[string]script{"go": untilCancelled("x")})
		a.start("t", "r1", "go")
		synctest.Wait()
		log.mu.Lock()
		for i, r := range log.threads["t"].records {
			if e, _ := agui.Decode(r.Data); e.Type() == agui.TypeTextMessageStart {
				log.threads["t"].records[i].Data = []byte(`{"type":"TEXT_MESSAGE_START","messageId":"zzz","role":"assistant"}`)
			}
		}
		log.mu.Unlock()
		b := newWorld(t, log, nil)
		if run, err := b.Run(bg, "t", "r1"); err != nil || run.State != RunLost {
			t.Errorf("%+v, %v", run, err)
		}
		if got := b.stream(b.start("t", "r2", "hi")); !slices.Contains(got, "text you said hi") {
			t.Errorf("%q", got)
		}
		if err := b.Close(bg); err != nil {
			t.Error(err)
		}
		if err := a.Close(bg); err != nil {
			t.Error(err)
		}
	})
}

// TestQueuedForAnAgentThatIsGone: what was queued before a restart fails if its
// agent is no longer configured; the thread can be read.
func TestQueuedForAnAgentThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemlog()
		a := newWorld(t, log, map[string]script{"go": untilCancelled("x")})
		a.start("t", "r1", "go")
		q := a.request("t", "r2", "next")
		q.Enqueue = true
		if _, err := a.Start(bg, q); err != nil {
			t.Fatal(err)
		}
		a.close()
		b := newWorld(t, log, nil, func(o *Options) { o.Agents = o.Agents[1:] })
		if run := b.settled("t", "r2"); run.State != RunFailed || run.Error.Code != "agent_missing" {
			t.Errorf("%+v", run)
		}
		b.free("t")
		if _, err := b.Start(bg, b.request("t", "r3", "hi")); code(err) != "agent_unknown" {
			t.Errorf("%v", err)
		}
		b.close()
	})
}
