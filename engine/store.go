package engine

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
)

// Keys of a thread.
const (
	keyList   = "list"    // the AG-UI list as of some record
	keyFacts  = "facts"   // what the agent offers
	keyRun    = "run/"    // + ordinal: runRecord
	keyRunID  = "rid/"    // + run id: its ordinal
	keyRound  = "round/"  // + number: Round
	keyQueued = "queued/" // + run id: StartRequest
	keyAnswer = "answer/" // + hash of a resume: the run that it was answered with
	keyGrant  = "grant/"  // + id: Grant
	keyAsked  = "asked/"  // + request id
	keyBlob   = "blob/"   // + hash: a large payload
	keyBlobs  = "blobs/"  // + hash: its MIME type
)

// Global keys.
const (
	keyThread  = "thread/"  // + id: threadRecord
	keyRecent  = "recent/"  // + inverted time + id, so that the last changed comes first
	keyOpen    = "open/"    // + thread id, while a turn is open or runs are queued
	keyRuns    = "runs/"    // + run id, NUL, thread id
	keyRequest = "request/" // + id: Request
	keyPending = "pending/" // + id: its thread
	keyGrants  = "grants/"  // + id: its thread
	keyHolders = "blob/"    // + hash, slash, thread id: that the thread has it
	keyChanged = "changed/" // + request id, slash, number of the state: requestChange that the feed lacks

	// What closed runs wait for, by the end of the oldest: + time + thread id.
	keyCompact  = "compact/"
	keyCollapse = "collapse/"
)

// threadRecord is a thread as it is stored. Cursor, LastRun and what the agent
// offers are filled in when it is read.
type threadRecord struct {
	Thread
	Session   string         `json:"session,omitempty"` // the agent's own id
	Titled    bool           `json:"titled,omitempty"`  // by a person: the agent's titles no longer count
	Mode      string         `json:"mode,omitempty"`    // asked for
	Model     string         `json:"model,omitempty"`
	Turns     int            `json:"turns,omitempty"`
	Runs      int            `json:"runs,omitempty"`
	NextRound int            `json:"nextRound,omitempty"`
	Input     []agui.Message `json:"input,omitempty"` // what the user said and no earlier turn's round has
	Last      *runRecord     `json:"last,omitempty"`
	Turn      *turnRecord    `json:"turn,omitempty"` // the open one
	Queue     []string       `json:"queue,omitempty"`
	Recent    string         `json:"recent,omitempty"`    // its key
	ListBytes int            `json:"listBytes,omitempty"` // size of the stored list
	Unlisted  int            `json:"unlisted,omitempty"`  // bytes of events after it
	Bytes     int64          `json:"bytes,omitempty"`     // of the closed runs that are not collapsed
	Floor     uint64         `json:"floor,omitempty"`     // what the log has up to here is read from its beginning only
	Compact   stage          `json:"compact,omitzero"`
	Collapse  stage          `json:"collapse,omitzero"`
}

// stage is how far a thread's closed runs are with taking less room.
type stage struct {
	Key string `json:"key,omitempty"` // among what waits; empty: nothing does
	Seq uint64 `json:"seq,omitempty"` // done up to this record
	Run int    `json:"run,omitempty"` // and for all runs up to this ordinal
}

// turnRecord is the open turn of a thread.
type turnRecord struct {
	Prefix   string `json:"prefix"`
	From     uint64 `json:"from"` // the record before its first RUN_STARTED
	Runs     int    `json:"runs"`
	Requests int    `json:"requests"`
	Waiting  bool   `json:"waiting,omitempty"`
}

// runRecord is a run as it is stored; the cursors are filled in when it is read.
type runRecord struct {
	Run
	Ordinal   int        `json:"ordinal"`
	FromSeq   uint64     `json:"fromSeq,omitempty"`
	ToSeq     uint64     `json:"toSeq,omitempty"`
	Inputs    []inputRef `json:"inputs,omitempty"`  // its new user messages
	Cancelled bool       `json:"dropped,omitempty"` // while it was queued
	Bytes     int64      `json:"bytes,omitempty"`   // of its events
}

// inputRef tells a user message from another without keeping it.
type inputRef struct {
	ID   string `json:"id"`
	Hash string `json:"hash"`
}

// storedList is the AG-UI list as of the record with number Seq.
type storedList struct {
	Seq      uint64          `json:"seq"`
	Messages []agui.Message  `json:"messages"`
	State    json.RawMessage `json:"state,omitempty"`
}

// floor is up to where the log is read from its beginning only.
func (r *threadRecord) floor() uint64 {
	if r == nil {
		return 0
	}
	return r.Floor
}

// public gives the run with its cursors.
func (r *runRecord) public(gen uint32) Run {
	run := r.Run
	if r.Cancelled && run.State == RunQueued {
		run.State = RunCancelled
	}
	if r.FromSeq > 0 {
		run.From = eventlog.Cursor{Gen: gen, Seq: r.FromSeq}.String()
	}
	if r.ToSeq > 0 {
		run.To = eventlog.Cursor{Gen: gen, Seq: r.ToSeq}.String()
	}
	return run
}

// public gives the thread as of head.
func (r *threadRecord) public(head eventlog.Cursor) Thread {
	t := r.Thread
	t.Cursor = head.String()
	if r.Last != nil {
		run := r.Last.public(head.Gen)
		t.LastRun = &run
	}
	return t
}

func ordinal(n int) string { return fmt.Sprintf("%012d", n) }

func recentKey(at time.Time, id string) string {
	return keyRecent + fmt.Sprintf("%016x", uint64(math.MaxInt64-at.UnixMicro())) + "/" + id
}

func runsKey(run, thread string) string { return keyRuns + run + "\x00" + thread }

// encode encodes a record. Records are made of strings, numbers and JSON that
// was checked, so that failing is a defect.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("engine: a record that cannot be stored: %v", err))
	}
	return data
}

// decode reads a record; found is false for a key that is not there.
func decode[T any](data []byte, err error) (v T, found bool, _ error) {
	if err != nil || data == nil {
		return v, false, err
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return v, false, fmt.Errorf("engine: a stored record is damaged: %w", err)
	}
	return v, true, nil
}

func getThread(v eventlog.View, id string) (*threadRecord, error) {
	rec, found, err := decode[*threadRecord](v.GetGlobal(keyThread + id))
	if !found {
		return nil, err
	}
	return rec, nil
}

func getRun(v eventlog.View, id string) (*runRecord, error) {
	n, err := v.Get(keyRunID + id)
	if n == nil || err != nil {
		return nil, err
	}
	run, found, err := decode[*runRecord](v.Get(keyRun + string(n)))
	if !found {
		return nil, err
	}
	return run, nil
}

// turnPrefix makes the prefix of a turn's ids: the turn's number, so that it is
// unique in the thread, and a hash, so that it differs between threads.
func turnPrefix(thread string, made time.Time, number int) string {
	sum := sha256.Sum256([]byte(thread + "\x00" + made.UTC().Format(time.RFC3339Nano)))
	hash := strings.ToLower(base32.StdEncoding.EncodeToString(sum[:5]))
	n := strconv.FormatInt(int64(number), 36)
	if len(n) < 4 {
		n = strings.Repeat("0", 4-len(n)) + n
	}
	return n[len(n)-4:] + hash[:4]
}

func hashOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}
