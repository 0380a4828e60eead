// The few types and codes of NVML that are used here, by their documented binary layout, so that no
// CUDA header is needed to build. Functions are looked up by name when they are called.
#pragma once

namespace pairmark::nvml_abi {

inline constexpr int kSuccess = 0;
inline constexpr int kInvalidArgument = 2;
inline constexpr int kNotSupported = 3;
inline constexpr int kNoPermission = 4;
inline constexpr int kInsufficientSize = 7;
inline constexpr int kDriverNotLoaded = 9;
inline constexpr int kLibraryNotFound = 12;
inline constexpr int kFunctionNotFound = 13;
inline constexpr int kVersionMismatch = 18;
inline constexpr int kDeprecated = 26;
inline constexpr int kUnknown = 999;

inline constexpr unsigned kClockSm = 1;
inline constexpr unsigned kClockMemory = 2;
inline constexpr unsigned kTemperatureGpu = 0;
inline constexpr unsigned kEccCorrected = 0;
inline constexpr unsigned kEccUncorrected = 1;
inline constexpr unsigned kEccVolatile = 0;  // since the driver was loaded
inline constexpr unsigned kFieldPowerInstant = 186;
inline constexpr unsigned kMaxNvLinks = 18;

struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};

struct Memory {
  unsigned long long total, free, used;
};

union Value {
  double as_double;
  unsigned as_unsigned;
  unsigned long as_unsigned_long;
  unsigned long long as_unsigned_long_long;
  long long as_signed_long_long;
};

struct FieldValue {
  unsigned field_id, scope_id;
  long long timestamp_us, latency_us;
  int value_type;  // 0 double, 1 unsigned, 2 unsigned long, 3 unsigned long long, 4 signed long
                   // long
  int code;
  Value value;
};

}  // namespace pairmark::nvml_abi
