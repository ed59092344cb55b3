package sqlite

import (
	"context"

	"github.com/agentstream-go/agentstream/eventlog"
)

// SetBusyTimeout sets how long the logs that are opened from now on wait for
// other processes, in milliseconds, and returns what it was.
func SetBusyTimeout(ms int) int {
	was := busyTimeout
	busyTimeout = ms
	return was
}

// Exec runs statements within a transaction of the log.
func (l *Log) Exec(text string) error {
	return l.do(context.Background(), func(t *tx) error {
		t.changed = true
		return broken(t.conn.script(text))
	})
}

// Number reads one number.
func (l *Log) Number(query string) (n int64, err error) {
	err = l.readers.read(func(c *conn) error {
		n, err = c.number(query)
		return err
	})
	return n, err
}

// Watching says whether the log looks for what others write.
func (l *Log) Watching() bool {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	return l.hub.watching
}

// Topics says how many threads are read live.
func (l *Log) Topics() int {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	return len(l.hub.topics)
}

// HoldLock keeps the log in a transaction until the returned function is called.
func (l *Log) HoldLock() (release func()) {
	held, done, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_ = l.do(context.Background(), func(*tx) error {
			close(held)
			<-done
			return nil
		})
	}()
	<-held
	return func() { close(done); <-ended }
}

// PlanToPack does the reading half of a step of Compact; the function that it
// returns does the other half, and says whether that packed something.
func (l *Log) PlanToPack(thread string, upTo eventlog.Cursor) (func() (bool, error), error) {
	if err := l.do(context.Background(), func(t *tx) error { return t.settle(thread, upTo) }); err != nil {
		return nil, err
	}
	p, err := l.plan(thread, upTo)
	if err != nil {
		return nil, err
	}
	if p.segment, err = new(deflater).deflate(p.segment); err != nil {
		return nil, err
	}
	return func() (packed bool, err error) {
		err = l.do(context.Background(), func(t *tx) error {
			was := t.changed
			err := t.pack(p)
			packed = t.changed && !was
			return err
		})
		return packed, err
	}, nil
}
