package recordings_test

import (
	"os"
	"testing"
)

// playing makes the test binary an agent that plays the script in its folder.
const playing = "AGENTSTREAM_PLAY_RECORDING"

func TestMain(m *testing.M) {
	if os.Getenv(playing) == "1" {
		os.Exit(play(".", os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}
