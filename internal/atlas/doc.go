// Package atlas makes a map of a population from the releases of a policy. Package sheet writes it as a table, as
// GeoJSON, or as a page.
//
// # From a policy to a map
//
// OfPolicy and Of make a [World]: the rows of the mixture mode as package estimate reads them, the distances between
// inputs where the cost has them, and the positions of inputs and outputs. [World.Read] runs one of the estimators. A
// policy of projection mode does not identify a map: its releases follow the shapes of the private distributions, and
// not only their mean.
//
// # What is drawn
//
// An estimate has a share for each place. The counts do not settle each share, because the rows of neighbours are
// nearly the same. [Resolve] groups places in squares, in steps of a factor 2. The squares are large enough for the
// counts to say something about the three largest, and no smaller than the counts ask for. A page draws the mass of
// each square, spread within it like the guess. A file for machines has the share of each place.
//
// Everything here comes from releases and public data. It costs no privacy.
package atlas
