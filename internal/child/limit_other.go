//go:build !linux

package child

// limitMemory does nothing: this system has no limit that the Go runtime's memory counts against.
func limitMemory(uint64) {}
