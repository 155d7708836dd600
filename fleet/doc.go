// Package fleet counts the reports of a fleet in an Apache Beam pipeline.
//
// # The problem
//
// Reports lie in many shards, of several policies and epochs, some of them malformed, some of the shards cut off. What
// is wanted is one right count for each policy and epoch, or an error, whatever the engine retries or moves.
//
// # The transform
//
// [Aggregate] takes the paths of shards and gives partial counts (docs/spec/counts.md), the bytes that wpm count would
// write for the same shards, one for each policy and epoch. An element is a shard, never a report: it is read to its
// end in one call, counted into vectors, and only sums of vectors go through the engine, in a binary form. A bundle
// that is retried begins again with nothing. A shard that is there twice, by its path or by its contents, is an error,
// for the parts name their shards; wpm merge -manifest says whether all are there.
//
// Beam's text source is not for reports. On a gzip file, that of v2.77 takes the size of the file for the size of the
// text, reads so many bytes of the text, and drops the rest, most of it, without an error. A test holds that this
// module does not use it.
//
// # Cost
//
// That of reading the shards, in memory for one vector for each policy and worker. What a worker sends for a shard has
// its outputs that are not 0, and 50 bytes and the path.
package fleet
