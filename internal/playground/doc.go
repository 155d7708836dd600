// Package playground makes the page of "wpm playground": one HTML file that needs no network, with the engine inside as
// WebAssembly.
//
// # The page
//
// Page puts together the files of the folder page, the program of the folder wasm (package engine) and Go's
// wasm_exec.js. A content security policy in the page forbids every connection, and the browser enforces it. Scripts
// and styles are allowed by their hash alone.
//
// # The program
//
// Find looks for the program in this order: in the folder dist, which is embedded and empty but in a release; in a
// cache in the user's folder for such files, by the version of Go and a hash of the sources; else it is built, if Go is
// there. Sources are known inside a clone of this module, and nowhere else.
package playground
