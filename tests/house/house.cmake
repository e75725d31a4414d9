# SPDX-License-Identifier: Apache-2.0
# The rules of the house that no compiler checks: tests/house/check.py CHECK.
foreach(check includes cycles boost first_line pragma_once sizes folders outside timers dev_documented packages
        cited_docs log_events private_words)
  add_test(NAME house_${check}
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/house/check.py ${check} ${CMAKE_SOURCE_DIR})
  set_tests_properties(house_${check} PROPERTIES LABELS house TIMEOUT 60)
endforeach()

add_test(NAME house_man COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/house/man.py $<TARGET_FILE:smd>
  ${CMAKE_SOURCE_DIR}/docs/man/smd.8)
set_tests_properties(house_man PROPERTIES LABELS house TIMEOUT 60)
add_test(NAME house_completion COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/house/completion.py
  $<TARGET_FILE:smd> ${CMAKE_SOURCE_DIR}/systemd/completion.bash)
set_tests_properties(house_completion PROPERTIES LABELS house TIMEOUT 120)

# What tests/house/same_output.sh compares between two builds; the test is one of the comparison itself.
file(GLOB same_output_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/house/same_output/*.cpp)
add_executable(same_output ${same_output_sources})
target_link_libraries(same_output PRIVATE smd_daemon)
target_precompile_headers(same_output REUSE_FROM smd_mad)
add_dependencies(tests same_output)
add_test(NAME house_same_output
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/house/same_output_test.sh ${CMAKE_BINARY_DIR})
set_tests_properties(house_same_output PROPERTIES LABELS house TIMEOUT 300)
