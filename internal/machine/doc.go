// Package machine is the machine interface of "wpm solve": one JSON object per line in, one per line out,
// in order. It makes wpm the reference implementation for any language.
//
// A line names its input by the fields of its kind (see [Kinds]). An unknown, repeated or misspelt field is an error,
// and so is null. Numbers round-trip float64, exact values are strings "p/q", and infinities are the strings "inf" and
// "-inf". The field id is echoed as it came. Every answer has the field seconds, the solver's own time with the cost in
// memory. A bad line is answered by {"error": "..."}, and the others are still answered. Blank lines are skipped.
//
// With [Settings].Certificate, answers of the kinds that have evidence end in the field certificate, an object of
// package certificate. It is about the cost of the line and the box lo, hi in float64. If the line has m and eps, that
// box is rounded; the bounds of the answer itself hold for the real box, too.
//
// # Names
//
// A cost or a box that many lines share is sent once, under a name, and checked once:
//
//	{"define":"city","cost":{"kind":"grid","rows":20,"cols":20,"p":1}}     -> {"defined":"city"}
//	{"define":"box","lo":[...],"hi":[...]}, or with m and eps             -> {"defined":"box"}
//	{"cost":"city","box":"box","mu":{"index":[7],"weight":[1]},"want":["q","objective"]}
//
// A name is defined once. A second definition is an error, and so is the use of a name before its definition. The field
// want lists the fields of the answer, and nothing is computed that only other fields need. Without bounds, potentials
// and plan, a projection whose cost and box have names takes little more time than one by mincostflow.Projector.
//
// With [Settings].Files, a cost may be {"kind":"npy","path":"C.npy"}, a file below that folder. Links are not followed.
//
// # Cost
//
// Lines are answered in parallel, and the answers are written in order. Lines may have any length. The memory is that
// of the named costs and boxes, of the longest line, and of four answers for each processor.
package machine
