package server_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream/server"
)

// A client that posts its run again after a cut, and says where it was, gets what
// came after that; one whose cursor is none of the run's gets all anew.
func TestPostedAgain(t *testing.T) {
	ts := world(t, server.Options{})
	post := func(at string) (ids []string, text string) {
		t.Helper()
		req, err := http.NewRequest("POST", ts.URL+"/agui/greeter", strings.NewReader(
			`{"threadId":"t","runId":"r","state":{},"tools":[],"context":[],"forwardedProps":{},"messages":[{"id":"u","role":"user","content":"Ada"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Last-Event-ID", at)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK || resp.Header.Get("X-Run-Id") != "r" {
			t.Fatalf("%s %v %s", resp.Status, err, data)
		}
		for _, m := range regexp.MustCompile(`(?m)^id: ?(.+)$`).FindAllStringSubmatch(string(data), -1) {
			ids = append(ids, m[1])
		}
		return ids, string(data)
	}
	ids, _ := post("")
	if len(ids) < 4 {
		t.Fatalf("%d events", len(ids))
	}
	again, text := post(ids[0])
	if again[len(again)-1] != ids[len(ids)-1] || strings.Contains(text, "RUN_STARTED") || strings.Contains(text, "SNAPSHOT") || !strings.Contains(text, "Ada") {
		t.Errorf("after the first event came %v:\n%s", again, text)
	}
	if again, text = post(ids[len(ids)-1]); len(again) != 0 {
		t.Errorf("after the last event came:\n%s", text)
	}
	for _, other := range []string{"nonsense", "00000000" + ids[1][8:], ids[0][:9] + strings.Repeat("0", 20)} {
		if _, text = post(other); !strings.Contains(text, "RUN_STARTED") || !strings.Contains(text, "RUN_FINISHED") {
			t.Errorf("after %s came:\n%s", other, text)
		}
	}
}
