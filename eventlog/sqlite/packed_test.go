package sqlite

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/agentstream-go/agentstream/eventlog"
)

// said is a segment of events as agents' chunks make them.
func said(n int) segment {
	var events []eventlog.Event
	for i := range n {
		events = append(events, eventlog.Event{Kind: 1, Run: "run-0123456789", Data: fmt.Appendf(nil,
			`{"type":"TEXT_MESSAGE_CONTENT","timestamp":%d,"messageId":"m-0123456789","delta":"word %d "}`, 1730000000000+i*37, i*7919%1000)})
	}
	return segmentOf(events...)
}

func TestDeflate(t *testing.T) {
	noise := []byte{}
	for i := range 100 {
		sum := sha256.Sum256([]byte{byte(i)})
		noise = append(noise, sum[:]...)
	}
	var d deflater
	for name, s := range map[string]segment{
		"said": said(2000), "noise": segmentOf(eventlog.Event{Data: noise}), "nothing": segmentOf(eventlog.Event{}),
		"zeros": segmentOf(eventlog.Event{Data: make([]byte, 3<<20)}),
	} {
		packed, err := d.deflate(s)
		if err != nil {
			t.Fatal(err)
		}
		small := len(packed.data) < len(s.data)
		if plain := name == "noise" || name == "nothing"; small == plain {
			t.Errorf("%s: %d bytes became %d", name, len(s.data), len(packed.data))
		}
		packed.data, packed.sealed = bytes.Clone(packed.data), false
		for _, at := range []int{0, 1, segmentHeader, segmentHeader + 1, len(packed.data) - 1} {
			bad := packed
			bad.data = bytes.Clone(packed.data)
			bad.data[at] ^= 1
			if err := bad.unpack(); err == nil {
				t.Errorf("%s: a bit of byte %d of %d is another, which is not found", name, at, len(bad.data))
			}
		}
		if err := packed.unpack(); err != nil || !bytes.Equal(packed.data[segmentHeader:], s.data[segmentHeader:]) {
			t.Errorf("%s: %v, or it is something else", name, err)
		}
	}
}

// FuzzPacked takes bytes with a right checksum for a packed segment.
func FuzzPacked(f *testing.F) {
	var d deflater
	for _, n := range []int{20, 300} {
		s, err := d.deflate(said(n))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.Clone(s.data[segmentHeader:]), uint16(n))
		f.Add(bytes.Clone(s.data[segmentHeader:len(s.data)-3]), uint16(n))
	}
	bomb, err := d.deflate(segmentOf(eventlog.Event{Data: make([]byte, 1<<20)}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bytes.Clone(bomb.data[segmentHeader:]), uint16(1))
	stream := bytes.Clone(bomb.data[segmentHeader+3:])
	f.Add(append(binary.AppendUvarint(nil, 5), stream...), uint16(1))
	f.Add(append(binary.AppendUvarint(nil, 1<<62), stream...), uint16(1))
	f.Fuzz(func(t *testing.T, body []byte, n uint16) {
		s := segment{gen: 7, last: uint64(n), n: uint64(n), data: append(make([]byte, segmentHeader), body...)}
		s.data[0] = packedVersion
		s.seal()
		if s.unpack() != nil {
			return
		}
		if len(s.data) > segmentHeader+maxRatio*len(body) {
			t.Fatalf("%d bytes became %d", len(body), len(s.data))
		}
		records := bytes.Clone(s.data[segmentHeader:])
		again, err := d.deflate(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := again.unpack(); err != nil || !bytes.Equal(again.data[segmentHeader:], records) {
			t.Errorf("packed again it is something else, %v", err)
		}
		_, _ = new(decoder).each(&again, 0, func(eventlog.Record) bool { return true })
	})
}

func BenchmarkPacked(b *testing.B) {
	s := said(2200)
	var d deflater
	packed, err := d.deflate(s)
	if err != nil {
		b.Fatal(err)
	}
	packed.data = bytes.Clone(packed.data)
	b.Run("deflate", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(s.data)))
		for b.Loop() {
			_, _ = d.deflate(s)
		}
		b.ReportMetric(float64(len(s.data))/float64(len(packed.data)), "ratio")
	})
	b.Run("inflate", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(s.data)))
		for b.Loop() {
			one := packed
			if err := one.unpack(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
