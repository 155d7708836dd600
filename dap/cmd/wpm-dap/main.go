// Command wpm-dap shows reports that two servers add up under secret sharing: package dap.
//
//	wpm-dap demo                  1,000 clients, 400 places, two servers, two clients that cheat
//	wpm-dap parameters POLICY     the parameters of Prio3Histogram for a policy, as JSON
//
// Exit status: 0, or 1 if there is no result.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cloudflare/circl/vdaf/prio3/histogram"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/dap"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
	"github.com/wpm-go/wpm/shuffle"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "wpm-dap: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	switch {
	case len(args) == 1 && args[0] == "demo":
		return demo(ctx, out)
	case len(args) == 2 && args[0] == "parameters":
		return parameters(args[1], out)
	}
	return errors.New("want: wpm-dap demo, or wpm-dap parameters POLICY")
}

func parameters(path string, out io.Writer) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	p, err := policy.Decode(text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	t, err := dap.NewTask(p, nil)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(t.Parameters())
}

// The clients of the demo.
const (
	side    = 20
	clients = 1000
)

// demoPolicy is of 20 x 20 cells at eps 4.
func demoPolicy(ctx context.Context) (policy.Policy, error) {
	eps, err := ldp.ParseEpsilon("4")
	if err != nil {
		return policy.Policy{}, err
	}
	c, err := cost.NewGrid(side, side, 1)
	if err != nil {
		return policy.Policy{}, err
	}
	d, err := wpm.NewDesign(ctx, c, eps, wpm.Objective{})
	if err != nil {
		return policy.Policy{}, err
	}
	return d.Publish(policy.Config{Mode: policy.Mixture, Provenance: policy.Provenance{
		Geometry: policy.Public, BaseMeasure: policy.DataIndependent,
	}})
}

func demo(ctx context.Context, out io.Writer) error {
	p, err := demoPolicy(ctx)
	if err != nil {
		return err
	}
	task, err := dap.NewTask(p, nil)
	if err != nil {
		return err
	}
	var key histogram.VerifyKey
	if _, err := io.ReadFull(rand.Reader, key[:]); err != nil {
		return err
	}
	leader, err := task.NewAggregator(dap.Leader, key)
	if err != nil {
		return err
	}
	helper, err := task.NewAggregator(dap.Helper, key)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Simulation: %d clients at one of %d places, eps %v each, and two that cheat.\n", clients, side*side,
		p.Epsilon())
	want := make([]uint64, p.Outputs())
	var client, server time.Duration
	var bytes int
	ledger := ledger.UnaccountedForTesting() // these clients are made up
	for i := range clients {
		counts := make([]float64, p.Inputs())
		counts[i%(side*side/4)] = 1 // all in one quarter
		private, err := policy.FormatPrivate(p, counts)
		if err != nil {
			return err
		}
		report, err := policy.Release(ctx, p, ledger, private, nil)
		if err != nil {
			return err
		}
		want[report.Index()]++
		start := time.Now()
		upload, err := task.Shard(report) // after the debit
		if err != nil {
			return err
		}
		client += time.Since(start)
		bytes = upload.Bytes()
		start = time.Now()
		if err := dap.Aggregate(leader, helper, upload); err != nil {
			return err
		}
		server += time.Since(start)
		if i < 2 {
			fmt.Fprintln(out, cheat(task, leader, helper, report, i))
		}
	}
	one, err := leader.Share()
	if err != nil {
		return err
	}
	two, err := helper.Share()
	if err != nil {
		return err
	}
	counts, err := task.Counts(one, two, "simulation", "prio3")
	if err != nil {
		return err
	}
	text, err := counts.Encode()
	if err != nil {
		return err
	}
	read, err := aggregate.DecodeCounts(text)
	if err != nil {
		return err
	}
	if err := read.Belongs(p); err != nil {
		return err
	}
	for j, n := range want {
		if read.Reports[j] != n {
			return fmt.Errorf("output %d has %d reports, of the clients %d", j, read.Reports[j], n)
		}
	}
	fmt.Fprintf(out, "The sum has %d reports of %d outputs, those of the clients; %d uploads were refused.\n", read.Total(),
		p.Outputs(), read.AllRefused())
	fmt.Fprintf(out, "An upload has %.1f kB; %.2f ms of the client, %.2f ms of both servers.\n", float64(bytes)/1000,
		client.Seconds()*1000/clients, server.Seconds()*1000/clients)
	g, err := shuffle.Solve(shuffle.Problem{Clients: clients, Blanket: shuffle.Blanket(p.Polytope()), Epsilon: 4,
		Delta: shuffle.Common(clients)})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "While the servers do not collude, the sum is (%.3g, %.0e)-DP; every report is eps-LDP, eps %v, anyway.\n",
		g.Epsilon, shuffle.Common(clients), p.Epsilon())
	return nil
}

// cheat sends a second place in a share, or a share that does not fit.
func cheat(task *dap.Task, leader, helper *dap.Aggregator, r policy.Report, way int) string {
	upload, err := task.Shard(r)
	if err != nil {
		return err.Error()
	}
	name := "A client that adds a second place"
	if way == 0 {
		// The first field element of the leader's share, a little-endian integer, is that of place 0.
		for i := range upload.Shares[dap.Leader] {
			if upload.Shares[dap.Leader][i]++; upload.Shares[dap.Leader][i] != 0 {
				break
			}
		}
	} else {
		name = "A client with a wrong share"
		upload.Shares[dap.Helper][3] ^= 1
	}
	if err := dap.Aggregate(leader, helper, upload); err != nil {
		return name + ": " + err.Error()
	}
	return name + ": NOT REFUSED"
}
