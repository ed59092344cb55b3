package engine

import (
	"context"
	"errors"
	"math"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/agentstream-go/agentstream/eventlog"
)

// keeper makes closed runs take less room when they are old enough, or when there
// is too little. Two indexes in the log say which threads have something to do,
// by the end of their oldest run, so that nothing is looked through, and what is
// due survives a restart. It sleeps until the next is due.
type keeper struct {
	e         *Engine
	compactor eventlog.Compactor // nil: records stay as they are
	sizer     eventlog.Sizer     // nil: the total is not bounded
	work      chan struct{}      // has one token when a turn has ended
	full      atomic.Bool        // the log is too big and nothing is left to be made smaller

	later map[string]time.Time // keys of what could not be done: not before
}

// way is one of the ways in which closed runs take less room.
type way struct {
	prefix string
	after  time.Duration // since a run's end; negative: never because of its age
	do     func(ctx context.Context, c *conversation, p *plan) error
	stage  func(*threadRecord) *stage
}

const (
	// retryAfter is how long what failed, or is another engine's, is left alone.
	retryAfter = time.Minute
	// longestSleep bounds a sleep, because a timer does not count the time that the
	// machine is suspended.
	longestSleep = 6 * time.Hour
)

func newKeeper(e *Engine) *keeper {
	k := &keeper{e: e, work: make(chan struct{}, 1), later: map[string]time.Time{}}
	if e.o.Retention.CompactAfter >= 0 {
		k.compactor, _ = e.o.Log.(eventlog.Compactor)
	}
	if e.o.Limits.TotalBytes > 0 {
		k.sizer, _ = e.o.Log.(eventlog.Sizer)
	}
	return k
}

func (k *keeper) compact() way {
	return way{keyCompact, k.e.o.Retention.CompactAfter, k.squeeze, func(r *threadRecord) *stage { return &r.Compact }}
}

func (k *keeper) collapse() way {
	return way{keyCollapse, k.e.o.Retention.CollapseAfter, k.fold, func(r *threadRecord) *stage { return &r.Collapse }}
}

// ways gives those that this log knows, the gentle one first.
func (k *keeper) ways() []way {
	if k.compactor == nil {
		return []way{k.collapse()}
	}
	return []way{k.compact(), k.collapse()}
}

// slack lets runs that ended one after the other be done together.
func (w way) slack() time.Duration { return w.after / 32 }

func (k *keeper) wake() {
	select {
	case k.work <- struct{}{}:
	default:
	}
}

func (k *keeper) run(ctx context.Context) {
	for ctx.Err() == nil {
		wait := k.pass(ctx)
		var due <-chan time.Time
		if wait < math.MaxInt64 || k.e.o.Shared { // others leave their work to us
			due = time.After(min(wait, longestSleep))
		}
		select {
		case <-due:
		case <-k.work:
		case <-ctx.Done():
		}
	}
}

// pass does what is due and says how long it is to the next.
func (k *keeper) pass(ctx context.Context) (wait time.Duration) {
	wait = math.MaxInt64
	k.fit(ctx)
	for _, w := range k.ways() {
		for ctx.Err() == nil {
			due, next, err := k.due(ctx, w)
			if err != nil {
				k.e.o.Logger.Warn("the log could not be looked through for what is old", "error", err)
				return retryAfter
			}
			if len(due) == 0 {
				wait = min(wait, next)
				break
			}
			for _, key := range due {
				if err := k.handle(ctx, w, key, 0); err != nil && ctx.Err() == nil {
					k.postpone(key, err)
				}
			}
		}
	}
	return wait
}

// postpone leaves a thread alone for a while.
func (k *keeper) postpone(key string, err error) {
	k.later[key] = k.e.o.Now().Add(retryAfter)
	if own := (*Error)(nil); errors.As(err, &own) && own.Code == "run_active" || errors.Is(err, eventlog.ErrFenced) {
		return // another engine runs it
	}
	k.e.o.Logger.Warn("the old events of a thread could not be made smaller", "thread", threadOfKey(key), "error", err)
}

// due lists the keys of what is due, and says how long it is to the next.
func (k *keeper) due(ctx context.Context, w way) (due []string, next time.Duration, err error) {
	now := k.e.o.Now()
	for key, at := range k.later {
		if !at.After(now) {
			delete(k.later, key)
		}
	}
	next = math.MaxInt64
	err = k.e.o.Log.View(ctx, "", func(v eventlog.View) error {
		for entry, err := range v.GlobalKeys(w.prefix, "", 0) {
			if err != nil {
				return err
			}
			ended := timeOfKey(entry.Key)
			if wait := ended.Add(w.after + w.slack()).Sub(now); ended.UnixMicro() > 0 && (w.after < 0 || wait > 0) {
				if w.after >= 0 {
					next = min(next, wait)
				}
				return nil
			}
			if at, postponed := k.later[entry.Key]; postponed {
				next = min(next, at.Sub(now))
				continue
			}
			due = append(due, entry.Key)
		}
		return nil
	})
	return due, next, err
}

