package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/internal/blob"
	"github.com/agentstream-go/agentstream/round"
)

// Blob gives a large payload that events name by its hash, with the MIME type
// that the agent said it has. The data is the caller's. It is there as long as
// one of the threads that have it; else the code is blob_unknown.
func (e *Engine) Blob(ctx context.Context, hash string) (data []byte, mimeType string, err error) {
	unknown := refuse("blob_unknown", "no blob %.70q", hash)
	if !blob.IsHash(hash) {
		return nil, "", unknown
	}
	var threads []string
	err = e.o.Log.View(ctx, "", func(v eventlog.View) error {
		prefix := holderKey(hash, "")
		for entry, err := range v.GlobalKeys(prefix, "", 1) {
			if err != nil {
				return err
			}
			threads = append(threads, entry.Key[len(prefix):])
		}
		return nil
	})
	if err != nil || len(threads) == 0 {
		return nil, "", storage(cmp.Or(err, error(unknown)))
	}
	err = e.o.Log.View(ctx, threads[0], func(v eventlog.View) error {
		mime, err := v.Get(keyBlobs + hash)
		if err == nil {
			mimeType = string(mime)
			data, err = v.Get(keyBlob + hash)
		}
		return err
	})
	if err == nil && data == nil { // deleted meanwhile
		err = unknown
	}
	return slices.Clone(data), mimeType, storage(err)
}

func holderKey(hash, thread string) string { return keyHolders + hash + "/" + thread }

// keepBlob stores a payload with what names it. One that this turn has stored
// already is not written again.
func (t *turn) keepBlob(r blob.Ref, payload []byte) {
	if t.blobs[r.SHA256] {
		return
	}
	if t.blobs == nil {
		t.blobs = map[string]bool{}
	}
	t.blobs[r.SHA256] = true
	t.large += int64(len(payload))
	t.j.set(keyBlob+r.SHA256, payload)
	t.j.set(keyBlobs+r.SHA256, []byte(r.MIMEType))
	t.j.setGlobal(holderKey(r.SHA256, t.c.id), []byte{'1'})
}

// offload passes a turn's happenings on without what is too large for events:
// the log, every reader and the list get the same preview. Texts, thoughts and
// arguments stay whole, since clients need them so.
type offload struct {
	t    *turn
	next agui.EventHandler
}

func (o offload) Start(i agui.Item) {
	i.Metadata = o.metadata(i.Metadata)
	o.next.Start(i)
}

func (o offload) Delta(kind agui.Kind, id, text string) { o.next.Delta(kind, id, text) }

func (o offload) End(kind agui.Kind, id string, metadata json.RawMessage) {
	o.next.End(kind, id, o.metadata(metadata))
}

func (o offload) ReplaceArgs(callID, args string) { o.next.ReplaceArgs(callID, args) }

func (o offload) Result(r agui.Result) {
	r.Metadata = o.metadata(r.Metadata)
	if len(r.Content) > blob.Large {
		content, ref := blob.Text("/content", r.Content, o.t.keepBlob)
		r.Content, r.Metadata = content, blob.Note(r.Metadata, ref)
	}
	o.next.Result(r)
}

func (o offload) metadata(raw json.RawMessage) json.RawMessage {
	if len(raw) <= blob.Large {
		return raw
	}
	return blob.Cut(raw, "/metadata", o.t.keepBlob)
}

// Emit shortens what CUSTOM events and activities hold. Arguments that have not
// gone out yet are none of it.
func (o offload) Emit(e agui.Event) {
	switch x := e.(type) {
	case *agui.Custom:
		if len(x.Value) <= blob.Large || x.Name == "agentstream.arguments" {
			break
		}
		short := *x
		if x.Name == "agentstream.raw" {
			short.Value = blob.CutMember(x.Value, "/value", "data", o.t.keepBlob)
		} else {
			short.Value = blob.Cut(x.Value, "/value", o.t.keepBlob)
		}
		e = &short
	case *agui.ActivitySnapshot:
		if len(x.Content) > blob.Large {
			short := *x
			short.Content = blob.Cut(x.Content, "/content", o.t.keepBlob)
			e = &short
		}
	}
	o.next.Emit(e)
}

