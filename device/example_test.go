package device_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// A program with one command, which verifies a policy. cmd/wpm-device is such a program, with all commands.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "wpm")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	eps, err := ldp.ParseEpsilon("1.1")
	if err != nil {
		panic(err)
	}
	box, err := ldp.NewPolytopeFromBounds(eps, []uint64{2, 2}, []uint64{6, 6}, 3)
	if err != nil {
		panic(err)
	}
	p, err := policy.New(policy.Config{
		Polytope:   box,
		Mode:       policy.Projection,
		Inputs:     2,
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
	})
	if err != nil {
		panic(err)
	}
	text, err := policy.Encode(p)
	if err != nil {
		panic(err)
	}
	file := filepath.Join(dir, "two.policy")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		panic(err)
	}

	var out, errs bytes.Buffer
	e := &device.Env{Program: "my-device", Out: &out, Err: &errs}
	commands := []*device.Command{device.VerifyCommand(e)}
	status := device.Run(context.Background(), e, commands, []string{"verify", "-privacy-only", file})
	line, _, _ := bytes.Cut(out.Bytes(), []byte("\n"))
	fmt.Printf("status %d: %s\n", status, line)
	// Output:
	// status 0: verified: eps = 1.1 for 2 inputs and 2 outputs, exact in units of 2^-3
}
