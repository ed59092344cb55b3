package demoagent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/agentstream-go/agentstream/internal/demoagent"
)

func ExampleMain() {
	var out bytes.Buffer
	in := strings.NewReader(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}` + "\n")
	code := demoagent.Main(context.Background(), in, &out, os.Stderr)
	var answer struct {
		Result struct {
			AgentInfo struct{ Name string }
		}
	}
	err := json.Unmarshal(out.Bytes(), &answer)
	fmt.Println(code, answer.Result.AgentInfo.Name, err)
	// Output: 0 agentstream-demo <nil>
}

func ExampleWords() {
	for _, w := range demoagent.Words()[:3] {
		fmt.Printf("%s – %s\n", w.Usage, w.Does)
	}
	// Output:
	// help – lists all this
	// think – thinks aloud, then answers
	// markdown – answers with headings, a list, a table and code
}
