# hwloc::hwloc by pkg-config.
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWLOC QUIET IMPORTED_TARGET hwloc>=2.0)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(hwloc REQUIRED_VARS HWLOC_FOUND VERSION_VAR HWLOC_VERSION)
if(hwloc_FOUND AND NOT TARGET hwloc::hwloc)
  add_library(hwloc::hwloc ALIAS PkgConfig::HWLOC)
endif()
