# SPDX-License-Identifier: Apache-2.0
# The program itself: signals, its socket, its commands, its units. daemon.py SCENARIO --smd PROGRAM.
foreach(scenario ask sockets state looked_into end metrics reload reload_subnets wrong subnets waiting notify hostile pipe unread locked rotate full
  import_file screen dry_run partitions policy qos_policy)
  add_test(NAME daemon_${scenario} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/daemon/daemon.py
    ${scenario} --smd $<TARGET_FILE:smd> --source ${CMAKE_SOURCE_DIR})
  set_tests_properties(daemon_${scenario} PROPERTIES LABELS daemon TIMEOUT 300)
endforeach()
set(most_memory 100)  # MB
if(SMD_SANITIZE)  # AddressSanitizer keeps 256 MB of freed memory, and shadows of all
  set(most_memory 600)
endif()
add_test(NAME daemon_network COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/daemon/api_network.py
  --smd $<TARGET_FILE:smd> --memory ${most_memory})
set_tests_properties(daemon_network PROPERTIES LABELS daemon TIMEOUT 300)
add_test(NAME daemon_units COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/daemon/units.py ${CMAKE_SOURCE_DIR})
add_test(NAME daemon_alerts COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/daemon/alerts.py ${CMAKE_SOURCE_DIR})
add_test(NAME daemon_restart COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/daemon/restart.py ${CMAKE_SOURCE_DIR})
set_tests_properties(daemon_restart PROPERTIES LABELS daemon TIMEOUT 60)
set_tests_properties(daemon_alerts PROPERTIES LABELS daemon TIMEOUT 60 SKIP_RETURN_CODE 77)
set_tests_properties(daemon_units PROPERTIES LABELS daemon TIMEOUT 120)
