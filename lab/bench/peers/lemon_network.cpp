// LEMON's network simplex on a DIMACS .min file.
//
//   lemon_network FILE block|cand|alt
//
// A run starts from arcs in memory and ends with the optimal cost: it builds a StaticDigraph (arcs sorted by tail), and solves in int64.
#include <lemon/network_simplex.h>
#include <lemon/static_graph.h>

#include <cstring>
#include <limits>

#include "wpmpeer.hpp"

typedef lemon::StaticDigraph Graph;
typedef lemon::NetworkSimplex<Graph, int64_t, int64_t> Simplex;

struct Arcs {
  int n = 0;
  std::vector<int64_t> supply, lower, upper, cost;
  std::vector<int> from, to;
};

static Arcs read(const char* name) {
  Arcs a;
  FILE* f = std::fopen(name, "r");
  if (!f) std::exit(2);
  for (char line[256]; std::fgets(line, sizeof line, f);) {
    long long x, y, z;
    int u, v, m;
    if (line[0] == 'p' && std::sscanf(line, "p min %d %d", &a.n, &m) == 2) a.supply.assign(a.n, 0);
    if (line[0] == 'n' && std::sscanf(line, "n %d %lld", &u, &x) == 2) a.supply[u - 1] = x;
    if (line[0] == 'a' && std::sscanf(line, "a %d %d %lld %lld %lld", &u, &v, &x, &y, &z) == 5) {
      a.from.push_back(u - 1), a.to.push_back(v - 1), a.lower.push_back(x), a.cost.push_back(z);
      a.upper.push_back(y < x ? std::numeric_limits<int64_t>::max() : y);
    }
  }
  std::fclose(f);
  return a;
}

static double solve(const Arcs& a, Simplex::PivotRule rule) {
  const int m = a.from.size();
  std::vector<int> first(a.n + 1), order(m);
  for (int e = 0; e < m; e++) first[a.from[e] + 1]++;
  for (int i = 0; i < a.n; i++) first[i + 1] += first[i];
  for (int e = 0; e < m; e++) order[first[a.from[e]]++] = e;
  std::vector<std::pair<int, int>> ends(m);
  for (int k = 0; k < m; k++) ends[k] = {a.from[order[k]], a.to[order[k]]};
  Graph g;
  g.build(a.n, ends.begin(), ends.end());
  Graph::ArcMap<int64_t> lower(g), upper(g), cost(g);
  Graph::NodeMap<int64_t> supply(g);
  for (int k = 0; k < m; k++) {
    const auto arc = g.arc(k);
    lower[arc] = a.lower[order[k]], upper[arc] = a.upper[order[k]], cost[arc] = a.cost[order[k]];
  }
  for (int i = 0; i < a.n; i++) supply[g.node(i)] = a.supply[i];
  Simplex ns(g);
  ns.lowerMap(lower).upperMap(upper).costMap(cost).supplyMap(supply);
  if (ns.run(rule) != Simplex::OPTIMAL) {
    std::fprintf(stderr, "LEMON finds no optimum\n");
    std::exit(1);
  }
  return double(ns.totalCost<int64_t>());
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const Arcs a = read(argv[1]);
  const std::string name = argv[2];
  const auto rule = name == "block" ? Simplex::BLOCK_SEARCH : name == "cand" ? Simplex::CANDIDATE_LIST : Simplex::ALTERING_LIST;
  serveTimed([&] {
    const double start = cpu(), value = solve(a, rule);
    return Timed{cpu() - start, value};
  });
}
