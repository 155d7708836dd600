// Package warehouse tests the SQL of docs/warehouse.md: DuckDB, in the process, and PostgreSQL, in a cluster that the
// test makes and throws away, count the same shards as package aggregate/reports does. It has no code of its own.
//
// It is a module apart, so that its dependencies, which need cgo, stay out of wpm. The driver is pinned to
// v2.10500.0, that is DuckDB 1.5.0.
package warehouse
