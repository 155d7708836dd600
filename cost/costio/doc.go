// Package costio reads and writes files of costs and counts: cost matrices as CSV or NPY, points and counts as CSV,
// each possibly compressed with gzip.
//
// # Formats
//
// CSV is UTF-8 text with commas, as encoding/csv reads it: quoted fields, LF or CRLF, long lines, empty lines skipped,
// a byte order mark dropped. Numbers are decimal ("1", "-2.5", "1e-3"), with spaces around them allowed; hexadecimal and
// digit groups are not. A file whose first line has semicolons, and commas only between digits, is separated by
// semicolons. One whose first line has tabs and no comma is separated by tabs. Numbers of both may have a decimal comma.
//
//	cost     plain numbers, one row of the matrix per line
//	points   a label and n >= 1 coordinates; or GeoJSON
//	counts   user,label,count or label,count (the first row decides)
//	tally    label,count or index,count, with that header: whole numbers
//	regions  region,label or region,label,weight: parts of a list of points (the first row decides)
//	weights  label,weight: of a list of points
//
// A label is a non-empty UTF-8 string without control characters, kept exactly as it is. A label
// that occurs twice (twice for one user in counts, or for one region) is an error.
//
// "NaN" and "Inf" count as numbers, and are refused. The writers write headers. The first row is a header if
//
//	cost     none of its fields is a number, and one begins with a letter or "_";
//	points   the same;
//	counts   its last field is "count", in any case;
//	regions  its fields are these words, in any case;
//	weights  its last field is "weight" or "count", in any case.
//
// The header of points names each column, in any order and any case:
//
//	label, name or id
//	lat or latitude, and lon, lng or longitude: degrees
//	x, or x and y, or x, y and z
//	x1, ..., xn
//
// The best of label, name and id has the labels, and the coordinates are of one of these three kinds. Other columns are
// ignored, and named in Points.Ignored. A repeated or missing column is an error, as is a first row with both a number
// and the name of a column. Points are also read from GeoJSON; see [ReadGeoJSON]. Points without a header have the
// columns label,x1,...,xn, and the kind of their coordinates is then unknown. The header of counts with users is
// user,label,count in this order.
//
// NPY is format version 1 or 2 with two dimensions, C or Fortran order, either byte order, and element type float64,
// float32, or an integer of any width. An integer beyond 2^53 is refused, because float64 may not hold it exactly; so
// are bool, complex, float16, strings and records. Programs for a browser (GOOS=js) have no NPY.
//
// Compression is recognised by its first two bytes, never by the file name.
//
// # Guarantees
//
// Data that are read without an error are valid: entries and counts are finite and >= 0, coordinates are finite, and
// all rows have one length. Everything else gives an *Error, which names the file, line, field and value
//
//	points.csv:17: field 3: "abc" is not a number
//
// and wraps one of ErrFormat, ErrNumber, ErrLabel, ErrDuplicate, wpmerr.ErrNotFinite, wpmerr.ErrNegative, cost.ErrPoint and
// wpmerr.ErrTooLarge, or the error of the reader. Errors quote the data, so errors about a private file are private too.
//
// Memory is bounded however small the file is: at most MaxBytes of decompressed text in lines of at most MaxLine bytes
// and MaxFields fields, cost.MaxEntries numbers, cost.MaxPoints points and MaxCounts counts. Nothing is allocated for
// the size that an NPY header announces before the data have been read.
package costio
