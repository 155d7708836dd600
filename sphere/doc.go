// Package sphere computes the base measure of the Wasserstein projection mechanism on the d-sphere (Proposition
// prop:sphere) to thirteen digits, with proofs.
//
// # Problem
//
// Let S^d be the unit sphere of R^(d+1), sigma its uniform distribution, and |x-y|^p the cost. An input is any
// distribution on S^d. Among all eps-LDP mechanisms on S^d, the least worst case of W_p^p is reached by projecting onto
//
//	{ nu : e^(-eps/2) alpha sigma <= nu <= e^(eps/2) alpha sigma },
//
// for one number alpha. The projection of a point mass at x takes the upper bound on a cap {y : <x,y> >= t} and the
// lower bound outside. Solve computes t and alpha, and what follows from them (Measure).
//
// # What is solved
//
// Let u = <x,y> for y uniform, with density C (1-u^2)^(d/2-1), q = p/2, E = e^eps - 1 and S(t) = P[u >= t]. Divided by
// 2^q e^(-eps/2), the paper's equation is
//
//	E K(t) = R(t),   K(t) = E[((1-t)^q - (1-u)^q)_+],   R(t) = E[(1-u)^q] - (1-t)^q,
//
// As t falls, the left side increases and the right side decreases. At the solution, the cost at the rim of the cap
// equals the mean cost: J = (2-2t)^q. So J is the expectile (Newey and Powell 1987) of the cost of a uniform output at
// level 1/(1+e^eps), and W_p = sqrt(2-2t) is the chord from the centre of the cap to its rim. For p = 2, t is also the
// mean of u under the mechanism. The mechanism is then PrivUnit (Bhowmick et al. 2018) with its best parameters, and
// y/t is an unbiased estimate of x with mean squared error 1/t^2 - 1.
//
// # How
//
// Let zeta have the sign of u, with 1 - u^2 = e^(-zeta^2). In this variable the law of u is C e^(-a zeta^2) (zeta/u)
// dzeta with a = d/2: a Gaussian times a factor that is analytic on the whole line. There is no singular end at d = 1
// and no narrow peak at d = 10^7, and zeta gives both t and 1-t to full precision. S and K are integrals from the
// threshold up, which 40 Gauss-Legendre nodes give to 1e-15 (Davis and Rabinowitz 1984). C, and E[(1-u)^q] - 1 of size
// 1/d, come from Stirling's series with the large parts cancelled. The root is found in log(1-t), by one to four Halley
// steps with 14 nodes and a step of third order of the inverse function's series with 40 (Traub 1964), or by bisection.
//
// # Evidence
//
// [Paper] solves the equation of the proposition as written, by direct integration. [Enclose] returns rational bounds on
// w = (1-t)/2 = sin^2(theta/2), where theta is the angle of the optimal cap; W_p is 2 sqrt(w). [Bounds.Verify] proves
// them: by a polynomial with rational coefficients if d and p are even, or d = 2 and p is whole; else by series of
// positive terms with a bound on their tails, in interval arithmetic (Moore 1966) that shares no code with Solve.
//
// # Names
//
//	d, p, eps    the same S^d in R^(d+1); real numbers, 0.5 <= p <= 12, 1e-12 <= eps <= 700
//	t*           T        cosine of the angle of the cap; Omt is 1 - t*
//	alpha*       Alpha    mass of the base measure alpha* sigma
//	S_d(t*)      S        share of the cap
//	J(t*)        J        worst case of W_p^p; W = J^(1/p)
//	             Pin      e^(eps/2) Alpha S, the probability of the cap; Pout = 1 - Pin, formed without the difference
//	w*           Bounds   (1-t*)/2
//
// # Accuracy and cost
//
// Every field is accurate to a relative 1e-13 for d from 1 to 10^7. For T the error is relative to max(|T|,
// 1/sqrt(d+p)), because T passes through 0 if p > 2. Solve evaluates the integrals at most 5 times and does not
// allocate; its median time is 2 microseconds for whole p up to 4, and 4 microseconds otherwise. If 1-t is below
// 2^-1022, which requires eps above about 354 (d+p), the error is ErrUnderflow.
//
// A continuous sampler in floats is not private, so there is none: package sphere/codebook releases privately.
package sphere
