// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far a run of the reconcile loop has come.

#include "smd/reconcile/reconciler.h"

namespace smd::sm::inline reconciling {

struct Reconciler::Progress {
  Run how;
  Ran result;
  PartRequests requests;  ///< what the current part goes by
  LeftOut out;            ///< by the current part
  Applied applied;        ///< of its last plan
  bool wrote = false;     ///< one of its plans
  bool left = false;      ///< a Set of the last plan failed
};

}  // namespace smd::sm::inline reconciling
