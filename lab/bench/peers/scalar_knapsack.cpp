// f(m) = max_i phi_i(m) over presorted costs, the plain compiled loop: one dot product, then the sorted prefix up to the fill.
#include <algorithm>
#include <numeric>

#include "wpmpeer.hpp"

int main(int, char** argv) {
  Instance in = load(argv[1]);
  const size_t k = in.k, kv = in.kv;
  std::vector<int32_t> order(k * kv);
  for (size_t i = 0; i < k; i++) {
    auto* o = &order[i * kv];
    const double* c = &in.C[i * kv];
    std::iota(o, o + kv, 0);
    std::sort(o, o + kv, [c](int a, int b) { return c[a] < c[b] || (c[a] == c[b] && a < b); });
  }
  std::vector<double> sorted(k * kv), gain(kv);
  for (size_t i = 0; i < k; i++)
    for (size_t n = 0; n < kv; n++) sorted[i * kv + n] = in.C[i * kv + order[i * kv + n]];
  const int repeat = int(in.param[2]);
  serve([&] {
    double best = 0;
    for (int r = 0; r < repeat; r++) {
      best = 0;
      double room = 1;
      for (size_t j = 0; j < kv; j++) gain[j] = in.hi[j] - in.lo[j], room -= in.lo[j];
      for (size_t i = 0; i < k; i++) {
        const double *c = &in.C[i * kv], *s = &sorted[i * kv];
        const int32_t* o = &order[i * kv];
        double phi = 0, left = room;
        for (size_t j = 0; j < kv; j++) phi += c[j] * in.lo[j];
        for (size_t n = 0; n < kv; n++) {
          double take = std::min(gain[o[n]], left);
          phi += s[n] * take, left -= take;
          if (left <= 0) break;
        }
        best = std::max(best, phi);
      }
    }
    return best;
  });
}
