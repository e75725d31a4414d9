// SPDX-License-Identifier: Apache-2.0
#pragma once
// Broken invariants of our own code end the process, in release builds too.

#include <cstdio>
#include <cstdlib>

/// For programming errors only: foreign data (wire, files, users) must never reach one.
#define SMD_ASSERT(condition)                                                                \
  do {                                                                                       \
    if (!(condition)) [[unlikely]] {                                                         \
      std::fprintf(stderr, "%s:%d: broken invariant: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                          \
    }                                                                                        \
  } while (false)
