package conform

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wpm-go/wpm/policy/ledger"
)

// A tab is a page of its own, which has the functions of js/test/browser/tab.js.
type tab struct {
	tools   *devtools
	session string
}

// sizes returns the resident memory of the processes that run pages, in bytes, on Linux.
func (d *devtools) sizes(t *testing.T) map[int]int {
	t.Helper()
	var found struct {
		ProcessInfo []struct {
			Type string
			ID   int
		}
	}
	if err := d.call("", "SystemInfo.getProcessInfo", struct{}{}, &found); err != nil {
		t.Fatal(err)
	}
	sizes := map[int]int{}
	for _, p := range found.ProcessInfo {
		if p.Type != "renderer" {
			continue
		}
		// A process that has ended meanwhile has no size. The second number is that of resident pages.
		said, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.ID))
		if numbers := strings.Fields(string(said)); len(numbers) > 1 {
			pages, _ := strconv.Atoi(numbers[1])
			sizes[p.ID] = pages * os.Getpagesize()
		}
	}
	return sizes
}

// process finds the process that runs the tab: the one that grows when the tab takes 300 MB. A process that starts
// meanwhile has half of that at most.
func (o *tab) process(t *testing.T) *os.Process {
	t.Helper()
	before := o.tools.sizes(t)
	o.ask(t, "void (globalThis.ballast = new Uint8Array(3e8).fill(1))")
	var grown []int
	for pid, now := range o.tools.sizes(t) {
		if now-before[pid] > 2e8 {
			grown = append(grown, pid)
		}
	}
	if len(grown) != 1 {
		t.Fatalf("processes %v have grown", grown)
	}
	page, err := os.FindProcess(grown[0])
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// open opens a page in a tab, and waits until its module has run.
func (d *devtools) open(t *testing.T, url string) *tab {
	t.Helper()
	var target struct{ TargetID string }
	var page struct{ SessionID string }
	if err := d.call("", "Target.createTarget", map[string]any{"url": url}, &target); err != nil {
		t.Fatal(err)
	}
	if err := d.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &page); err != nil {
		t.Fatal(err)
	}
	o := &tab{tools: d, session: page.SessionID}
	for end := time.Now().Add(time.Minute); o.ask(t, "typeof tab") != `"object"`; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the module of the page does not run")
		}
	}
	return o
}

// start begins a promise in the tab, and wait returns what it comes to, as JSON.
func (o *tab) start(t *testing.T, expression string) {
	t.Helper()
	o.ask(t, "void (globalThis.started = "+expression+")")
}

func (o *tab) wait(t *testing.T) string { t.Helper(); return o.ask(t, "started") }

func (o *tab) ask(t *testing.T, expression string) string {
	t.Helper()
	var said struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	err := o.tools.call(o.session, "Runtime.evaluate",
		map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &said)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	if said.ExceptionDetails != nil {
		t.Fatalf("%s: %s", expression, said.ExceptionDetails.Exception.Description)
	}
	return string(said.Result.Value)
}

// A counter is the server of the tabs: it keeps the reports that were delivered, and hears of draws.
type counter struct {
	sync.Mutex
	reports []string
	drawing chan string
}

func (c *counter) delivered() []string {
	c.Lock()
	defer c.Unlock()
	return slices.Clone(c.reports)
}

