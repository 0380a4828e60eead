// All that needs a GPU: random data and hashes against the host, the device's reference, cuBLASLt
// in all seven types.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cmath>

#include "harness/base/error.h"
#include "kernels/gemm/first_gpu.h"
#include "kernels/gemm/gemm_test_util.h"
#include "kernels/gemm/peak.h"

namespace pairmark {
namespace {

constexpr DType kTypes[] = {DType::kFp64, DType::kFp32,    DType::kTf32, DType::kFp16,
                            DType::kBf16, DType::kFp8E4M3, DType::kInt8};

bool aligned_only(DType type) {
  return type == DType::kFp8E4M3 || type == DType::kInt8;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class GpuTest : public testing::Test {
 protected:
  std::unique_ptr<Device> gpu_ = open_first_gpu();
  std::unique_ptr<Stream> stream_ = gpu_->make_stream();
  std::unique_ptr<Device> cpu_ = open_cpu_device(0, all_cores());
  std::unique_ptr<Stream> host_ = cpu_->make_stream();

  static std::vector<int> all_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    std::vector<int> cores;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &set)) cores.push_back(core);
    }
    return cores;
  }

  // Odd shapes where the library takes them, multiples of 16 where it must have them.
  template <typename Work>
  void for_each_case(const Work& work) {
    constexpr std::int64_t kOdd[][3] = {
        {1, 1, 1}, {3, 5, 7}, {17, 33, 65}, {8, 1, 129}, {130, 66, 257}};
    constexpr std::int64_t kAligned[][3] = {{16, 16, 16}, {48, 80, 144}, {256, 128, 512}};
    for (DType type : kTypes) {
      for (const auto& s : kAligned) work(GemmShape{s[0], s[1], s[2], type, "tn"});
      if (aligned_only(type)) continue;
      for (const auto& s : kAligned) work(GemmShape{s[0], s[1], s[2], type, "nn"});
      for (const char* layout : {"nn", "tn"}) {
        for (const auto& s : kOdd) work(GemmShape{s[0], s[1], s[2], type, layout});
      }
    }
  }

  bool supported(const GemmShape& shape) {
    const auto reason = gemm_unsupported(*gpu_, shape);
    if (reason) fmt::print("[unsupported] {}: {}\n", name_of(shape), *reason);
    return !reason;
  }
};

TEST_F(GpuTest, FillGivesTheBitsOfTheHost) {
  constexpr std::size_t kCount = 1'000'003;
  for (DType type : all_dtypes()) {
    const std::size_t bytes = kCount * size_of(type);
    Buffer device(*gpu_, bytes), expected(*cpu_, bytes), got(*cpu_, bytes);
    fill_uniform(*gpu_, type, device.data(), kCount, 77, *stream_);
    gpu_->copy(got.data(), device.data(), bytes, *stream_);
    stream_->synchronize();
    fill_uniform(*cpu_, type, expected.data(), kCount, 77, *host_);
    EXPECT_EQ(std::memcmp(expected.data(), got.data(), bytes), 0) << to_string(type);
  }
}

TEST_F(GpuTest, HashIsTheHashOfTheHost) {
  for (std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{8}, std::size_t{1003},
                            std::size_t{10'000'001}}) {
    Buffer device(*gpu_, bytes), host(*cpu_, bytes);
    fill_uniform(*cpu_, DType::kInt8, host.data(), bytes, 5, *host_);
    gpu_->copy(device.data(), host.data(), bytes, *stream_);
    const auto hash = hash_bytes(*gpu_, device.data(), bytes, *stream_);
    EXPECT_EQ(hash, hash_bytes(*cpu_, host.data(), bytes, *host_)) << bytes;
    for (std::size_t at : {std::size_t{0}, bytes / 2, bytes - 1}) {
      if (bytes == 0) break;
      const unsigned char old = static_cast<unsigned char*>(host.data())[at], changed = old ^ 1;
      gpu_->copy(device.bytes_at(at), &changed, 1, *stream_);
      EXPECT_NE(hash, hash_bytes(*gpu_, device.data(), bytes, *stream_)) << bytes << " " << at;
      gpu_->copy(device.bytes_at(at), &old, 1, *stream_);
    }
  }
}

TEST_F(GpuTest, BandsCatchAByteJustOutside) {
  GuardedBuffer buffer(*gpu_, 1001);
  buffer.poison(*stream_);
  EXPECT_EQ(buffer.damage(*stream_), std::nullopt);
  gpu_->fill_bytes(static_cast<std::byte*>(buffer.data()) + 1001, 0, 1, *stream_);
  gpu_->fill_bytes(static_cast<std::byte*>(buffer.data()) + 1002, 0xFF, 1, *stream_);
  EXPECT_TRUE(buffer.damage(*stream_).has_value());
}

