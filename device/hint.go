package device

import (
	"fmt"
	"slices"
	"strings"
)

// Meant returns a remark for an error about an unknown word: which of the names was probably meant, or "" if none is
// similar.
func Meant(word string, names []string) string {
	i := slices.IndexFunc(names, func(name string) bool { return near(word, name) })
	if i < 0 && len(word) > 1 {
		i = slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, word) })
	}
	if i < 0 {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", names[i])
}

// near reports whether one slip makes b of a: a letter more, less or another, or two neighbours exchanged.
func near(a, b string) bool {
	if len(a) < 2 || len(b) < 2 { // of a single letter, everything is a slip
		return false
	}
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= 1 && len(b) <= 1 || len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}

// UnknownFlag returns the name of the flag in an error of package flag, or of those that speak like it, about a flag
// that does not exist; else "".
func UnknownFlag(err error) string {
	_, name, _ := strings.Cut(err.Error(), "flag provided but not defined: -")
	return strings.TrimLeft(name, "-")
}
