package acpwire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

func (c *Conn) read(r io.Reader) {
	defer close(c.batches)
	lines := lineReader{r: r, max: c.cfg.MaxLine}
	for {
		var buf []byte
		select {
		case buf = <-c.free:
		default:
		}
		var b batch
		b.lines, b.dropped, b.err = lines.next(buf)
		if c.cfg.Activity != nil && b.err == nil {
			c.cfg.Activity()
		}
		select {
		case c.batches <- b:
		case <-c.closed: // read on, so that the other side can end in peace
		}
		if b.err != nil {
			return
		}
	}
}

func (c *Conn) write(w io.Writer) {
	var writing func([]byte)
	if c.cfg.Line != nil {
		writing = func(line []byte) {
			c.Post(func() { c.cfg.Line(false, bytes.TrimSuffix(line, []byte("\n"))) })
		}
	}
	err := c.out.write(w, c.closed, writing)
	if !errors.Is(err, ErrClosed) {
		c.Post(func() { c.diagnose(err.Error()) })
	}
}

func (c *Conn) dispatch() {
	defer close(c.ended)
	batches := c.batches
	for {
		select {
		case <-c.closed:
			c.end(ErrClosed)
			return
		case <-c.wake:
			c.runPosts()
		case b := <-batches:
			c.deliver(b)
			if b.err != nil {
				batches = nil
				c.lost(b.err)
			}
		}
	}
}

func (c *Conn) runPosts() {
	c.mu.Lock()
	posts := c.posts
	c.posts = nil
	c.mu.Unlock()
	for _, f := range posts {
		f()
	}
}

func (c *Conn) deliver(b batch) {
	if b.dropped > 0 {
		c.diagnose(fmt.Sprintf("dropped a line of %d bytes, which is over the limit of %d", b.dropped, c.cfg.MaxLine))
	}
	rest := b.lines
	for len(rest) > 0 {
		var line []byte
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			line, rest = rest[:end], rest[end+1:]
		} else {
			line, rest = rest, nil
		}
		select {
		case <-c.closed:
			return
		case <-c.wake:
			c.runPosts()
		default:
		}
		c.line(line)
	}
	if cap(b.lines) > 0 && cap(b.lines) <= keepSize {
		select {
		case c.free <- b.lines:
		default:
		}
	}
}

var bom = []byte("\xef\xbb\xbf")

func (c *Conn) line(line []byte) {
	if c.cfg.Line != nil {
		c.cfg.Line(true, line)
	}
	line = bytes.TrimSpace(bytes.TrimPrefix(line, bom))
	switch {
	case len(line) == 0:
	case line[0] == '[':
		c.batch(line)
	default:
		c.frame(line)
	}
}

// batch takes the frames of an array one by one.
func (c *Conn) batch(line []byte) {
	i := space(line, 1)
	for i < len(line) && line[i] != ']' {
		end := skipValue(line, i)
		if end < 0 {
			c.diagnose("no protocol: " + short(line[i:]))
			return
		}
		c.frame(line[i:end])
		if i = space(line, end); i < len(line) && line[i] == ',' {
			i = space(line, i+1)
		}
	}
}

func (c *Conn) frame(line []byte) {
	m, err := parse(line)
	switch {
	case err != nil:
		c.diagnose(err.Error() + ": " + short(line))
	case m.Method == "":
		c.answer(m)
	case m.ID == nil:
		if c.cfg.Notify != nil {
			c.cfg.Notify(m.Method, m.Params)
		}
	default:
		reply := c.newReply(m.ID)
		if c.cfg.Request == nil || !c.cfg.Request(m.Method, m.Params, reply) {
			reply.Fail(&Error{Code: CodeMethodNotFound, Message: "method not found: " + short([]byte(m.Method))})
		}
	}
}

func (c *Conn) answer(m message) {
	id, ok := number(m.ID)
	c.mu.Lock()
	done := c.pending[id]
	delete(c.pending, id)
	c.mu.Unlock()
	switch {
	case !ok || done == nil:
		c.diagnose("an answer to nothing that was asked: " + short(m.ID))
	case m.Err != nil:
		done(nil, m.Err)
	default:
		done(m.Result, nil)
	}
}

func (c *Conn) lost(err error) {
	if !errors.Is(err, io.EOF) {
		c.diagnose("reading failed: " + err.Error())
	}
	if c.cfg.Lost != nil {
		c.cfg.Lost(err)
	}
	c.end(ErrLost)
}

// end fails what is open, and everything that is asked from now on.
func (c *Conn) end(err error) {
	c.mu.Lock()
	if c.over == nil {
		c.over = err
	}
	open := c.pending
	c.pending = map[int64]func([]byte, error){}
	c.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(open)) {
		open[id](nil, err)
	}
}

func (c *Conn) diagnose(text string) {
	if c.cfg.Diagnostic != nil {
		c.cfg.Diagnostic(text)
	}
}

func short(line []byte) string {
	const most = 200
	if len(line) > most {
		return string(bytes.ToValidUTF8(line[:most], nil)) + "…"
	}
	return string(bytes.ToValidUTF8(line, []byte("\uFFFD")))
}
