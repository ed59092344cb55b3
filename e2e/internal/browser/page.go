package browser

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// Page is one tab.
type Page struct {
	b       *Browser
	target  string
	session string

	mu     sync.Mutex
	faults []string
}

// Look is how a page is looked at.
type Look struct {
	Width, Height int
	Phone, Dark   bool
}

// Looks that a page must stand.
var (
	Wide  = Look{Width: 1280, Height: 800}
	Phone = Look{Width: 390, Height: 844, Phone: true}
	Dark  = Look{Width: 1280, Height: 800, Dark: true}
)

// Open opens an address in a new tab.
func (b *Browser) Open(url string, look Look) *Page {
	b.t.Helper()
	p := &Page{b: b}
	var made struct{ TargetID string }
	p.must(b.call("", "Target.createTarget", map[string]any{"url": "about:blank", "newWindow": true}, &made)) // a tab behind others is not drawn
	var joined struct{ SessionID string }
	p.must(b.call("", "Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}, &joined))
	p.target, p.session = made.TargetID, joined.SessionID
	b.mu.Lock()
	b.pages[p.session] = p
	b.mu.Unlock()
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		p.call(domain+".enable", nil, nil)
	}
	scheme := "light"
	if look.Dark {
		scheme = "dark"
	}
	p.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	p.call("Emulation.setDeviceMetricsOverride", map[string]any{
		"width": look.Width, "height": look.Height, "deviceScaleFactor": 1, "mobile": look.Phone,
	}, nil)
	p.Go(url)
	return p
}

func (p *Page) must(err error) {
	p.b.t.Helper()
	if err != nil {
		p.b.t.Fatal(err)
	}
}

func (p *Page) call(method string, params map[string]any, result any) {
	p.b.t.Helper()
	p.must(p.b.call(p.session, method, params, result))
}

// happened keeps what went wrong in the page. It is called with the browser locked.
func (p *Page) happened(m reply) {
	var e struct {
		ExceptionDetails struct {
			Text      string
			Exception struct{ Description string }
		}
		Entry struct{ Level, Text, URL string }
	}
	if json.Unmarshal(m.Params, &e) != nil {
		return
	}
	fault := ""
	switch m.Method {
	case "Runtime.exceptionThrown":
		fault = e.ExceptionDetails.Text + " " + e.ExceptionDetails.Exception.Description
	case "Log.entryAdded":
		if e.Entry.Level == "error" {
			fault = e.Entry.Text + " " + e.Entry.URL
		}
	}
	if fault != "" {
		p.mu.Lock()
		p.faults = append(p.faults, fault)
		p.mu.Unlock()
	}
}

// Faults are the errors that the page met since the last call: exceptions, and what
// the browser logs as errors, such as breaches of its policy.
func (p *Page) Faults() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	faults := p.faults
	p.faults = nil
	return faults
}

// Go goes to an address.
func (p *Page) Go(url string) {
	p.b.t.Helper()
	p.call("Page.navigate", map[string]any{"url": url}, nil)
	p.Wait(`document.readyState === "complete" && location.href !== "about:blank"`)
}

// Reload loads the page again, as F5 does.
func (p *Page) Reload() {
	p.b.t.Helper()
	p.Eval(`window.before = true`, nil)
	p.call("Page.reload", nil, nil)
	p.Wait(`document.readyState === "complete" && !window.before`)
}

// Close closes the tab.
func (p *Page) Close() {
	p.b.t.Helper()
	p.must(p.b.call("", "Target.closeTarget", map[string]any{"targetId": p.target}, nil))
}

// Eval evaluates an expression, promises included; out may be nil.
func (p *Page) Eval(expression string, out any) {
	p.b.t.Helper()
	p.must(p.eval(expression, out))
}

func (p *Page) eval(expression string, out any) error {
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Exception struct{ Description string }
		}
	}
	err := p.b.call(p.session, "Runtime.evaluate", map[string]any{
		"expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true,
	}, &r)
	switch {
	case err != nil:
		return err
	case r.ExceptionDetails != nil:
		return fmt.Errorf("%s: %s", expression, r.ExceptionDetails.Exception.Description)
	case out == nil || len(r.Result.Value) == 0:
		return nil
	}
	return json.Unmarshal(r.Result.Value, out)
}

// Wait waits until the expression is true.
func (p *Page) Wait(expression string) {
	p.b.t.Helper()
	end := time.Now().Add(patience)
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for {
		var holds bool
		err := p.eval("Boolean("+expression+")", &holds)
		if err == nil && holds {
			return
		}
		if time.Now().After(end) {
			var text string
			_ = p.eval(`document.body.innerText`, &text)
			p.b.t.Fatalf("waited in vain for %s (%v); the page says:\n%s", expression, err, text)
		}
		<-tick.C
	}
}

// WaitText waits until the page shows a text.
func (p *Page) WaitText(text string) {
	p.b.t.Helper()
	quoted, _ := json.Marshal(text)
	p.Wait("document.body.innerText.includes(" + string(quoted) + ")")
}

// Text is what an element shows.
func (p *Page) Text(selector string) (text string) {
	p.b.t.Helper()
	p.Eval("document.querySelector("+quote(selector)+").innerText", &text)
	return text
}

// Click clicks the first visible element that matches the selector and, if text
// is given, holds it.
func (p *Page) Click(selector, text string) {
	p.b.t.Helper()
	find := "[...document.querySelectorAll(" + quote(selector) + ")].find((e) => e.offsetParent !== null && !e.disabled && e.innerText.includes(" + quote(text) + "))"
	p.Wait(find)
	var at struct{ X, Y float64 }
	p.Eval("(() => { const e = "+find+"; e.scrollIntoView({block: 'nearest'}); const r = e.getBoundingClientRect(); return {x: r.x + r.width / 2, y: r.y + r.height / 2}; })()", &at)
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		p.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}, nil)
	}
}

// Type types into what has the focus; "\n" is the Enter key.
func (p *Page) Type(text string) {
	p.b.t.Helper()
	for i, part := range strings.Split(text, "\n") {
		if i > 0 {
			for _, kind := range []string{"keyDown", "keyUp"} {
				p.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}, nil)
			}
		}
		if part != "" {
			p.call("Input.insertText", map[string]any{"text": part}, nil)
		}
	}
}

// Screenshot writes a PNG of what is seen if AGENTSTREAM_SCREENSHOTS names a folder.
func (p *Page) Screenshot(name string) {
	p.b.t.Helper()
	dir := os.Getenv("AGENTSTREAM_SCREENSHOTS")
	if dir == "" {
		return
	}
	var shot struct{ Data string }
	p.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(dir+"/"+name+".png", png, 0o600)
	}
	p.must(err)
}

func quote(s string) string {
	q, _ := json.Marshal(s)
	return string(q)
}
