package main

import (
	"fmt"
	"io"

	"golang.org/x/text/unicode/norm"

	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/policy"
)

// Two spellings of one label, composed and decomposed, look the same and are different bytes. What the server reads is put into NFC, so that
// labels of different files meet. A device compares bytes: for it, a policy lists the NFD spelling of a label as an alias.

// readText opens a text file for a reader of costio, and puts it into NFC.
func readText[T any](path string, stdin io.Reader, read func(io.Reader, string) (T, error)) (T, error) {
	return readWith(path, stdin, func(r io.Reader, name string) (none T, err error) {
		text, err := costio.Unzip(r)
		if err != nil {
			return none, fmt.Errorf("%s: %w", name, err)
		}
		return read(norm.NFC.Reader(text), name)
	})
}

// labelsOf returns n labels in NFC. Two that become equal are not told apart by any file: the readers of costio refuse them.
func labelsOf(label func(int) string, n int) []string {
	labels := make([]string, n)
	for i := range labels {
		labels[i] = norm.NFC.String(label(i))
	}
	return labels
}

// aliasesOf returns the NFD spellings of labels in NFC, where they differ and a policy can hold them.
func aliasesOf(labels []string) (aliases []policy.Alias) {
	for i, s := range labels {
		if d := norm.NFD.String(s); d != s && len(d) <= policy.MaxLabel {
			aliases = append(aliases, policy.Alias{Input: i, Label: d})
		}
	}
	return aliases
}
