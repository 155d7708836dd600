package policy

// FileStore is the store of OpenLedger, for storetest.
func FileStore(path string) Store { return &fileStore{path: path, create: true} }
