# SPDX-License-Identifier: Apache-2.0
# The real libibumad in ibsim, without the daemon: ports, registration, both threads, the end.
add_executable(umad_probe ${CMAKE_CURRENT_LIST_DIR}/probe.cpp)
target_link_libraries(umad_probe PRIVATE smd_umad)
target_precompile_headers(umad_probe REUSE_FROM smd_mad)
add_dependencies(tests umad_probe)
add_test(NAME peer_umad_probe COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/probe.py
  $<TARGET_FILE:umad_probe> ${CMAKE_CURRENT_SOURCE_DIR}/fabrics/irregular.net $<TARGET_FILE:smd>
  $<TARGET_FILE:sa_load>)
set_tests_properties(peer_umad_probe PROPERTIES LABELS peer TIMEOUT 120
  ENVIRONMENT "SMD_PEER_COUNTER=$<TARGET_FILE:peer_counter>")
