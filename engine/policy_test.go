package engine

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/source"
)

func TestPolicies(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	at := func(paths ...string) (out []agentstream.Location) {
		for _, p := range paths {
			out = append(out, agentstream.Location{Path: p})
		}
		return out
	}
	once, always := yesNo, []source.Option{{ID: "always", Kind: "allow_always"}, {ID: "never", Kind: "reject_always"}}
	odd := []source.Option{{ID: "odd", Kind: "allow_perhaps"}}
	for _, x := range []struct {
		policy  Policy
		kind    string
		at      []agentstream.Location
		options []source.Option
		want    string
	}{
		{PolicyAll, "execute", nil, once, "yes"},
		{PolicyAll, "execute", nil, always, "always"},
		{PolicyAll, "execute", nil, odd, ""},
		{PolicyNone, "read", at(file), once, "no"},
		{PolicyNone, "read", at(file), always, "never"},
		{PolicyNone, "read", at(file), odd, ""},
		{PolicyReads, "read", at(file), once, "yes"},
		{PolicyReads, "search", at(root), once, "yes"},
		{PolicyReads, "read", at(filepath.Join(root, "not there yet")), once, "yes"},
		{PolicyReads, "read", at(file), always, "never"},
		{PolicyReads, "read", nil, once, "no"},
		{PolicyReads, "read", at(file, outside), once, "no"},
		{PolicyReads, "read", at(filepath.Join(root, "link", "x")), once, "no"},
		{PolicyReads, "read", at(filepath.Join(root, "..", "x")), once, "no"},
		{PolicyReads, "edit", at(file), once, "no"},
		{PolicyReads, "", at(file), once, "no"},
	} {
		a, allowed := x.policy.decide(source.Request{Kind: x.kind, Locations: x.at, Options: x.options}, root)
		if a.OptionID != x.want || allowed != (x.want == "yes" || x.want == "always") {
			t.Errorf("%+v: %+v %v", x, a, allowed)
		}
	}
	form := source.Request{Elicitation: &source.Elicitation{}, Options: yesNo}
	if a, allowed := PolicyAll.decide(form, root); !a.Declined || allowed {
		t.Errorf("a form is filled in by nobody: %+v", a)
	}
}

func TestPolicyRefusesAndSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"go": asks("c1")}, func(o *Options) { o.Policy = PolicyNone })
		defer w.close()
		w.stream(w.start("t", "r1", "go"))
		if run := w.settled("t", "r1"); run.State != RunFinished || run.Refused != 1 {
			t.Errorf("%+v", run)
		}
		all, err := w.Requests(bg, "t", "")
		if err != nil || len(all) != 1 || all[0].State != "resolved" || all[0].Resolution.By != "policy" || all[0].Resolution.Policy != PolicyNone || all[0].Resolution.OptionID != "no" {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

func TestSomeoneAtATerminal(t *testing.T) {
	for _, x := range []struct {
		name    string
		ask     func(ctx context.Context, r Request) (Answer, bool)
		option  string
		refused int
	}{
		{"says yes", func(context.Context, Request) (Answer, bool) { return Answer{Approved: yes()}, true }, "yes", 0},
		{"says no", func(context.Context, Request) (Answer, bool) { return Answer{Approved: no()}, true }, "no", 0},
		{"is not there", func(context.Context, Request) (Answer, bool) { return Answer{Approved: yes()}, false }, "no", 1},
		{"takes a minute", func(context.Context, Request) (Answer, bool) {
			<-time.After(time.Minute)
			return Answer{OptionID: "always"}, true
		}, "always", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, newMemlog(), map[string]script{"go": asks("c1")}, func(o *Options) { o.Ask = x.ask })
			defer w.close()
			got := w.stream(w.start("t", "r1", "go"))
			run := w.settled("t", "r1")
			all, _ := w.Requests(bg, "", "")
			if run.State != RunFinished || run.Refused != x.refused || all[0].Resolution.OptionID != x.option {
				t.Errorf("%s: %+v, %+v, %q", x.name, run, all[0].Resolution, got)
			}
		})
	}
}

func TestGrants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"go": asks("c1"), "again": asks("c2")})
		defer w.close()
		w.stream(w.start("t", "r1", "go"))
		if _, err := w.Resolve(bg, w.pending()[0].ID, Answer{OptionID: "always", By: "ann"}); err != nil {
			t.Fatal(err)
		}
		w.free("t")
		grants, err := w.Grants(bg, "t")
		if err != nil || len(grants) != 1 || !grants[0].Allow || grants[0].Tool != "write" || grants[0].By != "ann" {
			t.Fatalf("%+v, %v", grants, err)
		}
		got := w.stream(w.start("t", "r2", "again"))
		if got[len(got)-1] != `finished {"stopReason":"end_turn"}` {
			t.Errorf("a remembered answer is asked for: %q", got)
		}
		all, _ := w.Requests(bg, "t", "resolved")
		if last := all[len(all)-1]; last.Resolution.Grant != grants[0].ID || last.Resolution.OptionID != "yes" {
			t.Errorf("%+v", last.Resolution)
		}
		w.free("t")
		if err := w.Revoke(bg, grants[0].ID); err != nil {
			t.Fatal(err)
		}
		if err := w.Revoke(bg, grants[0].ID); code(err) != "grant_unknown" {
			t.Errorf("%v", err)
		}
		got = w.stream(w.start("t", "r3", "again"))
		if got[len(got)-1] != "finished interrupt" {
			t.Errorf("a revoked answer counts: %q", got)
		}
	})
}

