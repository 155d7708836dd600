package conform

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// What a draw takes of memory must not depend on the private bytes: under a limit of memory it would decide whether
// there is a report. Bombs are 64 KB of gzip with the most text that there may be, some of them spoilt.

// memoryPolicy has rows 8, 5, 3 and 3, 5, 8 and the fallback 5, 6, 5, of 16 units: the random byte 6 draws 0 from the
// row of input 0, and 1 from the fallback row.
const memoryPolicy = `{
"format":"wpm-policy-1",
"epsilon":"1",
"bits":4,
"mode":"mixture",
"work_limit_ms":0,
"inputs":2,
"outputs":3,
"provenance":{"geometry":"public","geometry_epsilon":null,"base_measure":"data-independent","base_measure_epsilon":null,"note":""},
"metadata":{},
"certificate":null,
"cost":null,
"input_labels":null,
"output_labels":null,
"lo":["3","3","3"],
"hi":["8","8","8"],
"fallback":{"full":[],"extra":[[0,"2"],[1,"3"],[2,"2"]]},
"rows":[
{"full":[0],"extra":[[1,"2"]]},
{"full":[2],"extra":[[1,"2"]]}
]
}
`

const memoryRandom = "000000000000000006"

// A bomb is a text that unpacks to as many bytes as there may be.
type bomb struct {
	name, line string
	spoil      func(packed []byte) []byte
	index      int
}

func bombs() []bomb {
	whole := func(b []byte) []byte { return b }
	cut := func(b []byte) []byte { return b[:len(b)-9] }
	wrong := func(b []byte) []byte { b[len(b)-8] ^= 1; return b } // the checksum of the text
	return []bomb{
		{"lines that can be used", "0,1\n", whole, 0},
		{"lines that cannot", "2,1\n", whole, 1},
		{"line feeds", "\n", whole, 1},
		{"one line", "x", whole, 1},
		{"line feeds, cut off", "\n", cut, 1},
		{"lines with a wrong checksum", "0,1\n", wrong, 1},
	}
}

// pack returns the bomb, or with size 16 a text of that form that is none.
func (b bomb) pack(size int) ([]byte, error) {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	piece := []byte(strings.Repeat(b.line, min(size, 1<<16)/len(b.line)))
	for range size / len(piece) {
		if _, err := z.Write(piece); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.spoil(packed.Bytes()), nil
}

// canMeasure reports whether the system says how much memory a process has had.
func canMeasure() bool {
	_, err := peakOf(os.Getpid())
	return err == nil
}

// peakOf returns the largest resident memory of a process so far, in bytes.
func peakOf(pid int) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "\nVmHWM:")
	text, _, ok := strings.Cut(rest, " kB\n")
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if !ok || err != nil {
		return 0, io.ErrUnexpectedEOF
	}
	return n << 10, nil
}

// memoryGroup asks for draws from bombs, each of a process of its own, which before has drawn from a text of 16 bytes. Its
// largest resident memory may grow by at most as many bytes.
func memoryGroup(c *client, most int64) (r Group) {
	r = Group{Name: "memory/draw", Statement: "docs/spec/conform.md, Memory", Kinds: []string{"draw"}, Status: Passed}
	if !c.offers(r.Kinds) || !canMeasure() {
		r.Status = NotOffered
		return r
	}
	for _, b := range bombs() {
		r.Cases++
		if err := b.measure(c, most); err != nil {
			r.fail("", fmt.Errorf("%s: %w", b.name, err)) // the lines are long
		}
	}
	return r
}

func (b bomb) measure(c *client, most int64) (err error) {
	const small, large = 16, 64 << 20 // bytes of text
	own := &client{command: c.command, limit: c.limit}
	if err := own.start(); err != nil {
		return err
	}
	defer func() {
		if e := own.end(); err == nil {
			err = e
		}
	}()
	var before int64
	for _, size := range []int{small, large} {
		private, err := b.pack(size)
		if err != nil {
			return err
		}
		var a struct {
			Index int `json:"index"`
		}
		if err := own.ask("draw", struct {
			Policy  string `json:"policy"`
			Private string `json:"private"`
			Random  string `json:"random"`
		}{memoryPolicy, hex.EncodeToString(private), memoryRandom}, &a); err != nil {
			return err
		}
		if a.Index != b.index {
			return fmt.Errorf("of %d bytes of text: index %d, want %d", size, a.Index, b.index)
		}
		peak, err := peakOf(own.cmd.Process.Pid)
		if err != nil {
			return err
		}
		if size == large && peak-before > most {
			return fmt.Errorf("the client takes %d MB more than for %d bytes of text, want at most %d", (peak-before)>>20,
				small, most>>20)
		}
		before = peak
	}
	return nil
}
