package ledger

// FileStore is the store of Open, for storetest.
func FileStore(path string) Store { return &fileStore{path: path, create: true} }
