package eventlogtest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/eventlog"
)

var leaseTests = map[string]func(*testing.T, *bench){
	"lease/renewal":        testRenewal,
	"lease/fencing":        testFencing,
	"lease/giving back":    testGivingBack,
	"lease/invalid":        testLeaseInvalid,
	"lease/one winner":     testOneWinner,
	"lease/takeover":       testTakeover,
	"lease/after reopen":   testLeaseReopen,
	"lease/deleted thread": testLeaseDeleted,
}

const ttl = 10 * time.Second

// lease must succeed.
func (b *bench) lease(thread, owner string) uint64 {
	b.t.Helper()
	epoch, err := b.log.Lease(b.ctx, thread, owner, ttl)
	if err != nil || epoch == 0 {
		b.t.Fatalf("lease of %q for %q: %d, %v", thread, owner, epoch, err)
	}
	return epoch
}

func (b *bench) held(thread, owner string) {
	b.t.Helper()
	if epoch, err := b.log.Lease(b.ctx, thread, owner, ttl); !errors.Is(err, eventlog.ErrHeld) || epoch != 0 {
		b.t.Errorf("lease of %q for %q: %d, %v, want ErrHeld", thread, owner, epoch, err)
	}
}

func testRenewal(t *testing.T, b *bench) {
	first := b.lease("t", "a")
	b.pass(ttl - 1)
	b.held("t", "b")
	if again := b.lease("t", "a"); again != first {
		t.Errorf("the epoch became %d, was %d", again, first)
	}
	b.pass(ttl - time.Millisecond)
	b.held("t", "b")
	b.pass(time.Millisecond)
	// It has run out, but nobody has taken it.
	if again := b.lease("t", "a"); again != first {
		t.Errorf("the epoch became %d, was %d", again, first)
	}
	b.pass(ttl)
	second := b.lease("t", "b")
	if second <= first {
		t.Errorf("the second epoch is %d after %d", second, first)
	}
	b.held("t", "a")
	b.pass(ttl)
	if third := b.lease("t", "a"); third <= second {
		t.Errorf("the third epoch is %d after %d", third, second)
	}
	if other := b.lease("u", "a"); other <= second {
		t.Errorf("another thread's epoch is %d: it was given before", other)
	}
}

func testFencing(t *testing.T, b *bench) {
	write := func(epoch uint64) eventlog.Batch {
		return eventlog.Batch{Thread: "t", Epoch: epoch, Events: events(fmt.Sprint(epoch)), PutGlobal: entries("g", "1")}
	}
	b.refuse(write(1), eventlog.ErrFenced)
	b.want("t")
	first := b.lease("t", "a")
	b.append(write(first))
	b.refuse(write(0), eventlog.ErrFenced)
	b.refuse(write(first+1), eventlog.ErrFenced)
	b.pass(2 * ttl)
	b.append(write(first)) // nobody has taken it
	b.append(write(0))     // nobody holds it
	second := b.lease("t", "b")
	b.refuse(write(first), eventlog.ErrFenced)
	b.append(write(second))
	b.want("t", fmt.Sprintf("1 1 run %d", first), fmt.Sprintf("2 1 run %d", first), "3 1 run 0",
		fmt.Sprintf("4 1 run %d", second), "global g=1")
}

func testGivingBack(t *testing.T, b *bench) {
	back := func(owner string) {
		t.Helper()
		if epoch, err := b.log.Lease(b.ctx, "t", owner, 0); err != nil || epoch != 0 {
			t.Errorf("giving back for %q: %d, %v", owner, epoch, err)
		}
	}
	back("a")
	first := b.lease("t", "a")
	back("b") // not the owner
	b.held("t", "b")
	back("a")
	back("a")
	b.refuse(eventlog.Batch{Thread: "t", Epoch: first, Events: events("late")}, eventlog.ErrFenced)
	b.write("t", "free")
	second := b.lease("t", "b")
	if second <= first {
		t.Errorf("epoch %d after %d", second, first)
	}
	b.want("t", "1 1 run free")
	back("b")
	if third := b.lease("t", "b"); third <= second {
		t.Errorf("the same owner's new epoch is %d after %d", third, second)
	}
}

func testLeaseInvalid(t *testing.T, b *bench) {
	for _, c := range [][2]string{{"", "a"}, {"t", ""}} {
		if _, err := b.log.Lease(b.ctx, c[0], c[1], ttl); !errors.Is(err, eventlog.ErrInvalid) {
			t.Errorf("%q: got %v", c, err)
		}
	}
}

func testOneWinner(t *testing.T, b *bench) {
	var mu sync.Mutex
	var epochs []uint64
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			epoch, err := b.log.Lease(b.ctx, "t", fmt.Sprint("owner", i), ttl)
			if err == nil {
				mu.Lock()
				epochs = append(epochs, epoch)
				mu.Unlock()
			} else if !errors.Is(err, eventlog.ErrHeld) {
				t.Errorf("owner %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	if len(epochs) != 1 {
		t.Errorf("%d owners hold it: %v", len(epochs), epochs)
	}
}

func testTakeover(t *testing.T, b *bench) {
	l, ok := b.log.(eventlog.LeaseTaker)
	if !ok {
		t.Skip("the store is no LeaseTaker")
	}
	mine, dead, dead2 := b.lease("t", "me"), b.lease("u", "dead"), b.lease("v", "dead too")
	if err := l.Takeover(b.ctx, "me"); err != nil {
		t.Fatal(err)
	}
	b.append(eventlog.Batch{Thread: "t", Epoch: mine, Events: events("mine")})
	b.refuse(eventlog.Batch{Thread: "u", Epoch: dead, Events: events("dead")}, eventlog.ErrFenced)
	b.refuse(eventlog.Batch{Thread: "v", Epoch: dead2, Events: events("dead")}, eventlog.ErrFenced)
	if epoch := b.lease("u", "me"); epoch <= dead2 {
		t.Errorf("epoch %d after %d", epoch, dead2)
	}
	b.held("t", "dead")
}

func testLeaseReopen(t *testing.T, b *bench) {
	first := b.lease("t", "a")
	b.reopen()
	b.held("t", "b")
	b.append(eventlog.Batch{Thread: "t", Epoch: first, Events: events("a")})
	b.pass(ttl)
	if second := b.lease("t", "b"); second <= first {
		t.Errorf("epoch %d after %d", second, first)
	}
}

func testLeaseDeleted(t *testing.T, b *bench) {
	l := b.deleter()
	first := b.lease("t", "a")
	if err := l.DeleteThread(b.ctx, "t", 0, eventlog.Batch{}); !errors.Is(err, eventlog.ErrFenced) {
		t.Errorf("deletion without the lease: %v", err)
	}
	if err := l.DeleteThread(b.ctx, "t", first, eventlog.Batch{}); err != nil {
		t.Fatal(err)
	}
	b.refuse(eventlog.Batch{Thread: "t", Epoch: first, Events: events("late")}, eventlog.ErrFenced)
	if second := b.lease("t", "b"); second <= first {
		t.Errorf("the new thread's epoch is %d, the old one's was %d", second, first)
	}
	b.refuse(eventlog.Batch{Thread: "t", Epoch: first, Events: events("late")}, eventlog.ErrFenced)
}
