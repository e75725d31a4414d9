# SPDX-License-Identifier: Apache-2.0
# What single benchmarks need besides the program's own rooms.
if(TARGET bench_repair)
  target_sources(bench_repair PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/integration/scenarios/watch.cpp)
  target_precompile_headers(bench_repair REUSE_FROM smd_mad)
endif()
