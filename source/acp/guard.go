package acp

import (
	"fmt"
	"runtime/debug"
)

// panicked is a panic of a handler, of Ask or of Observe during a turn. It
// happened on the delivering goroutine, where nobody could recover from it, and
// comes out of Run instead.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("%v\n\n%s", p.value, p.stack) }

func (p *panicked) Unwrap() error {
	err, _ := p.value.(error)
	return err
}

// guard calls f on the delivering goroutine. A panic while a turn is open ends
// that turn, and with it the session: nobody knows what was left half done.
func (s *session) guard(f func()) {
	if s.ruined {
		return
	}
	defer func() {
		r := s.run
		if r == nil {
			return
		}
		if v := recover(); v != nil {
			s.ruined, s.run = true, nil
			s.dropQuestions()
			r.done <- outcome{panicked: &panicked{v, debug.Stack()}}
		}
	}()
	f()
}
