package storetest

// Handles is the part of Test that needs one process.
var Handles = testHandles