// TestBrowserTabs: two tabs of Chromium share a ledger in IndexedDB, each a process. They never spend more than its budget,
// and each report that was delivered is in the ledger, also after the browser was killed. While one tab has the ledger, the
// other does not get it. When a tab, or the whole browser, is killed in its draw, the debit is there. Where the origin may
// store nothing more, neither tab draws.
func TestBrowserTabs(t *testing.T) {
	text, _ := example(t)
	c := &counter{drawing: make(chan string, 1)}
	files := http.FileServer(http.Dir("../js"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		switch {
		case err != nil:
		case r.URL.Path == "/policy":
			_, _ = io.WriteString(w, text)
		case r.URL.Path == "/delivered":
			c.Lock()
			c.reports = append(c.reports, string(body))
			c.Unlock()
		case r.URL.Path == "/drawing":
			c.drawing <- string(body)
		default:
			files.ServeHTTP(w, r)
		}
	}))
	defer server.Close()
	profile := browserProfile(t)
	url := server.URL + "/test/browser/tab.html"

	// Two tabs want more than the budget of 20, and the browser is killed amid of it.
	tools, kill := startChromium(t, profile, "about:blank")
	one, two := tools.open(t, url), tools.open(t, url)
	one.start(t, `tab.spend("a", 100)`)
	two.start(t, `tab.spend("b", 100)`)
	for end := time.Now().Add(2 * time.Minute); len(c.delivered()) < 6; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d reports after two minutes", len(c.delivered()))
		}
	}
	kill()
	before := c.delivered()

	tools, kill = startChromium(t, profile, "about:blank")
	one, two = tools.open(t, url), tools.open(t, url)
	spent := sharedLedger(t, one, before)
	if spent.Cmp(big.NewRat(int64(len(before)), 1)) < 0 || spent.Cmp(big.NewRat(20, 1)) > 0 {
		t.Errorf("after a kill %v is spent, for %d reports", spent.RatString(), len(before))
	}

	// While one has it, the other does not get it.
	if got := one.ask(t, "tab.hold()"); got != `"open"` {
		t.Errorf("the first tab: %s", got)
	}
	if got := two.ask(t, `tab.once("held", 0)`); got != `"locked"` {
		t.Errorf("the second tab, while the first has the ledger: %s", got)
	}
	one.ask(t, "tab.letGo()")

	// One is killed in its draw: the debit is there, and the other goes on.
	page := one.process(t)
	one.start(t, `tab.hang("crash")`)
	if epoch := <-c.drawing; epoch != "crash" {
		t.Errorf("a draw in %s", epoch)
	}
	if got := two.ask(t, `tab.once("crash", 0)`); got != `"locked"` {
		t.Errorf("the second tab, while the first draws: %s", got)
	}
	if err := page.Kill(); err != nil {
		t.Fatal(err)
	}
	charged := sharedLedger(t, two, before)
	if spent.Add(spent, big.NewRat(1, 1)); charged.Cmp(spent) != 0 {
		t.Errorf("after a tab's end in its draw %v is spent, want %v", charged.RatString(), spent.RatString())
	}
	two.start(t, `tab.hang("killed")`)
	<-c.drawing
	kill()
	tools, kill = startChromium(t, profile, "about:blank")
	defer func() { kill() }()
	one, two = tools.open(t, url), tools.open(t, url)
	charged = sharedLedger(t, two, before)
	if spent.Add(spent, big.NewRat(1, 1)); charged.Cmp(spent) != 0 {
		t.Errorf("after the browser's end in a draw %v is spent, want %v", charged.RatString(), spent.RatString())
	}

	// No room.
	if err := tools.quota(server.URL, "1"); err != nil {
		t.Fatal(err)
	}
	for _, o := range []*tab{one, two} {
		if got := o.ask(t, `tab.once("full")`); got != `"store"` {
			t.Errorf("where nothing more can be stored: %s", got)
		}
	}
	if err := tools.quota(server.URL, ""); err != nil {
		t.Fatal(err)
	}
	if charged = sharedLedger(t, one, before); charged.Cmp(spent) != 0 {
		t.Errorf("after a full store %v is spent, want %v", charged.RatString(), spent.RatString())
	}

	// The rest of the budget is for both, to the last of it.
	one.start(t, `tab.spend("c", 20)`)
	two.start(t, `tab.spend("d", 20)`)
	came := map[string]int{}
	for _, o := range []*tab{one, two} {
		var more map[string]int
		if err := json.Unmarshal([]byte(o.wait(t)), &more); err != nil {
			t.Fatal(err)
		}
		for word, n := range more {
			came[word] += n
		}
	}
	left := int(new(big.Rat).Sub(big.NewRat(20, 1), spent).Num().Int64())
	if want := map[string]int{"report": left, "budget": 40 - left}; !maps.Equal(came, want) {
		t.Errorf("with %d left two tabs have %v, want %v", left, came, want)
	}
	if charged = sharedLedger(t, one, c.delivered()); charged.RatString() != "20" {
		t.Errorf("at last %v is spent", charged.RatString())
	}
}

// sharedLedger finds reports in the ledger of the tabs, as Go reads it, and returns what is spent.
func sharedLedger(t *testing.T, o *tab, reports []string) *big.Rat {
	t.Helper()
	var said string
	if err := json.Unmarshal([]byte(o.ask(t, "tab.text()")), &said); err != nil {
		t.Fatal(err)
	}
	text, err := hex.DecodeString(said)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reports {
		if !strings.Contains(string(text), fmt.Sprintf("report %s ", r)) {
			t.Errorf("report %s was delivered and is not in the ledger", r)
		}
	}
	l, err := ledger.New(&inMemory{text}, ledger.Options{Epoch: "e"})
	if err != nil {
		t.Fatal(err)
	}
	return l.Spent()
}
