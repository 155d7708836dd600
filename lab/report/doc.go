// Package report writes the result of a study as a folder that can be read, checked and reused:
//
//	index.html   one self-contained page: what was found, the figures (inlined) with what to see in each, the tables, all settings
//	table.csv    the first table, every number in full precision; further tables as NAME.csv
//	table.json   everything: tables, facts, settings and the seed
//	NAME.svg, NAME.png, NAME.pdf   each figure, for pages, for slides and for papers
//	and whatever files the study adds (a policy, say)
//
// Guarantees. [Encode] is a pure function: equal reports give equal bytes (no clock, no host name, no path).
// [WriteFiles] stages every file under a temporary name in its own folder before the first rename, so an error (a full
// disk, a missing permission) leaves what was there before, and a reader never sees half a file. Numbers that are not
// finite are an error, not an empty cell.
//
// Cost: the figures (see package figure); the rest is milliseconds.
package report
