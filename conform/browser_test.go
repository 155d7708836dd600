package conform

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
)

// released is what a worker says of a release.
type released struct{ Report, Spent, Error string }

// TestBrowser: in Chromium, js decodes a policy and releases under a ledger in the private file system of the origin.
// One worker has the ledger at a time, and loses it when it ends; a worker that is ended between debit and draw has
// paid; a torn line is charged; a browser that was killed and is started again repeats the report; and Go reads the
// text.
func TestBrowser(t *testing.T) {
	chromium := numtest.Program(t, "chromium")
	text, p := example(t)
	results := make(chan []byte, 1)
	files := http.FileServer(http.Dir("../js"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
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
	profile, err := os.MkdirTemp("", "wpm-browser-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // what a killed browser's processes still write may take a moment
		for n := 0; os.RemoveAll(profile) != nil && n < 50; n++ {
			time.Sleep(100 * time.Millisecond)
		}
	})
	run := func(fragment string, said any) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
			"--disable-dev-shm-usage", "--user-data-dir="+profile, server.URL+"/test/browser/page.html"+fragment)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { // a kill, without time to write anything more
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}()
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
		Error, Page, Text                                 string
		Released, Held, Repeated, Dying, AfterDeath, Torn released
	}
	run("", &said)
	if said.Error != "" {
		t.Fatal(said.Error)
	}
	for _, check := range []struct{ what, got, want string }{
		{"on the page's own thread", said.Page, "store"},
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
	run("#again", &again)
	if again.Error != "" || again.Repeated.Report != said.Released.Report || again.Repeated.Spent != "9/2" {
		t.Errorf("after a kill of the browser: %+v", again)
	}
}
