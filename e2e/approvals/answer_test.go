package approvals

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/internal/aguitest"
)

// one is a turn with one question.
var one = lines("say before", "call a edit Change a file", "ask a", "answer a", "say after")

func TestAnswers(t *testing.T) {
	x := start(t, "", harness.Flags("--verify"))
	x.both(t, "by the client", approvedByTheClient)
	x.both(t, "denied", denied)
	x.both(t, "two at once", twoAtOnce)
	x.both(t, "by REST", approvedByREST)
	x.both(t, "late and otherwise", lateAndOtherwise)
	x.both(t, "one of two elsewhere", oneOfTwoElsewhere)
	x.both(t, "asked while one waits", askedWhileOneWaits)
	x.both(t, "said while one waits", saidWhileOneWaits)
	x.both(t, "reloaded", reloaded)
	x.both(t, "made-up result", madeUpResult)
	x.both(t, "behind", behind)
	x.both(t, "two tabs at once", twoTabsAtOnce)
	x.both(t, "sent twice", sentTwice)
	x.both(t, "refused resumes", refusedResumes)
}

func approvedByTheClient(t *testing.T, x *stage) {
	c := x.client()
	first := c.Say(one)
	asks := x.asked(c, first, 1)
	i := asks[0]
	var about struct {
		Agentstream struct{ Options []engine.RequestOption } `json:"agentstream"`
	}
	if err := json.Unmarshal(i.Metadata, &about); err != nil || len(about.Agentstream.Options) != 4 || i.Reason != "tool_call" || i.Message != "Change a file" {
		t.Errorf("the interrupt: %+v", i)
	}
	q := x.request(i.ID)
	if q.State != "pending" || q.ToolCallID != i.ToolCallID || q.Run != first.RunID || q.Thread != c.Thread {
		t.Errorf("the request: %+v", q)
	}
	if !strings.Contains(string(first.Messages), `"id":"`+i.ToolCallID+`"`) {
		t.Errorf("the interrupt's call %s is not among the messages", i.ToolCallID)
	}
	r := c.Run(resume(yes, asks...))
	x.done(c, r)
	x.wantResults(c, "allow-1")
	if runs := x.Runs(c.Thread); len(runs) != 2 || runs[1].Parent != runs[0].ID || runs[0].State != engine.RunInterrupted || r.RunID != runs[1].ID {
		t.Errorf("runs: %+v", runs)
	}
	if q := x.request(i.ID); q.State != "resolved" || q.Resolution == nil || q.Resolution.OptionID != "allow-1" || q.Resolution.At.IsZero() || q.Resolution.By == "" {
		t.Errorf("the request: %+v", q)
	}
	x.goesOn(c)
}

// What is not clearly an approval is a denial.
func denied(t *testing.T, x *stage) {
	for _, payload := range []string{no, `{"approved":"true"}`, `{"approved":1}`, `{}`, `null`, `true`, `"yes"`, `[{"approved":true}]`, `{"approve":true}`, ""} {
		c := x.client()
		r := c.Run(resume(payload, x.asked(c, c.Say(one), 1)...))
		x.done(c, r)
		x.wantResults(c, "reject-1")
	}
}

func twoAtOnce(t *testing.T, x *stage) {
	c := x.client()
	asks := x.asked(c, c.Say(lines("call a edit A", "call b edit B", "ask a", "ask b", "answer b", "answer a", "say after")), 2)
	r := c.Run(aguitest.Call{Resume: append(answers(yes, asks[0]), answers(no, asks[1])...)})
	x.done(c, r)
	x.wantResults(c, "reject-1", "allow-1") // in the order in which they came
	if rounds := x.Rounds(c.Thread); len(rounds) != 2 || !rounds[0].Complete {
		t.Errorf("rounds: %+v", rounds)
	}
}

// Another device answers; the client that waits says the same later.
func approvedByREST(t *testing.T, x *stage) {
	c := x.client()
	asks := x.asked(c, c.Say(one), 1)
	x.Post("/v1/requests/"+asks[0].ID+"/resolve", map[string]any{"approved": true, "reason": "fine"}, nil)
	x.idle(c.Thread)
	for range 2 { // the same again is fine
		x.Post("/v1/requests/"+asks[0].ID+"/resolve", map[string]any{"optionId": "allow-1"}, nil)
	}
	for _, other := range []map[string]any{{"approved": false}, {"approved": "true"}, {"optionId": "allow-2"}} {
		if r := x.Do("POST", "/v1/requests/"+asks[0].ID+"/resolve", other); r.Status != 409 || r.Code != "already_resolved" {
			t.Errorf("%v: %d %s", other, r.Status, r.Code)
		}
	}
	r := c.Run(resume(yes, asks...))
	x.done(c, r)
	x.wantResults(c, "allow-1")
	if slices.Contains(r.Events, agui.TypeCustom) {
		t.Errorf("a conflict although the answer is the same: %v", r.Events)
	}
	if n := len(x.Runs(c.Thread)); n != 2 {
		t.Errorf("%d runs", n)
	}
	x.goesOn(c)
}

