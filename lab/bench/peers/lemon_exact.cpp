// LEMON's network simplex on the exact projection.
//
//   lemon_exact FILE block|cand|alt
//
// Formulation: rows with mass are sources, columns need lo_j, and one more node takes 1 - sum lo over arcs of capacity hi_j - lo_j and
// cost 0. Masses are multiples of 2^-60, costs of 2^-44 max C, both int64. The graph is implicit: no arc objects, ends computed from arc
// numbers. A run starts from the arrays in memory and ends with q: it builds the solver, runs it, and reads q off.
#include <lemon/core.h>
#include <lemon/network_simplex.h>

#include <algorithm>
#include <cmath>

#include "wpmpeer.hpp"

// TransportGraph is the digraph with k row nodes, n column nodes and one hub; arcs i -> j in row-major order, then
// j -> hub.
class TransportGraph {
  int k_, n_;

 public:
  typedef TransportGraph Digraph;
  class Node {
   public:
    int id;
    Node() {}
    Node(lemon::Invalid) : id(-1) {}
    explicit Node(int i) : id(i) {}
    bool operator==(Node o) const { return id == o.id; }
    bool operator!=(Node o) const { return id != o.id; }
    bool operator<(Node o) const { return id < o.id; }
  };
  class Arc {
   public:
    int id;
    Arc() {}
    Arc(lemon::Invalid) : id(-1) {}
    explicit Arc(int i) : id(i) {}
    bool operator==(Arc o) const { return id == o.id; }
    bool operator!=(Arc o) const { return id != o.id; }
    bool operator<(Arc o) const { return id < o.id; }
  };
  class NodeIt : public Node {
   public:
    NodeIt() {}
    NodeIt(lemon::Invalid i) : Node(i) {}
    explicit NodeIt(const TransportGraph& g) : Node(g.nodeNum() - 1) {}
    NodeIt& operator++() {
      --id;
      return *this;
    }
  };
  class ArcIt : public Arc {
   public:
    ArcIt() {}
    ArcIt(lemon::Invalid i) : Arc(i) {}
    explicit ArcIt(const TransportGraph& g) : Arc(g.arcNum() - 1) {}
    ArcIt& operator++() {
      --id;
      return *this;
    }
  };
  // Stepper runs over arcs first, first + step, ...
  class Stepper : public Arc {
    int step_ = 0, left_ = 0;

   protected:
    void start(int first, int step, int count) {
      id = count > 0 ? first : -1;
      step_ = step, left_ = count;
    }
    void next() { id = --left_ > 0 ? id + step_ : -1; }
  };
  class OutArcIt : public Stepper {
   public:
    OutArcIt(const TransportGraph& g, Node v) {
      if (v.id < g.k_)
        start(v.id * g.n_, 1, g.n_);
      else
        start(g.k_ * g.n_ + v.id - g.k_, 1, v.id < g.k_ + g.n_);
    }
    OutArcIt& operator++() {
      next();
      return *this;
    }
  };
  class InArcIt : public Stepper {
   public:
    InArcIt(const TransportGraph& g, Node v) {
      if (v.id < g.k_)
        start(0, 1, 0);
      else if (v.id < g.k_ + g.n_)
        start(v.id - g.k_, g.n_, g.k_);
      else
        start(g.k_ * g.n_, 1, g.n_);
    }
    InArcIt& operator++() {
      next();
      return *this;
    }
  };
  typedef lemon::True NodeNumTag;
  typedef lemon::True ArcNumTag;

  TransportGraph(int k, int n) : k_(k), n_(n) {}
  int nodeNum() const { return k_ + n_ + 1; }
  int arcNum() const { return k_ * n_ + n_; }
  Node source(Arc a) const { return a.id < k_ * n_ ? Node(a.id / n_) : Node(k_ + a.id - k_ * n_); }
  Node target(Arc a) const { return a.id < k_ * n_ ? Node(k_ + a.id % n_) : Node(k_ + n_); }

  template <typename V>
  class NodeMap {
    std::vector<V> v_;

   public:
    typedef Node Key;
    typedef V Value;
    explicit NodeMap(const TransportGraph& g, V x = V()) : v_(g.nodeNum(), x) {}
    V operator[](Node n) const { return v_[n.id]; }
    typename std::vector<V>::reference operator[](Node n) { return v_[n.id]; }
    void set(Node n, V x) { v_[n.id] = x; }
  };
  template <typename V>
  class ArcMap {
    std::vector<V> v_;

