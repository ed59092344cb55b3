package server_test

import (
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream/server"
)

func TestFiles(t *testing.T) {
	ts := world(t, server.Options{}) // works in the folder of its database
	if status, doc, _ := ask(t, "GET", ts.URL+"/v1/threads/t/files", "", ""); status != 404 || doc["code"] != "thread_unknown" {
		t.Errorf("a thread that is not there: %d %v", status, doc)
	}
	if status, doc, _ := ask(t, "POST", ts.URL+"/v1/threads/t/runs", "application/json", `{"agent":"greeter","input":"x"}`); status != 202 {
		t.Fatalf("%d %v", status, doc)
	}
	for prefix, want := range map[string]int{"LOG.d": 1, "none": 0, "../": 0, "%2e%2e%2f": 0, "/": 0} {
		status, doc, _ := ask(t, "GET", ts.URL+"/v1/threads/t/files?prefix="+prefix, "", "")
		files, ok := doc["files"].([]any)
		if status != 200 || !ok || doc["more"] != false || len(files) < want || want == 0 && len(files) > 0 {
			t.Errorf("%q: %d %v", prefix, status, doc)
		}
		if want > 0 && !strings.HasPrefix(files[0].(string), "log.db") {
			t.Errorf("%q: %v", prefix, files)
		}
	}
}
