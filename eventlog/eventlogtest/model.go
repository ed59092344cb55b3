package eventlogtest

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/eventlog"
)

// modelTests compare the store with one that is so simple that it is right.
var modelTests = map[string]func(*testing.T, *bench){
	"model/random operations": testModel,
}

// model is a thread as it should be.
type model struct {
	gen     uint32
	head    uint64
	records []eventlog.Record
	floor   uint64
	keys    map[string]string
}

func testModel(t *testing.T, b *bench) {
	random := rand.New(rand.NewPCG(seed(t), 3))
	m := &modelTest{bench: b, random: random, threads: map[string]*model{}, global: map[string]string{}}
	_, deletes := b.log.(eventlog.ThreadDeleter)
	_, compacts := b.log.(eventlog.Compactor)
	for step := range 300 {
		name := fmt.Sprint("thread", random.IntN(5))
		switch n := random.IntN(100); {
		case n < 70:
			m.append(name)
		case n < 78:
			m.trim(name)
		case n < 82 && deletes:
			m.delete(name)
		case n < 84:
			b.reopen()
		case n < 88 && compacts:
			m.compact(name)
		default:
			m.check(name)
		}
		if t.Failed() {
			t.Fatalf("step %d", step)
		}
	}
	b.reopen()
	for name := range m.threads {
		m.check(name)
	}
}

type modelTest struct {
	*bench
	random  *rand.Rand
	threads map[string]*model
	global  map[string]string
	count   int
}

// event makes an event like no other: mostly small, sometimes large.
func (m *modelTest) event() eventlog.Event {
	m.count++
	size := m.random.IntN(300)
	if m.random.IntN(20) == 0 {
		size = m.random.IntN(200_000)
	}
	data := append(fmt.Appendf(nil, "%d:", m.count), make([]byte, size)...)
	return eventlog.Event{Kind: eventlog.Kind(m.random.IntN(4)), Run: []string{"", "r1", "run-two"}[m.random.IntN(3)], Data: data}
}

func (m *modelTest) events(n int) []eventlog.Event {
	list := make([]eventlog.Event, n)
	for i := range list {
		list[i] = m.event()
	}
	return list
}

func (m *modelTest) append(name string) {
	batch := eventlog.Batch{Thread: name, Events: m.events(m.random.IntN(8))}
	for range m.random.IntN(3) {
		key := fmt.Sprint("key", m.random.IntN(6))
		switch m.random.IntN(4) {
		case 0:
			batch.Delete = append(batch.Delete, key)
		case 1:
			batch.PutGlobal = append(batch.PutGlobal, eventlog.Entry{Key: key, Value: []byte(name)})
		default:
			batch.Put = append(batch.Put, eventlog.Entry{Key: key, Value: m.event().Data})
		}
	}
	th := m.threads[name]
	if th == nil {
		th = &model{keys: map[string]string{}}
		m.threads[name] = th
	}
	if m.random.IntN(2) == 0 {
		head := th.head
		batch.Expect = &head
	}
	c := m.bench.append(batch)
	if th.gen == 0 {
		th.gen = c.Gen
	}
	for _, e := range batch.Events {
		th.head++
		th.records = append(th.records, eventlog.Record{
			Cursor: eventlog.Cursor{Gen: th.gen, Seq: th.head}, Kind: e.Kind, Run: e.Run, Data: e.Data})
	}
	if c != (eventlog.Cursor{Gen: th.gen, Seq: th.head}) {
		m.t.Errorf("append to %s: %v, want %08x-%d", name, c, th.gen, th.head)
	}
	for _, key := range batch.Delete {
		delete(th.keys, key)
	}
	for _, e := range batch.Put {
		th.keys[e.Key] = string(e.Value)
	}
	for _, e := range batch.PutGlobal {
		m.global[e.Key] = string(e.Value)
	}
}

