#include "harness/machine/snapshot.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "harness/machine/files.h"
#include "harness/machine/topology.h"

namespace pairmark {
namespace {

namespace fs = std::filesystem;

// A recorded tree in a fresh folder.
class Tree : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / ("tree" + std::to_string(getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_ / "dev/shm");
    options_.roots.root = root_;
    options_.environment.clear();
  }
  void TearDown() override { fs::remove_all(root_); }
  void file(const std::string& path, const std::string& content) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << content;
  }
  fs::path root_;
  SnapshotOptions options_;
};

TEST_F(Tree, CgroupV2TakesTheLeastOfTheGroupAndThoseAbove) {
  file("proc/self/cgroup", "0::/slice/job\n");
  file("sys/fs/cgroup/slice/cpu.max", "150000 100000\n");
  file("sys/fs/cgroup/slice/job/cpu.max", "max 100000\n");
  file("sys/fs/cgroup/slice/job/memory.max", "1073741824\n");
  EXPECT_EQ(cgroup_cpu_quota(options_.roots), 1.5);
  EXPECT_EQ(cgroup_memory_limit(options_.roots), 1073741824.0);
}

TEST_F(Tree, CgroupV2InsideAContainerIsAtTheMount) {
  file("proc/self/cgroup", "0::/../../kubepods/pod1\n");
  file("sys/fs/cgroup/cpu.max", "400000 100000\n");
  EXPECT_EQ(cgroup_cpu_quota(options_.roots), 4.0);
}

TEST_F(Tree, CgroupV1QuotaAndMemory) {
  file("proc/self/cgroup", "5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/\n");
  file("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "250000\n");
  file("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n");
  file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(cgroup_cpu_quota(options_.roots), 2.5);
  EXPECT_FALSE(cgroup_memory_limit(options_.roots));
}

TEST_F(Tree, NoLimitIsNoLimit) {
  file("proc/self/cgroup", "4:cpu:/\n");
  file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_FALSE(cgroup_cpu_quota(options_.roots));
  EXPECT_TRUE(describe_cpu(options_.roots)["quota_cpus"].is_null());
}

TEST_F(Tree, WslAndContainersAreRecognised) {
  file("proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n");
  ContainerFacts facts = container_facts(options_.roots, {});
  EXPECT_TRUE(facts.wsl);
  EXPECT_FALSE(facts.container);
  file(".dockerenv", "");
  EXPECT_EQ(container_facts(options_.roots, {}).kind, "docker");
  EXPECT_EQ(container_facts(options_.roots, {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}}).kind,
            "kubernetes");
  EXPECT_EQ(describe_system(options_.roots, {})["wsl"], true);
}

TEST_F(Tree, CpuModelAndInstructionSets) {
  file("proc/cpuinfo",
       "processor\t: 0\nmodel name\t: Some CPU @ 2.0GHz\nflags\t\t: fpu avx avx2 fma avx512f "
       "amx_bf16 hypervisor\n");
  file("sys/devices/system/cpu/online", "0-7,16\n");
  const Json cpu = describe_cpu(options_.roots);
  EXPECT_EQ(cpu["model"], "Some CPU @ 2.0GHz");
  EXPECT_EQ(cpu["isa"], Json({"avx", "fma", "avx2", "avx512f", "amx_bf16"}));
  EXPECT_EQ(cpu["logical_cpus_online"], 9);
  EXPECT_EQ(describe_system(options_.roots, {})["virtual_machine"], true);
  file("sys/class/dmi/id/product_name", "KVM Virtual Machine\n");
  EXPECT_EQ(describe_system(options_.roots, {})["virtual_machine"], "KVM Virtual Machine");
}

