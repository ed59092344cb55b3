package proc

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// Spec says what is started and how it is ended.
type Spec struct {
	Argv       []string
	Dir        string
	Env        map[string]string // added to what the process gets anyway
	InheritEnv []string          // names that it gets beside the usual ones

	// Mark begins the process's mark, so that Sweep(Mark) finds it after this
	// program was killed. It may be empty and holds no zero byte.
	Mark string

	// How long Stop waits after closing stdin, and after SIGTERM. Zero: 2 s.
	InputGrace, TermGrace time.Duration
}

// ErrNotFound matches the error of Start for a program that is not there.
var ErrNotFound = exec.ErrNotFound

type notFound struct{ name string }

func (e *notFound) Error() string { return e.name + ": not found on PATH" }
func (e *notFound) Unwrap() error { return exec.ErrNotFound }

func lookHost(name string) (string, error) {
	path, err := exec.LookPath(name)
	if errors.Is(err, os.ErrNotExist) {
		return "", &notFound{name}
	}
	return path, err
}

// Process is a child with its group. Stdin and Stdout are for one user each;
// the methods may be called from any goroutine.
type Process struct {
	Stdin  io.WriteCloser
	Stdout io.ReadCloser

	spec   Spec
	cmd    *exec.Cmd
	mark   string
	stderr *tail
	errEnd io.Closer
	done   chan struct{}
	drain  sync.WaitGroup
	once   sync.Once
	err    error      // of Stop
	mu     sync.Mutex // the id is not freed while it is held
}

// Start starts a process. An error that matches ErrNotFound says that the
// program is missing. Whoever has the process calls Stop, however it ends.
func Start(spec Spec) (*Process, error) {
	if len(spec.Argv) == 0 {
		return nil, errors.New("no command given")
	}
	if spec.InputGrace <= 0 {
		spec.InputGrace = 2 * time.Second
	}
	if spec.TermGrace <= 0 {
		spec.TermGrace = 2 * time.Second
	}
	env := environ(os.Environ(), spec.Env, spec.InheritEnv)
	path, err := lookPath(spec.Argv[0], env)
	if err != nil {
		return nil, err
	}
	p := &Process{spec: spec, done: make(chan struct{}), stderr: &tail{max: tailSize}, mark: spec.Mark + "." + rand.Text()}
	p.cmd = &exec.Cmd{Path: path, Args: spec.Argv, Dir: spec.Dir, Env: append(env, MarkVariable+"="+p.mark)}
	prepare(p.cmd)
	started := make(chan error)
	childEnds, errR, err := p.pipes()
	if err != nil {
		return nil, err
	}
	// The goroutine keeps its thread until the child has ended: Linux sends
	// the parent-death signal when the thread that started the child ends.
	go func() {
		runtime.LockOSThread()
		err := p.cmd.Start()
		for _, f := range childEnds {
			f.Close()
		}
		started <- err
		if err == nil {
			p.wait()
		}
	}()
	if err := <-started; err != nil {
		p.closePipes()
		return nil, err
	}
	p.drain.Go(func() { io.Copy(p.stderr, errR) })
	return p, nil
}

// pipes connects the child's standard files. They are made here and not by
// exec, which closes stdout at the child's end with unread data in it.
func (p *Process) pipes() (childEnds []*os.File, stderr io.Reader, err error) {
	var files [6]*os.File
	for i := 0; i < len(files); i += 2 {
		if files[i], files[i+1], err = os.Pipe(); err != nil {
			for _, f := range files[:i] {
				f.Close()
			}
			return nil, nil, err
		}
	}
	p.cmd.Stdin, p.Stdin = files[0], files[1]
	p.Stdout, p.cmd.Stdout = files[2], files[3]
	p.errEnd, p.cmd.Stderr = files[4], files[5]
	return []*os.File{files[0], files[3], files[5]}, files[4], nil
}

func (p *Process) closePipes() {
	p.Stdin.Close()
	p.Stdout.Close()
	p.errEnd.Close()
}

// wait holds the lock while the process's id becomes free, so that nobody
// signals a group that has got the same id.
func (p *Process) wait() {
	awaitExit(p.cmd.Process.Pid)
	p.mu.Lock()
	defer p.mu.Unlock()
	reap(p.cmd)
	close(p.done)
}

// Done is closed when the process itself has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// PID is the process's id, and its group's.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Mark is the value of MarkVariable in the process's environment.
func (p *Process) Mark() string { return p.mark }

// Exit says in words how the process ended; empty while it runs.
func (p *Process) Exit() string {
	select {
	case <-p.done:
		return p.cmd.ProcessState.String()
	default:
		return ""
	}
}

// Stderr gives the end of what the process wrote to stderr, in whole lines.
// After the process's end it waits a moment for what is still in the pipe.
func (p *Process) Stderr() string {
	select {
	case <-p.done:
		p.drained(time.Second)
	default:
	}
	return p.stderr.String()
}

func (p *Process) drained(limit time.Duration) {
	end := make(chan struct{})
	go func() { p.drain.Wait(); close(end) }()
	within(end, limit)
}

func within(done <-chan struct{}, limit time.Duration) bool {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}

// Stop ends the process and everything that it started: it closes stdin, then
// sends SIGTERM, then SIGKILL to the group, each after its grace, and then
// kills what left the group. It returns when nothing is left, or says what is.
func (p *Process) Stop() error {
	p.once.Do(func() { p.err = p.stop(true) })
	return p.err
}

// Kill is Stop without any grace.
func (p *Process) Kill() error {
	p.once.Do(func() { p.err = p.stop(false) })
	return p.err
}

func (p *Process) stop(gently bool) error {
	p.Stdin.Close()
	if gently && !within(p.done, p.spec.InputGrace) {
		p.signal(terminate)
		within(p.done, p.spec.TermGrace)
	}
	p.signal(kill)
	ended := within(p.done, 10*time.Second)
	err := Sweep(p.mark)
	p.drained(time.Second)
	p.closePipes() // whoever still holds the other ends keeps no goroutine here
	p.drain.Wait()
	if !ended {
		err = errors.Join(err, fmt.Errorf("process %d does not end", p.PID()))
	}
	return err
}

// signal reaches the group only while its leader is not reaped.
func (p *Process) signal(send func(pid int, p *os.Process)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
	default:
		send(p.PID(), p.cmd.Process)
	}
}
