// SPDX-License-Identifier: Apache-2.0
#pragma once
// Questions that take a microsecond are answered on the thread that received them: handing them to another
// one, and the answer back, would take ten times as long.

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "mad/base/published.h"
#include "mad/clock.h"
#include "mad/transport.h"
#include "smd/registry/request_counts.h"
#include "smd/sa/answer.h"

namespace smd::sa {

using mad::kQp1QKey;

/// Where the answer to what came from there goes.
inline mad::LidRoute back_to(mad::LidRoute from) {
  from.qkey = kQp1QKey;
  return from;
}

/// True of a question that one lookup answers, whatever the fabric's size: a path between two ports,
/// ClassPortInfo, NodeRecord and PortInfoRecord by LID.
bool is_fast(const Request& request);

/// What is looked at for such a question before it is left to the others: at LMC 7 two ports have 16,384
/// pairs of LIDs, and perhaps none of them meets what is asked.
inline constexpr std::size_t kFastPathWork = 1024;

class FastPath {
 public:
  struct Context {
    std::shared_ptr<const Directory> directory;  ///< never null
    RegistryPtr registry;
    Settings settings;
  };
  /// `counts` gets what is answered here. Both may be null: nothing is counted. `clock` outlives it, and is
  /// asked from the thread of answer().
  explicit FastPath(const mad::Clock* clock = nullptr, std::shared_ptr<SaCounts> counts = nullptr)
      : clock_(clock), counts_(std::move(counts)) {}
  /// Null: nothing is answered. From any thread.
  void set(std::shared_ptr<const Context> context) { context_.set(std::move(context)); }
  /// Takes out of the batch what it has answered. On one thread.
  void answer(std::vector<mad::Received>& batch, const mad::Transport::Reply& reply);

 private:
  base::Published<Context> context_;
  const mad::Clock* clock_;
  std::shared_ptr<SaCounts> counts_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace smd::sa
