// main() of the tests that need GPUs: without one they are skipped (exit code 77), which ctest
// shows as skipped.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdio>

namespace {

int visible_gpus() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return 0;
  auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  auto count = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  int gpus = 0;
  if (init == nullptr || count == nullptr || init(0) != 0 || count(&gpus) != 0) return 0;
  return gpus;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (visible_gpus() == 0) {
    std::puts("skipped: no usable NVIDIA GPU here");
    return 77;
  }
  return RUN_ALL_TESTS();
}
