package ledger

import "io/fs"

// links returns 1: here a file has one name.
func links(fs.FileInfo) uint64 { return 1 }
