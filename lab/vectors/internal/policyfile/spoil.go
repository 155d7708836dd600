package policyfile

import (
	"fmt"
	"regexp"
	"strings"
)

// A Spoiled text is no policy. Flags say what is wrong.
type Spoiled struct {
	Text  string
	Flags []string
}

// Spoiled returns texts that are no policy: each breaks one rule of docs/spec/policy.md.
func (f File) Spoiled() (out []Spoiled) {
	text := f.Text()
	add := func(t string, flags ...string) {
		if t == text {
			panic("a spoiled policy that is none: " + t)
		}
		out = append(out, Spoiled{t, flags})
	}
	swap := func(old, new string, flags ...string) {
		if strings.Count(text, old) >= 1 {
			add(strings.Replace(text, old, new, 1), flags...)
		}
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	join := func(lines []string) string { return strings.Join(lines, "\n") + "\n" }
	with := func(n int, more ...string) []string {
		return append(append(append([]string(nil), lines[:n]...), more...), lines[n:]...)
	}

	// The text.
	add(text+"\n", "spelling")
	add(strings.TrimSuffix(text, "\n"), "spelling")
	add(strings.ReplaceAll(text, "\n", "\r\n"), "spelling")
	add("\xef\xbb\xbf"+text, "spelling")
	add(text[:len(text)/2], "short")
	swap(`"bits":`, `"bits": `, "spelling")
	swap(`"bits":`, `"bits":0`, "spelling")
	swap(`"mode":"mixture"`, `"mode":"mi\u0078ture"`, "spelling")
	swap(`"format":"wpm-policy-`, `"format":"wpm-policy-3`, "spelling")
	add(join(with(3, lines[2])), "spelling")
	add(join(with(3, `"extra":null,`)), "spelling")
	swapped := append([]string(nil), lines...)
	swapped[3], swapped[4] = swapped[4], swapped[3]
	add(join(swapped), "wrong-order")
	add(join(append(append([]string(nil), lines[:3]...), lines[4:]...)), "short")

	// Numbers and words.
	swap(`"epsilon":"`+f.Box.Epsilon, `"epsilon":"0`+f.Box.Epsilon, "spelling")
	if strings.Contains(f.Box.Epsilon, "/") {
		swap(f.Box.Epsilon, "10/14", "spelling")
	} else if strings.Contains(f.Box.Epsilon, ".") {
		swap(`"`+f.Box.Epsilon+`"`, `"`+f.Box.Epsilon+`0"`, "spelling")
	} else {
		swap(`"`+f.Box.Epsilon+`"`, `"`+f.Box.Epsilon+`.0"`, "spelling")
	}
	swap(`"epsilon":"`+f.Box.Epsilon+`"`, `"epsilon":`+"1")
	swap(fmt.Sprintf(`"bits":%d`, f.Box.Bits), fmt.Sprintf(`"bits":%d`, f.Box.Bits-1), "sums-out")
	swap(fmt.Sprintf(`"bits":%d`, f.Box.Bits), `"bits":63`)
	swap(fmt.Sprintf(`"bits":%d`, f.Box.Bits), fmt.Sprintf(`"bits":"%d"`, f.Box.Bits), "spelling")
	swap(fmt.Sprintf(`"bits":%d`, f.Box.Bits), fmt.Sprintf(`"bits":%d.0`, f.Box.Bits), "spelling")
	if f.Rows != nil || f.Geometry != nil {
		swap(fmt.Sprintf(`"inputs":%d`, f.Inputs), fmt.Sprintf(`"inputs":%d`, f.Inputs+1), "one-unit-out")
	}
	swap(fmt.Sprintf(`"outputs":%d`, len(f.Box.Lo)), fmt.Sprintf(`"outputs":%d`, len(f.Box.Lo)+1), "one-unit-out")
	swap(`"mode":"mixture"`, `"mode":"mix"`)
	swap(`"mode":"mixture"`, `"mode":"projection"`)
	swap(`"mode":"projection"`, `"mode":"mixture"`)
	swap(`"work_limit_ms":0`, `"work_limit_ms":1`)
	swap(`"work_limit_ms":3600000`, `"work_limit_ms":3600001`, "one-unit-out")
	swap(`"work_limit_ms":250`, `"work_limit_ms":-0`, "spelling")

	// Statements.
	swap(`"geometry":"public","geometry_epsilon":null`, `"geometry":"public","geometry_epsilon":"1"`)
	swap(`"geometry":"public"`, `"geometry":"secret"`)
	swap(`"geometry":"public"`, `"geometry":"data-independent"`)
	swap(`"base_measure":"data-independent"`, `"base_measure":"derived-dp"`)
	swap(`"geometry_epsilon":"1/3"`, `"geometry_epsilon":"2/6"`, "spelling")
	swap(`"note":""`, `"note":"\t"`, "spelling")
	swap(`"note":""`, `"note":"a\/b"`, "spelling")
	swap(`"metadata":{}`, `"metadata":{"b":"","a":""}`, "wrong-order")
	swap(`"metadata":{}`, `"metadata":{"a":"","a":""}`, "spelling")
	swap(`"metadata":{}`, `"metadata":{"":""}`)
	swap(`"metadata":{}`, `"metadata":null`)
	swap(`"cost":null`, `"cost":[]`)
	swap(`"cost":null`, `"cost":{"a": 1}`, "spelling")
	swap(`"cost":null`, `"cost":{"a":01}`, "spelling")
	swap(`"certificate":null`, `"certificate":"x"`)

	// Labels.
	swap(`"input_labels":null`, `"input_labels":[]`)
	swap(`"output_labels":null`, `"output_labels":["a"`+strings.Repeat(`,"a"`, len(f.Box.Lo)-1)+`]x`, "spelling")
	if len(f.InputLabels) > 1 {
		swap(quote(f.InputLabels[1]), quote(f.InputLabels[0]), "tie")
		swap(quote(f.InputLabels[1]), `""`)
		swap(quote(f.InputLabels[1]), quote(strings.Repeat("x", 257)), "long")
		swap(quote(f.InputLabels[1]), `"a`+"\u0085"+`"`, "spelling")
		swap(quote(f.InputLabels[1])+",", "", "short")
	} else {
		swap(`"lo":`, `"input_aliases":[[0,"x"]],`+"\n"+`"lo":`)
	}
	if len(f.Aliases) > 1 {
		swap(`[2,"C"],[2,"see"]`, `[2,"see"],[2,"C"]`, "wrong-order")
		swap(`[2,"C"]`, `[2,"b"]`, "tie")
		swap(`[2,"see"]`, `[3,"see"]`, "one-unit-out")
	} else if len(f.Aliases) == 0 {
		swap(`"lo":`, `"input_aliases":[],`+"\n"+`"lo":`)
	}

	// The box and its rows.
	j := len(f.Box.Lo) - 1
	for at, hi := range f.Box.Hi {
		if hi < f.Box.Total() {
			j = at
		}
	}
	if f.Box.Hi[j] < f.Box.Total() { // every hi of randomBox is the largest that e^eps allows
		g := f
		g.Box = f.Box.Clone()
		g.Box.Hi[j]++
		add(g.Text(), "one-unit-out")
	}
	g := f
	g.Fallback = append([]uint64(nil), f.Fallback...)
	g.Fallback[0]++
	add(g.Text(), "sums-out", "one-unit-out")
	for at, hi := range f.Box.Hi { // a column at hi, written as one between
		swap(fmt.Sprintf(`{"full":[%d],"extra":[]}`, at),
			fmt.Sprintf(`{"full":[],"extra":[[%d,%s]]}`, at, quoted(hi-f.Box.Lo[at])), "one-unit-out", "spelling")
	}
	if strings.Contains(text, `"lo":["`) {
		swap(`"lo":["`, `"lo":["0`, "spelling")
		swap(`"lo":["`, `"lo":["-`, "negative")
	}
	if f.Rows != nil {
		g := f
		g.Rows = append([][]uint64(nil), f.Rows...)
		g.Rows[0] = append([]uint64(nil), f.Rows[0]...)
		g.Rows[0][0]++
		add(g.Text(), "sums-out", "one-unit-out")
		g.Rows = g.Rows[1:]
		add(g.Text(), "short")
		add(join(append(append([]string(nil), lines[:len(lines)-3]...),
			strings.TrimSuffix(lines[len(lines)-3], ",")+lines[len(lines)-2], "}")), "spelling")
		swap(`"full":[`, fmt.Sprintf(`"full":[%d,`, len(f.Box.Lo)))
		swap(`"extra":[[`, `"extra":[[0`, "spelling")
	}
	// the first row's units
	if unit := regexp.MustCompile(`"extra":\[\[[0-9]+,"([0-9]+)"`).FindStringSubmatchIndex(text); unit != nil {
		units := text[unit[2]:unit[3]]
		for _, other := range []string{"0" + units, "+" + units, units + ".0", " " + units} {
			add(text[:unit[2]]+other+text[unit[3]:], "spelling")
		}
		add(text[:unit[2]]+"-"+text[unit[2]:], "negative")
		add(text[:unit[2]-1]+units+text[unit[3]+1:], "spelling")
	}
	if f.Geometry == nil {
		return out
	}
	g = f
	for _, t := range []int{-1, len(f.Box.Lo)} {
		g.Thresholds = append([]int{t}, f.Thresholds[1:]...)
		add(g.Text(), "one-unit-out")
	}
	g.Thresholds = f.Thresholds[1:]
	add(g.Text(), "short")
	swap(`"axes":`, `"axes":1`)
	swap(`"kind":"`, `"kind":"x`)
	switch f.Geometry.Kind {
	case "ring":
		swap(`"rows":0`, `"rows":1`)
		swap(`"output_points":null`, `"output_points":[0,1,2,3,4]`)
	case "grid":
		swap(fmt.Sprintf(`"cols":%d`, f.Geometry.Cols), fmt.Sprintf(`"cols":%d`, f.Geometry.Cols+1), "one-unit-out")
		swap(`"input_points":null`, `"input_points":[]`)
	case "points":
		swap(`"output_points":[`, `"output_points":[2147483648,`)
		swap(`536870911]`, `2147483647]`)
		swap(`-2147483648,`, `-2147483649,`, "one-unit-out")
	}
	if strings.Contains(text, `"lo":"`) {
		swap(`"lo":"150"`, `"lo":["150","150","150","150"]`, "spelling")
	}
	return out
}
