package certificate

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/wpm-go/wpm/mincostflow"
)

// TestIntegerText: whole units, arcs and logarithms: what they read back to, and what they are not.
func TestIntegerText(t *testing.T) {
	var p unitPlan
	if err := json.Unmarshal([]byte("[[1,2,3],[4,5,9223372036854775807]]"), &p); err != nil || len(p) != 2 || p[0] != (mincostflow.UnitEntry{I: 1, J: 2, Units: 3}) || p[1].Units != math.MaxInt64 {
		t.Errorf("%v, %v", p, err)
	}
	var a arcs
	const text = "[[0,1,null,null,-3],[2,0,-4,5,6]]"
	if err := json.Unmarshal([]byte(text), &a); err != nil || len(a) != 2 ||
		a[0] != (mincostflow.Arc{From: 0, To: 1, Lower: -mincostflow.Unlimited, Upper: mincostflow.Unlimited, Cost: -3}) ||
		a[1] != (mincostflow.Arc{From: 2, To: 0, Lower: -4, Upper: 5, Cost: 6}) {
		t.Errorf("%v, %v", a, err)
	}
	if b, err := json.Marshal(a); err != nil || string(b) != text {
		t.Errorf("%s, %v", b, err)
	}
	for _, v := range []any{unitPlan(nil), arcs(nil), wholes(nil), logs(nil)} {
		if b, err := json.Marshal(v); err != nil || string(b) != "[]" {
			t.Errorf("empty %T: %s, %v", v, b, err)
		}
	}
	for _, s := range []string{"null", "0", "{}", "[1]", "[[]]", "[[1,2]]", "[[1,2,3,4]]", "[[1,2,3],4]", "[[1.5,2,3]]", "[[1,2,3.5]]", "[[1,2,1e3]]", "[[1,2,9223372036854775808]]", `[["1",2,3]]`, "[[1,2,3] ]", "[[[1,2,3]]]"} {
		if err := json.Unmarshal([]byte(s), &p); err == nil {
			t.Errorf("%s was read as the plan %v", s, p)
		}
	}
	for _, s := range []string{"null", "[[]]", "[[1,2,3,4]]", "[[1,2,3,4,5,6]]", "[[null,2,3,4,5]]", "[[1,2,3,4,null]]", "[[1,2,3,4,5.5]]", "[[1,2,3,4,5],6]", "[[1,2,3,4,5] ]", "[[9223372036854775808,2,3,4,5]]"} {
		if err := json.Unmarshal([]byte(s), &a); err == nil {
			t.Errorf("%s was read as the arcs %v", s, a)
		}
	}
	var l logs
	if err := json.Unmarshal([]byte("[null,-2.5]"), &l); err != nil || len(l) != 2 || !math.IsInf(l[0], -1) || l[1] != -2.5 {
		t.Errorf("%v, %v", l, err)
	}
	for _, x := range []float64{math.NaN(), math.Inf(1)} {
		if b, err := json.Marshal(logs{x}); err == nil {
			t.Errorf("the logarithm %v has the text %s", x, b)
		}
	}
}
