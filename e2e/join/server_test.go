package join_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/internal/aguitest"
	"github.com/agentstream-go/agentstream/internal/join/jointest"
)

// said are the demo's turns that a thread is made of.
var said = [][]string{
	{"think and plan", "parallel, then late and emoji"},
	{"diff and exec", "error", "subagent and notice"},
	{"two questions", "write out.txt a line", "fail"},
	{"ask me", "maxtokens"},
}

// grown makes a thread by a client that answers yes to everything.
func grown(t *testing.T, s *harness.Server, texts []string) string {
	c := s.Client(agui.V1, "demo", harness.ID(t, "thread"))
	for _, text := range texts {
		r := c.Say(text)
		for len(r.PendingInterrupts) > 0 {
			var answers []agui.Resume
			for _, i := range r.PendingInterrupts {
				answers = append(answers, agui.Resume{InterruptID: i.ID, Status: "resolved", Payload: []byte(`{"approved":true}`)})
			}
			r = c.Run(aguitest.Call{Resume: answers})
		}
	}
	return c.Thread
}

func values(log []harness.Event) (events []agui.Event) {
	for _, e := range log {
		events = append(events, e.Event)
	}
	return events
}

func attach(s *harness.Server, thread, query string) aguitest.Call {
	return aguitest.Call{
		ThreadID: thread, Method: "GET", Connect: true, Headers: map[string]string{"Authorization": "Bearer " + s.Token},
		URL: s.URL + "/agui/demo?threadId=" + url.QueryEscape(thread) + query,
	}
}

// A thread that has come to rest is joined as of every event of its log.
func TestServedLogs(t *testing.T) {
	c := jointest.NewCrowd(t)
	s := harness.Start(t, harness.Flags("--verify"))
	cursors := 0
	for _, texts := range said {
		thread := grown(t, s, texts)
		served := s.Log(thread)
		log := values(served)
		for i := 1; i <= len(log); i++ {
			want := jointest.Fold(log[:jointest.RunEnd(log, i)])
			if f, ok := log[i-1].(*agui.RunFinished); ok && f.Outcome != nil {
				want.Apply(&agui.RunFinished{}) // nothing waits any more
			}
			for _, form := range []string{"replay", "snapshot"} {
				c.Expect(want, attach(s, thread, "&prelude="+form+"&after="+served[i-1].ID), "%q, %s, joined at %d", texts, form, i)
			}
			if i%7 == 0 || i == len(log) {
				resumed(t, s, thread, served, i)
				cursors++
			}
		}
		c.Expect(jointest.Fold(log), attach(s, thread, ""), "%q, at rest", texts)
		ends(t, s, thread, served)
	}
	c.Wait()
	t.Logf("%d cursors", cursors)
}

// resumed goes on from the cursor of the event before i, on both routes.
func resumed(t *testing.T, s *harness.Server, thread string, served []harness.Event, i int) {
	t.Helper()
	var got []harness.Event
	if i < len(served) {
		raw := s.Events(thread, served[i-1].ID)
		defer raw.Close()
		for range len(served) - i {
			e, err := raw.Next()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e)
		}
		if !slices.EqualFunc(got, served[i:], func(a, b harness.Event) bool { return a.ID == b.ID && string(a.Data) == string(b.Data) }) {
			t.Errorf("raw from %d: not what the log holds", i)
		}
	}
	st := s.Stream("GET", "/agui/demo?threadId="+url.QueryEscape(thread), nil, "Last-Event-ID", served[i-1].ID)
	merged := st.All()
	list := jointest.Fold(values(served[:i]))
	last := served[i-1].ID
	for _, e := range merged {
		if e.ID <= last {
			t.Errorf("%s follows %s", e.ID, last)
		}
		last = e.ID
		list.Apply(e.Event)
	}
	if last != served[len(served)-1].ID {
		t.Errorf("merged from %d: ends at %s, the log at %s", i, last, served[len(served)-1].ID)
	}
	if d := gocmp.Diff(jointest.Read(t, jointest.Fold(values(served)).AppendJSON(nil)), jointest.Read(t, list.AppendJSON(nil))); d != "" {
		t.Errorf("merged from %d:\n%s", i, d)
	}
}

