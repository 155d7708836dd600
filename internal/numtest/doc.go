// Package numtest holds what the tests of several packages share. It has comparisons with a tolerance that must give its
// reason, golden JSON files with an -update flag, exact decimal references, the small generator that the reference
// vectors were made with, the seed of drawn cases, the body of benchmarks that ask whether time depends on data, and
// the processor time of benchmarks.
//
// It is imported by tests only. It defines the flag -update; a test package that imports it must
// not define another flag of that name.
package numtest