func (m *modelTest) trim(name string) {
	th := m.threads[name]
	if th == nil || th.head == 0 || th.floor == th.head {
		return
	}
	upTo := th.floor + 1 + m.random.Uint64N(th.head-th.floor)
	replacement := m.events(m.random.IntN(int(min(upTo, 20))))
	if err := m.log.Trim(m.ctx, name, eventlog.Cursor{Gen: th.gen, Seq: upTo}, replacement); err != nil {
		m.t.Errorf("trim of %s up to %d: %v", name, upTo, err)
		return
	}
	var records []eventlog.Record
	for i, e := range replacement {
		records = append(records, eventlog.Record{
			Cursor: eventlog.Cursor{Gen: th.gen, Seq: upTo - uint64(len(replacement)) + uint64(i) + 1},
			Kind:   e.Kind, Run: e.Run, Data: e.Data})
	}
	for _, r := range th.records {
		if r.Cursor.Seq > upTo {
			records = append(records, r)
		}
	}
	th.records, th.floor = records, upTo
}

// compact changes nothing in the model.
func (m *modelTest) compact(name string) {
	th := m.threads[name]
	if th == nil || th.head == 0 {
		return
	}
	upTo := max(th.floor+m.random.Uint64N(th.head-th.floor+1), 1)
	if err := m.log.(eventlog.Compactor).Compact(m.ctx, name, eventlog.Cursor{Gen: th.gen, Seq: upTo}); err != nil {
		m.t.Errorf("compaction of %s up to %d: %v", name, upTo, err)
	}
}

func (m *modelTest) delete(name string) {
	err := m.log.(eventlog.ThreadDeleter).DeleteThread(m.ctx, name, 0, eventlog.Batch{})
	if err != nil {
		m.t.Errorf("deletion of %s: %v", name, err)
	}
	delete(m.threads, name)
}

func (m *modelTest) check(name string) {
	th := m.threads[name]
	if th == nil {
		th = &model{}
	}
	after := uint64(0)
	if th.head > 0 {
		after = th.floor + m.random.Uint64N(th.head-th.floor+1)
	}
	want := th.records
	if after > th.floor || th.floor == 0 {
		want = slices.DeleteFunc(slices.Clone(want), func(r eventlog.Record) bool { return r.Cursor.Seq <= after })
	} else {
		after = 0
	}
	err := m.log.View(m.ctx, name, func(v eventlog.View) error {
		head, err := v.Head()
		if want := (eventlog.Cursor{Gen: th.gen, Seq: th.head}); head != want {
			m.t.Errorf("%s: the head is %v, want %v", name, head, want)
		}
		var got []eventlog.Record
		for r, err := range v.Records(after, 0) {
			if err != nil {
				return err
			}
			got = append(got, r)
		}
		m.compare(fmt.Sprint("view of ", name, " after ", after), want, got)
		m.entries(v, th)
		return err
	})
	if err != nil {
		m.t.Errorf("view of %s: %v", name, err)
	}
	if len(want) > 0 {
		c := eventlog.Cursor{Gen: th.gen, Seq: after}
		m.compare(fmt.Sprint(name, " after ", c), want, m.read(m.log, name, c, len(want)))
	}
	if th.floor > 1 {
		m.gone(name, eventlog.Cursor{Gen: th.gen, Seq: 1 + m.random.Uint64N(th.floor-1)})
	}
}

func (m *modelTest) compare(what string, want, got []eventlog.Record) {
	m.t.Helper()
	if len(want) != len(got) {
		m.t.Errorf("%s: %d records, want %d", what, len(got), len(want))
		return
	}
	for i := range want {
		if want[i].Cursor != got[i].Cursor || want[i].Kind != got[i].Kind || want[i].Run != got[i].Run ||
			string(want[i].Data) != string(got[i].Data) {
			m.t.Errorf("%s: record %d is %v %d %q %.20q, want %v %d %q %.20q", what, i,
				got[i].Cursor, got[i].Kind, got[i].Run, got[i].Data,
				want[i].Cursor, want[i].Kind, want[i].Run, want[i].Data)
			return
		}
	}
}

func (m *modelTest) entries(v eventlog.View, th *model) {
	got, global := map[string]string{}, map[string]string{}
	var errs []error
	for e, err := range v.Keys("", "", 0) {
		got[e.Key] = string(e.Value)
		errs = append(errs, err)
	}
	for e, err := range v.GlobalKeys("", "", 0) {
		global[e.Key] = string(e.Value)
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		m.t.Error(err)
	}
	if !maps.Equal(got, th.keys) {
		m.t.Errorf("keys %v, want %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(th.keys)))
	}
	if diff := cmp.Diff(m.global, global); diff != "" {
		m.t.Errorf("global keys (-want +got):\n%s", diff)
	}
}
