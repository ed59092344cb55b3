package approvals

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/engine"
)

// Policies answer at once, on the record.
func TestPolicies(t *testing.T) {
	for _, policy := range []struct {
		name    string
		results []string
		refused int
	}{
		{"all", []string{"allow-1", "allow-1", "allow-1"}, 0},
		{"reads", []string{"allow-1", "reject-1", "reject-1"}, 2},
		{"none", []string{"reject-1", "reject-1", "reject-1"}, 3},
	} {
		t.Run(policy.name, func(t *testing.T) {
			x := start(t, "permissions: { default: "+policy.name+" }", harness.Flags("--verify"))
			x.both(t, policy.name, func(t *testing.T, x *stage) {
				c := x.client()
				inside := "read:" + x.Cwd + "/a.txt"
				x.done(c, c.Say(lines(
					"call a "+inside+" Inside", "ask a "+inside+" Inside", "answer a",
					"call b read:/etc/hosts Outside", "ask b read:/etc/hosts Outside", "answer b",
					"call c edit C", "ask c", "answer c", "say done")))
				x.wantResults(c, policy.results...)
				runs := x.Runs(c.Thread)
				if len(runs) != 1 || runs[0].Refused != policy.refused {
					t.Errorf("runs: %+v", runs)
				}
				var all struct{ Requests []engine.Request }
				x.Get("/v1/requests?threadId="+c.Thread, &all)
				var answers []string
				for _, q := range all.Requests {
					if r := q.Resolution; q.State != "resolved" || r == nil || r.By != "policy" || string(r.Policy) != policy.name || r.At.IsZero() {
						t.Errorf("the record: %+v", q)
					} else {
						answers = append(answers, r.OptionID)
					}
				}
				if d := cmp.Diff(policy.results, answers); d != "" {
					t.Errorf("the record (-want +got):\n%s", d)
				}
			})
		})
	}
}

func TestRemembered(t *testing.T) {
	x := start(t, "", harness.Flags("--verify"))
	x.both(t, "always", func(t *testing.T, x *stage) {
		c := x.client()
		first := x.asked(c, c.Say(one), 1)
		x.done(c, c.Run(resume(`{"approved":true,"optionId":"allow-2"}`, first...)))
		var list struct{ Grants []engine.Grant }
		x.Get(harness.ThreadPath(c.Thread, "/grants"), &list)
		if len(list.Grants) != 1 || !list.Grants[0].Allow || list.Grants[0].Request != first[0].ID {
			t.Fatalf("grants: %+v", list.Grants)
		}
		// What is like it is not asked any more; something else is.
		x.done(c, c.Say(one))
		x.wantResults(c, "allow-2", "allow-1")
		var all struct{ Requests []engine.Request }
		x.Get("/v1/requests?threadId="+c.Thread, &all)
		if last := all.Requests[len(all.Requests)-1]; last.Resolution == nil || last.Resolution.By != "grant" || last.Resolution.Grant != list.Grants[0].ID {
			t.Errorf("the record: %+v", last)
		}
		other := x.asked(c, c.Say(strings.ReplaceAll(one, "edit Change", "delete Remove")), 1)
		x.done(c, c.Run(resume(no, other...)))

		// Another thread knows nothing of it, and it can be taken back.
		d := x.client()
		x.done(d, d.Run(resume(no, x.asked(d, d.Say(one), 1)...)))
		if r := x.Do("DELETE", "/v1/grants/"+list.Grants[0].ID, nil); r.Status != 204 {
			t.Errorf("revoke: %d %s", r.Status, r.Body)
		}
		x.done(c, c.Run(resume(no, x.asked(c, c.Say(one), 1)...)))
		if r := x.Do("DELETE", "/v1/grants/"+list.Grants[0].ID, nil); r.Code != "grant_unknown" {
			t.Errorf("revoked twice: %d %s", r.Status, r.Code)
		}
	})
}

// Clients older than the interrupt outcome are told by an event too.
func TestOnInterrupt(t *testing.T) {
	x := start(t, "on_interrupt: true", harness.Flags("--verify"))
	x.both(t, "told", func(t *testing.T, x *stage) {
		c := x.client()
		r := c.Say(one)
		asks := x.asked(c, r, 1)
		var told *agui.Custom
		for _, e := range x.Log(c.Thread) {
			if e, ok := e.Event.(*agui.Custom); ok && e.Name == "on_interrupt" {
				told = e
			}
		}
		if told == nil || !strings.Contains(string(told.Value), asks[0].ID) || r.Events[len(r.Events)-2] != agui.TypeCustom {
			t.Errorf("events %v, told %+v", r.Events, told)
		}
		// Who comes later is told too.
		fresh := x.reloaded(c)
		if late := fresh.Attach("", ""); !slices.Contains(late.Events, agui.TypeCustom) {
			t.Errorf("attached: %v", late.Events)
		}
		x.done(c, c.Run(resume(yes, asks...)))
	})
}

