package conform

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/internal/machine"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/sinkhorn/kl"
)

// TestMain makes the test's own program a client, if the environment names one, or one that holds a ledger.
func TestMain(m *testing.M) {
	if path := os.Getenv(holds); path != "" {
		if err := hold(path); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	if name := os.Getenv("WPM_CONFORM_CLIENT"); name != "" {
		serve(name)
		os.Exit(0)
	}
	code := m.Run()
	_ = os.RemoveAll(javaOut) // nothing if it is ""
	os.Exit(code)
}

// The reference is this module: the lines of "wpm solve", and for the other kinds a few lines each.
var reference = map[string]func(in members) (any, error){
	"verify": func(in members) (any, error) {
		b, err := polytope(in)
		var rows [][]string
		if err == nil {
			err = json.Unmarshal(in["rows"], &rows)
		}
		for _, row := range rows {
			n, uerr := units(row)
			if uerr == nil && err == nil {
				_, err = b.Weights(n)
			}
			err = errors.Join(err, uerr)
		}
		return map[string]any{"verified": true}, err
	},
	"round-in-box": func(in members) (any, error) {
		b, err := polytope(in)
		var q []number
		if err = errors.Join(err, json.Unmarshal(in["q"], &q)); err != nil {
			return nil, err
		}
		w := b.Round(floats(q))
		n := make([]uint64, w.Len())
		for j := range n {
			n[j] = w.At(j)
		}
		return map[string]any{"weights": decimals(n)}, nil
	},
	"sample": func(in members) (any, error) {
		in["eps"], in["lo"], in["hi"] = json.RawMessage(`"1"`), in["weights"], in["weights"]
		b, err := polytope(in)
		var random string
		if err = errors.Join(err, json.Unmarshal(in["random"], &random)); err != nil {
			return nil, err
		}
		text, err := hex.DecodeString(random)
		if err != nil {
			return nil, err
		}
		n := make([]uint64, b.Len())
		for j := range n {
			n[j] = b.Lo(j)
		}
		w, err := b.Weights(n)
		if err != nil {
			return nil, err
		}
		j, err := w.Sample(bytes.NewReader(text))
		return map[string]any{"index": j}, err
	},
	"policy": func(in members) (any, error) {
		data, err := policyBytes(in)
		if err != nil {
			return nil, err
		}
		p, err := policy.Decode(data)
		if err != nil {
			return nil, err
		}
		id := p.ID()
		return map[string]any{"sha256": hex.EncodeToString(id[:])}, nil
	},
	"schedule": schedules,
	"certificate": func(in members) (any, error) {
		var text string
		if err := json.Unmarshal(in["certificate"], &text); err != nil {
			return nil, err
		}
		c, err := certificate.Decode([]byte(text))
		if err == nil {
			_, err = certificate.Verify(context.Background(), c)
		}
		return map[string]any{"verified": true}, err
	},
	"kl": func(in members) (any, error) {
		var logS, lo, hi []number
		err := errors.Join(json.Unmarshal(in["log_s"], &logS), json.Unmarshal(in["lo"], &lo), json.Unmarshal(in["hi"], &hi))
		if err != nil {
			return nil, err
		}
		q, theta, err := kl.Project(floats(logS), floats(lo), floats(hi))
		return klAnswer{numbers(q), number(theta)}, err
	},
}

// policyBytes returns the file of a line: a text, or bytes in hexadecimal.
func policyBytes(in members) ([]byte, error) {
	var text string
	_, plain := in["policy"]
	raw, isHex := in["policy_hex"]
	if plain == isHex {
		return nil, errors.New("want one of policy and policy_hex")
	}
	if plain {
		err := json.Unmarshal(in["policy"], &text)
		return []byte(text), err
	}
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, err
	}
	return hex.DecodeString(text)
}

func polytope(in members) (*ldp.Polytope, error) {
	var text string
	var bits int
	var lo, hi []string
	err := errors.Join(json.Unmarshal(in["eps"], &text), json.Unmarshal(in["bits"], &bits),
		json.Unmarshal(in["lo"], &lo), json.Unmarshal(in["hi"], &hi))
	if err != nil {
		return nil, err
	}
	eps, err := ldp.ParseEpsilon(text)
	if err != nil {
		return nil, err
	}
	l, lerr := units(lo)
	h, herr := units(hi)
	if err := errors.Join(lerr, herr); err != nil {
		return nil, err
	}
	return ldp.NewPolytopeFromBounds(eps, l, h, bits)
}

