package audit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/policy"
)

// maxOutputLine bounds a line that a command prints. A label has at most 256 bytes.
const maxOutputLine = 4096

// maxErrorText is how much of a command's standard error an error quotes.
const maxErrorText = 200

// Command samples by running a program, once for each client. It is a black box: no row is believed.
//
// The protocol. The arguments may contain the placeholders {n}, the number of draws wanted, {input}, the index
// of the input, or "fallback", or "mixed", and {label}, its label. On standard input the program gets the private
// counts of the client, in the format of package private: for an input two lines, label,count and "LABEL",1; for the
// fallback nothing at all; for a mixed client any number of lines. It must print n lines, one draw each: the label of
// an output, or its index in decimal if outputs have no labels, or a report of the policy in hexadecimal, as wpm
// release prints it. It must exit with status 0. Every draw must be made afresh.
//
// No shell is involved. The context's end kills the program. Errors: ErrCommand for a program that is not there. The
// Sampler returns ErrCommand and ErrSampler.
func Command(p policy.Policy, argv []string) (Sampler, error) {
	if len(argv) == 0 || argv[0] == "" {
		return nil, fmt.Errorf("%w: no program", ErrCommand)
	}
	if _, err := exec.LookPath(argv[0]); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCommand, err)
	}
	index := make(map[string]int, p.Outputs())
	for j := range p.Outputs() {
		index[p.OutputLabel(j)] = j
	}
	return func(ctx context.Context, client Row, n int, counts []uint64) error {
		private, err := privateData(p, client)
		if err != nil {
			return err
		}
		name, label := "mixed", ""
		switch {
		case client.Input == Fallback:
			name = "fallback"
		case client.Input != Mixed:
			name, label = strconv.Itoa(client.Input), p.InputLabel(client.Input)
		}
		fill := strings.NewReplacer("{n}", strconv.Itoa(n), "{input}", name, "{label}", label)
		args := make([]string, len(argv))
		for i, a := range argv {
			args[i] = fill.Replace(a)
		}
		return run(ctx, args, private, func(out io.Reader) error { return countLines(p, index, out, n, counts) })
	}, nil
}

// run starts a program, feeds it, hands its standard output to read, and waits for it.
func run(ctx context.Context, argv []string, stdin []byte, read func(io.Reader) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin = bytes.NewReader(stdin)
	var complaint head
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	readErr := read(out)
	if readErr != nil && !errors.Is(readErr, errShort) {
		cancel() // it may go on printing for ever
		_ = cmd.Wait()
		return readErr
	}
	if err := cmd.Wait(); err != nil {
		if said := strings.Join(strings.Fields(string(complaint)), " "); said != "" {
			return fmt.Errorf("%s: %w: %s", argv[0], err, said)
		}
		return fmt.Errorf("%s: %w", argv[0], err)
	}
	return readErr
}

// errShort: the program printed too little; if it also failed, that is the better message.
var errShort = errors.New("too few lines")

func countLines(p policy.Policy, index map[string]int, out io.Reader, n int, counts []uint64) error {
	in := bufio.NewScanner(out)
	in.Buffer(make([]byte, 0, maxOutputLine), maxOutputLine)
	line := 0
	for in.Scan() {
		line++
		if line > n {
			return fmt.Errorf("line %d: more than the %d draws asked for", line, n)
		}
		j, ok := index[string(in.Bytes())]
		if !ok {
			var r policy.Report
			if err := r.UnmarshalText(in.Bytes()); err != nil {
				return fmt.Errorf("line %d: %.60q is no output of the policy", line, in.Text())
			}
			if err := p.Belongs(r); err != nil {
				return fmt.Errorf("line %d: %w", line, err)
			}
			j = r.Index()
		}
		counts[j]++
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("line %d: %w", line+1, err)
	}
	if line < n {
		return fmt.Errorf("%w: %d, want %d", errShort, line, n)
	}
	return nil
}

// head keeps the beginning of what is written to it.
type head []byte

func (h *head) Write(b []byte) (int, error) {
	*h = append(*h, b[:min(len(b), maxErrorText-len(*h))]...)
	return len(b), nil
}
