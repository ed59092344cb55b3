package recordings_test

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/internal/aguitest"
	"github.com/agentstream-go/agentstream/round"
)

// check holds everything that is to be read of the thread against each other, and
// gives the thread's list.
func (d *driver) check() []agui.Message {
	d.t.Helper()
	log := d.s.Log(d.thread)
	d.checkLive(log)
	list := d.s.Messages(d.thread)
	if list.OpenRun != nil || len(list.Pending) > 0 {
		d.t.Errorf("open run %v, pending %v", list.OpenRun, list.Pending)
	}
	runs := d.checkLog(log, list.Messages)
	for _, v := range aguitest.Versions {
		d.checkClient(v, runs, list.Messages)
	}
	d.checkJoin(list.Messages)
	d.checkRounds()
	return list.Messages
}

// checkLive: who followed from the start has the log, byte for byte.
func (d *driver) checkLive(log []harness.Event) {
	d.t.Helper()
	d.s.WaitFor("the follower", func() bool { return d.live.count() >= len(log) })
	d.live.close()
	if len(d.live.got) != len(log) {
		d.t.Fatalf("the follower has %d events, the log %d", len(d.live.got), len(log))
	}
	for i, e := range d.live.got {
		var stored bytes.Buffer
		if err := json.Compact(&stored, log[i].Data); err != nil {
			d.t.Fatal(err)
		}
		if e.ID != log[i].ID || !bytes.Equal(e.Data, stored.Bytes()) {
			d.t.Errorf("the follower got %s %s, stored is %s %s", e.ID, e.Data, log[i].ID, stored.Bytes())
		}
	}
}

// checkLog: the stored events are what both clients accept, each run has one
// terminal, and folded they are the list. It gives the events by run.
func (d *driver) checkLog(log []harness.Event, want []agui.Message) (runs [][]harness.Event) {
	d.t.Helper()
	var list agui.List
	verifiers := []*agui.Verifier{agui.NewVerifier(agui.V0), agui.NewVerifier(agui.V1)}
	open := false
	for _, e := range log {
		for _, v := range verifiers {
			if err := v.Check(e.Event); err != nil {
				d.t.Errorf("%s: %v", e.Data, err)
			}
		}
		list.Apply(e.Event)
		started := e.Type() == agui.TypeRunStarted
		if started == open {
			d.t.Errorf("%s: in a run: %v", e.Data, open)
		}
		if started || len(runs) == 0 {
			runs = append(runs, nil)
		}
		open = (open || started) && !harness.Ended(e)
		runs[len(runs)-1] = append(runs[len(runs)-1], e)
	}
	if open {
		d.t.Error("the last run has no terminal")
	}
	d.same("the log folded", list.Messages(), want)
	stored := d.s.Runs(d.thread)
	if len(stored) != len(runs) {
		d.t.Errorf("%d runs, %d in the log", len(stored), len(runs))
	}
	for _, r := range stored {
		if r.State.Open() {
			d.t.Errorf("run %s is %s", r.ID, r.State)
		}
	}
	return runs
}

func (d *driver) same(what string, got, want []agui.Message) {
	d.t.Helper()
	if diff := cmp.Diff(asJSON(d.t, want), asJSON(d.t, got)); diff != "" {
		d.t.Errorf("%s (-server +%s):\n%s", what, what, diff)
	}
}

func asJSON(t testing.TB, v any) (out []any) {
	t.Helper()
	data, ok := v.(json.RawMessage)
	if !ok {
		var err error
		if data, err = json.Marshal(v); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// checkClient: a client that gets the stored runs, one after the other, says
// nothing and ends with the list.
func (d *driver) checkClient(v agui.Version, runs [][]harness.Event, want []agui.Message) {
	d.t.Helper()
	c := d.s.Client(v, d.agent, d.thread)
	var last aguitest.Report
	for _, run := range runs {
		call := aguitest.Call{Frames: frames(run), RunID: run[0].Event.(*agui.RunStarted).RunID}
		for _, p := range last.PendingInterrupts {
			call.Resume = append(call.Resume, agui.Resume{InterruptID: p.ID, Status: "cancelled"})
		}
		last = c.Run(call)
		if len(last.Warnings) > 0 {
			d.t.Errorf("client %s says: %q", v, last.Warnings)
		}
		if last.Error != "" && last.RunError == nil {
			d.t.Errorf("client %s: the run did not resolve: %s", v, last.Error)
		}
	}
	if diff := cmp.Diff(asJSON(d.t, want), asJSON(d.t, last.Messages)); diff != "" {
		d.t.Errorf("client %s (-server +client):\n%s", v, diff)
	}
	_ = c.Driver().Drop(d.t.Context(), c.Key()) // only memory
}

func frames(run []harness.Event) *string {
	data := make([][]byte, 0, len(run))
	for _, e := range run {
		data = append(data, e.Data)
	}
	return aguitest.Frames(data...)
}

// checkJoin: who comes now gets the list, in both forms of a prelude.
func (d *driver) checkJoin(want []agui.Message) {
	d.t.Helper()
	for _, prelude := range []string{"replay", "snapshot"} {
		path := "/agui/" + d.agent + "?threadId=" + url.QueryEscape(d.thread) + "&prelude=" + prelude
		var list agui.List
		verifiers := []*agui.Verifier{agui.NewVerifier(agui.V0), agui.NewVerifier(agui.V1)}
		for _, e := range d.s.Stream("GET", path, nil).All() {
			for _, v := range verifiers {
				if err := v.Check(e.Event); err != nil {
					d.t.Errorf("%s: %s: %v", prelude, e.Data, err)
				}
			}
			list.Apply(e.Event)
		}
		d.same(prelude, list.Messages(), want)
	}
}

// checkRounds: numbered without a gap, paired, and taken by every provider.
func (d *driver) checkRounds() {
	d.t.Helper()
	var history []*schema.Message
	for i, r := range d.s.Rounds(d.thread) {
		cut := slices.ContainsFunc(r.Messages, func(m *schema.Message) bool {
			info, _ := round.InfoOf(m)
			return info.Placeholder != ""
		})
		if r.Round != i+1 || r.Complete == cut {
			d.t.Errorf("round %d: number %d, complete %v, with placeholders %v", i+1, r.Round, r.Complete, cut)
		}
		for _, m := range r.Input {
			history = append(history, schema.UserMessage(m.Text()))
		}
		history = append(history, r.Messages...)
	}
	for _, provider := range []string{"openai", "anthropic", "gemini", "eino"} {
		if err := round.Validate(provider, history); err != nil {
			d.t.Errorf("%s: %v", provider, err)
		}
	}
}

// class is how a run ended, to be counted.
func class(r engine.Run) string {
	out := string(r.State)
	if r.StopReason != "" && string(r.StopReason) != out {
		out += " " + string(r.StopReason)
	}
	if r.Error != nil {
		out += " " + r.Error.Code
	}
	return out
}
