// Package sphere solves the base measure of the Wasserstein projection mechanism on the d-sphere (Proposition
// prop:sphere), to thirteen digits, with proofs.
//
// # Problem
//
// Let S^d be the unit sphere of R^(d+1), sigma its uniform distribution, and |x-y|^p the cost. Among all eps-LDP
// mechanisms on S^d with inputs all distributions on S^d, the least worst case of W_p^p is reached by projecting onto
//
//	{ nu : e^(-eps/2) alpha sigma <= nu <= e^(eps/2) alpha sigma },
//
// for one number alpha. For a point mass at x the projection is high on a cap {y : <x,y> >= t} and low outside. Solve
// computes t and alpha, and what follows from them (Measure).
//
// # What is solved
//
// Let u = <x,y> for y uniform, with density C (1-u^2)^(d/2-1), q = p/2, E = e^eps - 1 and S(t) = P[u >= t]. Divided by
// 2^q e^(-eps/2), the paper's equation is
//
//	E K(t) = R(t),   K(t) = E[((1-t)^q - (1-u)^q)_+],   R(t) = E[(1-u)^q] - (1-t)^q,
//
// increasing on the left and decreasing on the right as t falls. Where it holds, the cost of the cap's rim is the mean
// cost: J = (2-2t)^q. So J is the expectile of the cost of a uniform output at level 1/(1+e^eps), and W_p = sqrt(2-2t)
// is the chord from the centre of the cap to its rim. For p = 2, t is also the mean of u under the mechanism: it is
// PrivUnit with its best parameters, and y/t is an unbiased estimate of x with mean squared error 1/t^2 - 1.
//
// # How
//
// In the variable zeta with 1 - u^2 = e^(-zeta^2), of the sign of u, the law of u is C e^(-a zeta^2) (zeta/u) dzeta
// with a = d/2: a Gaussian with a factor that is analytic on the whole line. There is no singular end at d = 1 and no
// narrow peak at d = 10^7, and one number gives both t and 1-t to full precision. S and K are integrals from the
// threshold up; 40 Gauss-Legendre nodes give them to 1e-15. E[(1-u)^q] - 1, of size 1/d, and C come from Stirling's
// series with the large parts cancelled algebraically. One to four Halley steps on a rule of 14 nodes lead near the
// root in lambda = log(1-t); there the inverse function's Taylor series to third order, all of whose derivatives are
// closed forms, ends the search on the 40 nodes. Steps outside a bracket are replaced by bisection.
//
// # Evidence
//
// [Paper] solves the proposition as it is written, in the obvious way: a reference to be read, with its range of
// validity. [Enclose] returns rational bounds on w = (1-t)/2 = sin^2(theta/2), theta the angle of the optimal cap, and
// [Bounds.Verify] proves them: by a polynomial with rational coefficients where there is one (d and p even; S^2 for
// whole p), otherwise by series of positive terms with a bound of their tails, in interval arithmetic that shares no
// code with Solve. 2 sqrt(w) is W_p.
//
// # Names
//
//	d            d        the sphere S^d in R^(d+1)
//	p, eps       p, eps   real numbers, 0.5 <= p <= 12, 1e-12 <= eps <= 700
//	t*           T        cosine of the angle of the cap; Omt is 1 - t*
//	alpha*       Alpha    mass of the base measure alpha* sigma
//	S_d(t*)      S        share of the cap
//	J(t*)        J        worst case of W_p^p; W = J^(1/p)
//	             Pin      e^(eps/2) Alpha S, the probability of the cap; Pout = 1 - Pin, formed without the difference
//	w*           Bounds   (1-t*)/2
//
// # Accuracy and cost
//
// Every field to a relative 1e-13 (T: of max(|T|, 1/sqrt(d+p)), for T passes through 0 if p > 2), at d from 1 to 10^7;
// against 442 vectors of 20 to 40 digits the largest error is 3e-15. 2 microseconds for whole p up to 4, 4 otherwise
// (medians), at most 5 evaluations of the integrals; no allocation. Where 1-t is below 2^-1022 (only for eps above
// about 354 (d+p)) the error is ErrUnderflow.
//
// # When to use another package
//
// To release points or distributions on the sphere privately, use package sphere/codebook: a continuous sampler in
// floats is not private, so none is here. On a finite set of points, use basemeasure.
package sphere