// The client comes late, with another answer: it is told, and not locked.
func lateAndOtherwise(t *testing.T, x *stage) {
	c := x.client()
	asks := x.asked(c, c.Say(one), 1)
	x.Post("/v1/requests/"+asks[0].ID+"/resolve", map[string]any{"approved": true}, nil)
	x.idle(c.Thread)
	r := c.Run(resume(no, asks...))
	x.done(c, r)
	x.wantResults(c, "allow-1")
	if !slices.Contains(r.Events, agui.TypeCustom) {
		t.Errorf("nobody told the client: %v", r.Events)
	}
	x.goesOn(c)
}

func oneOfTwoElsewhere(t *testing.T, x *stage) {
	c := x.client()
	asks := x.asked(c, c.Say(lines("call a edit A", "call b edit B", "ask a", "ask b", "answer a", "say between", "answer b", "say after")), 2)
	x.Post("/v1/requests/"+asks[0].ID+"/resolve", map[string]any{"approved": true}, nil)
	x.WaitFor("the second interrupt", func() bool {
		runs := x.Runs(c.Thread)
		return len(runs) == 2 && runs[1].State == engine.RunInterrupted
	})
	if pending := x.Messages(c.Thread).Pending; len(pending) != 1 || pending[0].ID != asks[1].ID {
		t.Errorf("pending: %+v", pending)
	}
	r := c.Run(resume(yes, asks...)) // a client that waits has to name both
	x.done(c, r)
	x.wantResults(c, "allow-1", "allow-1")
	x.goesOn(c)
}

func askedWhileOneWaits(t *testing.T, x *stage) {
	c := x.client()
	gate := harness.ID(t, "gate")
	asks := x.asked(c, c.Say(lines("call a edit A", "ask a", "gate "+gate, "call b edit B", "ask b", "answer a", "answer b", "say after")), 1)
	x.open(gate)
	x.WaitFor("the second request", func() bool { return len(x.Messages(c.Thread).Pending) == 2 })
	second := c.Run(resume(yes, asks...))
	asks = x.asked(c, second, 1)
	x.done(c, c.Run(resume(no, asks...)))
	x.wantResults(c, "allow-1", "reject-1")
	if n := len(x.Runs(c.Thread)); n != 3 {
		t.Errorf("%d runs", n)
	}
}

// What the agent says while nobody has answered appears in the continuing run,
// right behind its RUN_STARTED, its text under an id of its own.
func saidWhileOneWaits(t *testing.T, x *stage) {
	c := x.client()
	gate := harness.ID(t, "gate")
	r := c.Say(lines("say one", "call a edit A", "ask a", "gate "+gate, "say two", "call b read B", "done b found", "say three", "answer a", "say four"))
	asks := x.asked(c, r, 1)
	shown := len(x.Log(c.Thread))
	x.open(gate)
	x.WaitFor("what is held", func() bool {
		return strings.Contains(string(x.Do("GET", harness.ThreadPath(c.Thread, "/events?wait=0s&format=log&after=0"), nil).Body), `three`)
	})
	if n := len(x.Log(c.Thread)); n != shown {
		t.Errorf("%d events came while no run was open", n-shown)
	}
	x.done(c, c.Run(resume(yes, asks...)))
	x.wantResults(c, "allow-1", "found") // each behind its call
	log := x.Log(c.Thread)[shown:]
	if log[0].Type() != agui.TypeRunStarted || log[1].Type() != agui.TypeTextMessageStart {
		t.Errorf("the continuing run begins with %s, %s", log[0].Type(), log[1].Type())
	}
	before, after := map[string]bool{}, ""
	for i, e := range x.Log(c.Thread) {
		if e, ok := e.Event.(*agui.TextMessageContent); ok {
			if i < shown {
				before[e.MessageID] = true
			} else if after += e.Delta + " "; before[e.MessageID] {
				t.Errorf("text %q goes on under the id of another run", e.Delta)
			}
		}
	}
	if strings.Join(strings.Fields(after), " ") != "two three four" {
		t.Errorf("the continuing run says %q", after)
	}
}

// A refresh while a question waits shows it, and it can be answered from there.
func reloaded(t *testing.T, x *stage) {
	c := x.client()
	asks := x.asked(c, c.Say(one), 1)
	for _, query := range []string{"", "&prelude=snapshot"} {
		fresh := x.reloaded(c)
		if again := x.asked(fresh, fresh.Attach("", query), 1); again[0].ID != asks[0].ID {
			t.Errorf("%q: another question: %+v", query, again)
		}
	}
	fresh := x.reloaded(c)
	x.done(fresh, fresh.Run(resume(yes, x.asked(fresh, fresh.Attach("", ""), 1)...)))
	x.wantResults(c, "allow-1")
	x.done(c, c.Run(resume(yes, asks...))) // the first tab, which had slept
	x.goesOn(c)
}