void expect_reason_beside_every_null(const Json& value, const std::string& path) {
  if (value.is_array())
    for (const Json& item : value) expect_reason_beside_every_null(item, path + "[]");
  if (!value.is_object()) return;
  for (const auto& [key, item] : value.items()) {
    if (item.is_null()) {
      EXPECT_TRUE(value.contains(key + "_reason") &&
                  !value[key + "_reason"].get<std::string>().empty())
          << path << '.' << key;
    }
    expect_reason_beside_every_null(item, path + '.' + key);
  }
}

TEST_F(Tree, EmptyTreeGivesNullsWithReasons) {
  const Json snapshot = capture_snapshot(options_);
  expect_reason_beside_every_null(snapshot, "snapshot");
  EXPECT_TRUE(snapshot["cpu"]["model"].is_null());
  EXPECT_TRUE(snapshot["gpus"].is_null());
}

TEST(Snapshot, OfThisMachineIsStrictJsonAndFast) {
  const auto start = std::chrono::steady_clock::now();
  const Json snapshot = capture_snapshot();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_NO_THROW(to_text(snapshot));
  expect_reason_beside_every_null(snapshot, "snapshot");
  EXPECT_GE(snapshot["cpu"]["logical_cpus_allowed"], 1);
  EXPECT_TRUE(snapshot["memory"]["total_bytes"].is_number());
  EXPECT_TRUE(snapshot["numa"].is_array()) << snapshot.dump(1);
  EXPECT_TRUE(snapshot["host_name"].is_null());
  // Without a GPU 0.3 s is meant; a busy machine may take longer.
  EXPECT_LT(took.count(), snapshot["gpus"].is_null() ? 3.0 : 10.0);
  std::cout << "snapshot took " << took.count() << " s\n";
}

TEST(Snapshot, NeverNamesTheHostUnlessAsked) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  SnapshotOptions options;
  options.include_host_name = true;
  EXPECT_EQ(capture_snapshot(options)["host_name"], host);
}

TEST(DescribeEnvironment, KeepsWhatBearsOnSpeedAndNothingPrivate) {
  const Json kept =
      describe_environment({{"CUDA_VISIBLE_DEVICES", "GPU-00000000-1111-2222-3333-444444444444"},
                            {"NCCL_P2P_DISABLE", "1"},
                            {"NCCL_VERSION", "2.28.3-1"},
                            {"NCCL_HOSTID", "bench-box"},
                            {"NVIDIA_API_KEY", "short"},
                            {"NVIDIA_OTHER", "nvapi-abcdefghijklmnop1234567890"},
                            {"LD_LIBRARY_PATH",
                             "/home"
                             "/alice/lib:/usr/lib:/home"
                             "/bob"},
                            {"OMP_PLACES", "a\x01\xff"},
                            {"HOME", "/home/alice"},
                            {"AWS_SECRET_ACCESS_KEY", "x"}});
  EXPECT_EQ(kept["CUDA_VISIBLE_DEVICES"], "GPU-00000000-1111-2222-3333-444444444444");
  EXPECT_EQ(kept["NCCL_P2P_DISABLE"], "1");
  EXPECT_EQ(kept["LD_LIBRARY_PATH"], "/home/USER/lib:/usr/lib:/home/USER");
  EXPECT_EQ(kept["OMP_PLACES"], "a??");
  for (const char* name : {"NCCL_HOSTID", "NVIDIA_API_KEY", "NVIDIA_OTHER"})
    EXPECT_TRUE(kept.at(name).is_null()) << name;
  EXPECT_FALSE(kept.contains("HOME"));
  EXPECT_FALSE(kept.contains("NCCL_VERSION"));  // a label of the image, no setting
  EXPECT_EQ(kept.dump().find("alice"), std::string::npos);
  EXPECT_EQ(kept.dump().find("nvapi"), std::string::npos);
}

TEST(Files, CpuLists) {
  EXPECT_EQ(parse_cpu_list("0-2,8,10-11\n"), (std::vector<int>{0, 1, 2, 8, 10, 11}));
  EXPECT_EQ(format_cpu_list({8, 2, 1, 0}), "0-2,8");
  EXPECT_TRUE(parse_cpu_list("").empty());
}

