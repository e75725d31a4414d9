# SPDX-License-Identifier: Apache-2.0
# smd beside its peers: ibsim, the InfiniBand diagnostics, ibdmchk and opensm.
pkg_check_modules(IBUMAD REQUIRED IMPORTED_TARGET libibumad)
add_library(peer_counter MODULE ${CMAKE_CURRENT_SOURCE_DIR}/peer/counter.cpp)
target_link_libraries(peer_counter PRIVATE PkgConfig::IBUMAD ${CMAKE_DL_LIBS})
add_dependencies(tests peer_counter)
add_dependencies(benches peer_counter)

# peer_test(SCENARIO NAME FABRIC OPTIONS…): NAME in the test's name; FABRIC a file of tests/fabrics or a spec.
function(peer_test scenario name fabric)
  if(fabric MATCHES "\\.net$")
    set(fabric ${CMAKE_CURRENT_SOURCE_DIR}/fabrics/${fabric})
  endif()
  set(test peer_${scenario}_${name})
  add_test(NAME ${test} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/peer/peer.py
    ${scenario} "${fabric}" --smd $<TARGET_FILE:smd> ${ARGN})
  set_tests_properties(${test} PROPERTIES LABELS peer TIMEOUT 600
    ENVIRONMENT "SMD_PEER_COUNTER=$<TARGET_FILE:peer_counter>")
endfunction()

# That the tests themselves are right: opensm in smd's place.
peer_test(bringup opensm irregular.net --opensm)

include(${CMAKE_CURRENT_SOURCE_DIR}/peer/probe.cmake)
peer_test(bringup ft2_8 ft2:8)
peer_test(bringup ft2_36 ft2:36)
peer_test(bringup ft3_16 ft3:16)
peer_test(bringup torus_5x5 torus:5x5:1)
peer_test(bringup irregular irregular.net)
peer_test(bringup random random:14:4:3:7)
peer_test(bringup dragonfly dragonfly:4:2)
peer_test(bringup parallel_tree "xgft:2;4,4;1,2;1,2")
peer_test(newcomer ft2_8 ft2:8)
foreach(scenario again standby dry-run asked)
  peer_test(${scenario} ft2_8 ft2:8)
  peer_test(${scenario} irregular irregular.net)
endforeach()
peer_test(kills ft2_8 ft2:8)
peer_test(kills ft2_36 ft2:36)
set_tests_properties(peer_kills_ft2_8 peer_kills_ft2_36 PROPERTIES TIMEOUT 7200)  # 200 kills with SMD_LONG
peer_test(stopped ft2_8 ft2:8)
peer_test(loss ft2_8 ft2:8)
peer_test(loss ft2_36 ft2:36)
set_tests_properties(peer_loss_ft2_8 peer_loss_ft2_36 PROPERTIES TIMEOUT 1200)
peer_test(back-to-opensm ft2_8 ft2:8)
peer_test(records ft2_8 ft2:8)
peer_test(records parallel_tree "xgft:2;4,4;1,2;1,2")
peer_test(osmtest pair pair.net)
peer_test(console ft2_8 ft2:8)
peer_test(storm ft2_8 ft2:8)
peer_test(takeover ft2_8 ft2:8)
peer_test(takeover ft3_16 ft3:16)
foreach(fabric ft2:8 torus:3x3:2 irregular.net)
  string(REGEX REPLACE "[:.].*" "" name ${fabric})
  peer_test(dumps ${name} ${fabric})
endforeach()

foreach(scenario verdicts layers shuffled)
  add_test(NAME peer_${scenario} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/peer/verdicts.py
    ${scenario} --smd $<TARGET_FILE:smd>)
  set_tests_properties(peer_${scenario} PROPERTIES LABELS peer TIMEOUT 600)
endforeach()

include(${CMAKE_CURRENT_SOURCE_DIR}/peer/lab.cmake)
include(${CMAKE_CURRENT_SOURCE_DIR}/peer/partitions.cmake)

# ctest begins with these: what takes minutes and is begun last runs alone. Seconds of a machine with two processors.
foreach(long partitions_conf:230 qos_policy:180 osmtest_pair:150 bringup_ft3_16:110 etcd:90 tables:80 loss_ft2_36:70 answers:70
    partitions:60 lab_osmtest:50 sequences:50 lab_registry:50 stopped_ft2_8:40)
  string(REGEX MATCH "^(.*):(.*)$" long ${long})
  set_tests_properties(peer_${CMAKE_MATCH_1} PROPERTIES COST ${CMAKE_MATCH_2})
endforeach()
