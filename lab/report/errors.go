package report

import "errors"

// Errors of this package, wrapped with what, where and the value. Names of files that are empty, used twice, or not plain
// are folder.ErrName.
var (
	// ErrTable: rows and columns that do not fit together, or a cell of a type that has no column format.
	ErrTable = errors.New("report: bad table")
	// ErrNotFinite: a NaN or an infinity in a table.
	ErrNotFinite = errors.New("report: number is not finite")
)
