# SPDX-License-Identifier: Apache-2.0
# What single benchmarks need besides the program's own rooms.
if(TARGET bench_repair)
  target_sources(bench_repair PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/integration/scenarios/watch.cpp)
  target_precompile_headers(bench_repair REUSE_FROM smd_mad)
endif()

# The client of tests/bench/failover.py and of the upgrade's test.
if(TARGET PkgConfig::IBUMAD)
  add_executable(failover_client ${CMAKE_CURRENT_SOURCE_DIR}/bench/failover_client.cpp)
  target_include_directories(failover_client PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(failover_client PRIVATE PkgConfig::IBUMAD)
  add_dependencies(benches failover_client)
  add_dependencies(tests failover_client)
endif()

# The client of tests/bench/api_load.py.
find_package(OpenSSL REQUIRED)
add_executable(api_load_client ${CMAKE_CURRENT_SOURCE_DIR}/bench/api_load_client.cpp)
target_link_libraries(api_load_client PRIVATE smd_options OpenSSL::SSL)
add_dependencies(benches api_load_client)