// ends looks at cursors that cannot be served, and at a prelude's ids.
func ends(t *testing.T, s *harness.Server, thread string, served []harness.Event) {
	t.Helper()
	end := served[len(served)-1].ID
	gen, seq, _ := strings.Cut(end, "-")
	other := strings.Map(func(c rune) rune {
		if c == 'f' {
			return 'e'
		}
		return 'f'
	}, gen) + "-" + seq
	future := gen + "-" + strings.Repeat("9", len(seq)-1) + "0"
	for _, path := range []string{"/agui/demo?threadId=" + url.QueryEscape(thread), harness.ThreadPath(thread, "/events?")} {
		for _, cursor := range []string{other, gen + "-" + strings.Repeat("0", len(seq)-7) + "9000000", future} {
			r := s.Do("GET", path+"&after="+cursor, nil)
			if r.Status != http.StatusGone && (cursor != future || r.Status != http.StatusBadRequest) {
				t.Errorf("%s after %s: %d %s", path, cursor, r.Status, r.Body)
			}
			if r.Status == http.StatusGone && (r.Code != "cursor_gone" || !strings.Contains(string(r.Body), `"snapshot"`)) {
				t.Errorf("%s after %s: %s", path, cursor, r.Body)
			}
		}
		if r := s.Do("GET", path+"&after=nonsense", nil); r.Status != http.StatusBadRequest {
			t.Errorf("%s after nonsense: %d", path, r.Status)
		}
	}
	prelude := s.Stream("GET", "/agui/demo?threadId="+url.QueryEscape(thread), nil).All()
	for i, e := range prelude {
		if want := map[bool]string{true: end}[i == len(prelude)-1]; e.ID != want {
			t.Errorf("frame %d of a prelude has the id %q, want %q", i, e.ID, want)
		}
	}
	if len(prelude) > 5 {
		t.Errorf("a thread at rest is restated by %d events", len(prelude))
	}
	if all := s.Stream("GET", "/agui/demo?threadId="+url.QueryEscape(thread+"x"), nil).All(); len(all) != 0 {
		t.Errorf("an unknown thread says %d events", len(all))
	}
}

// Clients join a run while it runs, at events that the log has reached: by GET in
// both forms, by the same POST again, and one that follows.
func TestLiveRun(t *testing.T) {
	driver := aguitest.Clients(t)
	s := harness.Start(t, harness.Flags("--verify"), harness.Env("AGENTSTREAM_DEMO_PACE=100"))
	thread := harness.ID(t, "thread")
	first := s.Client(agui.V1, "demo", thread)
	done := make(chan aguitest.Report, 1)
	go func() { done <- first.Say("think, plan, parallel, then late, diff and long 60") }()
	s.WaitFor("the run", func() bool { return s.Do("GET", harness.ThreadPath(thread, ""), nil).Status == http.StatusOK })
	log := s.Events(thread, "")
	var group sync.WaitGroup
	var mu sync.Mutex
	joined := map[string]aguitest.Report{}
	n := 0
	for {
		e, err := log.Next()
		if err != nil {
			t.Fatal(err)
		}
		if n++; n%25 == 0 {
			for _, v := range aguitest.Versions {
				for _, query := range []string{"", "&prelude=snapshot"} {
					group.Go(func() {
						call := attach(s, thread, query)
						call.Version = v
						r, err := driver.Run(t.Context(), call)
						if err != nil {
							t.Error(err)
						}
						mu.Lock()
						defer mu.Unlock()
						joined[e.ID+string(v)+query] = r
					})
				}
			}
		}
		if harness.Ended(e) {
			break
		}
	}
	log.Close()
	group.Wait()
	r := <-done
	joined["the first"] = r
	want := jointest.Read(t, jointest.Fold(values(s.Log(thread))).AppendJSON(nil))
	for where, r := range joined {
		if d := gocmp.Diff(want, jointest.Read(t, r.Messages)); d != "" || !r.OK() || r.Outcome != "success" {
			t.Errorf("joined at %s: %s %q %s\n%s", where, r.Error, r.Warnings, r.Outcome, d)
		}
	}
	t.Logf("%d joins of a run of %d events", len(joined), n)
}

