package player_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/e2e/recordings/player"
)

// client talks to a player over pipes.
type client struct {
	t    *testing.T
	dir  string
	in   *io.PipeWriter
	out  *bufio.Reader
	done chan int
}

func start(t *testing.T, steps []player.Step) *client {
	t.Helper()
	c := &client{t: t, dir: t.TempDir(), done: make(chan int, 1)}
	if err := player.Write(c.dir, steps); err != nil {
		t.Fatal(err)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c.in, c.out = inW, bufio.NewReader(outR)
	go func() { c.done <- player.Play(c.dir, inR, outW) }()
	return c
}

func (c *client) say(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) hear(want string) {
	c.t.Helper()
	got, err := c.out.ReadString('\n')
	if err != nil || strings.TrimSuffix(got, "\n") != want {
		c.t.Fatalf("got %q, %v; want %q", got, err, want)
	}
}

// told waits for one of the player's files.
func (c *client) told(name string) {
	c.t.Helper()
	end := time.NewTimer(time.Minute)
	defer end.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(filepath.Join(c.dir, name)); err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-end.C:
			c.t.Fatalf("no file %q", name)
		}
	}
}

func TestPlay(t *testing.T) {
	c := start(t, []player.Step{
		{Do: player.Await, ID: "0", Method: "initialize"},
		{Do: player.Answer, ID: "0", Line: `{"id":0,"result":1}`},
		{Do: player.Await, ID: "1", Method: "authenticate"}, // the client has no need of it
		{Do: player.Answer, ID: "1", Line: `{"id":1,"result":{}}`},
		{Do: player.Await, ID: "2", Method: player.Prompt},
		{Do: player.Ask, ID: `"q"`, Line: `{"id":"q","method":"ask"}`},
		{Do: player.Reply, ID: `"q"`},
		{Do: player.Say, Line: "cut {"},
		{Do: player.Cancel},
		{Do: player.Answer, ID: "2", Line: `{"id":2,"result":"cancelled"}`},
		{Do: player.Await, ID: "3", Method: player.Prompt},
	})
	c.say(`{"id":"a","method":"initialize"}`)
	c.hear(`{"id":"a","result":1}`)
	c.say(`{"id":"b","method":"unheard"}`)
	c.say(`{"id":"c","method":"session/prompt"}`)
	c.hear(`{"jsonrpc":"2.0","id":"b","error":{"code":-32601,"message":"not in this recording: unheard"}}`)
	c.hear(`{"id":"q","method":"ask"}`)
	c.say("no JSON")
	c.say(`{"id":"q","result":{}}`)
	c.hear("cut {")
	c.told(player.FileCancel)
	c.say(`{"method":"session/cancel"}`)
	c.hear(`{"id":"c","result":"cancelled"}`)
	c.say(`{"id":"d","method":"session/prompt"}`)
	c.told(player.FileStuck)
	c.say(`{"method":"session/cancel"}`)
	c.hear(`{"jsonrpc":"2.0","id":"d","result":{"stopReason":"cancelled"}}`)
	if err := c.in.Close(); err != nil {
		t.Fatal(err)
	}
	if code := <-c.done; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestRenumber(t *testing.T) {
	var m struct{ ID, Result json.Number }
	if err := json.Unmarshal([]byte(player.Renumber(`{"result":5,"id":1}`, "7")), &m); err != nil || m.ID != "7" || m.Result != "5" {
		t.Errorf("%+v, %v", m, err)
	}
	if got := player.Renumber(`{"id":`, "7"); got != `{"id":` {
		t.Errorf("what is no message became %q", got)
	}
}
