// Package interior approaches the best base measure by an interior-point method. It reaches a relative gap of 1e-3 or
// 1e-4 in about ten to twenty steps, however many outputs the measure uses.
//
// # Problem
//
// Rows C_i of costs, 0 < alpha < beta, and h(x) = alpha x for x > 0, beta x otherwise:
//
//	minimise z   subject to   phi_i(m) = max_eta { eta + sum_j m_j h(C_ij - eta) } <= z,   m >= 0.
//
// # Method
//
// phi_i has kinks. Here h is replaced by a smooth concave function below it, (alpha+beta)/2 x - (beta-alpha)/2
// sqrt(x^2 + w^2), and the width w falls with the gap: what it adds to the gap is of the order of w^2. With g_i the
// gradient of phi_i, a_i that of its inner function in eta, and kappa_i the curvature there, the Hessian of phi_i is
// a_i a_i^T / kappa_i. So a primal-dual Newton step for
//
//	sum_i lam_i g_i = y,   sum lam = 1,   phi_i + s_i = z,   lam_i s_i = mu,   m_j y_j = mu
//
// is a linear system with the matrix sum_i D_i g_i g_i^T + sum_i E_i a_i a_i^T + diag(y/m), D = lam/s, E = lam/kappa.
// It is solved by conjugate gradients. Their preconditioner is the diagonal, or a Cholesky factor of the whole matrix
// at a step before, which is computed when many iterations were needed.
//
// Nothing here is certified. The caller evaluates the measure, and the bound that the weights lam and the thresholds
// eta prove.
//
// Cost: a step takes some 3 passes over the k kv costs, an iteration of the conjugate gradients 4 multiplications a
// cost, a factor k kv^2 + kv^3/6. Memory: 16 k kv + 8 kv^2 bytes. Results have the same bits at any GOMAXPROCS.
//
// Sources: S. J. Wright, Primal-Dual Interior-Point Methods, SIAM 1997; C. Chen and O. L. Mangasarian, A class of
// smoothing functions for nonlinear and mixed complementarity problems, Comput. Optim. Appl. 5 (1996).
package interior
