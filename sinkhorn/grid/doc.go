// Package grid solves the entropic projection on a grid at squared distance, where the cost is a sum over the axes and
// the Gibbs kernel a product. A pass over the kernel (Solomon et al. 2015) takes about 50 ns for each cell, instead of
// a time proportional to kv, and memory is a few hundred bytes for each cell.
//
// sinkhorn.Project calls this package for a *cost.Grid of that kind. It checks the problem, and its documentation says
// what a Result holds.
//
// The method is Algorithm 1 in logarithms with annealing, from coarse images of the grid to finer ones: while the
// kernel is wider than a cell, a coarser grid does as well (Schmitzer 2019). Steps are extrapolated by Anderson's
// method (Walker and Ni 2011). The dual value converges fast, since its error is quadratic in the error of the
// potentials. The low frequencies of the potentials converge slowly, which shows in the column sums. So a Flow between
// neighbouring cells repairs the plan, and the cost of the flow is added to the upper bound. The lower bound comes from
// distance transforms (Felzenszwalb and Huttenlocher 2012). See docs/algorithms/grid.md.
package grid