func TestWhatIsRemembered(t *testing.T) {
	run := source.Request{Kind: "execute", Title: "git status", Options: yesNo}
	g, ok := grantFor("fake", "bash", run, "allow_always")
	if !ok || !g.covers("fake", "bash", run) {
		t.Fatalf("%+v %v", g, ok)
	}
	for name, covered := range map[string]bool{
		"another command": g.covers("fake", "bash", source.Request{Kind: "execute", Title: "rm -rf /"}),
		"another tool":    g.covers("fake", "sh", run),
		"another agent":   g.covers("other", "bash", run),
		"a form":          g.covers("fake", "bash", source.Request{Kind: "execute", Title: "git status", Elicitation: &source.Elicitation{}}),
	} {
		if covered {
			t.Errorf("%s is covered", name)
		}
	}
	for name, x := range map[string]struct {
		tool, kind string
		q          source.Request
	}{
		"once":           {"bash", "allow_once", run},
		"nothing to say": {"", "allow_always", source.Request{}},
		"untitled":       {"bash", "allow_always", source.Request{Kind: "execute"}},
	} {
		if _, ok := grantFor("fake", x.tool, x.q, x.kind); ok {
			t.Errorf("%s is remembered", name)
		}
	}
	never, _ := grantFor("fake", "bash", run, "reject_always")
	if a, ok := never.answer(run); !ok || a.OptionID != "no" {
		t.Errorf("%+v %v", a, ok)
	}
}

func TestElicitation(t *testing.T) {
	form := func(ctx context.Context, _ *fakeSession, tn source.Turn) (source.StopReason, error) {
		a, err := await(ctx, put(ctx, tn, source.Request{Title: "your name", Elicitation: &source.Elicitation{
			Message: "Who are you?", Mode: "form", Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`),
		}}))
		if err != nil {
			return "", err
		}
		tn.Handler.OnMessageChunk("got " + string(a.Content))
		if a.Declined {
			tn.Handler.OnMessageChunk("declined")
		}
		return source.EndTurn, nil
	}
	for payload, want := range map[string]string{
		`{"name":"Ann"}`:     `text got {"name":"Ann"}`,
		`{"approved":false}`: "declined",
		`"Ann"`:              "declined",
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, newMemlog(), map[string]script{"go": form})
			defer w.close()
			s := w.start("t", "r1", "go")
			var last agui.Event
			for f := range w.Join(bg, JoinRequest{Thread: "t", Started: &s}) {
				last, _ = agui.Decode(f.Data)
			}
			i := last.(*agui.RunFinished).Outcome.Interrupts[0]
			if i.Reason != "input_required" || i.Message != "Who are you?" || len(i.ResponseSchema) == 0 {
				t.Errorf("%+v", i)
			}
			s, err := w.Start(bg, w.answer("t", "r2", approve(i.ID, payload)))
			if err != nil {
				t.Fatal(err)
			}
			got := w.stream(s)
			found := false
			for _, l := range got {
				found = found || strings.HasSuffix(l, want)
			}
			if !found {
				t.Errorf("%s: %q", payload, got)
			}
		})
	}
}

func TestOneReasonAndOneInterruptACall(t *testing.T) {
	form := &Elicitation{Message: "?"}
	got := interruptsOf([]Request{{ID: "1", ToolCallID: "a"}, {ID: "2", Elicitation: form}, {ID: "3", ToolCallID: "a"}, {ID: "4", ToolCallID: "b"}})
	var ids []string
	for _, i := range got {
		ids = append(ids, i.ID)
	}
	if diff := cmp.Diff([]string{"1", "4"}, ids); diff != "" {
		t.Error(diff)
	}
}

func TestRequestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"go": asks("c1")})
		defer w.close()
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		got := make(chan string, 10)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for f, err := range w.RequestEvents(ctx, eventlog.Cursor{}) {
				if err != nil {
					t.Error(err)
				}
				var r Request
				if err := json.Unmarshal(f.Data, &r); err != nil || f.ID == "" {
					t.Error(err)
				}
				got <- r.Thread + " " + r.State
			}
		}()
		w.stream(w.start("t", "r1", "go"))
		if s := <-got; s != "t pending" {
			t.Error(s)
		}
		if _, err := w.Resolve(bg, w.pending()[0].ID, Answer{}); err != nil {
			t.Fatal(err)
		}
		if s := <-got; s != "t resolved" {
			t.Error(s)
		}
		cancel()
		<-ended
	})
}
