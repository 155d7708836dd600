// Package atlas reads a map of a population off the releases of a policy, and writes it: as a table, as GeoJSON, and as
// a page.
//
// # From a policy to a map
//
// OfPolicy and Of make a [World]: the rows of the mixture mode as package estimate reads them, the distances between
// inputs where the cost has such, and where the inputs and outputs are. [World.Read] runs one of the estimators. A
// policy of projection mode does not identify a map: its releases follow the shapes of the private distributions, and
// not only their mean.
//
// # What is drawn
//
// An estimate has a share for each place, and the counts do not settle each share: the rows of neighbours are nearly
// the same. [Resolve] finds squares of places, in steps of a factor 2, that are large enough for the counts to say
// something of the three largest, and no smaller than the counts need. The page draws the mass of each square, spread
// within it as the guess has it. A file for machines has the share of each place.
//
// Everything here comes from releases and public data. It costs no privacy.
package atlas
