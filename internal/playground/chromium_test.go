package playground

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// browser is Chromium, driven over a pipe: messages in JSON, each with a zero byte at its end (the DevTools protocol).
type browser struct {
	*wire
	t testing.TB
}

// wire is the connection.
type wire struct {
	in      io.Writer
	session string
	next    int

	mu      sync.Mutex
	waiting map[int]chan reply
	events  []event
	closed  bool
}

type reply struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

type event struct {
	Method string
	Params json.RawMessage
}

// chromium starts a browser with an empty profile and one page. Without one the test is skipped, but with WPM_CLIENTS=1
// it fails.
func chromium(t testing.TB) *browser {
	t.Helper()
	if os.Getenv("WPM_CLIENTS") != "1" {
		t.Skip("WPM_CLIENTS=1 opens the page in Chromium")
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("no chromium, which WPM_CLIENTS=1 wants")
	}
	fromTest, toBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromBrowser, toTest, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--disable-gpu",
		"--no-first-run",
		"--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking", "--user-data-dir="+t.TempDir(),
		"about:blank")
	cmd.ExtraFiles = []*os.File{fromTest, toTest} // 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fromTest.Close()
	toTest.Close()
	b := &browser{&wire{in: toBrowser, waiting: map[int]chan reply{}}, t}
	go b.read(fromBrowser)
	t.Cleanup(func() {
		_, _ = b.try("Browser.close", nil)
		toBrowser.Close()
		if err := cmd.Wait(); err != nil {
			t.Logf("chromium: %v", err)
		}
		fromBrowser.Close()
		time.Sleep(100 * time.Millisecond) // its children still write into the profile
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	b.session = session.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

func (b *wire) read(r io.Reader) {
	lines := bufio.NewReader(r)
	for {
		text, err := lines.ReadBytes(0)
		b.mu.Lock()
		if err != nil {
			b.closed = true
			for _, c := range b.waiting {
				close(c)
			}
			b.waiting = nil
			b.mu.Unlock()
			return
		}
		var m struct {
			ID int
			reply
			event
		}
		if json.Unmarshal(text[:len(text)-1], &m) == nil {
			if c := b.waiting[m.ID]; m.ID != 0 && c != nil {
				c <- m.reply
				delete(b.waiting, m.ID)
			} else if m.Method != "" {
				b.events = append(b.events, m.event)
			}
		}
		b.mu.Unlock()
	}
}

// patience is for one answer of the browser; the machine may be busy.
const patience = 2 * time.Minute

func (b *wire) try(method string, params any) (json.RawMessage, error) {
	b.next++
	c := make(chan reply, 1)
	b.mu.Lock()
	closed := b.closed
	if !closed {
		b.waiting[b.next] = c
	}
	b.mu.Unlock()
	if closed {
		return nil, errors.New("the browser has gone")
	}
	m := map[string]any{"id": b.next, "method": method}
	if params != nil {
		m["params"] = params
	}
	if b.session != "" && !strings.HasPrefix(method, "Browser.") {
		m["sessionId"] = b.session
	}
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		return nil, err
	}
	select {
	case r, ok := <-c:
		if !ok {
			return nil, errors.New("the browser has gone")
		}
		if r.Error != nil {
			return nil, errors.New(r.Error.Message)
		}
		return r.Result, nil
	case <-time.After(patience):
		return nil, context.DeadlineExceeded
	}
}

func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	text, err := b.try(method, params)
	if err == nil && result != nil {
		err = json.Unmarshal(text, result)
	}
	if err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
}

// eval runs a script in the page, which may return a promise, and decodes what it returns.
func (b *browser) eval(result any, format string, args ...any) {
	b.t.Helper()
	script := fmt.Sprintf(format, args...)
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	b.call("Runtime.evaluate", map[string]any{"expression": script, "awaitPromise": true, "returnByValue": true,
		"allowUnsafeEvalBlockedByCSP": false}, &r)
	if e := r.ExceptionDetails; e != nil {
		b.t.Fatalf("%s: %s %s", script, e.Text, e.Exception.Description)
	}
	if result != nil {
		if err := json.Unmarshal(r.Result.Value, result); err != nil {
			b.t.Fatalf("%s: %v in %s", script, err, r.Result.Value)
		}
	}
}

// until waits for a condition of the page.
func (b *browser) until(condition string) {
	b.t.Helper()
	var state string
	b.eval(&state, `new Promise((done) => { const end = Date.now() + 90000; const look = () => {
		let ok = false; try { ok = %s; } catch {}
		if (ok || Date.now() > end) done(ok ? 'ok' : document.body ? document.body.innerText : ''); else setTimeout(look, 20); }; look(); })`, condition)
	if state != "ok" {
		b.t.Fatalf("never: %s\n%s", condition, state)
	}
}

// size sets the size of the window, and light or dark.
func (b *browser) size(width, height int, scheme string) {
	b.call("Emulation.setDeviceMetricsOverride",
		map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	b.call("Emulation.setEmulatedMedia",
		map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// open goes to an address.
func (b *browser) open(url string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	b.until("document.readyState === 'complete' && location.href.startsWith(" + fmt.Sprintf("%q", url) + ")")
}

// key presses a key.
func (b *browser) key(name string) {
	text := ""
	if name == "Enter" {
		text = "\r"
	}
	code := map[string]int{"Enter": 13, "Tab": 9, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
		"Delete": 46, " ": 32}[name]
	for _, kind := range []string{"keyDown", "keyUp"} {
		b.call("Input.dispatchKeyEvent",
			map[string]any{"type": kind, "key": name, "code": name, "text": text, "windowsVirtualKeyCode": code}, nil)
	}
}

// click clicks at a share of the width and height of an element.
func (b *browser) click(id string, x, y float64) {
	b.t.Helper()
	var box [4]float64
	b.eval(&box, `(() => { const e = document.getElementById(%q); e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()`, id)
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent",
			map[string]any{"type": kind, "x": box[0] + x*box[2], "y": box[1] + y*box[3], "button": "left", "clickCount": 1}, nil)
	}
}

func (b *browser) text(id string) (text string) {
	b.t.Helper()
	b.eval(&text, "document.getElementById(%q).textContent", id)
	return text
}

// value is what a control is set to.
func (b *browser) value(id string) (value string) {
	b.t.Helper()
	b.eval(&value, "document.getElementById(%q).value", id)
	return value
}

// picture returns a screenshot of the whole page, in PNG.
func (b *browser) picture() []byte {
	b.t.Helper()
	var shot struct{ Data string }
	b.call("Page.captureScreenshot",
		map[string]any{"format": "png", "captureBeyondViewport": true, "optimizeForSpeed": false}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	return png
}

// complaints returns what the browser has logged of errors and of what the page's rules forbid.
func (b *wire) complaints() (list []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.events {
		if e.Method == "Log.entryAdded" || e.Method == "Runtime.exceptionThrown" || e.Method == "Runtime.consoleAPICalled" {
			list = append(list, string(e.Params))
		}
	}
	return list
}

// requests returns the addresses that the page has asked for.
func (b *wire) requests() (list []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.events {
		var p struct{ Request struct{ URL string } }
		if e.Method == "Network.requestWillBeSent" && json.Unmarshal(e.Params, &p) == nil {
			list = append(list, p.Request.URL)
		}
	}
	return list
}
