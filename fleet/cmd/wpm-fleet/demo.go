package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/aggregate/reports"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/fleet"
	"github.com/wpm-go/wpm/internal/simulation"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

func hash(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s)))[:12] }

// The fleet of the demo.
var (
	demoReports = 1_000_000
	demoEpochs  = []string{"simulation-2026-11-21", "simulation-2026-11-22"}
)

const demoShards = 4 // of each policy and epoch

// demo makes up a fleet of three policies and two epochs, of which one line in a hundred is malformed and one shard is
// cut off, counts it in a pipeline, and compares the parts with those of a plain loop.
func demo(ctx context.Context, out io.Writer) (code int, err error) {
	dir, err := os.MkdirTemp("", "wpm-fleet-demo")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	policies, err := demoPolicies(ctx)
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(out, "Simulation: %d reports of %d policies in %d epochs, one line in a hundred malformed, "+
		"one shard cut off.\n", demoReports, len(policies), len(demoEpochs))
	shards, cut, err := demoFleet(ctx, dir, policies)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	folder := filepath.Join(dir, "parts")
	o := fleet.Options{Policies: policies, EpochPattern: "/(simulation-[0-9-]+)/", Quarantine: true}
	if code, err = count(ctx, out, o, append(shards, cut), folder); err != nil {
		return 0, err
	}
	fmt.Fprintf(out, "The pipeline took %.1f s.\n", time.Since(start).Seconds())
	for _, p := range policies {
		for _, epoch := range demoEpochs {
			if err := compare(ctx, p, epoch, shards, folder); err != nil {
				return 0, err
			}
		}
	}
	fmt.Fprintf(out, "All %d parts are those of a plain loop over the other shards, bit for bit.\n",
		len(policies)*len(demoEpochs))
	if code != some {
		return 0, errors.New("the shard that is cut off was not named")
	}
	return 0, nil
}

// demoPolicies publishes rings of some sizes.
func demoPolicies(ctx context.Context) (list []policy.Policy, err error) {
	for _, n := range []int{12, 100, 400} {
		eps, err := ldp.ParseEpsilon("2")
		if err != nil {
			return nil, err
		}
		c, err := cost.NewRing(n, 1)
		if err != nil {
			return nil, err
		}
		base := make([]float64, n)
		for j := range base {
			base[j] = 1 / float64(n)
		}
		m, err := wpm.New(ctx, c, base, eps, wpm.Options{})
		if err != nil {
			return nil, err
		}
		p, err := m.Publish(ctx, policy.Config{
			Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent, Note: "demo"},
		})
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// demoFleet writes the shards; cut is the one that is cut off, whose reports are more than demoReports.
func demoFleet(ctx context.Context, dir string, policies []policy.Policy) (shards []string, cut string, err error) {
	files := len(policies) * len(demoEpochs) * demoShards
	for n := range files + 1 {
		p, epoch := policies[n%len(policies)], demoEpochs[n/len(policies)%len(demoEpochs)]
		devices := demoReports*(n+1)/files - demoReports*n/files
		if n == files {
			devices = 10_000
		}
		var packed bytes.Buffer
		z, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
		if err != nil {
			return nil, "", err
		}
		w := bufio.NewWriter(z)
		cfg := simulation.Config{Policy: p, Devices: devices, Atoms: 3, Seed: uint64(n)}
		if err := simulation.Run(ctx, cfg, &spoiled{w: w}); err != nil {
			return nil, "", err
		}
		if err := errors.Join(w.Flush(), z.Close()); err != nil {
			return nil, "", err
		}
		data := packed.Bytes()
		name := filepath.Join(dir, epoch, fmt.Sprintf("shard-%02d.txt.gz", n))
		if n == files {
			data, cut = data[:len(data)/2], name
		} else {
			shards = append(shards, name)
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return nil, "", err
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			return nil, "", err
		}
	}
	return shards, cut, nil
}

// spoiled makes every hundredth line malformed, but not the first: it damages one character.
type spoiled struct {
	w     io.Writer
	lines int
}

func (s *spoiled) Write(text []byte) (int, error) {
	damaged := bytes.Clone(text)
	start := 0
	for i, b := range text {
		if b == '\n' {
			if s.lines++; s.lines%100 == 0 {
				damaged[start] = 'x'
			}
			start = i + 1
		}
	}
	return s.w.Write(damaged)
}

// compare compares a part with what a plain loop counts.
func compare(ctx context.Context, p policy.Policy, epoch string, shards []string, folder string) error {
	var mine []string
	for _, name := range shards {
		if filepath.Base(filepath.Dir(name)) == epoch {
			mine = append(mine, name)
		}
	}
	n, err := aggregate.NewCounter(p)
	if err != nil {
		return err
	}
	open := func(name string) (io.ReadCloser, error) { return os.Open(name) }
	r := reports.Reader{Magic: "wpm1", Size: policy.ReportSize, Open: open}
	c, err := r.Count(ctx, n, mine, epoch)
	if err != nil {
		return err
	}
	want, err := c.Encode()
	if err != nil {
		return err
	}
	name := filepath.Join(folder, fmt.Sprintf("%x-%s.part", c.Policy[:6], c.Epoch))
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
		return errors.Join(err, fmt.Errorf("%s is not what a plain loop counts", name))
	}
	return nil
}
