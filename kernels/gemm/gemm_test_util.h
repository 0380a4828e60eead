// Operands, guarded result and shapes that the tests of the cpu and the cuda product share.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/fill/fill.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/gemm_parts.h"

namespace pairmark {

inline std::string name_of(const GemmShape& shape) {
  return fmt::format("m={},n={},k={},dtype={},layout={}", shape.m, shape.n, shape.k,
                     to_string(shape.dtype), shape.layout);
}

// A and B filled with random data, D poisoned, all between guard bands.
struct GemmOperands {
  GemmOperands(Device& on, const GemmShape& of, Stream& stream, std::uint64_t seed = 11)
      : device(on),
        shape(of),
        a(on, bytes(of.m * of.k, of.dtype)),
        b(on, bytes(of.k * of.n, of.dtype)),
        d(on, bytes(of.m * of.n, gemm_output_type(of.dtype))) {
    fill_uniform(on, of.dtype, a.data(), static_cast<std::size_t>(of.m * of.k), seed, stream);
    fill_uniform(on, of.dtype, b.data(), static_cast<std::size_t>(of.k * of.n), seed + 1, stream);
    d.poison(stream);
    stream.synchronize();
  }
  static std::size_t bytes(std::int64_t count, DType type) {
    return static_cast<std::size_t>(count) * size_of(type);
  }

  Verdict verdict(Stream& stream) const {
    return check_gemm(device, shape, a.data(), b.data(), d.data(), stream);
  }

  void expect_guards_whole(Stream& stream) const {
    for (const auto* buffer : {&a, &b, &d})
      EXPECT_EQ(buffer->damage(stream), std::nullopt) << name_of(shape);
  }

  std::vector<unsigned char> host_copy(const GuardedBuffer& buffer, Stream& stream) const {
    std::vector<unsigned char> host(buffer.size());
    device.copy(host.data(), buffer.data(), buffer.size(), stream);
    stream.synchronize();
    return host;
  }

  // Writes one element of D.
  void set_d(std::int64_t index, double value, Stream& stream) const {
    const DType type = gemm_output_type(shape.dtype);
    unsigned char element[8];
    encode(type, value, element);
    device.copy(static_cast<std::byte*>(d.data()) + bytes(index, type), element, size_of(type),
                stream);
    stream.synchronize();
  }
  double get_d(std::int64_t index, Stream& stream) const {
    const DType type = gemm_output_type(shape.dtype);
    unsigned char element[8];
    device.copy(element, static_cast<std::byte*>(d.data()) + bytes(index, type), size_of(type),
                stream);
    stream.synchronize();
    return decode(type, element);
  }

  Device& device;
  GemmShape shape;
  GuardedBuffer a, b, d;
};

// Reference and magnitudes of all of D, on the host.
struct HostReference {
  HostReference(const GemmOperands& operands, Stream& stream) {
    const auto a = operands.host_copy(operands.a, stream),
               b = operands.host_copy(operands.b, stream);
    const auto m = operands.shape.m;
    for_each_reference_column(operands.shape, a.data(), b.data(),
                              [&](std::int64_t, const double* r, const double* s) {
                                reference.insert(reference.end(), r, r + m);
                                magnitude.insert(magnitude.end(), s, s + m);
                              });
  }
  std::vector<double> reference, magnitude;
};

// The checker must pass D as it is, and find each fault put into it. D must be right when this is
// called.
inline void expect_faults_found(const GemmOperands& operands, Stream& stream) {
  const GemmShape& shape = operands.shape;
  const HostReference host(operands, stream);
  const GemmBound bound = gemm_bound(operands.device.kind(), shape);
  const bool integer = unit_roundoff(gemm_output_type(shape.dtype)) == 0;
  for (std::int64_t index : {std::int64_t{0}, shape.m * shape.n / 2, shape.m * shape.n - 1}) {
    const auto at = static_cast<std::size_t>(index);
    const double right = operands.get_d(index, stream), reference = host.reference[at];
    const double allowed = bound.at(reference, host.magnitude[at]);
    auto with = [&](double value) {
      operands.set_d(index, value, stream);
      return operands.verdict(stream);
    };
    auto stored = [&](double share) {
      unsigned char element[8];
      encode(gemm_output_type(shape.dtype), reference + share * allowed, element);
      return decode(gemm_output_type(shape.dtype), element);
    };
    auto distance = [&](double value) { return std::fabs(value - reference) / allowed; };
    // Rounding to the output type may carry a value across the bound: step until it stands on the
    // side that is meant.
    double more = 1.05, less = 0.95;
    while (!integer && distance(stored(more)) <= 1.001) more *= 1.05;
    while (!integer && distance(stored(less)) >= 0.999) less *= 0.9;
    const double above = integer ? reference + 1 : stored(more),
                 inside = integer ? reference : stored(less);
    Verdict verdict = with(above);
    EXPECT_FALSE(verdict.passed) << name_of(shape) << " index " << index;
    EXPECT_GT(verdict.max_error, 1) << name_of(shape);
    EXPECT_NE(verdict.detail.find(fmt::format("(index {})", index)), std::string::npos)
        << verdict.detail;
    EXPECT_TRUE(with(inside).passed) << name_of(shape) << " index " << index;
    if (!integer) {
      for (double value :
           {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        verdict = with(value);
        EXPECT_FALSE(verdict.passed) << name_of(shape);
        EXPECT_TRUE(std::isinf(verdict.max_error)) << verdict.max_error;
      }
    }
    EXPECT_TRUE(with(right).passed);
  }
}

}  // namespace pairmark
