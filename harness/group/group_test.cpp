// Ranks as threads of one process, meeting in a temporary folder.
#include "harness/group/group.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>

#include "harness/base/error.h"
#include "harness/group/communicator.h"

namespace pairmark {
namespace {

class GroupTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/pairmark_group_XXXXXX";
    folder_ = mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void on_ranks(int size, const std::function<void(int)>& work) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size; ++rank) threads.emplace_back(work, rank);
    for (auto& thread : threads) thread.join();
  }
  GroupSpec spec(int rank, int size, double timeout_s = 20) {
    return {rank, size, folder_, "world", timeout_s, timeout_s};
  }

  std::filesystem::path folder_;
};

TEST_F(GroupTest, BroadcastGatherBarrier) {
  on_ranks(3, [&](int rank) {
    auto group = Group::join(spec(rank, 3));
    EXPECT_EQ(group->rank(), rank);
    EXPECT_EQ(group->broadcast(rank == 1 ? "one" : "", 1), "one");
    EXPECT_EQ(group->broadcast("", 0), "");
    auto parts = group->gather(std::string(static_cast<std::size_t>(rank * 100), 'x'));
    ASSERT_EQ(parts.size(), 3u);
    EXPECT_EQ(parts[2].size(), 200u);
    group->barrier();
  });
}

TEST_F(GroupTest, MissingRankIsNamedWithinTheTimeout) {
  auto start = std::chrono::steady_clock::now();
  try {
    Group::join(spec(0, 2, 0.5));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("rank 1 did not join"), std::string::npos)
        << error.what();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST_F(GroupTest, LostRankEndsTheCallOfTheOthers) {
  on_ranks(2, [&](int rank) {
    auto group = Group::join(spec(rank, 2, 2));
    group->barrier();
    if (rank == 1) return;
    EXPECT_THROW(group->barrier(), Error);
  });
}

TEST_F(GroupTest, GroupOfOneNeedsNoFolder) {
  auto group = Group::join({0, 1, "/nonexistent", "x", 1, 1});
  EXPECT_EQ(group->gather("a"), std::vector<std::string>{"a"});
}

TEST_F(GroupTest, AllGatherPutsEachPartInItsPlace) {
  int core = sched_getcpu();
  on_ranks(2, [&](int rank) {
    auto device = open_cpu_device(rank, {core});
    auto group = Group::join(spec(rank, 2));
    auto communicator = make_communicator(*group, *device);
    EXPECT_EQ(communicator->describe()["backend"], "gloo");
    auto stream = device->make_stream(true);
    const std::size_t part = 100'000;
    std::vector<int> data(2 * part, -1);
    for (std::size_t i = 0; i < part; ++i)
      data[rank * part + i] = static_cast<int>(rank * part + i);
    for (int repeat = 0; repeat < 3; ++repeat)
      communicator->all_gather(data.data(), part * sizeof(int), *stream);
    stream->synchronize();
    for (std::size_t i = 0; i < 2 * part; ++i) ASSERT_EQ(data[i], static_cast<int>(i));
  });
}

}  // namespace
}  // namespace pairmark
