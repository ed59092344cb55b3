package aguitest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/agentstream-go/agentstream/agui"
)

func run(events ...agui.Event) (list [][]byte) {
	e := agui.NewEmitter(agui.EmitterConfig{Thread: "thread", Run: "run", Sink: func(_ agui.Type, data []byte) {
		list = append(list, append([]byte(nil), data...))
	}})
	for _, ev := range events {
		e.Emit(ev)
	}
	e.Finish(agui.RunFinished{})
	return list
}

func TestReplayReportsWhatTheClientHolds(t *testing.T) {
	d := Clients(t)
	for _, v := range Versions {
		r := d.Replay(v, run(&agui.TextMessageStart{MessageID: "m"}, &agui.TextMessageContent{MessageID: "m", Delta: "hi"})...)
		if !r.OK() || r.Outcome != "success" || len(r.Events) != 5 {
			t.Errorf("%s: %+v", v, r)
		}
		if want := `[{"id":"m","role":"assistant","content":"hi"}]`; string(r.Messages) != want {
			t.Errorf("%s: messages %s, want %s", v, r.Messages, want)
		}
	}
}

// Warnings of runs that are open at the same time must not be mixed up.
func TestWarningsBelongToTheirRun(t *testing.T) {
	d := Clients(t)
	bad := [][]byte{[]byte(`{"type":"RUN_STARTED","threadId":"t","runId":"r","odd":1}`), []byte(`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`)}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			events := run()
			if i%2 == 0 {
				events = bad
			}
			r := d.MustRun(Call{Version: agui.V1, Frames: Frames(events...), Piece: 7})
			if got := len(r.Warnings); got != 1-i%2 {
				t.Errorf("run %d: warnings %q", i, r.Warnings)
			}
		})
	}
	wg.Wait()
}

func TestRunAgainstAServer(t *testing.T) {
	d := Clients(t)
	proceed := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			http.Error(w, `gone`, http.StatusGone)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for i, e := range run(&agui.Custom{Name: "n"}) {
			if i == 2 {
				w.(http.Flusher).Flush()
				<-proceed
			}
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}))
	defer srv.Close()
	done := make(chan Report)
	go func() { done <- d.MustRun(Call{Agent: t.Name(), Version: agui.V1, URL: srv.URL}) }()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := d.Wait(ctx, t.Name(), agui.TypeCustom, 1); err != nil {
		t.Fatal(err)
	}
	close(proceed)
	if r := <-done; !r.OK() || r.Outcome != "success" {
		t.Errorf("%+v", r)
	}
	r := d.MustRun(Call{Agent: t.Name(), URL: srv.URL, Method: "GET", Connect: true})
	if r.ErrorStatus != http.StatusGone {
		t.Errorf("GET: %+v", r)
	}
	if err := d.Drop(context.Background(), t.Name()); err != nil {
		t.Fatal(err)
	}
}

func TestAbortIsLocalToTheClient(t *testing.T) {
	d := Clients(t)
	for _, v := range Versions {
		events := run(&agui.TextMessageStart{MessageID: "m"}, &agui.TextMessageContent{MessageID: "m", Delta: "hi"})
		key := t.Name() + string(v)
		r := d.MustRun(Call{Agent: key, Version: v, Frames: Frames(events...), AbortAfter: 2})
		if r.Error != "" {
			t.Errorf("%s: %+v", v, r)
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := d.Wait(ctx, key, agui.TypeRunStarted, 1); err != nil {
			t.Errorf("%s: %v", v, err)
		}
		for _, do := range []func(context.Context, string) error{d.Abort, d.Detach, d.Drop} {
			if err := do(ctx, key); err != nil {
				t.Errorf("%s: %v", v, err)
			}
		}
	}
}

func TestFailuresSayWhat(t *testing.T) {
	d := Clients(t)
	if _, err := d.Run(context.Background(), Call{Version: "9.9.9"}); err == nil {
		t.Error("a client of no version ran")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := d.Wait(ctx, "nobody", "", 1); err != context.Canceled {
		t.Errorf("waiting for nobody: %v", err)
	}
}
