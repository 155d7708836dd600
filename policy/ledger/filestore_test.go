package ledger_test

import (
	"os"
	"runtime"
	"testing"

	"github.com/wpm-go/wpm/policy/ledger"
	"github.com/wpm-go/wpm/policy/ledger/storetest"
)

func openFile(name string) (ledger.Store, error) { return ledger.FileStore(name), nil }

func TestMain(m *testing.M) {
	ledger.SlotProcesses()
	storetest.Main(openFile)
	os.Exit(m.Run())
}

// The store of Open is one that storetest accepts, and who gives it no hooks is told what they are for.
func TestFileStore(t *testing.T) {
	skipped, err := storetest.Test(openFile, storetest.Hooks{})
	if err != nil {
		t.Error(err)
	}
	if want := 3; runtime.GOOS == "linux" && len(skipped) != want {
		t.Errorf("not tested: %q, want %d", skipped, want)
	}
	t.Logf("not tested: %q", skipped)
}
