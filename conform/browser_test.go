package conform

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
)

// released is what a worker says of a release.
type released struct {
	Report, Spent, Error, Cause string
	Drew                        bool // random bytes were read before the error
}

// devtools are the pipes to a browser by which its quota is set.
type devtools struct {
	to   io.Writer
	from *bufio.Reader
	id   int
}

// call is a command, to the browser or to a page that is attached.
func (d *devtools) call(session, method string, params, out any) error {
	d.id++
	text, err := json.Marshal(map[string]any{"id": d.id, "sessionId": session, "method": method, "params": params})
	if session == "" {
		text, err = json.Marshal(map[string]any{"id": d.id, "method": method, "params": params})
	}
	if err != nil {
		return err
	}
	if _, err := d.to.Write(append(text, 0)); err != nil {
		return err
	}
	for { // events come between
		line, err := d.from.ReadBytes(0)
		if err != nil {
			return err
		}
		var said struct {
			ID     int
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(line[:len(line)-1], &said); err != nil {
			return err
		}
		switch {
		case said.ID != d.id:
		case said.Error != nil:
			return fmt.Errorf("%s: %s", method, said.Error.Message)
		case out == nil:
			return nil
		default:
			return json.Unmarshal(said.Result, out)
		}
	}
}

// quota lets an origin store so many bytes; none is the browser's own limit.
func (d *devtools) quota(origin, size string) error {
	var found struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	if err := d.call("", "Target.getTargets", struct{}{}, &found); err != nil {
		return err
	}
	for _, target := range found.TargetInfos {
		if target.Type != "page" {
			continue
		}
		var page struct{ SessionID string }
		attach := map[string]any{"targetId": target.TargetID, "flatten": true}
		if err := d.call("", "Target.attachToTarget", attach, &page); err != nil {
			return err
		}
		limit := map[string]any{"origin": origin}
		if size != "" {
			limit["quotaSize"] = json.Number(size)
		}
		return d.call(page.SessionID, "Storage.overrideQuotaForOrigin", limit, nil)
	}
	return errors.New("the browser shows no page")
}

// browserProfile makes a folder for what a browser keeps, which may outlast it.
func browserProfile(t *testing.T) string {
	t.Helper()
	profile, err := os.MkdirTemp("", "wpm-browser-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // what a killed browser's processes still write may take a moment
		for n := 0; os.RemoveAll(profile) != nil && n < 50; n++ {
			time.Sleep(100 * time.Millisecond)
		}
	})
	return profile
}

