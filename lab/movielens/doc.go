// Package movielens is the paper's recommendation study: a user's device releases one film, drawn under local
// differential privacy from a distribution near the films that the user has rated, and the study counts how often it is
// one that the user likes.
//
// # Protocol
//
// The defaults of [Config] are the protocol; every number in it is a field. For each of Splits seeds:
//
//	split       films 80/20 into train and test, users 80/20 into validation and test, by the seed; or those of SplitFile
//	embedding   X = films x validation users, missing ratings 0, each user's column centred over all films; the scores U S of the leading 64
//	            principal components. The scores, not the loadings U: unscaled loadings lose much (Embedding chooses)
//	candidates  the 250 test films with most ratings among validation users, ties by id
//	cost        C = 1 - cos between a train film and a candidate, in [0, 2]; a zero vector has distance 1 from all; p = 1
//	mu          proportional to a user's ratings of train films; uniform for a user without any
//	eps         the paper's 0.2, 0.5, 1, 2, 3, 4, and 5
//	HR@1        sum of q_j over the candidates that the user rated 4 or more: the exact probability of a hit, averaged over test users.
//	            A user without hits counts 0
//
// and over the splits the mean and its standard error, and of the differences between mechanisms, split by split, the
// t-interval of level 0.95. Mechanisms:
//
//	WPM          uniform base measure of mass e^(-eps/2) ... e^(eps/2), of 21 the best on validation users: every fourth is
//	             tried, then the neighbours of the best; Algorithm 1 with lambda = 0.01 and 40 rounds. Every round's q is in the
//	             box: stopping early costs utility, never privacy
//	KPM          on genres: a film's mass split evenly over its genres, those that occur among candidates; KL projection onto the box of the
//	             same sweep of masses; then a film of the genre drawn, uniformly among the candidates that have it
//	exponential  q_j ~ exp(-eps u_j/(2 Delta)), u_j the mean distance of candidate j
//	uniform      any candidate
//
// Beside them stand two rates without privacy: of the candidate that most validation users like, recommended to
// everybody, and of WPM at eps = infinity, Algorithm 1 with the box [0, 1].
//
// # What this does not show
//
// The embedding, the candidates and the mass m are derived from the ratings of validation users, without privacy. The
// guarantee is for test users against everybody else; it does not cover the validation users, and a deployment would
// need public data, or privacy, for that step too.
//
// Hit rates are exact probabilities of the float q; nothing is drawn. Equal Config and data give equal results at any
// GOMAXPROCS.
//
// # Data
//
// No data comes with this package. [Load] reads u.data and u.item of MovieLens-100K (Harper and Konstan 2015), plain or
// gzipped: research use only, not to be redistributed. A file of splits has the header split,kind,id and a line for
// every film and user of a test part, such as 3,film,1682 and 3,user,17; all others are train and validation.
//
// # Cost
//
// Some 50 000 projections of 40 rounds per split, each on a user's 85 films and 250 candidates: about a minute of
// processor time for each of 20 splits. Finished splits are kept in Out until the run is done.
package movielens
