package join_test

import (
	"fmt"
	"testing"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/internal/aguitest"
	"github.com/agentstream-go/agentstream/internal/join"
	"github.com/agentstream-go/agentstream/internal/join/jointest"
)

// Clients that want the last messages alone join long threads at every event; what
// they must end with is proved in internal/join, event by event.
func TestWindowsOfHardLogs(t *testing.T) {
	c := jointest.NewCrowd(t)
	r := newRand(t)
	left := 0
	for n := range 2 {
		log := jointest.Log(r, 6)
		for i := 1; i <= len(log); i++ {
			form := join.Form(i % 2)
			stream := jointest.At(log, i, join.Reader{Form: form, Window: 20}, nil)
			if unknown(stream) {
				continue
			}
			want := jointest.Fold(stream)
			left += jointest.Fold(log[:jointest.RunEnd(log, i)]).Len() - want.Len()
			c.Expect(want, aguitest.Call{Frames: jointest.Frames(stream)}, "log %d, form %d, the last 20, joined at %d", n, form, i)
		}
	}
	c.Wait()
	if left == 0 {
		t.Error("nothing was ever left out")
	}
}

// unknown reports whether a stream changes an activity that it has not told of;
// only made logs change one of an earlier turn.
func unknown(stream []agui.Event) bool {
	told := map[string]bool{}
	for _, e := range stream {
		switch e := e.(type) {
		case *agui.MessagesSnapshot:
			for _, m := range e.Messages {
				told[m.ID] = true
			}
		case *agui.ActivitySnapshot:
			told[e.MessageID] = true
		case *agui.ActivityDelta:
			if !told[e.MessageID] {
				return true
			}
		}
	}
	return false
}

// A served thread is joined as of every event by clients that want its end alone.
func TestWindowsOfServedLogs(t *testing.T) {
	c := jointest.NewCrowd(t)
	s := harness.Start(t, harness.Flags("--verify"))
	for _, texts := range said {
		thread := grown(t, s, texts)
		served := s.Log(thread)
		log := values(served)
		for i := 1; i <= len(log); i++ {
			full := jointest.Fold(log[:i])
			want := jointest.Fold(log[:jointest.RunEnd(log, i)])
			for _, form := range []string{"replay", "snapshot"} {
				stream := s.Stream("GET", fmt.Sprintf("/agui/demo?threadId=%s&messages=3&prelude=%s&after=%s", thread, form, served[i-1].ID), nil).All()
				got := jointest.Fold(values(stream))
				has := map[string]bool{}
				for _, m := range got.Messages() {
					has[m.ID] = true
				}
				messages := full.Messages()
				for _, m := range messages[max(0, len(messages)-3):] {
					if !has[m.ID] {
						t.Errorf("%q, %s, joined at %d: %s is missing", texts, form, i, m.ID)
					}
				}
				kept := agui.NewList()
				kept.SetState(want.State())
				for _, m := range want.Messages() {
					if has[m.ID] {
						kept.Add(m)
					}
				}
				if i%5 > 0 && i < len(log) {
					if a, b := string(kept.AppendJSON(nil)), string(got.AppendJSON(nil)); a != b {
						t.Errorf("%q, %s, joined at %d: has %s, not %s", texts, form, i, b, a)
					}
					continue
				}
				if f, ok := log[jointest.RunEnd(log, i)-1].(*agui.RunFinished); ok && f.Outcome != nil && i < jointest.RunEnd(log, i) {
					kept.Apply(f) // what it left open
				}
				c.Expect(kept, attach(s, thread, "&messages=3&prelude="+form+"&after="+served[i-1].ID), "%q, %s, the last 3, joined at %d", texts, form, i)
			}
		}
	}
	c.Wait()
}
