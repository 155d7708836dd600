package fuzz

import (
	"bytes"
	"context"
	"encoding/json"
	"math/big"
	"testing"

	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/internal/machine"
)

// FuzzAnswer: whatever the line, the answer is exactly one valid JSON object (so no NaN), an error object or not,
// with the id echoed; and the same line has the same answer twice, but for the time it took.
func FuzzAnswer(f *testing.F) {
	kinds := machine.Kinds()
	for _, line := range []string{
		`{"cost":{"kind":"explicit","C":[[0,1],[1,0]]},"mu":[0.5,0.5],"m":[0.5,0.5],"eps":2}`,
		`{"id":7,"cost":{"kind":"ring","n":5,"p":2},"mu":{"index":[0,3],"weight":[0.25,0.75]},"lo":[0,0,0,0,0.1],"hi":[1,0.5,0.5,0.5,1]}`,
		`{"id":"a","cost":{"kind":"grid","rows":2,"cols":3,"p":1},"m":[0.1,0.2,0.3,0,0.2,0.2],"eps":1}`,
		`{"cost":{"kind":"points","x":[[0,0],[1,0]],"v":[[0,1]],"p":2},"lo":[1],"hi":[1]}`,
		`{"cost":{"kind":"ring","n":6,"p":1},"eps":2,"method":"uniform"}`,
		`{"cost":{"kind":"cosine","x":[[1,2],[0,0]]},"eps":0,"method":"uniform"}`,
		`{"mu":[0.1,0.2,0.7],"eps":1}`, `{"d":3,"p":2,"eps":1}`,
		`{"cost":{"kind":"ring","n":3,"p":1},"source":[0.5,0.5,0],"target":{"index":[2],"weight":[1]}}`,
		`{"cost":{"kind":"ring","n":3,"p":1},"source":{"index":[1],"units":[7]},"lo":[1,0,0],"hi":[9,9,2]}`,
		`{"cost":{"kind":"ring","n":3,"p":1},"mu":[0.5,0.5,0],"lo":[0.2,0.2,0.2],"hi":[0.5,0.5,0.5],"reg":0.1}`,
		`{"m":[0.5,0.5],"eps":"1","bits":16,"q":[0.9,0.1]}`,
		`{"m":[0.5,0.5],"eps":0.1,"bits":62,"q":[1e308,-1]}`,
		`{"cost":{"kind":"ring","n":4},"m":[0.25,0.25,0.25,0.25],"eps":"1","counts":[7,0,1,9],"prior":[0,1,1,1]}`,
		`{"cost":{"kind":"explicit","C":[[0,1],[2,0]]},"m":[0.5,0.5],"eps":"9","bits":62,"counts":[0,3],"estimator":"em"}`,
		`{"mu":[0.1,null],"eps":1}`, `{"mu":[1],"mu":[1],"eps":1}`, `{"mu":[1],"eps":1,"x":2}`, `{"id":{"a":[1]},"mu":[1]}`,
		`{"mu":[1],"eps":701}`, `[]`, `{`, ``, `{}{}`,
		`{"mu":[1e-400,1],"eps":1e-300}`,
		`{"nodes":3,"arcs":[[0,1,0,4,2],[1,2,0,"inf",1],[0,2,"-inf",1,5]],"supply":[3,0,-3]}`,
		`{"define":"c","cost":{"kind":"ring","n":3,"p":1}}`, `{"id":1,"define":"b","m":[0.5,0.5],"eps":1}`,
		`{"cost":"c","box":"b","mu":[1]}`, `{"mu":[0.5,0.5],"eps":1,"want":["r"]}`,
		`{"cost":{"kind":"npy","path":"../C.npy"},"mu":[1],"lo":[0],"hi":[1]}`,
	} {
		for n := range kinds {
			f.Add(uint8(n), []byte(line))
		}
	}
	f.Fuzz(func(t *testing.T, n uint8, line []byte) {
		if len(line) > 1<<12 || large(line) {
			return
		}
		kind := kinds[int(n)%len(kinds)]
		kept := bytes.Clone(line)
		answer, ok := machine.Answer(context.Background(), kind, machine.Settings{}, line)
		if !bytes.Equal(line, kept) {
			t.Fatal("the line was changed")
		}
		first := object(t, answer)
		_, isError := first["error"]
		_, timed := first["seconds"]
		in, some := object(t, []byte(`{}`)), false
		if ok { // an accepted line is an object
			in = object(t, line)
			some = in["want"] != nil || in["define"] != nil // and may leave out the time
		}
		if ok == isError || ok != timed && !some || bytes.ContainsAny(answer, "\r\n") {
			t.Fatalf("%s %q: ok %v, answer %s", kind, line, ok, answer)
		}
		if ok { // the id comes back as it was
			if string(compact(in["id"])) != string(compact(first["id"])) {
				t.Fatalf("%q: id %s came back as %s", line, in["id"], first["id"])
			}
		}
		if u, l := fraction(first["upper_exact"]),
			fraction(first["lower_exact"]); ok && u != nil && l != nil && l.Cmp(u) > 0 {
			t.Fatalf("%s %q: lower bound above upper: %s", kind, line, answer)
		}
		if v, is := first["verified"]; is && string(v) != "true" {
			t.Fatalf("%s %q: a box that does not verify: %s", kind, line, answer)
		}
		if ok && machine.Certificate(kind) != "" && in["define"] == nil &&
			(kind != "flow" || string(first["status"]) == `"optimal"`) {
			certified(t, kind, line)
		}
		answer, again := machine.Answer(context.Background(), kind, machine.Settings{}, line)
		second := object(t, answer)
		delete(first, "seconds")
		delete(second, "seconds")
		if again != ok || len(first) != len(second) {
			t.Fatalf("%s %q: two answers, %v and %v", kind, line, first, second)
		}
		for name, v := range first {
			if !bytes.Equal(v, second[name]) {
				t.Fatalf("%s %q: field %q is %s and then %s", kind, line, name, v, second[name])
			}
		}
	})
}