// loader reads the payloads of the view's thread.
func loader(v eventlog.View) func(string) ([]byte, error) {
	return func(hash string) ([]byte, error) {
		payload, err := v.Get(keyBlob + hash)
		if err == nil && payload == nil {
			err = fmt.Errorf("engine: the blob %s is missing", hash)
		}
		return payload, err
	}
}

// pack encodes a round as it is stored: what is large in its results and in what
// is known of its calls stands elsewhere, mostly where the events have put it already.
func (t *turn) pack(r Round) []byte {
	r.Messages = slices.Clone(r.Messages)
	for i, m := range r.Messages {
		if extra, ok := m.Extra[round.ExtraKey].(string); ok && len(extra) > blob.Large {
			short := *m
			short.Extra = map[string]any{round.ExtraKey: string(blob.Cut(json.RawMessage(extra), "", t.keepBlob))}
			r.Messages[i] = &short
		}
	}
	ofResults := func(path string) bool {
		return strings.HasPrefix(path, "/messages/") && !strings.HasPrefix(path, "/messages/0/")
	}
	return blob.Strip(encode(r), ofResults, t.keepBlob)
}

// unpack undoes pack. Payloads go right to their places: as JSON they would be
// written and read once more.
func unpack(v eventlog.View, data []byte, err error) (r Round, _ error) {
	load := loader(v)
	if r, _, err = decode[Round](data, err); err != nil {
		return r, err
	}
	for _, ref := range blob.Refs(data) {
		payload, err := load(ref.SHA256)
		if err != nil {
			return r, err
		}
		if !r.place(strings.Split(ref.Path, "/")[1:], ref.Text(payload)) {
			return r, fmt.Errorf("engine: a stored round has no %s", ref.Path)
		}
	}
	for _, m := range r.Messages {
		extra, ok := m.Extra[round.ExtraKey].(string)
		if !ok {
			continue
		}
		full, err := blob.Fill(json.RawMessage(extra), "", load)
		if err != nil {
			return r, err
		}
		m.Extra[round.ExtraKey] = string(full)
	}
	return r, nil
}

// place puts a text where the steps of its path lead; false if they lead nowhere.
func (r *Round) place(path []string, text string) bool {
	if len(path) < 3 || path[0] != "messages" {
		return false
	}
	i, err := strconv.Atoi(path[1])
	if err != nil || i < 0 || i >= len(r.Messages) {
		return false
	}
	m := r.Messages[i]
	switch strings.Join(path[2:], "/") {
	case "content":
		m.Content = text
		return true
	case "extra/" + round.ExtraKey:
		m.Extra[round.ExtraKey] = text
		return true
	}
	if len(path) < 5 || path[2] != "user_input_multi_content" {
		return false
	}
	k, err := strconv.Atoi(path[3])
	if err != nil || k < 0 || k >= len(m.UserInputMultiContent) {
		return false
	}
	return placePart(&m.UserInputMultiContent[k], path[4:], text)
}

func placePart(p *schema.MessageInputPart, path []string, text string) bool {
	var in *schema.MessagePartCommon
	switch {
	case path[0] == "text":
		p.Text = text
		return true
	case path[0] == "image" && p.Image != nil:
		in = &p.Image.MessagePartCommon
	case path[0] == "audio" && p.Audio != nil:
		in = &p.Audio.MessagePartCommon
	case path[0] == "video" && p.Video != nil:
		in = &p.Video.MessagePartCommon
	case path[0] == "file" && p.File != nil:
		in = &p.File.MessagePartCommon
	}
	switch {
	case in == nil || len(path) < 2:
		return false
	case path[1] == "base64data":
		in.Base64Data = &text
	case path[1] == "url":
		in.URL = &text
	default:
		return false
	}
	return true
}
