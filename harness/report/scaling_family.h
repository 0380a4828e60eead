// The rows of one case on n devices, the rates made from them, and what is said about them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/report/rows.h"

namespace pairmark {

inline constexpr double kAlike = 1.05;  // solo rates within this are one kind of device

// The rows of one case at one world size. Pointers into the caller's rows.
struct Family {
  std::vector<const Row*> solos;  // by rank
  const Row* apart = nullptr;
  const Row* together = nullptr;
  const Row& compared() const { return together != nullptr ? *together : *apart; }
  std::vector<const Row*> all() const;
};

// Rates from medians. Medians come in the order of the arms: solos, apart, each rank of apart,
// together; every function of them is also taken of the medians of one launch, which is what the
// intervals are made of.
class Figures {
 public:
  using Medians = std::vector<double>;

  // `family` must outlive this; each of its rows has a rate.
  Figures(const Family& family, std::uint64_t seed);

  std::size_t n() const { return family_.solos.size(); }
  bool alike() const { return alike_; }  // solo rates within kAlike
  const Medians& medians() const { return medians_; }

  std::vector<double> solo_rates(const Medians& m) const;
  double ideal(const Medians& m) const;       // sum of the solo rates
  double baseline(const Medians& m) const;    // what 1x is
  double unhindered(const Medians& m) const;  // apart, each rank at its own pace
  double apart(const Medians& m) const;       // apart, all at the pace of the slowest
  double compared(const Medians& m) const;    // of the arm compared

  Estimate speedup() const;
  Estimate efficiency() const;
  Estimate loss(const std::function<double(const Medians&)>& lost_rate) const;  // share of ideal

 private:
  const Family& family_;
  std::uint64_t seed_;
  std::vector<Launches> arms_;
  Medians medians_;
  bool alike_ = true;
};

// In words: is a further device worth it, what did each arm do, what is 1x.
std::string verdict_of(const Estimate& speedup, int n, const Json& waterfall);
std::string global_work_of(const Family& family);
std::string baseline_of(const Family& family, const Figures& figures, const Json& ranks);

// What a reader must know before using the figures: unequal devices, super-linear speed-up, missing
// launches.
Json flags_of(const Family& family, const Figures& figures, const Estimate& efficiency,
              const Json& ranks);

// "1e+12 flops"
std::string work_text(double work, const std::string& kind);

}  // namespace pairmark
