package torture_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/internal/aguitest"
)

// sampled is a thread that published clients look at in the end, when the server
// is left alone.
type sampled struct {
	d   *driver
	log []entry
}

func (w *world) sample(d *driver, log []entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.samples = append(w.samples, sampled{d, log})
}

func (w *world) checkSamples(t *testing.T) {
	t.Helper()
	clients := publishedClients(t)
	if clients == nil || t.Failed() {
		return
	}
	for _, x := range w.samples {
		faults, err := x.d.checkClients(t.Context(), clients, x.log)
		if err != nil || len(faults) > 0 {
			t.Errorf("%v\n%s\n%s", err, strings.Join(faults, "\n"), x.d.plan)
		}
	}
	t.Logf("%d threads seen by the published clients", len(w.samples))
}

// publishedClients are the real ones, nil where they are not installed: then only
// the readers of this package look.
func publishedClients(t *testing.T) *aguitest.Driver {
	t.Helper()
	if _, err := os.Stat("../clients/node_modules"); err != nil && os.Getenv("AGENTSTREAM_E2E_CLIENTS") == "" {
		t.Log("without the published clients, which make clients installs")
		return nil
	}
	return aguitest.Clients(t)
}

// checkClients: a published client that gets the stored runs one after the other,
// and one that comes now, say nothing and end with what is stored.
func (d *driver) checkClients(ctx context.Context, clients *aguitest.Driver, log []entry) (faults []string, err error) {
	var stored struct{ Messages json.RawMessage }
	if err := d.w.get(ctx, d.path("/messages"), &stored); err != nil {
		return nil, err
	}
	address, token, err := d.w.where(ctx)
	if err != nil {
		return nil, err
	}
	for _, v := range aguitest.Versions {
		was := aguitest.Call{Agent: fmt.Sprintf("was there, %s %s %s", d.id, v, address), Version: v, ThreadID: d.id}
		runs := byRun(log)
		for i, run := range runs {
			was.RunID, was.Frames = run[0].Event.(*agui.RunStarted).RunID, frames(run)
			r, err := clients.Run(ctx, was)
			if err != nil {
				return faults, err
			}
			was.Resume = nil
			for _, p := range r.PendingInterrupts {
				was.Resume = append(was.Resume, agui.Resume{InterruptID: p.ID, Status: "cancelled"})
			}
			faults = append(faults, d.said(v, "that was there", r, stored.Messages, i == len(runs)-1)...)
		}
		comes := aguitest.Call{
			Version: v, ThreadID: d.id, Method: "GET", Connect: true, Headers: map[string]string{"Authorization": "Bearer " + token},
			URL: address + "/agui/" + d.plan.agent + "?threadId=" + url.QueryEscape(d.id),
		}
		r, err := clients.Run(ctx, comes)
		if err != nil {
			return faults, err
		}
		faults = append(faults, d.said(v, "that comes", r, stored.Messages, true)...)
		if err := clients.Drop(ctx, was.Agent); err != nil {
			return faults, err
		}
	}
	return faults, nil
}

func (d *driver) said(v agui.Version, which string, r aguitest.Report, stored []byte, last bool) (faults []string) {
	if len(r.Warnings) > 0 || r.Error != "" && r.RunError == nil {
		faults = append(faults, fmt.Sprintf("client %s %s: %q %s", v, which, r.Warnings, r.Error))
	}
	if last && !same(stored, r.Messages) {
		faults = append(faults, fmt.Sprintf("client %s %s (-stored +client):\n%s", v, which, diff(stored, r.Messages)))
	}
	return faults
}

func byRun(log []entry) (runs [][]entry) {
	for _, e := range log {
		if e.Type() == agui.TypeRunStarted {
			runs = append(runs, nil)
		}
		runs[len(runs)-1] = append(runs[len(runs)-1], e)
	}
	return runs
}

func frames(run []entry) *string {
	data := make([][]byte, 0, len(run))
	for _, e := range run {
		data = append(data, e.data)
	}
	return aguitest.Frames(data...)
}