// CopilotKit resumes under the interrupted run's id and adds a result of its own.
func madeUpResult(t *testing.T, x *stage) {
	c := x.client()
	first := c.Say(one)
	asks := x.asked(c, first, 1)
	call := resume(yes, asks...)
	call.RunID = first.RunID
	call.Add = []agui.Message{{ID: harness.ID(t, "tool"), Role: agui.RoleTool, ToolCallID: asks[0].ToolCallID, Content: json.RawMessage(`"{\"approved\":true}"`)}}
	r := c.Run(call)
	x.done(c, r)
	x.wantResults(c, "allow-1")
	if r.RunID == first.RunID {
		t.Error("two runs have one id")
	}
	x.goesOn(c)
}

// A tab that slept through somebody else's turn is brought up to date by its own.
func behind(t *testing.T, x *stage) {
	c := x.client()
	x.done(c, c.Say("say first"))
	other := x.reloaded(c)
	x.same(other, other.Attach("", ""))
	asks := x.asked(other, other.Say(one), 1)
	x.done(other, other.Run(resume(yes, asks...)))
	x.done(c, c.Say("say second"))
	x.done(other, other.Say("say third"))
}

// Two tabs answer at the same moment, each otherwise: the first counts, and both
// see what came of it.
func twoTabsAtOnce(t *testing.T, x *stage) {
	c := x.client()
	asks := x.asked(c, c.Say(one), 1)
	other := x.reloaded(c)
	x.asked(other, other.Attach("", ""), 1)
	reports := make(chan aguitest.Report, 2)
	for payload, tab := range map[string]*harness.Client{yes: c, no: other} {
		go func() { reports <- tab.Run(resume(payload, asks...)) }()
	}
	a, b := <-reports, <-reports
	x.done(c, a)
	x.done(other, b)
	if slices.Contains(a.Events, agui.TypeCustom) == slices.Contains(b.Events, agui.TypeCustom) {
		t.Errorf("one of two is to be told that the answer was another: %v and %v", a.Events, b.Events)
	}
	if n := len(x.Runs(c.Thread)); n != 2 {
		t.Errorf("%d runs", n)
	}
	x.goesOn(c)
	x.goesOn(other)
}

// A retry of the same answer, whose first response got lost, starts nothing anew.
func sentTwice(t *testing.T, x *stage) {
	c := x.client()
	asks := x.asked(c, c.Say(one), 1)
	in := harness.Input(c.Thread, harness.ID(t, "run"), x.Messages(c.Thread).Messages...)
	in["resume"] = answers(yes, asks...)
	lost := x.Stream("POST", "/agui/scripted", in)
	if _, err := lost.Next(); err != nil {
		t.Fatal(err)
	}
	lost.Close()
	again := x.Stream("POST", "/agui/scripted", in)
	if events := again.All(); !harness.Is(agui.TypeRunFinished)(events[len(events)-1]) {
		t.Errorf("the retry ends with %s", events[len(events)-1].Type())
	}
	if n := len(x.Runs(c.Thread)); n != 2 {
		t.Errorf("%d runs", n)
	}
	x.done(c, c.Run(resume(yes, asks...)))
	x.wantResults(c, "allow-1")
}

func refusedResumes(t *testing.T, x *stage) {
	c, other := x.client(), x.client()
	asks := x.asked(c, c.Say(one), 1)
	theirs := x.asked(other, other.Say(one), 1)
	id := asks[0].ID
	entry := func(id, status string) map[string]any {
		return map[string]any{"interruptId": id, "status": status, "payload": map[string]any{"approved": true}}
	}
	for _, bad := range []struct {
		name   string
		resume []map[string]any
		status int
		code   string
	}{
		{"unknown", []map[string]any{entry("q0", "resolved")}, 404, "unknown_interrupt"},
		{"one known, one unknown", []map[string]any{entry(id, "resolved"), entry("q0", "resolved")}, 404, "unknown_interrupt"},
		{"of another thread", []map[string]any{entry(theirs[0].ID, "resolved")}, 404, "unknown_interrupt"},
		{"twice", []map[string]any{entry(id, "resolved"), entry(id, "cancelled")}, 409, "resume_invalid"},
		{"odd status", []map[string]any{entry(id, "done")}, 409, "resume_invalid"},
		{"no id", []map[string]any{entry("", "resolved")}, 409, "resume_invalid"},
	} {
		in := harness.Input(c.Thread, harness.ID(t, "run"))
		in["resume"] = bad.resume
		if r := x.Do("POST", "/agui/scripted", in); r.Status != bad.status || r.Code != bad.code {
			t.Errorf("%s: %d %s, want %d %s", bad.name, r.Status, r.Code, bad.status, bad.code)
		}
	}
	if r := x.Do("POST", "/v1/requests/q0/resolve", map[string]any{"approved": true}); r.Code != "request_unknown" {
		t.Errorf("unknown by REST: %d %s", r.Status, r.Code)
	}
	if r := x.Do("POST", "/v1/requests/"+id+"/resolve", map[string]any{"optionId": "nothing"}); r.Status != 400 {
		t.Errorf("an option that there is none of: %d %s", r.Status, r.Code)
	}
	if q := x.request(id); q.State != "pending" || len(x.Runs(c.Thread)) != 1 {
		t.Errorf("a refused answer changed something: %+v", q)
	}
	x.done(c, c.Run(resume(yes, asks...)))
	x.done(other, other.Run(resume(no, theirs...)))
}
