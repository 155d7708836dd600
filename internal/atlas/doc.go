// Package atlas reads a map of a population off the releases of a policy, and writes it: as a table, as GeoJSON, and as a page.
//
// # From a policy to a map
//
// OfPolicy and Of make a [World]: the rows of the mixture mode as package estimate reads them, the distances between inputs where
// the cost has such, and where the inputs and outputs are. [World.Read] runs one of the estimators. A policy of projection mode does not
// identify a map: its releases follow the shapes of the private distributions, and not only their mean.
//
// # What is drawn
//
// An estimate has a share for each place, and the counts do not settle each share. [Resolve] finds squares of places, in steps of a
// factor 2, that tell the counts as much as the estimate itself does: with the mass of each square spread within it as the guess
// has it, the log-likelihood falls by at most Slack. The page draws the coarsest such map, and so no detail that the counts could do without.
//
// Everything here comes from releases and public data. It costs no privacy.
package atlas
