package fuzz

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/wpmerr"
)

var estimateSentinels = []error{wpmerr.ErrShape, estimate.ErrCounts, estimate.ErrChannel}

// FuzzLikeliest: any channel and counts give a distribution with a gap that no other distribution refutes, an interval
// that holds the shares of all distributions that are likely enough, and an average over a path; or a typed error.
func FuzzLikeliest(f *testing.F) {
	f.Add([]byte{1, 1, 0, 48, 8, 8, 32, 3, 5, 0, 0})
	f.Add([]byte{2, 3, 0, 8, 16, 24, 8, 0, 8, 16, 8, 0, 8, 8, 8, 4, 0, 9, 1, 20, 3})
	f.Add([]byte{0, 0, 7, 1, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &feed{data}
		k, kv := in.size(4), in.size(5)
		rows := in.rows(k, kv)
		counts := make([]uint64, kv)
		n := 0.0
		for j := range counts {
			counts[j] = uint64(in.byte() % 16)
			n += float64(counts[j])
		}
		gap := math.Ldexp(1, -int(in.byte()%35))
		region := make([]float64, k)
		for i := range region {
			region[i] = float64(in.byte()%5) / 4
		}
		channel, err := estimate.NewChannel(k, kv, func(i int, dst []float64) { copy(dst, rows[i]) })
		if err != nil {
			typed(t, err, estimateSentinels...)
			return
		}
		p := estimate.Problem{Counts: counts, Channel: channel}
		kept := slices.Clone(counts)
		r, err := estimate.MLE(context.Background(), p, gap)
		if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
			typed(t, err, estimateSentinels...)
			return
		}
		distribution(t, r.Theta, k)
		finite(t, "likelihood, gap", r.LogLikelihood, r.Gap)
		if err == nil && !(r.Gap <= gap) || !slices.Equal(counts, kept) {
			t.Fatalf("%v, %v: %+v", rows, counts, r)
		}
		likelihood := func(theta []float64) float64 { return logLikelihood(counts, rows, theta) }
		const tol = 1e-11 // logarithms of up to 745, summed
		if l := likelihood(r.Theta); !(math.Abs(l-r.LogLikelihood) <= tol) {
			t.Fatalf("likelihood %v, claimed %v\n%v, %v: %v", l, r.LogLikelihood, rows, counts, r.Theta)
		}
		s, err := estimate.Interval(context.Background(), p, region, 0)
		if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) ||
			!(0 <= s.Lower && s.Lower <= s.Likeliest && s.Likeliest <= s.Upper && s.Upper <= 1) {
			t.Fatalf("interval %+v, %v", s, err)
		}
		// What was returned, every point mass, and mixtures of both.
		other := make([]float64, k)
		for i := range other {
			for _, step := range []float64{1, 0.5, 1e-3} {
				share := 0.0
				for n := range other {
					other[n] = (1 - step) * r.Theta[n]
					share += other[n] * region[n]
				}
				other[i] += step
				share += step * region[i]
				l := likelihood(other)
				if l > r.LogLikelihood+r.Gap+tol {
					t.Fatalf("%v is more likely by %v, the gap is %v\n%v, %v: %+v", other, l-r.LogLikelihood, r.Gap, rows, counts, r)
				}
				const half = 2.705543454095414 / 2 // of the quantile of chi2_1 at 0.9
				if l >= r.LogLikelihood+r.Gap-half/n+tol && !(s.Lower-1e-12 <= share && share <= s.Upper+1e-12) {
					t.Fatalf("share %v is likely enough, the interval is %+v\n%v, %v, %v", share, s, rows, counts, region)
				}
			}
		}
		path, err := estimate.EM(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		distribution(t, path.Theta, k)
	})
}

// logLikelihood is that of a release, on average, by the definition.
func logLikelihood(counts []uint64, rows [][]float64, theta []float64) float64 {
	n, l := 0.0, 0.0
	for _, c := range counts {
		n += float64(c)
	}
	for j, c := range counts {
		if c == 0 {
			continue
		}
		p := 0.0
		for i, row := range rows {
			top, s := slices.Max(row), 0.0
			for _, x := range row {
				s += x / top
			}
			p += theta[i] * (row[j] / top / s)
		}
		l += float64(c) / n * logarithm(p)
	}
	return l
}

// distribution fails the test unless theta is one over k inputs.
func distribution(t *testing.T, theta []float64, k int) {
	t.Helper()
	finite(t, "theta", theta...)
	sum := 0.0
	for _, v := range theta {
		if sum += v; !(v >= 0) {
			t.Fatalf("theta %v", theta)
		}
	}
	if len(theta) != k || !(math.Abs(sum-1) <= 1e-14) {
		t.Fatalf("theta %v for %d inputs, sum %v", theta, k, sum)
	}
}

// FuzzRegions: bytes are regions of three points or a typed error that names the line, and a second parser agrees on
// what they hold.
func FuzzRegions(f *testing.F) {
	f.Add([]byte("region,label\nold,a\nold,b\nnew,a\n"))
	f.Add([]byte("r,a,0.5\nr,b,1\ns,\"c,d\",-0\n"))
	f.Add([]byte("\ufeffregion,label,weight\r\nr,a,2\r\n"))
	f.Add([]byte("r,a\nr,a\n"))
	labels := []string{"a", "b", "c,d"}
	f.Fuzz(func(t *testing.T, data []byte) {
		regions, err := costio.ReadRegions(bytes.NewReader(data), "file", labels)
		if err != nil {
			var at *costio.Error
			if !errors.As(err, &at) || at.File != "file" || regions != nil {
				t.Fatalf("%v, %v", regions, err)
			}
			return
		}
		if bytes.HasPrefix(data, []byte("\x1f\x8b")) { // gzip is costio's
			return
		}
		r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
		rows, err := r.ReadAll() // of equal width
		if err != nil {
			t.Fatalf("accepted %q: %v", data, err)
		}
		if strings.EqualFold(strings.TrimSpace(rows[0][0]), "region") &&
			strings.EqualFold(strings.TrimSpace(rows[0][1]), "label") {
			rows = rows[1:]
		}
		count := 0
		for _, region := range regions {
			for i, w := range region.Weights {
				if !(w >= 0 && w <= 1) || math.Signbit(w) {
					t.Fatalf("%q: weight %v", data, w)
				}
				for _, row := range rows {
					if row[0] != region.Name || row[1] != labels[i] {
						continue
					}
					count++
					want := 1.0
					if len(row) == 3 {
						want, _ = strconv.ParseFloat(strings.TrimSpace(row[2]), 64)
					}
					if w != want {
						t.Fatalf("%q: %s of %s has weight %v, want %v", data, labels[i], region.Name, w, want)
					}
					w = 0 // a second row would be a duplicate
				}
			}
		}
		if count != len(rows) {
			t.Fatalf("%q: %d of %d rows are in %+v", data, count, len(rows), regions)
		}
	})
}
