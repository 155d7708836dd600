// Package places reads what designers and analysts say of places: points with their columns, units of distance,
// labels in one Unicode spelling, and origins, which are where geometry and base measure come from.
//
// A device compares labels byte by byte. Here, two spellings of one label, composed and decomposed, are the same: what
// is read goes into NFC, and a policy lists the NFD spelling of a label as an alias, so that labels of different files
// meet. Units are those in which package cost measures.
package places

import (
	"fmt"
	"io"

	"golang.org/x/text/unicode/norm"

	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/policy"
)

// ReadText reads a text, gzip allowed, with a reader of costio, and puts it into NFC. name stands for the file in
// errors.
func ReadText[T any](r io.Reader, name string, read func(io.Reader, string) (T, error)) (none T, err error) {
	text, err := costio.Unzip(r)
	if err != nil {
		return none, fmt.Errorf("%s: %w", name, err)
	}
	return read(NFC(text), name)
}

// NFC returns a reader of r's text in NFC.
func NFC(r io.Reader) io.Reader { return norm.NFC.Reader(r) }

// Labels returns n labels in NFC. Two that become equal are not told apart by any file: the readers of costio refuse
// them.
func Labels(label func(int) string, n int) []string {
	labels := make([]string, n)
	for i := range labels {
		labels[i] = norm.NFC.String(label(i))
	}
	return labels
}

// Aliases returns the NFD spellings of labels in NFC, where they differ and a policy can hold them.
func Aliases(labels []string) (aliases []policy.Alias) {
	for i, s := range labels {
		if d := norm.NFD.String(s); d != s && len(d) <= policy.MaxLabel {
			aliases = append(aliases, policy.Alias{Input: i, Label: d})
		}
	}
	return aliases
}

// ReadCounts reads a table of counts with these labels.
func ReadCounts(r io.Reader, name string, labels []string) (*costio.Counts, error) {
	return ReadText(r, name, func(r io.Reader, name string) (*costio.Counts, error) {
		return costio.ReadCounts(r, name, labels)
	})
}

// ReadRegions reads regions of places with these labels.
func ReadRegions(r io.Reader, name string, labels []string) ([]costio.Region, error) {
	return ReadText(r, name, func(r io.Reader, name string) ([]costio.Region, error) {
		return costio.ReadRegions(r, name, labels)
	})
}

// ReadWeights reads weights of places with these labels.
func ReadWeights(r io.Reader, name string, labels []string) ([]float64, error) {
	return ReadText(r, name, func(r io.Reader, name string) ([]float64, error) {
		return costio.ReadWeights(r, name, labels)
	})
}

// MeanOf returns the mean of the users' distributions over k places, or the one table scaled, and how many users there
// are. A user without counts has no distribution.
func MeanOf(c *costio.Counts, k int) (mean []float64, users int) {
	mean = make([]float64, k)
	for _, rows := range c.ByUser() {
		var top, sum float64
		for _, r := range rows {
			top = max(top, r.N)
		}
		for _, r := range rows {
			sum += r.N / top
		}
		if !(sum > 0) {
			continue
		}
		for _, r := range rows {
			mean[r.Label] += r.N / top / sum
		}
	}
	return mean, len(c.Users)
}
