// fib_tbb answers the bench's questions (package ask) for oneTBB: fib with a task for every call, and the same without.
#include <algorithm>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <sstream>
#include <string>

#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

static int parallel(int n) {
  if (n < 2) {
    return n;
  }
  int x;
  tbb::task_group g;
  g.run([&] { x = parallel(n - 1); });
  int y = parallel(n - 2);
  g.wait();
  return x + y;
}

static int sequential(int n) { return n < 2 ? n : sequential(n - 1) + sequential(n - 2); }

static int64_t now(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return int64_t(t.tv_sec) * 1000000000 + t.tv_nsec;
}

int main() {
  std::string line, what;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    int n = 0, workers = 0, times = 0, result = 0;
    words >> what >> n >> workers >> times;
    bool tasks = what == "fib.onetbb";
    if (!words || times < 1 || (!tasks && what != "fib.sequential")) {
      std::cout << "error\twant fib.sequential or fib.onetbb, N, WORKERS and TIMES" << std::endl;
      continue;
    }
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, workers);
    tbb::task_arena arena(workers);
    int64_t wall = INT64_MAX, cpu = INT64_MAX;
    for (int i = 0; i < times; i++) {
      int64_t w = now(CLOCK_MONOTONIC), c = now(CLOCK_PROCESS_CPUTIME_ID);
      arena.execute([&] { result = tasks ? parallel(n) : sequential(n); });
      wall = std::min(wall, now(CLOCK_MONOTONIC) - w);
      cpu = std::min(cpu, now(CLOCK_PROCESS_CPUTIME_ID) - c);
    }
    std::cout << "ok\tjobs=" << sequential(n + 1) - 1 << "\twall=" << wall << "\tcpu=" << cpu << "\tresult=" << result << std::endl;
  }
}
