#include "harness/machine/devices.h"

#include <gtest/gtest.h>

#include "harness/base/error.h"

namespace pairmark {
namespace {

std::vector<GpuIdentity> two_alike() {
  return {{0, "GPU-1a2b3c4d-0000-0000-0000-000000000000", "NVIDIA H200", "0000:17:00.0", "9.0", 0,
           false, "default"},
          {1, "GPU-9f8e7d6c-0000-0000-0000-000000000000", "NVIDIA H200", "0000:65:00.0", "9.0", 0,
           false, "default"}};
}

std::vector<GpuIdentity> two_different() {
  auto gpus = two_alike();
  gpus[0].name = "NVIDIA GeForce RTX 3090";
  return gpus;
}

std::vector<int> nvml_indices(const VisibleGpus& visible) {
  std::vector<int> indices;
  for (const GpuInfo& gpu : visible.gpus) indices.push_back(gpu.nvml_index);
  return indices;
}

VisibleGpus with_list(const std::string& list, std::vector<GpuIdentity> gpus = two_alike()) {
  return visible_gpus(gpus, {{"CUDA_VISIBLE_DEVICES", list}});
}

template <typename F>
std::string usage_error(F run) {
  try {
    run();
  } catch (const UsageError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no UsageError";
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

using Indices = std::vector<int>;

TEST(VisibleGpus, WithoutVariablesAllInBusOrder) {
  auto gpus = two_alike();
  std::swap(gpus[0].bus_id, gpus[1].bus_id);
  const VisibleGpus visible = visible_gpus(gpus, {});
  EXPECT_EQ(nvml_indices(visible), (Indices{1, 0}));
  EXPECT_EQ(visible.gpus[0].cuda_index, 0);
  EXPECT_TRUE(visible.notes.empty());
}

TEST(VisibleGpus, ReorderedNumbers) {
  const VisibleGpus visible = with_list("1,0");
  EXPECT_EQ(nvml_indices(visible), (Indices{1, 0}));
  EXPECT_EQ(visible.gpus[0].cuda_index, 0);
  EXPECT_EQ(visible.gpus[0].bus_id, "0000:65:00.0");
}

TEST(VisibleGpus, ShortUuidThenNumberStopsAtTheNumber) {
  const VisibleGpus visible = with_list("GPU-1a2b3c4d,0");
  EXPECT_EQ(nvml_indices(visible), (Indices{0}));
  ASSERT_EQ(visible.notes.size(), 1u);
  EXPECT_TRUE(has(visible.notes[0], "entry 2 '0'")) << visible.notes[0];
}

TEST(VisibleGpus, ShortUuidsInAnyOrder) {
  EXPECT_EQ(nvml_indices(with_list("GPU-9f8e7d6c, GPU-1a2b3c4d")), (Indices{1, 0}));
}

TEST(VisibleGpus, AmbiguousUuidHidesAll) {
  auto gpus = two_alike();
  gpus[1].uuid = "GPU-1a2b3c4d-ffff-0000-0000-000000000000";
  const VisibleGpus visible = with_list("GPU-1a2b3c4d", gpus);
  EXPECT_TRUE(visible.gpus.empty());
  EXPECT_TRUE(has(visible.notes.at(0), "more than one"));
}

TEST(VisibleGpus, EmptyHidesAllAndSaysSo) {
  for (const char* list : {"", " "}) {
    const VisibleGpus visible = with_list(list);
    EXPECT_TRUE(visible.gpus.empty());
    EXPECT_TRUE(has(visible.notes.at(0), "empty"));
  }
}

TEST(VisibleGpus, StopsAtFirstInvalidEntry) {
  const VisibleGpus visible = with_list("0,7,1");
  EXPECT_EQ(nvml_indices(visible), (Indices{0}));
  EXPECT_TRUE(has(visible.notes.at(0), "entry 2 '7'")) << visible.notes[0];
  EXPECT_TRUE(with_list("-1").gpus.empty());
  EXPECT_TRUE(with_list("MIG-4b2e").gpus.empty());
  EXPECT_EQ(nvml_indices(with_list("0,MIG-4b2e")), (Indices{0}));
}

// As driver 580 was seen to read them.
TEST(VisibleGpus, OddSpellings) {
  EXPECT_EQ(nvml_indices(with_list(" 1 ")), (Indices{1}));
  EXPECT_EQ(nvml_indices(with_list("1abc")), (Indices{1}));
  EXPECT_EQ(nvml_indices(with_list("+1")), (Indices{1}));
  EXPECT_EQ(nvml_indices(with_list("0,,1")), (Indices{0}));
  EXPECT_EQ(nvml_indices(with_list("0,GPU-9f8e7d6c")), (Indices{0}));
  EXPECT_EQ(nvml_indices(with_list("GPU-9F8E7D6C")), (Indices{1}));
  for (const char* none : {",0", "GPU-", "gpu-9f8e7d6c", "NoDevFiles"})
    EXPECT_TRUE(with_list(none).gpus.empty()) << none;
}

TEST(VisibleGpus, DuplicateIsRefusedWithBusId) {
  EXPECT_TRUE(has(usage_error([] { with_list("1,1"); }), "0000:65:00.0"));
  usage_error([] { with_list("GPU-1a2b3c4d,GPU-1a2b"); });
}

TEST(VisibleGpus, DifferentGpusHaveNoNumbersUnlessOrderedByBus) {
  const VisibleGpus unknown =
      visible_gpus(two_different(), {{"CUDA_DEVICE_ORDER", "FASTEST_FIRST"}});
  EXPECT_FALSE(unknown.numbered);
  EXPECT_EQ(unknown.gpus[0].cuda_index, -1);
  EXPECT_EQ(unknown.notes.size(), 1u);
  const VisibleGpus by_bus = visible_gpus(two_different(), {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}});
  EXPECT_TRUE(by_bus.numbered);
  EXPECT_EQ(by_bus.gpus[1].cuda_index, 1);
  EXPECT_TRUE(visible_gpus(two_alike(), {{"CUDA_DEVICE_ORDER", "FASTEST_FIRST"}}).numbered);
  EXPECT_TRUE(
      has(usage_error([] { with_list("1", two_different()); }), "CUDA_DEVICE_ORDER=PCI_BUS_ID"));
  EXPECT_EQ(nvml_indices(with_list("GPU-9f8e7d6c", two_different())), (Indices{1}));
}

DeviceInventory with_gpus(const std::vector<GpuIdentity>& gpus) {
  DeviceInventory all;
  all.visible = visible_gpus(gpus, {});
  for (int cpu = 0; cpu < 4; ++cpu) all.cpus.push_back({cpu, cpu, 0});
  return all;
}

DeviceInventory without_gpu() {
  DeviceInventory all = with_gpus({});
  all.no_gpu = {NoGpu::kNoDriver, "no NVIDIA driver here"};
  return all;
}

DeviceSelection select(std::string device, std::vector<std::string> devices,
                       const DeviceInventory& all, std::vector<int> gpus = {1, 2}) {
  return select_devices({std::move(device), std::move(devices), std::move(gpus), true}, all);
}

TEST(SelectDevices, AutoTakesTwoGpusByUuid) {
  const DeviceSelection got = select("auto", {}, with_gpus(two_alike()));
  EXPECT_EQ(got.kind, "cuda");
  ASSERT_EQ(got.devices.size(), 2u);
  EXPECT_EQ(got.devices[1].id, "cuda:1");
  EXPECT_EQ(got.devices[1].uuid, "GPU-9f8e7d6c-0000-0000-0000-000000000000");
  EXPECT_EQ(got.counts, (std::vector<int>{1, 2}));
  EXPECT_TRUE(got.reasons.empty());
}

TEST(SelectDevices, GpusShareTheCpusNearThem) {
  DeviceInventory all = with_gpus(two_alike());
  all.near_cpus = {{"0000:17:00.0", {0, 1, 2, 3}}, {"0000:65:00.0", {0, 1, 2, 3}}};
  const DeviceSelection same = select("cuda", {}, all);
  EXPECT_EQ(same.devices[0].cores, (std::vector<int>{0, 1}));
  EXPECT_EQ(same.devices[1].cores, (std::vector<int>{2, 3}));
  all.near_cpus = {{"0000:17:00.0", {2, 3}}, {"0000:65:00.0", {0, 1}}};
  EXPECT_EQ(select("cuda", {}, all).devices[0].cores, (std::vector<int>{2, 3}));
}

TEST(SelectDevices, OneGpuSkipsTheTwoDeviceArms) {
  const DeviceSelection got = select("cuda", {}, with_gpus({two_alike()[0]}));
  EXPECT_EQ(got.devices.size(), 1u);
  EXPECT_EQ(got.counts, (std::vector<int>{1}));
  ASSERT_EQ(got.reasons.size(), 1u);
  EXPECT_TRUE(has(got.reasons[0], "one GPU here")) << got.reasons[0];
  EXPECT_EQ(select("cuda", {}, with_gpus({two_alike()[0]}), {2}).counts, (std::vector<int>{1}));
}

TEST(SelectDevices, NamesByNumberUuidAndBusId) {
  const DeviceInventory all = with_gpus(two_alike());
  for (const char* name :
       {"1", "cuda:1", "GPU-9f8e", "65:00.0", "00000000:65:00.0", "0000:65:00.0"}) {
    const DeviceSelection got = select("cuda", {name}, all);
    EXPECT_EQ(got.devices.at(0).bus_id, "0000:65:00.0") << name;
  }
}

TEST(SelectDevices, DuplicatesAreRefusedWithBusId) {
  const DeviceInventory all = with_gpus(two_alike());
  EXPECT_TRUE(has(usage_error([&] { select("cuda", {"0", "0"}, all); }), "0000:17:00.0"));
  EXPECT_TRUE(has(usage_error([&] { select("cuda", {"0", "GPU-1a2b"}, all); }), "0000:17:00.0"));
  EXPECT_TRUE(has(usage_error([&] { select("cpu", {"1", "1"}, all); }), "cpu:1"));
}

TEST(SelectDevices, UnknownIsRefusedWithWhatExists) {
  const DeviceInventory all = with_gpus(two_alike());
  for (const char* name : {"7", "GPU-ffff", "99:00.0", "nvidia"}) {
    const std::string text = usage_error([&] { select("cuda", {name}, all); });
    EXPECT_TRUE(has(text, name) && has(text, "0000:17:00.0")) << text;
  }
  usage_error([&] { select("cpu", {"4"}, all); });
  usage_error([&] { select("cpu", {"GPU-1a2b"}, all); });
  EXPECT_TRUE(has(usage_error([&] { select("cude", {}, all); }), "did you mean"));
  usage_error([&] { select("cpu", {}, all, {0}); });
}

TEST(SelectDevices, NumbersOfDifferentGpusAreRefused) {
  EXPECT_TRUE(has(usage_error([] { select("cuda", {"1"}, with_gpus(two_different())); }),
                  "CUDA_DEVICE_ORDER"));
  EXPECT_EQ(select("cuda", {}, with_gpus(two_different())).devices.size(), 2u);
}

TEST(SelectDevices, UnusableGpuIsLeftOutOrRefused) {
  auto gpus = two_alike();
  gpus[0].compute_mode = "prohibited";
  const DeviceSelection got = select("auto", {}, with_gpus(gpus));
  ASSERT_EQ(got.devices.size(), 1u);
  EXPECT_EQ(got.devices[0].bus_id, "0000:65:00.0");
  EXPECT_TRUE(has(got.reasons.at(0), "prohibited"));
  EXPECT_TRUE(has(usage_error([&] { select("cuda", {"0"}, with_gpus(gpus)); }), "prohibited"));
}

TEST(SelectDevices, AutoWithoutGpuIsCpuWithTheReasonFirst) {
  const DeviceSelection got = select("auto", {}, without_gpu());
  EXPECT_EQ(got.kind, "cpu");
  EXPECT_EQ(got.reasons.at(0), "cpu backend: no NVIDIA driver here");
  ASSERT_EQ(got.devices.size(), 2u);
  EXPECT_EQ(got.devices[1].cores, (std::vector<int>{2, 3}));
  EXPECT_EQ(got.devices[1].id, "cpu:1");
  EXPECT_FALSE(got.devices[1].uuid);
}

TEST(SelectDevices, CudaNeverFallsBack) {
  EXPECT_TRUE(has(usage_error([] { select("cuda", {}, without_gpu()); }), "no NVIDIA driver here"));
  DeviceRequest request;
  request.device = "cuda";
  EXPECT_TRUE(
      has(usage_error([&] { select_devices(request, with_gpus(two_alike())); }), "PAIRMARK_CUDA"));
  request.device = "auto";
  const DeviceSelection got = select_devices(request, with_gpus(two_alike()));
  EXPECT_EQ(got.kind, "cpu");
  EXPECT_TRUE(has(got.reasons.at(0), "no cuda device"));
}

TEST(SelectDevices, CpuHonoursQuotaAndCountsParts) {
  DeviceInventory all = without_gpu();
  EXPECT_EQ(select("cpu", {"1"}, all).devices.at(0).cores, (std::vector<int>{2, 3}));
  EXPECT_EQ(select("cpu", {}, all, {1, 4}).devices.size(), 4u);
  all.cpu_quota = 1;
  const DeviceSelection got = select("cpu", {}, all);
  EXPECT_EQ(got.devices.size(), 1u);
  EXPECT_TRUE(has(got.reasons.at(0), "one CPU device here"));
}

TEST(SplitCpus, KeepsHyperThreadsTogetherAndPartsEqual) {
  // 3 cores of 2 threads, Linux numbering; hwloc's order has the threads of a core side by side.
  const std::vector<CpuPlace> places = {{0, 0, 0}, {3, 0, 0}, {1, 1, 0},
                                        {4, 1, 0}, {2, 2, 0}, {5, 2, 0}};
  const auto halves = split_cpus(places, 2);
  EXPECT_EQ(halves[0].cores, (std::vector<int>{0, 3}));
  EXPECT_EQ(halves[1].cores, (std::vector<int>{1, 4}));  // core 2 idles: the parts stay equal
  const auto six = split_cpus(places, 6);
  EXPECT_EQ(six[1].cores, (std::vector<int>{3}));
  EXPECT_THROW(split_cpus(places, 7), UnsupportedError);
}

TEST(SplitCpus, QuotaTakesOneThreadOfEachCoreFirst) {
  const std::vector<CpuPlace> places = {{0, 0, 0}, {2, 0, 0}, {1, 1, 0}, {3, 1, 0}};
  const auto parts = split_cpus(places, 2, 2);
  EXPECT_EQ(parts[0].cores, (std::vector<int>{0}));
  EXPECT_EQ(parts[1].cores, (std::vector<int>{1}));
  EXPECT_THROW(split_cpus(places, 3, 2), UnsupportedError);
}

TEST(CpuDevices, OfThisMachineAreAllowedAndDisjoint) {
  const auto devices = cpu_devices(1);
  ASSERT_EQ(devices.size(), 1u);
  const std::vector<int> allowed = allowed_cpus();
  for (int core : devices[0].cores)
    EXPECT_NE(std::find(allowed.begin(), allowed.end(), core), allowed.end());
  EXPECT_THROW(cpu_devices(1 << 20), UnsupportedError);
}

GpuProbe healthy() {
  GpuProbe probe;
  probe.device_nodes = probe.libcuda = true;
  probe.module_version = "580.159.04";
  probe.cuda_driver = 13000;
  probe.driver_version = "580.159.04";
  probe.nvml = NvmlState::kReady;
  probe.gpus = 2;
  probe.visible = visible_gpus(two_alike(), {});
  return probe;
}

TEST(DiagnoseNoGpu, HealthyHasNothingToSay) {
  EXPECT_EQ(diagnose_no_gpu(healthy(), 13000).kind, NoGpu::kNone);
  EXPECT_EQ(diagnose_no_gpu(healthy(), 0).sentence, "");
}

TEST(DiagnoseNoGpu, ContainerStatesAreToldApart) {
  GpuProbe probe = healthy();
  probe.container = {true, "docker", false};
  GpuProbe no_gpus = probe;
  no_gpus.device_nodes = false;
  no_gpus.gpus = 0;
  EXPECT_EQ(diagnose_no_gpu(no_gpus, 13000).kind, NoGpu::kContainerNoGpus);
  EXPECT_TRUE(has(diagnose_no_gpu(no_gpus, 13000).sentence, "--gpus all"));
  GpuProbe no_libcuda = probe;
  no_libcuda.libcuda = false;
  EXPECT_EQ(diagnose_no_gpu(no_libcuda, 13000).kind, NoGpu::kNoLibcuda);
  EXPECT_TRUE(has(diagnose_no_gpu(no_libcuda, 13000).sentence, "NVIDIA_DRIVER_CAPABILITIES"));
  GpuProbe stub = probe;
  stub.libcuda_stub = true;
  EXPECT_EQ(diagnose_no_gpu(stub, 13000).kind, NoGpu::kStubLibcuda);
  GpuProbe old = probe;
  old.cuda_driver = 12040;
  old.driver_version = "550.54.15";
  const NoGpuDiagnosis too_old = diagnose_no_gpu(old, 13000);
  EXPECT_EQ(too_old.kind, NoGpu::kDriverTooOld);
  EXPECT_TRUE(has(too_old.sentence, "550.54.15") && has(too_old.sentence, "12.4") &&
              has(too_old.sentence, "13.0"))
      << too_old.sentence;
  EXPECT_EQ(diagnose_no_gpu(old, 12080).kind, NoGpu::kNone);  // the same major version serves
}

TEST(DiagnoseNoGpu, OutsideContainers) {
  GpuProbe none;
  EXPECT_EQ(diagnose_no_gpu(none, 13000).kind, NoGpu::kNoDriver);
  GpuProbe hidden = healthy();
  hidden.visible = visible_gpus(two_alike(), {{"CUDA_VISIBLE_DEVICES", ""}});
  EXPECT_EQ(diagnose_no_gpu(hidden, 13000).kind, NoGpu::kHidden);
  GpuProbe mismatch = healthy();
  mismatch.nvml = NvmlState::kVersionMismatch;
  mismatch.nvml_reason = "reboot";
  mismatch.gpus = 0;
  EXPECT_EQ(diagnose_no_gpu(mismatch, 13000).sentence, "reboot");
  GpuProbe mig = healthy();
  for (GpuInfo& gpu : mig.visible.gpus) gpu.unusable = "MIG is on";
  EXPECT_EQ(diagnose_no_gpu(mig, 13000).kind, NoGpu::kUnusable);
}

TEST(CudaVersion, FromText) {
  EXPECT_EQ(cuda_version_number("13.0.88"), 13000);
  EXPECT_EQ(cuda_version_number("12.4"), 12040);
  EXPECT_EQ(cuda_version_number(""), 0);
}

}  // namespace
}  // namespace pairmark
