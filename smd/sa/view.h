// SPDX-License-Identifier: Apache-2.0
#pragma once
// What questions are answered from.

#include <memory>
#include <utility>

#include "smd/sa/answer.h"
#include "smd/sa/directory.h"

namespace smd::sa {

/// Of one Snapshot. The tables are touched on the thread of the answers only.
struct View {
  /// `before`: the view before, from which the directory takes what has not changed; may be null.
  View(std::shared_ptr<const sm::Snapshot> snapshot, const View* before)
      : directory(std::move(snapshot), before != nullptr ? &before->directory : nullptr) {}
  const Directory directory;
  TableCache tables;
};
using ViewPtr = std::shared_ptr<View>;

}  // namespace smd::sa