   public:
    typedef Arc Key;
    typedef V Value;
    explicit ArcMap(const TransportGraph& g, V x = V()) : v_(g.arcNum(), x) {}
    V operator[](Arc a) const { return v_[a.id]; }
    typename std::vector<V>::reference operator[](Arc a) { return v_[a.id]; }
    void set(Arc a, V x) { v_[a.id] = x; }
  };
};

typedef lemon::NetworkSimplex<TransportGraph, int64_t, int64_t> Simplex;

// Rows is the part of an instance that has mass.
struct Rows {
  int64_t k, n;
  std::vector<int64_t> rows;
  std::vector<double> mu, lo, hi, cost;
};

static Rows rowsOf(const char* name) {
  Instance in = load(name);
  Rows p{0, in.kv, {}, {}, in.lo, in.hi, in.C};
  for (int64_t i = 0; i < in.k; i++)
    if (in.mu[i] > 0) p.rows.push_back(i), p.mu.push_back(in.mu[i]);
  p.k = p.rows.size();
  return p;
}

// Maps that NetworkSimplex reads its input from.
struct CostMap {
  const Rows& p;
  double scale;
  int64_t cells;
  int64_t operator[](TransportGraph::Arc a) const {
    if (a.id >= cells) return 0;
    return llrint(p.cost[p.rows[a.id / p.n] * p.n + a.id % p.n] * scale);
  }
};
struct UpperMap {
  const std::vector<int64_t>& room;
  int64_t cells, inf;
  int64_t operator[](TransportGraph::Arc a) const { return a.id < cells ? inf : room[a.id - cells]; }
};
struct SupplyMap {
  const std::vector<int64_t>& s;
  int64_t operator[](TransportGraph::Node v) const { return s[v.id]; }
};

// units is what a mass is counted in.
static const double units = 0x1p60;

static double solve(const Rows& p, Simplex::PivotRule rule, std::vector<double>& q) {
  const int64_t k = p.k, n = p.n, cells = k * n;
  std::vector<int64_t> supply(k + n + 1), room(n), low(n);
  int64_t mass = 0, big = 0, lows = 0;
  double sum = 0;
  for (double m : p.mu) sum += m;
  for (int64_t i = 0; i < k; i++) {
    supply[i] = (int64_t)(p.mu[i] / sum * units);
    mass += supply[i];
    if (supply[i] > supply[big]) big = i;
  }
  supply[big] += (int64_t)units - mass;
  for (int64_t j = 0; j < n; j++) {
    low[j] = (int64_t)(p.lo[j] * units);
    room[j] = (int64_t)(std::min(p.hi[j], 1.0) * units) - low[j];
    supply[k + j] = -low[j];
    lows += low[j];
  }
  supply[k + n] = lows - (int64_t)units;
  double top = 0;
  for (int64_t i = 0; i < k; i++)
    for (int64_t j = 0; j < n; j++) top = std::max(top, p.cost[p.rows[i] * n + j]);
  const double scale = top > 0 ? 0x1p44 / top : 1;

  TransportGraph g((int)k, (int)n);
  Simplex ns(g);
  ns.costMap(CostMap{p, scale, cells}).upperMap(UpperMap{room, cells, ns.INF}).supplyMap(SupplyMap{supply});
  if (ns.run(rule) != Simplex::OPTIMAL) {
    fprintf(stderr, "LEMON finds no optimum\n");
    exit(1);
  }
  q.resize(n);
  for (int64_t j = 0; j < n; j++) q[j] = (double)(low[j] + ns.flow(TransportGraph::Arc((int)(cells + j)))) / units;
  const double done = cpu();

  // The objective, outside the clock.
  double objective = 0;
  for (int64_t a = 0; a < cells; a++)
    objective += (double)ns.flow(TransportGraph::Arc((int)a)) * p.cost[p.rows[a / n] * n + a % n];
  q.push_back(objective / units);
  return done;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const Rows p = rowsOf(argv[1]);
  const std::string name = argv[2];
  const auto rule = name == "block" ? Simplex::BLOCK_SEARCH : name == "cand" ? Simplex::CANDIDATE_LIST : Simplex::ALTERING_LIST;
  serveTimed([&] {
    std::vector<double> q;
    const double start = cpu(), done = solve(p, rule, q);
    return Timed{done - start, q.back()};
  });
}
