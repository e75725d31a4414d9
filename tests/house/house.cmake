# SPDX-License-Identifier: Apache-2.0
# The rules of the house that no compiler checks: tests/house/check.py CHECK.
foreach(check includes cycles boost first_line pragma_once sizes folders outside timers dev_documented packages
        cited_docs)
  add_test(NAME house_${check}
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/house/check.py ${check} ${CMAKE_SOURCE_DIR})
  set_tests_properties(house_${check} PROPERTIES LABELS house TIMEOUT 60)
endforeach()

add_test(NAME house_man COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/house/man.py $<TARGET_FILE:smd>
  ${CMAKE_SOURCE_DIR}/docs/man/smd.8)
set_tests_properties(house_man PROPERTIES LABELS house TIMEOUT 60)
