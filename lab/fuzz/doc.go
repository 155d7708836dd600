// Package fuzz holds the fuzz targets of the studies: the readers of their data files. It has no code of its own. The
// package fuzz of the module above lists them with their oracles, and fuzz/run runs them.
package fuzz
