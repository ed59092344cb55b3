package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream/server"
)

func TestCopilotKitRoutes(t *testing.T) {
	ts := world(t, server.Options{Verify: true, Version: "9"})
	if status, doc, _ := ask(t, "GET", ts.URL+"/copilotkit/info", "", ""); status != 200 || doc["mode"] != "sse" || doc["agents"].(map[string]any)["greeter"] == nil {
		t.Fatalf("info: %d %v", status, doc)
	}
	stream := func(path, body string) string {
		t.Helper()
		resp, err := http.Post(ts.URL+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("%s: %d %s, %v", path, resp.StatusCode, data, err)
		}
		return string(data)
	}
	input := func(run string, messages string) string {
		return `{"threadId":"t","runId":"` + run + `","messages":[` + messages + `],"tools":[],"context":[],"state":{},"forwardedProps":{}}`
	}
	const said = `{"id":"u1","role":"user","content":"world"}`
	if got := stream("/copilotkit/agent/greeter/run", input("r1", said)); !strings.Contains(got, `"delta":"Hello, world"`) || !strings.Contains(got, "RUN_FINISHED") {
		t.Errorf("run: %s", got)
	}
	connected := stream("/copilotkit/agent/greeter/connect", input("r2", ""))
	if !strings.Contains(connected, "MESSAGES_SNAPSHOT") || !strings.Contains(connected, "Hello, world") || !strings.Contains(connected, "RUN_FINISHED") {
		t.Errorf("connect: %s", connected)
	}
	if got := stream("/copilotkit/agent/greeter/connect", `{"threadId":"none","runId":"r","messages":[]}`); strings.Contains(got, "data:") {
		t.Errorf("connect to nothing: %s", got)
	}
	single := func(method, body string) string {
		return stream("/copilotkit", `{"method":"`+method+`","params":{"agentId":"greeter","threadId":"t"},"body":`+body+`}`)
	}
	if got := single("info", "null"); !strings.Contains(got, "greeter") {
		t.Errorf("info on one route: %s", got)
	}
	if got := single("agent/run", input("r3", said+`,{"id":"u2","role":"user","content":"again"}`)); !strings.Contains(got, `"delta":"Hello, again"`) {
		t.Errorf("run on one route: %s", got)
	}
	if got := single("agent/connect", input("r4", "")); !strings.Contains(got, "Hello, again") {
		t.Errorf("connect on one route: %s", got)
	}
	if got := single("agent/stop", "{}"); !strings.Contains(got, `"stopped":false`) {
		t.Errorf("stop of nothing: %s", got)
	}
	if status, doc, _ := ask(t, "POST", ts.URL+"/copilotkit", "application/json", `{"method":"agent/dance"}`); status != 400 || doc["code"] != "bad_request" {
		t.Errorf("unknown method: %d %v", status, doc)
	}
	if status, doc, _ := ask(t, "POST", ts.URL+"/copilotkit/agent/nobody/connect", "application/json", input("r", "")); status != 404 || doc["code"] != "agent_unknown" {
		t.Errorf("unknown agent: %d %v", status, doc)
	}
}