// A question for data, with the demo agent.
func TestForms(t *testing.T) {
	x := start(t, "", harness.Flags("--verify"))
	x.both(t, "filled in", func(t *testing.T, x *stage) {
		c := x.of("demo")
		asks := x.asked(c, c.Say("ask me"), 1)
		var schema struct {
			Properties map[string]json.RawMessage
			Required   []string
		}
		if err := json.Unmarshal(asks[0].ResponseSchema, &schema); err != nil || asks[0].Reason != "input_required" || len(schema.Properties) == 0 {
			t.Fatalf("%+v", asks[0])
		}
		content := map[string]any{}
		for _, name := range schema.Required {
			content[name] = "Ada"
		}
		payload, _ := json.Marshal(content)
		r := c.Run(resume(string(payload), asks...))
		x.done(c, r)
		q := x.request(asks[0].ID)
		if q.State != "resolved" || q.Resolution == nil || string(q.Resolution.Content) != string(payload) {
			t.Errorf("%+v", q)
		}
		if !strings.Contains(string(r.Messages), "Ada") {
			t.Errorf("the agent does not know it: %s", r.Messages)
		}
	})
	x.both(t, "declined", func(t *testing.T, x *stage) {
		for _, payload := range []string{"", no, `"text"`, `null`} {
			c := x.of("demo")
			asks := x.asked(c, c.Say("ask me"), 1)
			x.done(c, c.Run(resume(payload, asks...)))
			if q := x.request(asks[0].ID); q.State == "pending" || q.Resolution == nil || len(q.Resolution.Content) > 0 {
				t.Errorf("%s: %+v", payload, q)
			}
		}
	})
	x.both(t, "by REST", func(t *testing.T, x *stage) {
		c := x.of("demo")
		asks := x.asked(c, c.Say("ask me"), 1)
		x.Post("/v1/requests/"+asks[0].ID+"/resolve", map[string]any{"content": map[string]any{"name": "Grace"}}, nil)
		x.idle(c.Thread)
		x.done(c, c.Run(resume(`{"name":"Grace"}`, asks...)))
		x.goesOn(c)
	})
}

// One feed tells of the questions of all threads, and goes on from a cursor.
func TestFeed(t *testing.T) {
	x := start(t, "")
	var pending []string
	threads := map[string]string{}
	for i := range 3 {
		thread := fmt.Sprintf("feed-%d", i)
		x.Run(thread, "scripted", one)
		x.WaitFor("the question", func() bool {
			p := x.Messages(thread).Pending
			if len(p) == 1 {
				pending = append(pending, p[0].ID)
				threads[p[0].ID] = thread
			}
			return len(p) == 1
		})
	}
	var list struct{ Requests []engine.Request }
	x.Get("/v1/requests?state=pending", &list)
	var listed []string
	for _, q := range list.Requests {
		listed = append(listed, q.ID)
	}
	if d := cmp.Diff(pending, listed); d != "" {
		t.Errorf("the list (-want +got):\n%s", d)
	}
	for i, id := range pending {
		x.Post("/v1/requests/"+id+"/resolve", map[string]any{"approved": i%2 == 0}, nil)
	}
	states := map[string][]string{}
	middle := ""
	feed := x.Stream("GET", "/v1/requests/events?after=0", nil)
	for n := range 6 {
		id, q := nextRequest(t, feed)
		if q.Thread != threads[q.ID] || id == "" {
			t.Errorf("%s: %+v", id, q)
		}
		if states[q.ID] = append(states[q.ID], q.State); n == 2 {
			middle = id
		}
	}
	for _, id := range pending {
		if d := cmp.Diff([]string{"pending", "resolved"}, states[id]); d != "" {
			t.Errorf("%s (-want +got):\n%s", id, d)
		}
	}
	rest := x.Stream("GET", "/v1/requests/events", nil, "Last-Event-ID", middle)
	for range 3 {
		if _, q := nextRequest(t, rest); q.State != "resolved" {
			t.Errorf("after the cursor: %+v", q)
		}
	}
}

func nextRequest(t *testing.T, feed *harness.Stream) (id string, q engine.Request) {
	t.Helper()
	f, err := feed.Frame()
	if err == nil {
		err = json.Unmarshal(f.Data, &q)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f.ID, q
}