TEST_F(GpuTest, DeviceReferenceIsTheHostReference) {
  for_each_case([&](const GemmShape& shape) {
    GemmOperands operands(*gpu_, shape, *stream_);
    const HostReference host(operands, *stream_);
    const std::size_t count = host.reference.size();
    Buffer reference(*gpu_, count * sizeof(double)), magnitude(*gpu_, count * sizeof(float));
    reference_gemm_cuda(shape, operands.a.data(), operands.b.data(),
                        static_cast<double*>(reference.data()),
                        static_cast<float*>(magnitude.data()), *stream_);
    std::vector<double> values(count);
    std::vector<float> sizes(count);
    gpu_->copy(values.data(), reference.data(), reference.size(), *stream_);
    gpu_->copy(sizes.data(), magnitude.data(), magnitude.size(), *stream_);
    stream_->synchronize();
    for (std::size_t i = 0; i < count; ++i) {
      // Products of all types but fp64 are exact in fp64 and both add in the order of k.
      const double tolerance = shape.dtype == DType::kFp64 ? 1e-14 * host.magnitude[i] : 0;
      ASSERT_NEAR(values[i], host.reference[i], tolerance) << name_of(shape) << " index " << i;
      ASSERT_NEAR(sizes[i], host.magnitude[i], 1e-4 * host.magnitude[i])
          << name_of(shape) << " index " << i;
    }
  });
}

TEST_F(GpuTest, ProductsAreRightRepeatableAndStayInside) {
  int ran = 0;
  for_each_case([&](const GemmShape& shape) {
    if (!supported(shape)) return;
    ++ran;
    GemmOperands operands(*gpu_, shape, *stream_);
    EXPECT_FALSE(operands.verdict(*stream_).passed) << "a poisoned D passed: " << name_of(shape);
    auto gemm = make_gemm(*gpu_, shape);
    EXPECT_THROW(gemm->enqueue(operands.a.data(), operands.b.data(), operands.d.data(), *stream_),
                 Error);
    gemm->choose_plan(operands.a.data(), operands.b.data(), operands.d.data(), *stream_, 0.1, {});
    auto product = [&] {
      operands.d.poison(*stream_);
      gemm->enqueue(operands.a.data(), operands.b.data(), operands.d.data(), *stream_);
      return operands.host_copy(operands.d, *stream_);
    };
    const auto first = product();
    const Verdict verdict = operands.verdict(*stream_);
    EXPECT_TRUE(verdict.passed) << name_of(shape) << ": " << verdict.detail;
    EXPECT_EQ(first, product()) << name_of(shape);
    const HostReference host(operands, *stream_);
    const GemmBound bound = gemm_bound(DeviceKind::kCuda, shape);
    for (std::int64_t i = 0; i < shape.m * shape.n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double got = decode(gemm_output_type(shape.dtype),
                                first.data() + at * size_of(gemm_output_type(shape.dtype)));
      ASSERT_LE(std::fabs(got - host.reference[at]),
                bound.at(host.reference[at], host.magnitude[at]) * (1 + 1e-4))
          << name_of(shape) << " index " << i;
    }
    operands.expect_guards_whole(*stream_);
  });
  EXPECT_GE(ran, 5 * 16);  // five types at least, fp8 and int8 where the GPU has them
}

TEST_F(GpuTest, EveryInjectedFaultIsFound) {
  for (DType type : kTypes) {
    const GemmShape shape{96, 80, 144, type, "tn"};
    GemmOperands operands(*gpu_, shape, *stream_);
    const HostReference host(operands, *stream_);
    for (std::int64_t i = 0; i < shape.m * shape.n; ++i) {
      operands.set_d(i, host.reference[static_cast<std::size_t>(i)], *stream_);
    }
    const Verdict verdict = operands.verdict(*stream_);
    EXPECT_TRUE(verdict.passed) << name_of(shape) << ": " << verdict.detail;
    expect_faults_found(operands, *stream_);
  }
}

