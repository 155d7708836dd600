// Package fleet counts the reports of a fleet in an Apache Beam pipeline.
//
// # The problem
//
// Reports lie in many shards, of several policies and epochs. Some reports are malformed, and some shards are cut off.
// The result must be one correct count for each policy and epoch, or an error, whatever the engine retries or moves.
//
// # The transform
//
// [Aggregate] takes the paths of shards and gives partial counts (docs/spec/counts.md), the bytes that wpm count would
// write for the same shards, one for each policy and epoch. An element is a shard, never a report: it is read to its
// end in one call, counted into vectors, and only sums of vectors go through the engine, in a binary form. A bundle
// that is retried begins again with nothing. A shard that is there twice, by its path or by its contents, is an error,
// for the parts name their shards; wpm merge -manifest says whether all are there.
//
// Do not use Beam's text source for reports. On a gzip file, the text source of v2.77 takes the size of the file for
// the size of the text, reads only this many bytes of the text, and drops the rest without an error. A test checks that
// this module does not use it.
//
// # Cost
//
// The transform takes the time of reading the shards, and memory for one vector for each policy and worker. For a shard
// a worker sends its outputs that are not 0, 50 bytes, and the path.
package fleet
