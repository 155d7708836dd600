package report

import "errors"

// Errors of this package, wrapped with what, where and the value.
var (
	// ErrName: a figure, table or file name that is empty, used twice, or not a plain file name.
	ErrName = errors.New("report: bad name")
	// ErrTable: rows and columns that do not fit together, or a cell of a type that has no column format.
	ErrTable = errors.New("report: bad table")
	// ErrNotFinite: a NaN or an infinity in a table.
	ErrNotFinite = errors.New("report: number is not finite")
)
