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
// Lines may have any length; memory is that of the longest line and its answer.
package machine
