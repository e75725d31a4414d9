# SPDX-License-Identifier: Apache-2.0
# OpenSM's partitions.conf as opensm and smd read it (tests/peer/partitions_conf.py).
add_executable(partition_members ${CMAKE_CURRENT_LIST_DIR}/partition_members.cpp)
target_link_libraries(partition_members PRIVATE smd_config)
add_dependencies(tests partition_members)
add_test(NAME peer_partitions_conf COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/partitions_conf.py
  --smd $<TARGET_FILE:smd> --members $<TARGET_FILE:partition_members>)
set_tests_properties(peer_partitions_conf PROPERTIES LABELS peer TIMEOUT 7200  # 10,000 files with SMD_LONG
  ENVIRONMENT "SMD_PEER_COUNTER=$<TARGET_FILE:peer_counter>")
