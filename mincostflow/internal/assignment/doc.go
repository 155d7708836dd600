// Package assignment finds where a network simplex should begin when rows and columns are as many, and all have the
// same mass: at an optimal assignment of rows to columns.
//
// # Problem
//
// Rows and columns 0 to n - 1 have costs C_ij. The assignment problem is to give every row a column of its own, col(i),
// at the least sum of C_i,col(i). Its dual has prices u of rows and v of columns, with u_i + v_j <= C_ij; an assignment
// is optimal if there are such prices with equality at C_i,col(i).
//
// # Method
//
// That of Jonker and Volgenant ("A shortest augmenting path algorithm for dense and sparse linear assignment
// problems", Computing 38, 1987), on costs rounded to integers, with an auction in between (Bertsekas, "The auction
// algorithm", Annals of Operations Research 14, 1988):
//
//   - Prices v are the least costs of the columns.
//   - A free row takes its best column, at a price that makes the second best as good, and who had it is free.
//   - Where many rows are still free after two passes of that, there is a price war between many rows and few good
//     columns. Auctions settle it: prices change by more than needed, and then by less and less. They are only a
//     guess, from which two more passes begin.
//   - Every row that is still free is assigned along a shortest path, at the reduced costs C_ij - u_i - v_j >= 0, by
//     Dijkstra's algorithm.
//
// The forest is the tree of shortest paths from row 0 to all others, in which a row reaches its column's next row; all
// reduced costs are then at least 0, and 0 in the tree. The simplex has the same rounded costs, and proves the tree
// optimal by looking at every cell once. No answer depends on what is done here.
//
// # Cost
//
// A workspace holds n^2 integers, and is used again. A path takes n^2 steps at most. The work is limited to mostLooks
// looks at each cell, a few times what is usual.
package assignment
