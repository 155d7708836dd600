// Package lab has no code: its folders are the studies, a module of their own above the module of the mechanism.
//
// # Folders
//
//   - cmd/wpm-lab: the command, with a subcommand for each study;
//   - compare: mechanisms on anybody's data, by anybody's measure; what it exports is for programs of others;
//   - ring, movielens, gowalla, mirror, sphere, errata: the numbers of the paper, and those of docs/errata.md;
//   - mapping, country, months: how good maps are, over kinds of maps, at the size of a country, and month after month;
//   - rows, rivals: maps by several designs, and by other mechanisms, of made-up cities; compare has the rivals from there;
//   - towns: made-up cities for several studies;
//   - bench: times beside other solvers;
//   - faults: a command that releases under short threads, memory and files, and compares how often there is a report;
//   - vectors: the command that writes the test vectors of the module above, from its oracle alone;
//   - figure, report: charts by gonum/plot; a folder of tables and a page;
//   - fuzz: the readers of data files.
//
// # Why apart
//
// Who imports a solver, or deploys the command wpm, needs none of it, and should not have to trust the modules that draw
// its charts. Nothing in the module above can import this one, since this one requires it. A test here holds what each
// folder imports.
package lab
