package engine

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/schema"
	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/internal/blob"
	"github.com/agentstream-go/agentstream/round"
	"github.com/agentstream-go/agentstream/source"
)

// payloads that are large, each with another mark.
var (
	largeResult  = strings.Repeat("result é\n", 20<<10)
	largeOld     = strings.Repeat("old <text>\n", 20<<10)
	largeNew     = strings.Repeat("new \"text\"\n", 20<<10)
	largeNotice  = strings.Repeat("notice\u2028 ", 20<<10)
	largePicture = bytes.Repeat([]byte("picture\x00\xff"), 20<<10)
	largeOutput  = strings.Repeat("output\x1b[0m\n", 20<<10)
	largeRaw     = `{"many":[` + strings.Repeat(`"raw",`, 20<<10) + `1]}`
	largeTitle   = strings.Repeat("title ", 20<<10)
)

// hoards says everything that is large.
func hoards(h agentstream.StreamHandler) {
	old := largeOld
	h.OnMessageChunk("I look. ")
	h.OnToolCall("a", "look")
	for _, e := range []agentstream.Event{
		agentstream.Output{ID: "a", Data: largeOutput},
		agentstream.Diff{ID: "a", Path: "x", Old: &old, New: largeNew},
		agentstream.Media{ID: "a", MIMEType: "image/png", Data: base64.StdEncoding.EncodeToString(largePicture)},
		agentstream.Raw{Source: "acp", Data: []byte(largeRaw)},
		agentstream.Notice{Text: largeNotice},
		agentstream.ToolCallInfo{ID: "a", Title: largeTitle},
	} {
		agentstream.Send(h, e)
	}
	h.OnToolCallArgsSnapshot("a", `{"text":"`+strings.Repeat("argument ", 20<<10)+`"}`)
	h.OnToolCallUpdate("a", largeResult, agentstream.ToolCallStatusCompleted)
	h.OnToolCall("b", "again")
	h.OnToolCallUpdate("b", largeResult, agentstream.ToolCallStatusFailed)
	h.OnMessageChunk("Done.")
}

// ofBuilder are the rounds as a Builder hands them out, with nothing taken out.
func ofBuilder(drive func(h agentstream.StreamHandler)) (out []*schema.Message) {
	rounds := map[int][]*schema.Message{}
	b := round.NewBuilder(round.Config{FirstRound: 1, Prefix: "p", OnRound: func(r round.Round) { rounds[r.Number] = r.Messages }})
	drive(b)
	b.Close("")
	for n := 1; n <= len(rounds); n++ {
		out = append(out, rounds[n]...)
	}
	return out
}

// results are the contents of rounds that do not depend on ids and times.
func results(t *testing.T, messages []*schema.Message) (out []any) {
	t.Helper()
	for _, m := range messages {
		info, ok := round.InfoOf(m)
		if !ok {
			t.Fatalf("a message without Info: %.300v", m)
		}
		if text, _ := m.Extra[round.ExtraKey].(string); strings.Contains(text, "sha256") {
			t.Errorf("something is still away: %.300s", text)
		}
		out = append(out, m.Content, m.UserInputMultiContent, info.Output, string(info.Diffs), info.Status)
		for _, c := range m.ToolCalls {
			out = append(out, c.Function)
		}
	}
	return out
}

func (w *world) stored(thread string) []Round {
	w.tb.Helper()
	rounds, _, err := w.Rounds(bg, thread)
	if err != nil {
		w.tb.Fatal(err)
	}
	return rounds
}

func (w *world) checkRounds(thread string, want []*schema.Message) {
	w.tb.Helper()
	var got []*schema.Message
	for _, r := range w.stored(thread) {
		got = append(got, r.Messages...)
	}
	if diff := cmp.Diff(results(w.tb, want), results(w.tb, got)); diff != "" {
		w.tb.Errorf("the rounds are not whole (-want +got)\n%.3000s", diff)
	}
}

func TestLargePayloadsStandOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemlog()
		w := newWorld(t, log, map[string]script{"go": func(_ context.Context, _ *fakeSession, t source.Turn) (source.StopReason, error) {
			hoards(t.Handler)
			return source.EndTurn, nil
		}})
		defer w.close() // verifies that the list is what clients make of the log
		for _, thread := range []string{"t", "other/thread"} {
			w.stream(w.start(thread, "r1", "go"))
			w.free(thread)
			w.checkRounds(thread, ofBuilder(hoards))
		}
		var refs []blob.Ref
		for f, err := range w.Events(bg, "t", eventlog.Cursor{}, EventOptions{NoWait: true}) {
			if err != nil {
				t.Fatal(err)
			}
			if len(f.Data) > blob.Large/2 && !bytes.Contains(f.Data, []byte("argument argument")) {
				t.Errorf("an event of %d bytes: %.200s", len(f.Data), f.Data)
			}
			refs = append(refs, refsOf(t, f.Data)...)
		}
		payloads := map[string]string{
			largeResult: "text/plain", largeOld: "text/plain", largeNew: "text/plain", largeNotice: "text/plain",
			largeOutput: "text/plain", largeOutput[len(largeOutput)-64<<10:]: "text/plain", largeRaw: "application/json", largeTitle: "text/plain", string(largePicture): "image/png",
		}
		found := map[string]bool{}
		for _, r := range refs {
			data, mime, err := w.Blob(bg, r.SHA256)
			if err != nil || len(data) != r.Bytes || mime != r.MIMEType || payloads[string(data)] != mime {
				t.Errorf("%+v: %d bytes of %q, %v", r, len(data), mime, err)
			}
			found[string(data)] = true
		}
		if len(found) != len(payloads) {
			t.Errorf("%d payloads were named, want %d", len(found), len(payloads))
		}
		log.mu.Lock()
		for text := range payloads {
			n := 0
			for _, value := range log.threads["t"].keys {
				n += bytes.Count(value, []byte(text))
			}
			if n != 1 && text != largeOutput[len(largeOutput)-64<<10:] {
				t.Errorf("%.10q stands %d times", text, n)
			}
		}
		log.mu.Unlock()
		w.deleteBoth(refs[0].SHA256)
	})
}

// deleteBoth checks that a blob goes with the last thread that has it.
func (w *world) deleteBoth(hash string) {
	for i, thread := range []string{"t", "other/thread"} {
		if _, _, err := w.Blob(bg, hash); err != nil {
			w.tb.Errorf("before %s is deleted: %v", thread, err)
		}
		if err := w.Delete(bg, thread, false); err != nil {
			w.tb.Error(err)
		}
		if _, _, err := w.Blob(bg, hash); i == 1 && code(err) != "blob_unknown" {
			w.tb.Errorf("after all are deleted: %v", err)
		}
	}
	_ = w.log.View(bg, "", func(v eventlog.View) error {
		for entry := range v.GlobalKeys(keyHolders, "", 0) {
			w.tb.Errorf("the key %q is left", entry.Key)
		}
		return nil
	})
}

func refsOf(t *testing.T, event []byte) []blob.Ref {
	t.Helper()
	var e struct{ Metadata, Value, Content json.RawMessage }
	if err := json.Unmarshal(event, &e); err != nil {
		t.Fatal(err)
	}
	refs := append(blob.Refs(e.Metadata), blob.Refs(e.Value)...)
	if len(e.Content) > 0 && e.Content[0] == '{' {
		refs = append(refs, blob.Refs(e.Content)...)
	}
	return refs
}

// A turn that is restored after a crash has its rounds whole: those that were
// stored and the one that was open.
func TestLargePayloadsSurviveACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unfinished := func(h agentstream.StreamHandler) {
			hoards(h)
			h.OnToolCall("c", "more")
			h.OnToolCall("d", "and more")
			agentstream.Send(h, agentstream.Output{ID: "d", Data: largeOutput})
			h.OnToolCallUpdate("c", largeNew, agentstream.ToolCallStatusCompleted)
		}
		log := newMemlog()
		a := newWorld(t, log, map[string]script{"go": func(ctx context.Context, _ *fakeSession, t source.Turn) (source.StopReason, error) {
			unfinished(t.Handler)
			<-ctx.Done()
			return "", context.Cause(ctx)
		}})
		s := a.start("t", "r1", "go")
		synctest.Wait()
		b := newWorld(t, log, nil) // a is not closed: it died
		b.stream(s)
		if run := b.settled("t", "r1"); run.State != RunLost {
			t.Errorf("%+v", run)
		}
		b.checkRounds("t", ofBuilder(unfinished))
		a.close()
		b.close()
	})
}