// solved are the kinds of "wpm solve".
var solved = []string{"basemeasure", "entropic", "hilbert", "kpm", "phi", "project", "round", "sphere", "transport"}

func answer(line []byte) string {
	var in members
	if err := object(line, &in); err != nil {
		return `{"error":"not an object"}`
	}
	kind := strings.Trim(string(in["kind"]), `"`)
	kind = strings.TrimSuffix(kind, "-large")
	delete(in, "kind")
	if slices.Contains(solved, kind) {
		body, _ := json.Marshal(in)
		out, _ := machine.Answer(context.Background(), kind, machine.Settings{}, body)
		return string(out)
	}
	id := string(in["id"])
	var out any
	err := fmt.Errorf("unknown kind %q", kind)
	if f := reference[kind]; f != nil {
		out, err = f(in)
	}
	if err != nil {
		out = map[string]string{"error": err.Error()}
	}
	body, _ := json.Marshal(out)
	return fmt.Sprintf(`{"id":%s,%s`, id, body[1:])
}

// misbehave does what no client may do, from the tenth line on.
var misbehave = map[string]func(w *bufio.Writer, line int, good string){
	"dies":    func(_ *bufio.Writer, _ int, _ string) { fmt.Fprintln(os.Stderr, "lost the will"); os.Exit(3) },
	"hangs":   func(_ *bufio.Writer, _ int, _ string) { time.Sleep(time.Hour) },
	"garbage": func(w *bufio.Writer, _ int, _ string) { fmt.Fprintln(w, "\x00\xff{{{") },
	"cut": func(w *bufio.Writer, _ int, good string) {
		fmt.Fprint(w, good[:len(good)-1])
		_ = w.Flush()
		os.Exit(0)
	},
	"order": func(w *bufio.Writer, _ int, good string) {
		fmt.Fprintln(w, strings.Replace(good, `"id":`, `"id":1`, 1))
	},
	"twice":  func(w *bufio.Writer, _ int, good string) { fmt.Fprintf(w, "%s\n%s\n", good, good) },
	"floods": func(w *bufio.Writer, _ int, _ string) { fmt.Fprint(w, strings.Repeat("x", 1<<20)); _ = w.Flush() },
	"null":   func(w *bufio.Writer, _ int, _ string) { fmt.Fprintln(w, "null") },
	"odd": func(w *bufio.Writer, n int, _ string) {
		fmt.Fprintf(w, `{"id":%d,"verified":"yes","lo":7,"q":{},"index":[],"weights":[null]}`+"\n", n)
	},
}

// serve is a client on standard input and output.
func serve(name string) {
	w := bufio.NewWriter(os.Stdout)
	kinds := append(slices.Clone(solved), "certificate", "verify", "round-in-box", "sample", "schedule", "policy", "kl", "project-large")
	switch name {
	case "hello-twice":
		kinds = append(kinds, "kl")
	case "hello-unknown":
		kinds = append(kinds, "klingon")
	case "hello-none":
		kinds = []string{}
	case "hello-silent":
		time.Sleep(time.Hour)
	}
	hello, _ := json.Marshal(map[string]any{"wpm-conform": 1, "name": name, "kinds": kinds})
	fmt.Fprintf(w, "%s\n", hello)
	_ = w.Flush()
	in := bufio.NewReader(os.Stdin)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		good := answer(bytes.TrimSpace(line))
		if f := misbehave[name]; f != nil && n >= 40 {
			f(w, n-31, good) // the cases about lines come first and have ids of their own
		} else {
			fmt.Fprintln(w, good)
		}
		_ = w.Flush()
	}
	switch name {
	case "late":
		fmt.Fprintln(w, "one more thing")
		_ = w.Flush()
	case "unclean":
		os.Exit(4)
	case "stays":
		time.Sleep(time.Hour)
	}
}
