package sqlite

import (
	"fmt"
	"time"

	"github.com/agentstream-go/agentstream/eventlog"
)

func (t *tx) lease(name, owner string, ttl time.Duration) (uint64, error) {
	th, err := t.thread(name)
	if err != nil {
		return 0, err
	}
	if ttl <= 0 {
		if th == nil || th.owner != owner {
			return 0, nil
		}
		th.epoch, th.owner, th.expires = 0, "", 0
		return 0, t.saveLease(th)
	}
	if th != nil && th.owner != owner && t.held(th) {
		return 0, fmt.Errorf("%w for another %v", eventlog.ErrHeld,
			time.UnixMilli(th.expires).Sub(t.now).Round(time.Millisecond))
	}
	if th == nil {
		if th, err = t.made(name); err != nil {
			return 0, err
		}
	}
	if th.epoch == 0 || th.owner != owner {
		epoch, err := t.count("epoch")
		if err != nil {
			return 0, err
		}
		th.epoch, th.owner = uint64(epoch), owner
	}
	th.expires = t.now.Add(ttl).UnixMilli()
	return th.epoch, t.saveLease(th)
}

func (t *tx) saveLease(th *thread) error {
	return t.exec("UPDATE threads SET epoch = ?, owner = ?, expires = ? WHERE num = ?",
		int64(th.epoch), th.owner, th.expires, th.num)
}

func (t *tx) takeover(owner string) error {
	for _, th := range t.writer.threads {
		if th.owner != owner {
			th.epoch, th.owner, th.expires = 0, "", 0
		}
	}
	return t.exec("UPDATE threads SET epoch = 0, owner = '', expires = 0 WHERE epoch <> 0 AND owner <> ?", owner)
}

func (t *tx) trim(name string, upTo eventlog.Cursor, replacement []eventlog.Event) error {
	th, err := t.thread(name)
	if err != nil {
		return err
	}
	if th == nil || th.gen != upTo.Gen || upTo.Seq > th.head || upTo.Seq < th.floor {
		return fmt.Errorf("%w: there is no %v to trim up to", eventlog.ErrGone, upTo)
	}
	if uint64(len(replacement)) > upTo.Seq {
		return fmt.Errorf("%w: %d events do not fit into %d numbers", eventlog.ErrInvalid, len(replacement), upTo.Seq)
	}
	if err := t.flush(true); err != nil {
		return err
	}
	if err := t.drop(th, upTo.Seq); err != nil {
		return err
	}
	if err := t.cut(th, upTo.Seq); err != nil {
		return err
	}
	if len(replacement) > 0 {
		w := newSegment(th.gen, upTo.Seq-uint64(len(replacement)))
		for i := range replacement {
			w.add(&replacement[i])
		}
		w.seal()
		// What comes after it may be packed.
		if err := t.insert(insertPacked, th.num, w.segment); err != nil {
			return err
		}
	}
	th.floor = upTo.Seq
	t.unsettled = append(t.unsettled, name)
	return t.exec("UPDATE threads SET floor = ? WHERE num = ?", int64(th.floor), th.num)
}

// drop removes the segments that hold nothing after seq.
func (t *tx) drop(th *thread, seq uint64) error {
	for _, query := range []string{"DELETE FROM packed WHERE id BETWEEN ? AND ?", "DELETE FROM segments WHERE id BETWEEN ? AND ?"} {
		if err := t.exec(query, segmentID(th.num, 0), segmentID(th.num, seq)); err != nil {
			return err
		}
	}
	return nil
}

// cut removes the records up to seq from the segment that holds seq and more.
// Its id, which is its last number, stays, and so does the table it is in.
func (t *tx) cut(th *thread, seq uint64) error {
	update := "UPDATE packed SET n = ?, data = ? WHERE id = ?"
	row, err := t.conn.first(selectPacked, segmentID(th.num, seq), segmentID(th.num, maxSeq))
	if err == nil && row == nil {
		update = "UPDATE segments SET n = ?, data = ? WHERE id = ?"
		row, err = t.conn.first(selectSegments, segmentID(th.num, seq), segmentID(th.num, maxSeq))
	}
	if err != nil || row == nil {
		return broken(err)
	}
	s, err := readSegment(t.writer.log.path, th.gen, row)
	if err != nil {
		return broken(err)
	}
	if s.first() > seq {
		return nil
	}
	w := newSegment(th.gen, seq)
	whole, err := new(decoder).each(&s, seq, func(r eventlog.Record) bool {
		w.add(&eventlog.Event{Kind: r.Kind, Run: r.Run, Data: r.Data})
		return true
	})
	if err != nil || !whole {
		return broken(damaged(t.writer.log.path, "%w", err))
	}
	w.seal()
	return t.exec(update, int64(w.n), w.data, segmentID(th.num, w.last))
}

func (t *tx) deleteThread(name string, epoch uint64, b *eventlog.Batch) error {
	th, err := t.thread(name)
	if err != nil {
		return err
	}
	if err := t.mayWrite(th, epoch); err != nil {
		return err
	}
	if err := t.global(b); err != nil || th == nil {
		return err
	}
	if err := t.flush(true); err != nil {
		return err
	}
	delete(t.writer.threads, name)
	t.unsettled = append(t.unsettled, name)
	if err := t.drop(th, maxSeq); err != nil {
		return err
	}
	if err := t.exec("DELETE FROM entries WHERE thread = ?", th.num); err != nil {
		return err
	}
	return t.exec("DELETE FROM threads WHERE num = ?", th.num)
}
