package aguitest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
)

// process is the Node process. It ends when its stdin does, so with the test
// binary, however that ends.
type process struct {
	mu      sync.Mutex
	in      io.Writer
	next    int
	waiting map[int]chan reply
	dead    error
}

type reply struct {
	ID      int             `json:"id"`
	Report  json.RawMessage `json:"report"`
	Failure string          `json:"failure"`
}

func startProcess(dir string) (*process, error) {
	cmd := exec.Command("node", "drive.mjs")
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("aguitest: node: %w", err)
	}
	p := &process{in: in, waiting: map[int]chan reply{}}
	go func() {
		p.read(bufio.NewReaderSize(out, 1<<20))
		p.fail(fmt.Errorf("aguitest: the clients' process ended: %w", errors.Join(cmd.Wait(), io.EOF)))
	}()
	return p, nil
}

func (p *process) read(r *bufio.Reader) {
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var answer reply
		if json.Unmarshal(line, &answer) != nil || answer.ID == 0 {
			continue // it says once that it is ready
		}
		p.mu.Lock()
		ch := p.waiting[answer.ID]
		delete(p.waiting, answer.ID)
		p.mu.Unlock()
		if ch != nil {
			ch <- answer
		}
	}
}

func (p *process) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = err
	for id, ch := range p.waiting {
		delete(p.waiting, id)
		ch <- reply{Failure: err.Error()}
	}
}

// do sends a command and waits for its answer.
func (p *process) do(ctx context.Context, op string, command, report any) error {
	ch, err := p.send(op, command)
	if err != nil {
		return err
	}
	select {
	case answer := <-ch:
		if answer.Failure != "" {
			return errors.New("aguitest: " + op + ": " + answer.Failure)
		}
		if report == nil {
			return nil
		}
		return json.Unmarshal(answer.Report, report)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *process) send(op string, command any) (chan reply, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead != nil {
		return nil, p.dead
	}
	p.next++
	fields, err := json.Marshal(command)
	if err != nil {
		return nil, err
	}
	head, _ := json.Marshal(map[string]any{"op": op, "id": p.next})
	line := append(head[:len(head)-1], ',')
	line = append(append(line, fields[1:]...), '\n')
	if string(fields) == "{}" {
		line = append(head, '\n')
	}
	ch := make(chan reply, 1)
	p.waiting[p.next] = ch
	if _, err := p.in.Write(line); err != nil {
		delete(p.waiting, p.next)
		return nil, err
	}
	return ch, nil
}
