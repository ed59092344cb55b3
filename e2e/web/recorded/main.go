// Command recorded writes what the player of e2e/recordings has to play for one
// recorded session, and prints what its user said, as JSON:
//
//	recorded FILE FOLDER
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/agentstream-go/agentstream/e2e/recordings/player"
	"github.com/agentstream-go/agentstream/e2e/recordings/recorded"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(file, folder string) error {
	sessions, err := recorded.Sessions(file)
	if err != nil {
		return err
	}
	if len(sessions) == 0 {
		return fmt.Errorf("%s has no session", file)
	}
	if err := player.Write(folder, sessions[0].Steps); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(sessions[0].Prompts)
}
