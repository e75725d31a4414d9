// SPDX-License-Identifier: Apache-2.0
#pragma once
// The functions that the library stands in front of have names of their own here and the C library's as
// symbols, so that no declaration of a header is in the way.

#define SMD_WRAP(result, name, parameters)                                                           \
  extern "C" __attribute__((visibility("default"))) result wrapped_##name parameters __asm__(#name); \
  result wrapped_##name parameters