// startChromium starts a browser, which kill ends without time to write anything more.
func startChromium(t *testing.T, profile, url string) (_ *devtools, kill func()) {
	t.Helper()
	chromium := numtest.Program(t, "chromium")
	theirs, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, answers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--disable-dev-shm-usage", "--disable-background-timer-throttling", "--remote-debugging-pipe", "--user-data-dir="+profile, url)
	cmd.ExtraFiles = []*os.File{theirs, answers} // 3 and 4, as the browser wants them
	err = cmd.Start()
	theirs.Close()
	answers.Close()
	if err != nil {
		t.Fatal(err)
	}
	if err := from.SetReadDeadline(time.Now().Add(3 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	return &devtools{to: to, from: bufio.NewReader(from)}, func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		to.Close()
		from.Close()
	}
}

// TestBrowser: in Chromium, js decodes a policy and releases under a ledger in the private file system of the origin,
// and under one in its IndexedDB. One worker or page has the ledger at a time, and loses it when it ends; a worker that
// is ended between debit and draw has paid; a torn line is charged; a browser that was killed and is started again
// repeats the report; where the origin may store nothing more, nothing is drawn and nothing paid; and Go reads the text.
func TestBrowser(t *testing.T) {
	for _, kind := range []string{"opfs", "indexeddb"} {
		t.Run(kind, func(t *testing.T) { inBrowser(t, kind) })
	}
}

func inBrowser(t *testing.T, kind string) {
	text, p := example(t)
	results := make(chan []byte, 1)
	var tools atomic.Pointer[devtools]
	files := http.FileServer(http.Dir("../js"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/quota":
			if err := tools.Load().quota("http://"+r.Host, r.URL.Query().Get("size")); err != nil {
				t.Errorf("quota: %v", err)
			}
		case "/policy":
			_, _ = io.WriteString(w, text)
		case "/result":
			if body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20)); err == nil {
				results <- body
			}
		default:
			files.ServeHTTP(w, r)
		}
	}))
	defer server.Close()
	profile := browserProfile(t)
	run := func(fragment string, said any) {
		t.Helper()
		started, kill := startChromium(t, profile, server.URL+"/test/browser/page.html#"+kind+fragment)
		defer kill()
		tools.Store(started)
		select {
		case body := <-results:
			if err := json.Unmarshal(body, said); err != nil {
				t.Fatalf("%s: %v", body, err)
			}
		case <-time.After(3 * time.Minute):
			t.Fatal("no result from the page")
		}
	}
	var said struct {
		Error, Page, PageHeld, Text                       string
		Released, Held, Repeated, Dying, AfterDeath, Torn released
	}
	run("", &said)
	if said.Error != "" {
		t.Fatal(said.Error)
	}
	page, held := "open", "locked" // IndexedDB is for pages, too
	if kind == "opfs" {
		page, held = "store", "store"
	}
	for _, check := range []struct{ what, got, want string }{
		{"on the page's own thread", said.Page, page},
		{"there, while a worker has it", said.PageHeld, held},
		{"released, spent", said.Released.Spent, "1"},
		{"while another worker has it", said.Held.Error, "locked"},
		{"repeated", said.Repeated.Report, said.Released.Report},
		{"repeated, spent", said.Repeated.Spent, "1"},
		{"at the draw, spent", said.Dying.Spent, "2"},
		{"after that worker's end, spent", said.AfterDeath.Spent, "3"},
		{"torn, spent", said.Torn.Spent, "9/2"},
		{"torn, error", said.Torn.Error, ""},
	} {
		t.Run(check.what, func(t *testing.T) {
			if check.got != check.want {
				t.Errorf("%s: %q, want %q", check.what, check.got, check.want)
			}
		})
	}
	written, err := hex.DecodeString(said.Text)
	if err != nil {
		t.Fatal(err)
	}
	for epoch, want := range map[string]string{"e": said.Released.Report, "f": said.AfterDeath.Report,
		"g": said.Torn.Report} {
		l, err := ledger.New(&inMemory{written}, ledger.Options{Epoch: epoch})
		if err != nil {
			t.Fatal(err)
		}
		r, err := policy.Release(t.Context(), p, l, nil, nil)
		if err != nil || r.String() != want || l.Spent().RatString() != "9/2" {
			t.Errorf("Go reads epoch %s: %v, %v, spent %v, want %s, 9/2", epoch, r, err, l.Spent(), want)
		}
	}
	var again struct {
		Error    string
		Repeated released
	}
	run("-again", &again)
	if again.Error != "" || again.Repeated.Report != said.Released.Report || again.Repeated.Spent != "9/2" {
		t.Errorf("after a kill of the browser: %+v", again)
	}
	var full struct {
		Error             string
		Refused, Released released
	}
	run("-full", &full)
	switch {
	case full.Error != "" || full.Released.Error != "":
		t.Errorf("where nothing more can be stored: %+v", full)
	case kind == "indexeddb" && (full.Refused.Error != "store" || full.Refused.Drew || full.Released.Spent != "11/2"):
		t.Errorf("where nothing more can be stored, want an error of the store, no draw, and one debit later: %+v", full)
	case kind == "opfs" && full.Refused.Error == "" && full.Refused.Spent != "11/2": // its files may have room left
		t.Errorf("where the file system may have room: %+v", full)
	}
}