// certified: a line with an answer has one with a certificate, too, unless it asks for another objective than the worst
// case, and the certificate holds.
func certified(t *testing.T, kind string, line []byte) {
	t.Helper()
	answer, ok := machine.Answer(context.Background(), kind, machine.Settings{Certificate: true}, line)
	fields := object(t, answer)
	if !ok {
		in := object(t, line)
		if in["objective"] == nil && in["exclude"] == nil {
			t.Fatalf("%s %q: answered, but with a certificate %s", kind, line, answer)
		}
		return
	}
	c, err := certificate.Decode(fields["certificate"])
	if err == nil {
		_, err = certificate.Verify(context.Background(), c)
	}
	if err != nil || c.Kind() != machine.Certificate(kind) {
		t.Fatalf("%s %q: certificate of kind %q: %v in %s", kind, line, c.Kind(), err, answer)
	}
}

func object(t *testing.T, text []byte) map[string]json.RawMessage {
	t.Helper()
	var o map[string]json.RawMessage
	if err := json.Unmarshal(text, &o); err != nil || o == nil {
		t.Fatalf("%q is not one JSON object: %v", text, err)
	}
	return o
}

func compact(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if raw == nil || json.Compact(&b, raw) != nil {
		return nil
	}
	return b.Bytes()
}

func fraction(raw json.RawMessage) *big.Rat {
	var s string
	if raw == nil || json.Unmarshal(raw, &s) != nil {
		return nil
	}
	r, _ := new(big.Rat).SetString(s)
	return r
}

// large reports whether a line asks for a cost of many points in a few bytes.
func large(line []byte) bool {
	const most = 24
	var in struct {
		Cost struct{ N, Rows, Cols float64 }
	}
	_ = json.Unmarshal(line, &in) // on an error as much is filled in as can be
	c := in.Cost
	return !(c.N <= most && c.Rows <= most && c.Cols <= most && c.Rows*c.Cols <= most)
}
