package term

import (
	"io"
	"time"
)

// Tick shows that time passes: on a terminal, while nothing is being written, the
// last line tells for how long the turn, or the call that is last, has been going
// on and how full the context is. It is to be called once a second or so, with
// the terminal's width as it is now (0: unchanged).
func (r *Renderer) Tick(width int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ticks = true
	if width > 0 {
		r.o.Width = width
		if r.prose != nil {
			r.prose.width = width
		}
	}
	if !r.o.ErrTTY || r.o.Quiet || r.asking > 0 || r.open != closed {
		return
	}
	switch {
	case r.live != nil:
		r.force(plain, "\r\x1b[K")
		r.draw(r.live)
	case !r.err.any || r.err.newlines > 0:
		text := "… " + r.o.Now().Sub(r.began).Truncate(time.Second).String()
		if r.context.Used > 0 {
			text += " · " + useOf(r.context)
		}
		_, _ = io.WriteString(r.o.Err, "\r"+r.style(dim, fit(text+" · Ctrl-C cancels", r.o.Width-1))+"\x1b[K")
		r.status = true
	}
}

// clearStatus takes the status line away, because something is to be written.
func (r *Renderer) clearStatus() {
	if r.status {
		r.status = false
		_, _ = io.WriteString(r.o.Err, "\r\x1b[K")
	}
}
