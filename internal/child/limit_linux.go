package child

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// limitMemory lets the process allocate so many bytes beyond what it has. Where the system itself runs out before, it
// is to end this process first and not the parent. What cannot be set is left as it is.
func limitMemory(limit uint64) {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	var has uint64 // pages of data and stack, field 6 of statm; what the limit counts
	if b, err := os.ReadFile("/proc/self/statm"); err == nil {
		if f := bytes.Fields(b); len(f) > 5 {
			has, _ = strconv.ParseUint(string(f[5]), 10, 64)
		}
	}
	limit += has * uint64(os.Getpagesize())
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_DATA, &r) == nil && limit < r.Cur {
		r.Cur, r.Max = limit, limit
		_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &r)
	}
}
