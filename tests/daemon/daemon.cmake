# SPDX-License-Identifier: Apache-2.0
# The program itself: signals, its socket, its commands, its units. daemon.py SCENARIO --smd PROGRAM.
foreach(scenario ask sockets state end reload reload_subnets wrong subnets waiting notify hostile pipe unread locked rotate full import_file
  screen dry_run partitions policy)
  add_test(NAME daemon_${scenario} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/daemon/daemon.py
    ${scenario} --smd $<TARGET_FILE:smd> --source ${CMAKE_SOURCE_DIR})
  set_tests_properties(daemon_${scenario} PROPERTIES LABELS daemon TIMEOUT 300)
endforeach()
add_test(NAME daemon_units COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/daemon/units.py ${CMAKE_SOURCE_DIR})
set_tests_properties(daemon_units PROPERTIES LABELS daemon TIMEOUT 120)
