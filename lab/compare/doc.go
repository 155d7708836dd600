// Package compare compares mechanisms on anybody's data, by anybody's measure: the study to start from when neither
// check-ins nor films are the question.
//
// # What is compared
//
// [Data] is a matrix of distances between k inputs and kv outputs and the distribution mu_u of every user over the
// inputs. Each [Method] is a baseline.Sampler, a map from mu_u to the law that one sample is drawn from; nothing here
// knows more of a mechanism, and a program can bring its own ([Own]). A law is rounded by package ldp into integers,
// and ldp.CheckRows decides that the laws of all users, and of all point masses, are within e^eps of each other. All scores
// are of the integers.
//
// # Scores
//
//	w1, w2, ...   W_r between the law and mu_u: exact transport, with a certified gap
//	tv            half of the l1 distance
//	kl            KL(mu_u || law), in nats
//	hit@n         the probability that the sample is one of the user's n most frequent inputs, or of all that the
//	              user has if they are fewer; inputs that tie for the last ranks share them
//
// All but w need outputs that are the inputs. A score of a user is exact. The table has its mean over users, with the
// standard error of that mean for readers to whom users are a sample. Of maps, w and tv score two things: the mean of
// all laws against the mean of all mu_u, which is the bias of the mechanism, and the histogram of one simulated release
// per user, of which Seeds are drawn, with mean and standard deviation. Neither is an estimate of the map.
//
// Config.Maps names mechanisms that make maps alone. With one of them, package rivals simulates one report per user, Seeds
// times, of these, of WPM in mixture mode with the default design and of those Methods that it has, and reads them by
// package estimate and as each mechanism is best read. Scores are W_1 to the mean of all mu_u. There are bounds: 1,600
// places, 20,000 users, eps 12; distances are symmetric, and the Disk Area Mechanism needs a grid.
//
// # What comes out
//
// The report, with the tables users, maps, designs and estimates; long.csv, every number of the first two in long format (method, eps, metric,
// kind, user or seed, value); and laws-METHOD-EPS.npy (users x kv) and channel-METHOD-EPS.npy (k x kv, the laws of
// point masses), float64. What is written of single users is as private as the data.
//
// This is a simulation: releases are drawn with ldp.Weights.Sample from a stream keyed by seed, mechanism, eps and run.
// Equal Data and Config give equal bytes at any GOMAXPROCS.
//
// # Cost
//
// A projection and a transport for each user, method and eps, and Seeds transports between full distributions for each
// method and eps: a minute for 500 users of 400 places with the defaults. Maps of all reports take 1 to 5 seconds of
// processor time more for each mechanism, eps and seed.
package compare
