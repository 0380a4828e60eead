// Finds the fastest of many candidates whose speed sags while they are measured, by halving in
// interleaved rounds.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

namespace pairmark {

// Seconds per run of `repeats` runs back to back, or nothing when the candidate fails; it is then
// out for good.
using TimeCandidate = std::function<std::optional<double>(std::size_t candidate, int repeats)>;

struct TournamentResult {
  std::size_t best = 0;
  double best_s = 0;              // median of the last stage
  std::optional<double> first_s;  // of candidate 0 in the same rounds; nothing when it failed
  std::size_t measured = 0;       // candidates that were timed
  std::size_t failed = 0;
};

// Stage 1: every candidate once, in order, after a warm-up run; what is within 1.3 of the best
// stays, at most 24. Stage 2: three interleaved rounds. Stage 3: the best few (as many as the
// budget allows, at most 16) in turns of a quarter of a second, the first part untimed, back and
// forth; the lowest median wins: the speed that lasts, not that of a cool GPU. Candidate 0 is in
// every stage. Stages 1 and 2 end after 40 and 50 % of `budget_s`, stage 3 at its end but not
// before one round. `now` gives seconds. Throws Error when every candidate fails.
// TODO: on an H200 at its power limit the choice for 8192 bf16 is 1.00 to 1.01 times torch.matmul,
// short of the 1.05 aimed at, and 8192 fp64 is 0.98. The finalists are those fastest in short runs;
// one that draws less power may be dropped before its turn. Next: finalists from every tile and
// cluster shape, and energy per product as a second criterion.
TournamentResult run_tournament(std::size_t candidates, double budget_s, const TimeCandidate& time,
                                const std::function<double()>& now);

}  // namespace pairmark
