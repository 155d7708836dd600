package ledger

// FileStore is the store of Open, for storetest.
func FileStore(path string) Store { return &fileStore{path: path, create: true} }

// SlotProcesses is the part of TestMain that TestSlotProcesses needs.
var SlotProcesses = slotProcesses
