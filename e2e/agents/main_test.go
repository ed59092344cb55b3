package agents_test

import (
	"fmt"
	"os"
	"testing"
)

// alone is set in the process that has a network of its own.
const alone = "AGENTSTREAM_ALONE"

// TestMain runs the tests in a process that can reach nothing but itself, so that
// an agent that calls home is found to work without.
func TestMain(m *testing.M) {
	if os.Getenv("AGENTSTREAM_E2E") == "1" && os.Getenv(alone) == "" {
		code, err := runAlone()
		if err == nil {
			os.Exit(code)
		}
		fmt.Fprintf(os.Stderr, "the agents are not kept from the network: %v\n", err)
	}
	os.Exit(m.Run())
}
