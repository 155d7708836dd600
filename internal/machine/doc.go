// Package machine is the machine interface of "wpm solve": one JSON object per line in, one per line out,
// in order. It makes wpm the reference implementation for any language.
//
// A line names its input by the fields of its kind (see [Kinds]); an unknown, repeated or misspelt field is an error,
// and so is null. Numbers round-trip float64, exact values are strings "p/q", infinities are the strings "inf" and
// "-inf". The field id is echoed as it came. Every answer carries seconds, the solver's own time with the cost in
// memory. With [Settings].Certificate, answers of the kinds that have one end in the field certificate, the object of
// package certificate, about the cost of the line and the box lo, hi in float64 (of m and eps: as rounded; the bounds
// of the answer itself hold for the real box, too). A bad line is answered by {"error": "..."}; the others are still
// answered. Blank lines are passed over.
//
// # Names
//
// A cost or a box that many lines share is sent once, under a name, and checked once:
//
//	{"define":"city","cost":{"kind":"grid","rows":20,"cols":20,"p":1}}     -> {"defined":"city"}
//	{"define":"box","lo":[...],"hi":[...]}, or with m and eps             -> {"defined":"box"}
//	{"cost":"city","box":"box","mu":{"index":[7],"weight":[1]},"want":["q","objective"]}
//
// A name is defined once; a second definition is an error, and so is a name that no line before has defined. The field
// want lists the fields of the answer. What only the others need is not computed: without bounds, potentials and plan,
// a projection whose cost and box have names takes little more than that of mincostflow.Projector.
//
// With [Settings].Files, a cost may be {"kind":"npy","path":"C.npy"}, a file below that folder, through no link.
//
// # Cost
//
// Lines are answered in parallel and written in order. They may have any length; memory is that of the names, of the
// longest line and of four answers for each processor.
package machine