// What is small passes as it is, at no cost.
func TestSmallPayloadsCostNothing(t *testing.T) {
	o := offload{&turn{}, agui.Handlers()}
	result := agui.Result{CallID: "c", Content: strings.Repeat("x", 60<<10), Metadata: []byte(`{"agentstream":{}}`)}
	var custom agui.Event = &agui.Custom{Name: "agentstream.output", Value: []byte(`{"data":"x"}`)}
	if n := testing.AllocsPerRun(100, func() {
		o.Start(agui.Item{})
		o.Delta(agui.KindText, "m", "x")
		o.End(agui.KindToolCall, "c", result.Metadata)
		o.Result(result)
		o.Emit(custom)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A blob that is gone from a damaged store fails the rounds, and does not keep a
// turn from being ended.
func TestBlobsAreMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemlog()
		a := newWorld(t, log, map[string]script{"go": func(ctx context.Context, _ *fakeSession, t source.Turn) (source.StopReason, error) {
			hoards(t.Handler)
			<-ctx.Done()
			return "", context.Cause(ctx)
		}})
		a.start("t", "r1", "go")
		synctest.Wait()
		log.mu.Lock()
		for key := range log.threads["t"].keys {
			if strings.HasPrefix(key, keyBlob) {
				delete(log.threads["t"].keys, key)
			}
		}
		log.mu.Unlock()
		if _, _, err := a.Rounds(bg, "t"); code(err) != "storage" {
			t.Errorf("rounds without what they name: %v", err)
		}
		b := newWorld(t, log, nil)
		if run := b.settled("t", "r1"); run.State != RunLost {
			t.Errorf("%+v", run)
		}
		if rounds := b.stored("t"); len(rounds) == 0 {
			t.Error("no rounds")
		}
		a.close()
		b.close()
	})
}

// Every place of a result that can be large is found again.
func TestPacked(t *testing.T) {
	long := strings.Repeat("x", blob.Large+1)
	url := "https://example.org/" + long
	encoded := base64.StdEncoding.EncodeToString(largePicture)
	common := schema.MessagePartCommon{MIMEType: "a/b", Base64Data: &encoded, URL: &url}
	in := Round{Run: "r", Round: 1, Input: []agui.Message{user("u", long)}, Messages: []*schema.Message{
		{Role: schema.Assistant, Content: long, Extra: map[string]any{round.ExtraKey: `{"id":"` + long + `"}`}},
		{Role: schema.Tool, Content: long, Extra: map[string]any{round.ExtraKey: `["` + long + `"]`}, UserInputMultiContent: []schema.MessageInputPart{
			{Text: long},
			{Image: &schema.MessageInputImage{MessagePartCommon: common}},
			{Audio: &schema.MessageInputAudio{MessagePartCommon: common}},
			{Video: &schema.MessageInputVideo{MessagePartCommon: common}},
			{File: &schema.MessageInputFile{MessagePartCommon: common}},
		}},
	}}
	log := newMemlog()
	turn := &turn{c: &conversation{id: "t"}, j: newJournal(log, "t", 0, eventlog.Cursor{}, 1<<20, nil)}
	data := turn.pack(in)
	if n := bytes.Count(data, []byte(long)); n != 2 { // the input and the answer
		t.Errorf("%d are left of what is large", n)
	}
	if err := turn.j.appendNow(bg); err != nil {
		t.Fatal(err)
	}
	_ = log.View(bg, "t", func(v eventlog.View) error {
		out, err := unpack(v, data, nil)
		if diff := cmp.Diff(in, out); err != nil || diff != "" {
			t.Errorf("%v (-want +got)\n%.2000s", err, diff)
		}
		for _, path := range []string{
			"/content", "/messages/9/content", "/messages/-1/content", "/messages/x/content", "/messages/1/name",
			"/messages/1/user_input_multi_content/0/image/url", "/messages/1/user_input_multi_content/9/text",
			"/messages/1/user_input_multi_content/1/image", "/messages/1/user_input_multi_content/1/image/mime_type",
		} {
			wrong := bytes.Replace(data, []byte(`"/messages/1/content"`), []byte(`"`+path+`"`), 1)
			if _, err := unpack(v, wrong, nil); err == nil {
				t.Errorf("%s was found in a round", path)
			}
		}
		return nil
	})
}
