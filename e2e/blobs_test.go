package e2e_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/internal/aguitest"
	"github.com/agentstream-go/agentstream/internal/blob"
)

// A result of 5 MB reaches both clients as a preview, is the same after a
// refresh, whole in the rounds and under its hash, and survives a kill.
func TestLargeResult(t *testing.T) {
	for _, v := range aguitest.Versions {
		t.Run(string(v), func(t *testing.T) {
			s := harness.Start(t, harness.Flags("--verify"))
			first := s.Client(v, "demo", harness.ID(t, "thread"))
			checkClient(t, s, first, first.Say("big 5"))
			refs := checkLarge(t, s, first.Thread, 1)
			refreshed := s.Client(v, "demo", first.Thread)
			checkClient(t, s, refreshed, refreshed.Attach("", ""))

			run := s.Run(first.Thread, "demo", "big 5, wait 600") // the same again, in a turn that is restored
			s.Events(first.Thread, "").Until(waiting)
			s.Kill()
			s.Restart(harness.Flags("--verify"))
			if got := s.WaitRun(first.Thread, run.ID); got.State != engine.RunLost {
				t.Errorf("%+v", got)
			}
			again := checkLarge(t, s, first.Thread, 2)
			if len(refs) != 1 || len(again) != 2 || again[0] != refs[0] || again[1] != refs[0] {
				t.Errorf("named were %+v, now %+v", refs, again)
			}
			checkThread(t, s, first.Thread)
			late := s.Client(v, "demo", first.Thread)
			checkClient(t, s, late, late.Attach("", ""))

			if r := s.Do("DELETE", harness.ThreadPath(first.Thread, ""), nil); r.Status != 204 {
				t.Errorf("%d %s", r.Status, r.Body)
			}
			if r := s.Do("GET", "/v1/blobs/"+refs[0].SHA256, nil); r.Status != 404 || r.Code != "blob_unknown" {
				t.Errorf("after the thread is deleted: %d %s", r.Status, r.Code)
			}
		})
	}
}

// checkLarge looks at the n large results of a thread and gives their names.
func checkLarge(t *testing.T, s *harness.Server, thread string, n int) (refs []blob.Ref) {
	t.Helper()
	for _, e := range s.Log(thread) {
		if len(e.Data) > blob.Large {
			t.Errorf("an event of %d bytes: %.200s", len(e.Data), e.Data)
		}
	}
	var whole []byte
	for _, m := range s.Messages(thread).Messages {
		here := blob.Refs(m.Metadata)
		if m.Role != agui.RoleTool || len(here) == 0 {
			continue
		}
		refs = append(refs, here...)
		preview := m.Text()
		if !strings.Contains(preview, here[0].SHA256) || !strings.HasPrefix(preview, "0123456789abcdef") {
			t.Errorf("the preview is %.200q", preview)
		}
		r := s.Do("GET", "/v1/blobs/"+here[0].SHA256, nil)
		sum := sha256.Sum256(r.Body)
		if r.Status != 200 || hex.EncodeToString(sum[:]) != here[0].SHA256 || len(r.Body) != here[0].Bytes || len(r.Body) < 5<<20-100 {
			t.Errorf("%+v: %d, %d bytes", here[0], r.Status, len(r.Body))
		}
		whole = r.Body
	}
	if len(refs) != n {
		t.Errorf("%d large results in the list, want %d: %s", len(refs), n, fmt.Sprint(refs))
	}
	found := 0
	for _, round := range s.Rounds(thread) {
		for _, m := range round.Messages {
			if m.Role == schema.Tool && m.Content == string(whole) {
				found++
			}
		}
	}
	if found != n {
		t.Errorf("%d rounds have the result whole, want %d", found, n)
	}
	for _, format := range []string{"openai", "anthropic"} {
		r := s.Do("GET", harness.ThreadPath(thread, "/rounds?format="+format), nil)
		if got := bytes.Count(r.Body, whole[:60]); got < n*5<<20/64 {
			t.Errorf("%s has %d lines of it", format, got)
		}
	}
	return refs
}
