package acp

import (
	"bytes"
	"sync"
	"time"
)

// How much of what comes before the session has a name is kept.
const maxEarly = 10_000

// phase says what an update means while the session is being opened.
type phase int

const (
	naming phase = iota // the session has no id yet: updates wait
	replay              // session/load tells the history
	opened
)

// opening is what a session needs only until it is open.
type opening struct {
	phase phase
	early [][]byte

	mu    sync.Mutex
	timer *time.Timer
	limit time.Duration
}

func newOpening(c *Command) *opening {
	limit := c.StartTimeout
	if limit <= 0 {
		limit = defaultStartTimeout
	}
	return &opening{limit: limit}
}

// begin calls expire when the agent was silent for the limit.
func (o *opening) begin(expire func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.timer = time.AfterFunc(o.limit, expire)
}

func (o *opening) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.timer.Stop()
	o.timer = nil
}

func (o *opening) activity() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.timer != nil && o.timer.Stop() {
		o.timer.Reset(o.limit)
	}
}

// update takes an update that comes before the session is open.
func (o *opening) update(s *session, params []byte) bool {
	switch o.phase {
	case naming:
		if len(o.early) < maxEarly {
			o.early = append(o.early, bytes.Clone(params))
		}
		return true
	case replay:
		switch text(field(params, "update", "sessionUpdate")) {
		case "available_commands_update", "session_info_update":
			return false // of the session as it is now
		}
		s.tr.history(params)
		return true
	}
	return false
}

// named is called in wire order when the session is open: what waited is
// handled now.
func (o *opening) named(s *session) {
	o.phase = opened
	early := o.early
	o.early = nil
	for _, params := range early {
		s.update(params)
	}
}