// handle does for a thread what is due, and at least as much as gives back so
// many bytes of logged events. Without an error the key is gone afterwards. A
// defect costs no more than that this thread stays as it is.
func (k *keeper) handle(ctx context.Context, w way, key string, excess int64) (err error) {
	defer func() {
		if p := recover(); p != nil {
			k.e.o.Logger.Error("panic while a thread was made smaller", "panic", p, "stack", string(debug.Stack()))
			err = errPanic
		}
	}()
	c := k.e.use(threadOfKey(key))
	defer c.release()
	p, err := k.plan(ctx, w, c, key, excess)
	if err != nil {
		return err
	}
	if p == nil { // the thread, or its wish, is gone
		_, err := k.e.o.Log.Append(ctx, eventlog.Batch{DeleteGlobal: []string{key}})
		return err
	}
	if p.upTo > 0 {
		err := w.do(ctx, c, p)
		if errors.Is(err, errMoved) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return k.e.change(ctx, c.id, change{
		open: func(t *turn) {
			t.rec.advance(k, p, t.j.setGlobal, t.j.dropGlobal)
			t.save()
		},
		idle: func(rec *threadRecord, b *eventlog.Batch) {
			rec.advance(k, p, putGlobal(b), dropGlobal(b))
			b.PutGlobal = append(b.PutGlobal, eventlog.Entry{Key: keyThread + c.id, Value: encode(rec)})
		},
	})
}

// squeeze compacts a thread.
func (k *keeper) squeeze(ctx context.Context, c *conversation, p *plan) error {
	err := k.compactor.Compact(ctx, c.id, eventlog.Cursor{Gen: p.gen, Seq: p.upTo})
	if errors.Is(err, eventlog.ErrGone) {
		return nil // it was deleted
	}
	return err
}

// fit makes the log as small as it has to be: what is closed is compacted, then
// collapsed, the oldest first.
func (k *keeper) fit(ctx context.Context) {
	if k.sizer == nil {
		return
	}
	tried := map[string]bool{}
	for _, w := range k.ways() {
		for ctx.Err() == nil {
			size, err := k.sizer.Size(ctx)
			excess := size - k.e.o.Limits.TotalBytes
			if err != nil || excess <= 0 {
				k.full.Store(false)
				return
			}
			key, err := k.oldest(ctx, w, tried)
			if err != nil || key == "" {
				break
			}
			tried[key] = true
			if w.prefix == keyCompact {
				excess = math.MaxInt64
			}
			if err := k.handle(ctx, w, key, excess); err != nil && ctx.Err() == nil {
				k.postpone(key, err)
			}
		}
	}
	if ctx.Err() == nil && !k.full.Swap(true) {
		k.e.o.Logger.Warn("the log is bigger than limits.total_bytes allows, and nothing in it can be made smaller; new runs are refused")
	}
}

// oldest gives the key of the thread with the oldest run that w has not been
// tried on; none: empty.
func (k *keeper) oldest(ctx context.Context, w way, tried map[string]bool) (key string, err error) {
	err = k.e.o.Log.View(ctx, "", func(v eventlog.View) error {
		for entry, err := range v.GlobalKeys(w.prefix, "", 0) {
			if err != nil {
				return err
			}
			if !tried[entry.Key] {
				key = entry.Key
				return nil
			}
		}
		return nil
	})
	return key, err
}

// refuses says why no new run may begin, if so.
func (k *keeper) refuses(ctx context.Context) error {
	if k.sizer == nil || !k.full.Load() {
		return nil
	}
	size, err := k.sizer.Size(ctx)
	if err != nil {
		return err
	}
	limit := k.e.o.Limits.TotalBytes
	if size <= limit {
		k.full.Store(false)
		return nil
	}
	return refuse("limited", "the log takes %d bytes, limits.total_bytes allows %d, and nothing is left that could be made smaller; delete threads, or raise the limit", size, limit)
}

// agedKey is a thread's key among what waits. The zero time is always due.
func agedKey(prefix string, ended time.Time, thread string) string {
	micro := int64(0)
	if !ended.IsZero() {
		micro = max(1, ended.UnixMicro())
	}
	digits := strconv.FormatInt(micro, 10)
	return prefix + "0000000000000000000"[len(digits):] + digits + "/" + thread
}

// keyTime is how long the time in a key is.
const keyTime = 19

func timeOfKey(key string) time.Time {
	for _, prefix := range []string{keyCompact, keyCollapse} {
		if len(key) > len(prefix)+keyTime && key[:len(prefix)] == prefix {
			micro, _ := strconv.ParseInt(key[len(prefix):len(prefix)+keyTime], 10, 64) // 0: due at once, and then dropped
			return time.UnixMicro(micro)
		}
	}
	return time.UnixMicro(0)
}

func threadOfKey(key string) string {
	for _, prefix := range []string{keyCompact, keyCollapse} {
		if len(key) > len(prefix)+keyTime && key[:len(prefix)] == prefix {
			return key[len(prefix)+keyTime+1:]
		}
	}
	return ""
}

func putGlobal(b *eventlog.Batch) func(string, []byte) {
	return func(key string, value []byte) {
		b.PutGlobal = append(b.PutGlobal, eventlog.Entry{Key: key, Value: value})
	}
}

func dropGlobal(b *eventlog.Batch) func(string) {
	return func(key string) { b.DeleteGlobal = append(b.DeleteGlobal, key) }
}
