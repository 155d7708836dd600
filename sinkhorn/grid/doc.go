// Package grid solves the entropic projection on a grid at squared distance, where the cost is a sum over the axes
// and the Gibbs kernel a product (Solomon et al. 2015): a pass over the kernel takes some 40 ns a cell instead of kv,
// and memory is a few hundred bytes a cell.
//
// sinkhorn.Project calls it for a *cost.Grid of that kind; it checks the problem, and documents what a Result says.
//
// The method is Algorithm 1 in logarithms with annealing, from coarse images of the grid to finer ones: while the
// kernel is wider than a cell, a coarser grid does as well (Schmitzer 2019). The dual value converges fast, since its
// error is the square of that of the dual potentials. Their low frequencies converge slowly, which shows in the column
// sums; so the plan is repaired by a Flow between neighbouring cells, and the cost of the flow is added to the upper
// bound. The lower bound comes from distance transforms (Felzenszwalb and Huttenlocher 2012). See
// docs/algorithms/grid.md.
package grid
