// Package proofs has no Go code of its own. The folder holds machine-checked proofs of what ldp and policy claim, in
// Rocq, and a verifier that is extracted from them; README.md says what is proved and what is not. The test here
// compares that verifier with the Go code, when proofs/run has built it and WPM_CLIENTS=1 is set.
package proofs
