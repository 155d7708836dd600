package policy_test

import (
	"path/filepath"
	"testing"

	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/storetest"
)

// The store of OpenLedger is one that storetest accepts.
func TestFileStore(t *testing.T) {
	dir := t.TempDir()
	err := storetest.Test(func(name string) (policy.Store, error) {
		return policy.FileStore(filepath.Join(dir, name)),
			nil
	})
	if err != nil {
		t.Error(err)
	}
}
