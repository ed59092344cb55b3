// Command agent plays the script in its working folder, as an ACP agent on stdio.
package main

import (
	"os"

	"github.com/agentstream-go/agentstream/e2e/recordings/player"
)

func main() { os.Exit(player.Play(".", os.Stdin, os.Stdout)) }
