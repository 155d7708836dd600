// What the C++ drivers share: the instance file (see wpmpeer.py), processor time, and one timed answer per line.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <ctime>
#include <string>
#include <vector>

struct Instance {
  int64_t k = 0, kv = 0;
  std::vector<double> param, C, mu, lo, hi, target;
};

inline Instance load(const char* path) {
  Instance in;
  FILE* f = std::fopen(path, "rb");
  if (!f) std::exit(2);
  int64_t dims[2];
  if (std::fread(dims, 8, 2, f) != 2) std::exit(2);
  in.k = dims[0], in.kv = dims[1];
  auto read = [&](std::vector<double>& x, size_t n) {
    x.resize(n);
    if (std::fread(x.data(), 8, n, f) != n) std::exit(2);
  };
  read(in.param, 4), read(in.C, in.k * in.kv), read(in.mu, in.k), read(in.lo, in.kv), read(in.hi, in.kv), read(in.target, in.kv);
  std::fclose(f);
  return in;
}

inline double cpu() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

struct Timed {
  double cpu, value;
};

// serveTimed answers each line with the mean time of as many calls of solve as fill 20 ms; solve keeps its own time.
template <class F>
void serveTimed(F solve) {
  std::printf("ready\n"), std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    double used = 0, value = 0;
    int n = 0;
    for (; used < 0.02; n++) {
      Timed t = solve();
      used += t.cpu, value = t.value;
    }
    std::printf("{\"cpu\": %.9g, \"value\": %.17g, \"met\": true}\n", used / n, value), std::fflush(stdout);
  }
}

template <class F>
void serve(F solve) {
  std::printf("ready\n"), std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    double start = cpu(), value = solve();
    std::printf("{\"cpu\": %.9g, \"value\": %.17g, \"met\": true}\n", cpu() - start, value), std::fflush(stdout);
  }
}