TEST_F(GpuTest, PlansTravelAsTextAndAreCached) {
  const auto file =
      std::filesystem::temp_directory_path() / fmt::format("gemm_gpu_plans_{}.json", getpid());
  for (DType type : kTypes) {
    const GemmShape shape{512, 256, 1024, type, "tn"};
    if (!supported(shape)) continue;
    GemmOperands operands(*gpu_, shape, *stream_);
    const void *a = operands.a.data(), *b = operands.b.data();
    void* d = operands.d.data();
    auto first = make_gemm(*gpu_, shape), second = make_gemm(*gpu_, shape);
    const Json plan = first->choose_plan(a, b, d, *stream_, 0.3, file);
    EXPECT_EQ(plan["chosen_by"], "measurement") << to_text(plan);
    first->enqueue(a, b, d, *stream_);
    const auto expected = operands.host_copy(operands.d, *stream_);
    operands.d.poison(*stream_);
    second->use_plan(parse_json(to_text(plan), "plan"));
    second->enqueue(a, b, d, *stream_);
    EXPECT_EQ(expected, operands.host_copy(operands.d, *stream_)) << name_of(shape);
    EXPECT_TRUE(operands.verdict(*stream_).passed) << name_of(shape);
    EXPECT_EQ(second->choose_plan(a, b, d, *stream_, 0.3, file)["chosen_by"], "cache");
    Json foreign = plan;
    foreign["version"] = "1.2.3";
    EXPECT_THROW(second->use_plan(foreign), Error);
    foreign = plan;
    foreign["algorithm"] = "zz";
    EXPECT_THROW(second->use_plan(foreign), Error);
  }
  std::filesystem::remove(file);
}

TEST_F(GpuTest, TypesThatTheGpuHasAreSupported) {
  const double capability = std::stod(gpu_->describe()["compute_capability"].get<std::string>());
  for (DType type : kTypes) {
    const double least = type == DType::kFp8E4M3                        ? 8.9
                         : type == DType::kTf32 || type == DType::kBf16 ? 8.0
                                                                        : 7.5;
    EXPECT_EQ(supported({4096, 4096, 4096, type, "tn"}), capability >= least) << to_string(type);
    EXPECT_EQ(supported({4096, 4096, 4096, type, "nn"}), capability >= least && !aligned_only(type))
        << to_string(type);
  }
}

// Large products, verified, with what the choice of a plan gained: lines to read, and the physical
// limit to keep.
TEST_F(GpuTest, LargeProductsAreRightAndBelowThePeak) {
  Json description = gpu_->describe();
  description["name"] = gpu_->name();
  for (std::int64_t size : {std::int64_t{4096}, std::int64_t{8192}}) {
    for (DType type : kTypes) {
      const GemmShape shape{size, size, size, type, "tn"};
      if (!supported(shape) || (size > 4096 && type != DType::kBf16 && type != DType::kFp8E4M3))
        continue;
      GemmOperands operands(*gpu_, shape, *stream_);
      auto gemm = make_gemm(*gpu_, shape);
      double start = seconds_now();
      const Json plan = gemm->choose_plan(operands.a.data(), operands.b.data(), operands.d.data(),
                                          *stream_, 6, {});
      const double chosen_s = seconds_now() - start;
      operands.d.poison(*stream_);
      gemm->enqueue(operands.a.data(), operands.b.data(), operands.d.data(), *stream_);
      stream_->synchronize();
      start = seconds_now();
      const Verdict verdict = operands.verdict(*stream_);
      const double checked_s = seconds_now() - start;
      EXPECT_TRUE(verdict.passed) << name_of(shape) << ": " << verdict.detail;
      operands.expect_guards_whole(*stream_);
      const double flops =
          2.0 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size);
      const double best = flops / plan["best_s"].get<double>() * 1e-12;
      const double first = plan["first_choice_s"].is_null()
                               ? 0
                               : flops / plan["first_choice_s"].get<double>() * 1e-12;
      fmt::print(
          "[plan] {}: first {:.1f}, best {:.1f} TFLOPS; chosen in {:.1f} s, checked in {:.2f} s, "
          "max error {:.3f} of {}\n       {}\n",
          name_of(shape), first, best, chosen_s, checked_s, verdict.max_error, verdict.bound,
          to_text(plan));
      const auto boost_mhz =
          description["boost_mhz"].is_number() ? description["boost_mhz"].get<double>() : 0;
      const auto peak = peak_flops(description, type, boost_mhz).value_or(0) * 1e-12;
      if (peak > 0) {
        EXPECT_LT(best, peak) << name_of(shape);
      }
      EXPECT_LT(chosen_s, 12);
    }
  }
}

// Last, because garbage in a library's structure is the test most likely to take the process down.
TEST_F(GpuTest, AnAlgorithmOfGarbageIsRefused) {
  const GemmShape shape{512, 256, 1024, DType::kFp32, "nn"};
  GemmOperands operands(*gpu_, shape, *stream_);
  auto gemm = make_gemm(*gpu_, shape);
  Json plan =
      gemm->choose_plan(operands.a.data(), operands.b.data(), operands.d.data(), *stream_, 0.1, {});
  plan["algorithm"] = std::string(128, 'f');
  EXPECT_THROW(gemm->use_plan(plan), Error);
}

}  // namespace
}  // namespace pairmark
