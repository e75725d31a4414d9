// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/replaced_sls.h"

#include <algorithm>
#include <memory>

#include "config/qos_classes.h"
#include "mad/base/sl_files.h"
#include "smd/sweep/end_ports.h"
#include "smd/sweep/lid_index.h"

namespace smd::sm::inline decisions {
namespace {

/// The switch that packets to an end port come from last; 0: there is none.
Guid switch_before(const LidIndex::Place& to) {
  if (to.node == nullptr) return {};
  const auto& peer = to.node->ports[to.port.value()].peer;
  return to.node->is_switch() ? to.node->guid() : peer ? peer->node : Guid{};
}

/// Whether we gave this SL to paths between two switches, whichever class they were of.
bool gave_sl(const Stored& stored, Guid one, Guid other, Sl told) {
  const auto& switches = stored.layers_now->switches;
  const auto a = std::ranges::lower_bound(switches, one), b = std::ranges::lower_bound(switches, other);
  if (a == switches.end() || *a != one || b == switches.end() || *b != other) return false;
  const auto layer = stored.layers_now->layers.at(static_cast<std::size_t>(a - switches.begin()),
                                                  static_cast<std::size_t>(b - switches.begin()));
  bool known = false;
  for (const auto& [of, sl] : stored.wire_sls) {
    if (of.second != layer) continue;
    if (sl == told) return true;
    known = true;
  }
  return !known && told.value() == layer;
}

/// Ports whose MasterSMSL is what we, and what the file, say of their path to the SM that they know.
class ToldSls {
 public:
  ToldSls(const Stored& stored, const std::shared_ptr<const Subnet>& subnet, const base::PathSlFile& file,
          Sl class_of_sm)
      : stored_(stored), lids_(subnet), file_(file), class_(class_of_sm) {
    for (const auto& node : subnet->nodes) {
      // What a node does not keep says nothing.
      if (node->is_switch() || !node->not_kept.empty()) continue;
      for (std::size_t p = 1; p < node->ports.size(); ++p)
        count(*node, PortNum{static_cast<std::uint8_t>(p)});
    }
  }
  bool by_file() const { return by_file_ > by_us_; }

 private:
  void count(const Node& node, PortNum number) {
    const auto& port = node.ports[number.value()];
    const auto& info = port.info;
    if (info.port_state != PortState::active || info.sm_lid == Lid{} || !port.peer) return;
    const auto to = switch_before(lids_.find(info.sm_lid));
    const auto* row = base::sls_from(file_, port_guid(node, number), node.guid());
    const auto at = info.sm_lid.value();
    const bool said = row != nullptr && at < row->size() && (*row)[at] != base::kNoSlSaid;
    if (to == Guid{} || to == port.peer->node || !said) return;
    by_file_ += info.master_sm_sl.value() == (*row)[at] ? 1U : 0U;
    const bool ours = stored_.layers_now ? gave_sl(stored_, port.peer->node, to, info.master_sm_sl)
                                         : info.master_sm_sl == class_;
    by_us_ += ours ? 1U : 0U;
  }

  const Stored& stored_;
  LidIndex lids_;
  const base::PathSlFile& file_;
  Sl class_;
  std::size_t by_file_ = 0, by_us_ = 0;
};

}  // namespace

StoredPtr without_replaced_sls(const StoredPtr& stored, const std::shared_ptr<const Subnet>& subnet,
                               const config::SubnetConfig& config) {
  const auto& file = config.adopt.path_sl;
  const bool ours = stored->layers_now || !stored->engine.name.empty();
  if (!ours || !file || config.routing.path_sl != config::PathSl::asked) return stored;
  if (!ToldSls(*stored, subnet, *file, config::master_sm_sl(config)).by_file()) return stored;
  auto without = std::make_shared<Stored>(*stored);
  without->layers_home = without->layers_now = nullptr;
  without->engine = {};
  without->left_engine = {};
  without->repaired_tables = 0;
  without->wire_sls.clear();
  return without;
}

}  // namespace smd::sm::inline decisions
