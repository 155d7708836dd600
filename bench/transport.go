//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/wpm-go/wpm/mincostflow"
)

// transportNames are the instances: both clouds, 2 and 50 dimensions, both powers, both kinds of mass, at one size.
func transportNames(k int) (names []string) {
	for _, space := range []string{"gauss", "square"} {
		for _, dim := range []int{2, 50} {
			for _, p := range []int{1, 2} {
				for _, mass := range []string{"equal", "dir"} {
					names = append(names, fmt.Sprintf("%s%dx%dp%d:%s", space, k, dim, p, mass))
				}
			}
		}
	}
	return names
}

func transports(c *config, w io.Writer) error {
	fmt.Fprintln(w, "| instance | wpm | POT | wpm / POT | pivots for a row or column | agree |")
	fmt.Fprintln(w, "| --- | --: | --: | --: | --: | --: |")
	var all mean
	for _, k := range []int{1000, 2000, 4000} {
		for _, name := range transportNames(k) {
			if !strings.Contains(name, c.only) {
				continue
			}
			if err := c.transportLine(w, name, &all); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(w, "\nwpm / POT: %v.\n", &all)
	return nil
}

func (c *config) transportLine(w io.Writer, name string, all *mean) error {
	in, err := newTransport(name)
	if err != nil {
		return err
	}
	file := c.tmp + "/transport.bin"
	if err := in.write(file); err != nil {
		return err
	}
	var stats mincostflow.Stats
	ours := often(func() (answer, error) {
		r, err := mincostflow.Transport(context.Background(), in.C, in.mu, in.target)
		stats = r.Stats
		return answer{Value: r.Objective, Met: true}, err
	})
	peer, err := c.python("pot_transport.py", file)
	if err != nil {
		return err
	}
	defer peer.close()
	got, err := c.compare(ours, peer)
	if err != nil {
		return err
	}
	all.add(got[0].CPU / got[1].CPU)
	fmt.Fprintf(w, "| %s | %s | %s | %.2f | %.1f | %.0e |\n", name, seconds(got[0].CPU), seconds(got[1].CPU),
		got[0].CPU/got[1].CPU, float64(stats.Pivots)/float64(2*in.C.K), math.Abs(got[1].Value-got[0].Value)/got[0].Value)
	return nil
}
