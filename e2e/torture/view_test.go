package torture_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/agentstream-go/agentstream/agui"
)

// view is what somebody who reads a thread holds: the messages, and the cursor that
// they are as of. Events without an id wait for the next one that has one, as a
// client that goes on by cursor must make them.
type view struct {
	who string
	w   *world
	raw bool // is to get every event of the log

	mu   sync.Mutex // who waits for the end looks in
	list *agui.List
	last string // the cursor
	held []agui.Event
	over bool // the last event ended a run

	got   []frame // that were of the log, as they came
	marks []mark
	stale bool // holds what is no part of the log, so that marks would say nothing
}

type frame struct {
	id   string
	data []byte // nil where readers get deltas merged
}

// mark is what was held at a cursor.
type mark struct {
	id       string
	messages []byte
}

// maxMarks bounds the memory that they take.
const maxMarks = 12

func newView(w *world, who string, raw bool) *view {
	return &view{who: who, w: w, raw: raw, list: agui.NewList()}
}

// at is the cursor.
func (v *view) at() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.last
}

// reload forgets all, as a page that is loaded anew.
func (v *view) reload() {
	v.list, v.last, v.held, v.over, v.stale = agui.NewList(), "", nil, false, false
}

// take takes one event of a stream.
func (v *view) take(id string, data []byte) error {
	e, err := agui.Decode(data)
	if err != nil {
		return fmt.Errorf("%s got %.300s: %w", v.who, data, err)
	}
	v.w.heard.Add(1)
	if id == "" {
		v.held = append(v.held, e)
		return nil
	}
	if id < v.last || id == v.last && len(v.held) == 0 || len(id) != len(v.last) && v.last != "" {
		return fmt.Errorf("%s got %s after %s", v.who, id, v.last)
	}
	for _, h := range v.held {
		v.list.Apply(h)
	}
	v.list.Apply(e)
	if len(v.held) == 0 || v.raw {
		f := frame{id: id}
		if v.raw {
			f.data = slices.Clone(data)
		}
		v.got = append(v.got, f)
	}
	v.held, v.last, v.over = nil, id, e.Type().Terminal()
	return nil
}

// cut drops what a stream that broke off had not finished; whole is one that the
// server ended.
func (v *view) cut(whole bool) {
	if n := len(v.held); whole && n > 0 && v.held[n-1].Type().Terminal() {
		for _, h := range v.held {
			v.list.Apply(h) // an empty run, which clears what waits at the client
		}
		v.over = true
	}
	v.held = nil
	if len(v.marks) < maxMarks && v.last != "" && !v.stale {
		v.marks = append(v.marks, mark{v.last, v.list.AppendJSON(nil)})
	}
}

// messages are what a stock client posts of what it holds.
func (v *view) messages() []agui.Message {
	out := []agui.Message{}
	for _, m := range v.list.Messages() {
		if m.Role != agui.RoleActivity {
			out = append(out, m)
		}
	}
	return out
}

// entry is one event of the log.
type entry struct {
	id   string
	data []byte
	agui.Event
}

// check holds what was seen against the whole log and the stored messages.
func (v *view) check(log []entry, stored []byte) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, v.who+" "+fmt.Sprintf(format, args...)) }
	at := map[string]int{}
	for i, e := range log {
		at[e.id] = i
	}
	for i, f := range v.got {
		n, ok := at[f.id]
		switch {
		case !ok:
			fault("saw %s, which the log lacks: %.300s", f.id, f.data)
		case f.data != nil && !bytes.Equal(compact(f.data), log[n].data):
			fault("saw %s as %.300s; stored is %.300s", f.id, f.data, log[n].data)
		case v.raw && n != i:
			fault("saw %s as its event %d; it is %d of the log", f.id, i, n)
		default:
			continue
		}
		if len(faults) > 3 {
			return faults
		}
	}
	if v.raw && len(v.got) != len(log) {
		fault("saw %d events; the log has %d", len(v.got), len(log))
	}
	faults = append(faults, v.checkMarks(log)...)
	if here := v.list.AppendJSON(nil); !same(stored, here) {
		fault("holds in the end (-stored +held):\n%s", diff(stored, here))
	}
	return faults
}

// checkMarks: what was held at a cursor is what the log makes up to there. A prelude's
// cursor may be that of a note, which stands between two events.
func (v *view) checkMarks(log []entry) (faults []string) {
	slices.SortStableFunc(v.marks, func(a, b mark) int { return strings.Compare(a.id, b.id) })
	list, done := agui.NewList(), 0
	for _, m := range v.marks {
		for ; done < len(log) && log[done].id <= m.id; done++ {
			list.Apply(log[done].Event)
		}
		if want := list.AppendJSON(nil); !same(want, m.messages) {
			faults = append(faults, fmt.Sprintf("%s held at %s (-log +held):\n%s", v.who, m.id, diff(want, m.messages)))
		}
	}
	return faults
}

// compact is JSON without white space.
func compact(data []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, data) != nil {
		return data
	}
	return b.Bytes()
}
