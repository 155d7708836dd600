//go:build unix

package bench

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// waits measures what somebody waits for who works with many places, by the commands of wpm. There is no peer.
func waits(c *config, w io.Writer) error {
	fmt.Fprintln(w, "Towns around centres in a country, or places all over the globe: uniform, or four of five in clusters whose sizes have")
	fmt.Fprintln(w, "heavy tails. Great-circle distances, eps = 2, the default design; 20,000 simulated devices of one place each. Processor")
	fmt.Fprintln(w, "time of the whole command with one thread, medians.")
	fmt.Fprintln(w)
	fmt.Fprintln(w, "| places | design | verify | simulate | aggregate -estimator raw | aggregate |")
	fmt.Fprintln(w, "| --: | --: | --: | --: | --: | --: |")
	program := filepath.Join(c.tmp, "wpm")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/wpm-go/wpm/cmd/wpm").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, out)
	}
	for _, of := range []struct {
		name string
		list []byte
	}{
		{"country 400", country(400)}, {"country 1000", country(1_000)}, {"country 4000", country(4_000)},
		{"country 20000", country(20_000)}, {"globe 4000", globe(4_000, 0)}, {"globe 20000", globe(20_000, 0)},
		{"clusters 4000", globe(4_000, 0.8)}, {"clusters 20000", globe(20_000, 0.8)},
	} {
		if c.Only != "" && !strings.Contains(of.name, c.Only) {
			continue
		}
		dir, err := os.MkdirTemp(c.tmp, "waits-")
		if err != nil {
			return err
		}
		places, file, reports := filepath.Join(dir, "places.csv"), filepath.Join(dir, "policy"), filepath.Join(dir, "reports")
		if err := os.WriteFile(places, of.list, 0o600); err != nil {
			return err
		}
		fmt.Fprintf(w, "| %s |", of.name)
		for _, job := range [][]string{
			{"design", "-points", places, "-eps", "2", "-geometry", "public", "-base", "data-independent", "-force", "-o", file},
			{"verify", file},
			{"simulate", "-devices", "20000", "-atoms", "1", "-o", reports, file},
			{"aggregate", "-estimator", "raw", file, reports},
			{"aggregate", file, reports},
		} {
			var runs [][2]float64
			for range c.Runs {
				u, err := used(append([]string{program, "-q"}, job...)...)
				if err != nil {
					return err
				}
				runs = append(runs, u)
			}
			fmt.Fprintf(w, " %s |", seconds(middle(runs, 0)))
		}
		fmt.Fprintln(w)
	}
	return nil
}

// country is a table of n towns: seven of ten around a centre, of which some draw many, and the rest anywhere.
func country(n int) []byte {
	r := rand.New(rand.NewPCG(uint64(n), 41))
	centres := make([][2]float64, max(3, n/40))
	for i := range centres {
		centres[i] = [2]float64{42 + 9*r.Float64(), -4 + 12*r.Float64()}
	}
	var b strings.Builder
	b.WriteString("label,lat,lon\n")
	for i := range n {
		lat, lon := 42+9*r.Float64(), -4+12*r.Float64()
		if r.IntN(10) < 7 {
			u := r.Float64()
			at := centres[int(u*u*u*float64(len(centres)))]
			lat, lon = at[0]+r.NormFloat64()/4, at[1]+r.NormFloat64()/3
		}
		fmt.Fprintf(&b, "p%d,%.5f,%.5f\n", i, lat, lon)
	}
	return []byte(b.String())
}

// globe is a table of n places on the sphere, of which a share is in clusters: some draw many, and the distance from
// their centres is Pareto's.
func globe(n int, clustered float64) []byte {
	r := rand.New(rand.NewPCG(uint64(n), 42))
	anywhere := func() (lat, lon float64) { return math.Asin(2*r.Float64()-1) * (180 / math.Pi), 360*r.Float64() - 180 }
	centres := make([][2]float64, max(3, n/40))
	for i := range centres {
		centres[i][0], centres[i][1] = anywhere()
	}
	var b strings.Builder
	b.WriteString("label,lat,lon\n")
	for i := range n {
		lat, lon := anywhere()
		if r.Float64() < clustered {
			u := r.Float64()
			at, far := centres[int(u*u*u*u*float64(len(centres)))], math.Pow(r.Float64(), -1/1.2)/5
			lat = max(-90, min(90, at[0]+far*r.NormFloat64()))
			lon = math.Remainder(at[1]+far*r.NormFloat64()/max(0.1, math.Cos(at[0]*(math.Pi/180))), 360)
		}
		fmt.Fprintf(&b, "p%d,%.5f,%.5f\n", i, lat, lon)
	}
	return []byte(b.String())
}
