package policy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wpm-go/wpm/policy/ledger"
)

// diary is a Store in memory and a Projector, which write down what happens in which order.
type diary struct {
	*memory
	entries []string
	answer  []float64
	refuse  error
}

func (d *diary) note(s string) { d.entries = append(d.entries, s) }

func (d *diary) Append(at int64, b []byte) error {
	word, _, _ := strings.Cut(string(b), " ")
	d.note(word)
	return d.memory.Append(at, b)
}

func (d *diary) Start(context.Context) (ProjectFunc, func(), error) {
	if d.note("start"); d.refuse != nil {
		return nil, nil, d.refuse
	}
	return func(_ context.Context, mu []float64) ([]float64, error) {
		sum := 0.0
		for _, v := range mu {
			sum += v
		}
		d.note(fmt.Sprintf("project %d, sum %.3g", len(mu), sum))
		return d.answer, nil
	}, func() { d.note("end") }, nil
}

// The solver starts before the debit, gets a distribution whether or not there is one, and ends after the report is
// stored. What Start refuses costs nothing, and a repeat starts nothing.
func TestSolverStartsBeforeTheDebit(t *testing.T) {
	refused := errors.New("no process may be started")
	for _, tc := range []struct {
		name, private string
		answer        []float64
		rows          bool
	}{
		{"usable", "0,1", []float64{0.4, 0.3, 0.3, 0}, false},
		{"unusable", "0,x", []float64{0.4, 0.3, 0.3, 0}, false},
		{"none", "", []float64{0.4, 0.3, 0.3, 0}, true},
		{"usable, no answer", "0,1", nil, true},
		{"unusable, no answer", "0,-1", []float64{math.NaN()}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := mustNew(t, projectionConfig(t, tc.rows))
			d := &diary{memory: &memory{}, refuse: refused}
			l, err := ledger.New(d, ledger.Options{Epoch: "e", Budget: "10"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Release(t.Context(), p, l, []byte(tc.private), d); !errors.Is(err, refused) || l.Spent().Sign() != 0 {
				t.Fatalf("refused: %v, spent %v", err, l.Spent())
			}
			d.refuse, d.answer = nil, tc.answer
			r, err := Release(t.Context(), p, l, []byte(tc.private), d)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := Release(t.Context(), p, l, []byte("0,2"), d); err != nil || again != r {
				t.Errorf("the repeat: %v, %v", again, err)
			}
			solved := fmt.Sprintf("project %d, sum 1", p.Inputs())
			want := []string{"wpm-ledger-1", "start", "start", "debit", solved, "report", "end"}
			if !slices.Equal(d.entries, want) {
				t.Errorf("happened %q, want %q", d.entries, want)
			}
		})
	}
}

// A debit that cannot be written ends what was started, without a call.
func TestSolverEndsWithoutDebit(t *testing.T) {
	p := mustNew(t, projectionConfig(t, false))
	d := &diary{memory: &memory{}}
	l, err := ledger.New(d, ledger.Options{Epoch: "e", Budget: "10"})
	if err != nil {
		t.Fatal(err)
	}
	d.memory.WriteByte(10) // someone else has written
	if _, err := Release(t.Context(), p, l, []byte("0,1"), d); !errors.Is(err, ledger.ErrUnusable) {
		t.Errorf("%v, want %v", err, ledger.ErrUnusable)
	}
	if want := []string{"wpm-ledger-1", "start", "debit", "end"}; !slices.Equal(d.entries, want) {
		t.Errorf("happened %q, want %q", d.entries, want)
	}
}

// threads counts the threads of this process.
func threads(t *testing.T) int {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Skip("no /proc/self/task")
	}
	return len(tasks)
}

// Work after the debit that needs as many threads as a draw may gets them from those that were idle before.
func TestThreadsExistBeforeTheDebit(t *testing.T) {
	p := mustNew(t, projectionConfig(t, false))
	const blocked = 6 // threads that a ledger leaves idle beside those that run
	before := 0
	var project ProjectFunc = func(context.Context, []float64) ([]float64, error) {
		before = threads(t) // after the debit, and before any of it
		var here, gone sync.WaitGroup
		leave := make(chan struct{})
		for range runtime.GOMAXPROCS(0) + blocked - 1 {
			here.Add(1)
			gone.Go(func() {
				runtime.LockOSThread() // and ends so: its thread is no one else's, before or after
				here.Done()
				<-leave
				runtime.UnlockOSThread()
			})
		}
		here.Wait()
		if after := threads(t); after > before {
			t.Errorf("%d threads, %d before: some were started after the debit", after, before)
		}
		close(leave)
		gone.Wait()
		return []float64{0.4, 0.3, 0.3, 0}, nil
	}
	l, err := ledger.Open(filepath.Join(t.TempDir(), "ledger"), ledger.Options{Epoch: "e", Budget: "10"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := Release(t.Context(), p, l, []byte("0,1"), project); err != nil || before == 0 {
		t.Errorf("%v, %d threads", err, before)
	}
}