// Two sockets. Socket 0: a switch with GPUs 02 and 03, another root port with GPU 05. Socket 1:
// GPU 81.
constexpr const char* kTopology = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
 <object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3" allowed_cpuset="0x3" nodeset="0x3" complete_nodeset="0x3" allowed_nodeset="0x3" gp_index="1">
  <object type="Package" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="2">
   <object type="NUMANode" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="3" local_memory="1000"/>
   <object type="Core" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="4">
    <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="5"/>
   </object>
   <object type="Bridge" gp_index="10" bridge_type="0-1" depth="0" bridge_pci="0000:[00-06]">
    <object type="Bridge" gp_index="11" bridge_type="1-1" depth="1" bridge_pci="0000:[01-03]" pci_busid="0000:00:01.0" pci_type="0604 [8086:1901] [0000:0000] 00" pci_link_speed="0">
     <object type="PCIDev" gp_index="13" pci_busid="0000:02:00.0" pci_type="0302 [10de:2335] [10de:18bf] a1" pci_link_speed="0"/>
     <object type="PCIDev" gp_index="15" pci_busid="0000:03:00.0" pci_type="0302 [10de:2335] [10de:18bf] a1" pci_link_speed="0"/>
    </object>
    <object type="Bridge" gp_index="16" bridge_type="1-1" depth="1" bridge_pci="0000:[05-05]" pci_busid="0000:00:03.0" pci_type="0604 [8086:1905] [0000:0000] 00" pci_link_speed="0">
     <object type="PCIDev" gp_index="17" pci_busid="0000:05:00.0" pci_type="0302 [10de:2335] [10de:18bf] a1" pci_link_speed="0"/>
    </object>
   </object>
   <object type="Bridge" gp_index="18" bridge_type="0-1" depth="0" bridge_pci="0000:[40-41]">
    <object type="PCIDev" gp_index="19" pci_busid="0000:41:00.0" pci_type="0302 [10de:2335] [10de:18bf] a1" pci_link_speed="0"/>
   </object>
  </object>
  <object type="Package" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x2" complete_nodeset="0x2" gp_index="20">
   <object type="NUMANode" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x2" complete_nodeset="0x2" gp_index="21" local_memory="2000"/>
   <object type="Core" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x2" complete_nodeset="0x2" gp_index="22">
    <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x2" complete_nodeset="0x2" gp_index="23"/>
   </object>
   <object type="Bridge" gp_index="24" bridge_type="0-1" depth="0" bridge_pci="0000:[80-81]">
    <object type="PCIDev" gp_index="25" pci_busid="0000:81:00.0" pci_type="0302 [10de:2335] [10de:18bf] a1" pci_link_speed="0"/>
   </object>
  </object>
 </object>
</topology>
)";

TEST_F(Tree, TopologyPathsBetweenGpus) {
  file("topology.xml", kTopology);
  const Topology topology(root_ / "topology.xml");
  EXPECT_EQ(topology.path("0000:02:00.0", "0000:03:00.0"), "PIX");
  EXPECT_EQ(topology.path("0000:02:00.0", "0000:05:00.0"), "PHB");
  EXPECT_EQ(topology.path("0000:02:00.0", "0000:41:00.0"), "NODE");
  EXPECT_EQ(topology.path("0000:02:00.0", "0000:81:00.0"), "SYS");
  EXPECT_FALSE(topology.path("0000:02:00.0", "0000:99:00.0"));
  EXPECT_EQ(topology.near_cpus("0000:81:00.0"), "1");
  ASSERT_EQ(topology.cpus().size(), 2u);
  EXPECT_EQ(topology.cpus()[1].numa, 1);
  EXPECT_EQ(topology.numa_nodes()[1]["memory_bytes"], 2000);
  file("bad.xml", "<topology>");
  EXPECT_THROW(Topology(root_ / "bad.xml"), std::exception);
}

}  // namespace
}  // namespace pairmark
