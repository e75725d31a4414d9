# SPDX-License-Identifier: Apache-2.0
# Unmodified tools in `smd sim` (tests/peer/lab.py).
add_executable(lab_flood ${CMAKE_CURRENT_SOURCE_DIR}/peer/flood.cpp)
target_link_libraries(lab_flood PRIVATE PkgConfig::IBUMAD)
add_executable(sa_asker ${CMAKE_CURRENT_SOURCE_DIR}/peer/asker.cpp)
target_link_libraries(sa_asker PRIVATE PkgConfig::IBUMAD)
add_executable(lab_barrage ${CMAKE_CURRENT_SOURCE_DIR}/peer/barrage.cpp)
target_link_libraries(lab_barrage PRIVATE PkgConfig::IBUMAD)
add_executable(sa_load ${CMAKE_CURRENT_SOURCE_DIR}/peer/load.cpp)
target_include_directories(sa_load PRIVATE ${CMAKE_SOURCE_DIR})
target_link_libraries(sa_load PRIVATE PkgConfig::IBUMAD)
add_dependencies(tests lab_flood lab_barrage sa_asker sa_load)
add_dependencies(benches sa_load)

# lab_test(SCENARIO [FABRIC]): peer_lab_SCENARIO, on ft2:8 where no other is named.
function(lab_test scenario)
  set(name peer_lab_${scenario})
  if(ARGN)
    string(REPLACE ":" "_" suffix ${ARGV1})
    string(APPEND name _${suffix})
  endif()
  add_test(NAME ${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/peer/lab.py ${scenario} ${ARGN}
    --smd $<TARGET_FILE:smd>)
  set_tests_properties(${name} PROPERTIES LABELS peer TIMEOUT 600
    ENVIRONMENT "SMD_PEER_COUNTER=$<TARGET_FILE:peer_counter>;SMD_LAB_FLOOD=$<TARGET_FILE:lab_flood>;SMD_SA_ASKER=$<TARGET_FILE:sa_asker>;SMD_LAB_BARRAGE=$<TARGET_FILE:lab_barrage>")
endfunction()

foreach(scenario tools sa ping standby master clients osmtest registry barrage fuzz trace script files)
  lab_test(${scenario})
endforeach()
lab_test(routes ft2:36)
lab_test(differ ft2:4)
lab_test(queries ft2:4)
lab_test(joins ft2:8)

# It weighs smd: what AddressSanitizer keeps of freed memory (256 MB unless told) would be taken for a leak.
set_property(TEST peer_lab_barrage APPEND PROPERTY ENVIRONMENT "ASAN_OPTIONS=quarantine_size_mb=8")

# A master that stands still, and SM_Keys, beside opensm (tests/peer/lab_stop.py, lab_keys.py), and partitions
# (lab_partitions.py, lab_enforce.py), and M_Keys that opensm has left (lab_m_keys.py).
function(lab_stop master standby seconds)
  set(name peer_stop_${master}_${standby}_${seconds})
  if(ARGN)
    string(APPEND name _lower)
  endif()
  add_test(NAME ${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/peer/lab_stop.py ${master} ${standby}
    ${seconds} --smd $<TARGET_FILE:smd> ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS peer TIMEOUT 300
    ENVIRONMENT "SMD_PEER_COUNTER=$<TARGET_FILE:peer_counter>")
endfunction()

foreach(seconds 0 5 12)  # 0: for ever
  lab_stop(smd smd ${seconds})
  lab_stop(opensm smd ${seconds})
endforeach()
lab_stop(smd opensm 12)
lab_stop(smd opensm 12 --priorities 3,5)
foreach(script keys pair sequences groups replica joins etcd partitions kill tables enforce zero_keys m_keys load operator answers qos_policy qos_tables arbitrate fabric_layers torus path_sl api_pair clients ports)
  add_test(NAME peer_${script} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/peer/lab_${script}.py
    --smd $<TARGET_FILE:smd>)
  set_tests_properties(peer_${script} PROPERTIES LABELS peer TIMEOUT 300
    ENVIRONMENT "SMD_PEER_COUNTER=$<TARGET_FILE:peer_counter>;SMD_SA_ASKER=$<TARGET_FILE:sa_asker>")
endforeach()

set_tests_properties(peer_qos_policy PROPERTIES TIMEOUT 7200)  # 10,000 files with SMD_LONG

set(slow "")
if(SMD_SANITIZE)
  set(slow ";SMD_SLOW=1")
endif()
add_test(NAME peer_upgrade COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/peer/lab_upgrade.py
  --smd $<TARGET_FILE:smd>)
set_tests_properties(peer_upgrade PROPERTIES LABELS peer TIMEOUT 300
  ENVIRONMENT "SMD_PEER_COUNTER=$<TARGET_FILE:peer_counter>;SMD_FAILOVER_CLIENT=${CMAKE_BINARY_DIR}/bin/failover_client${slow}")