// While a request waits, whoever comes is told; who comes after the answer is not.
func TestWaitingThread(t *testing.T) {
	s := harness.Start(t, harness.Flags("--verify"))
	for _, v := range aguitest.Versions {
		thread := harness.ID(t, "thread")
		first := s.Client(v, "demo", thread)
		r := first.Say("two questions")
		if len(r.PendingInterrupts) != 2 {
			t.Fatalf("%+v", r)
		}
		for _, query := range []string{"", "&prelude=snapshot"} {
			second := s.Client(v, "demo", thread)
			got := second.Attach("", query)
			if d := gocmp.Diff(jointest.Interrupts(t, r.PendingInterrupts), jointest.Interrupts(t, got.PendingInterrupts)); d != "" || !got.OK() {
				t.Errorf("%s%s: %+v\n%s", v, query, got, d)
			}
			if d := gocmp.Diff(jointest.Read(t, r.Messages), jointest.Read(t, got.Messages)); d != "" {
				t.Errorf("%s%s:\n%s", v, query, d)
			}
		}
		s.Post("/v1/requests/"+r.PendingInterrupts[0].ID+"/resolve", map[string]bool{"approved": true}, nil)
		s.WaitFor("the second question alone", func() bool { return s.Messages(thread).OpenRun == nil && len(s.Messages(thread).Pending) == 1 })
		late := s.Client(v, "demo", thread)
		got := late.Attach("", "")
		if len(got.PendingInterrupts) != 1 || got.PendingInterrupts[0].ID != r.PendingInterrupts[1].ID || !got.OK() {
			t.Errorf("%s, one answered: %+v", v, got)
		}
		// The first tab answers both, one of them for the second time.
		r = first.Run(aguitest.Call{Resume: []agui.Resume{
			{InterruptID: r.PendingInterrupts[0].ID, Status: "resolved", Payload: []byte(`{"approved":true}`)},
			{InterruptID: r.PendingInterrupts[1].ID, Status: "resolved", Payload: []byte(`{"approved":false}`)},
		}})
		want := jointest.Read(t, jointest.Fold(values(s.Log(thread))).AppendJSON(nil))
		if d := gocmp.Diff(want, jointest.Read(t, r.Messages)); d != "" || !r.OK() || len(r.PendingInterrupts) > 0 {
			t.Errorf("%s, answered: %+v\n%s", v, r, d)
		}
		// The second tab answers what has been answered, and otherwise.
		got = late.Run(aguitest.Call{Resume: []agui.Resume{{InterruptID: got.PendingInterrupts[0].ID, Status: "resolved", Payload: []byte(`{"approved":true}`)}}})
		if d := gocmp.Diff(want, jointest.Read(t, got.Messages)); d != "" || !got.OK() || len(got.PendingInterrupts) > 0 || !slices.Contains(got.Events, agui.TypeCustom) {
			t.Errorf("%s, late: %+v\n%s", v, got, d)
		}
		// The same run id again attaches.
		again := s.Client(v, "demo", thread)
		user := s.Messages(thread).Messages[0]
		got = again.Run(aguitest.Call{Add: []agui.Message{user}, RunID: s.Runs(thread)[0].ID})
		if d := gocmp.Diff(want, jointest.Read(t, got.Messages)); d != "" || !got.OK() {
			t.Errorf("%s, again: %+v\n%s", v, got, d)
		}
	}
}
