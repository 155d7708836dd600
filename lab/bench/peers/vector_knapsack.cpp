// The loop of scalar_knapsack.cpp, where the compiler may reorder sums, and so use vectors for the dot product.
#pragma GCC optimize("fast-math")
#include "scalar_knapsack.cpp"
