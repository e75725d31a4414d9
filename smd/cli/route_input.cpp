// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/route_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "mad/base/fabric_edit.h"
#include "mad/base/fabric_spec.h"
#include "mad/base/file.h"
#include "mad/base/lid_file.h"

namespace smd::cli {
namespace {

std::unexpected<Failure> bad_input(const base::FileErrors& errors) {
  return std::unexpected(Failure{2, base::to_string(errors)});
}

/// LMC of a range of LIDs; nothing where it is not 1, 2, 4, … or 128 of them, or not begun at a multiple of
/// that: the port takes the low bits of a DLID for its own.
std::optional<std::uint8_t> lmc_of(const base::LidRange& range) {
  if (range.last < range.first) return std::nullopt;
  const auto count = range.last.value() - range.first.value() + 1U;
  if (count > 128 || !std::has_single_bit(count) || range.first.value() % count != 0) return std::nullopt;
  return static_cast<std::uint8_t>(std::countr_zero(count));
}

/// Gives ports their LIDs, counts those that got one. Ports that are not named lose theirs, which could be
/// another's now.
class LidGiver {
 public:
  LidGiver(const base::GuidLids& lids, const std::string& file) : lids_(lids), file_(file) {}

  std::expected<void, Failure> give(base::Fabric& fabric) {
    for (auto& node : fabric.nodes) {
      const bool is_switch = node.type == NodeType::switch_;
      const std::size_t end = is_switch ? std::min<std::size_t>(1, node.ports.size()) : node.ports.size();
      for (std::size_t p = is_switch ? 0 : 1; p < end; ++p) {
        const auto guid =
            is_switch ? node.guid : base::port_guid(node, PortNum{static_cast<std::uint8_t>(p)});
        auto given = give_port(node.ports[p], guid, is_switch);
        if (!given) return given;
      }
    }
    return {};
  }
  std::size_t used() const { return used_; }
  std::uint8_t lmc() const { return lmc_; }

 private:
  std::expected<void, Failure> give_port(base::FabricPort& port, Guid guid, bool is_switch) {
    port.lid = Lid{};
    port.lmc = 0;
    const auto found = lids_.find(guid);
    if (found == lids_.end()) return {};
    const auto [first, last] = found->second;
    const auto lmc = lmc_of(found->second);
    if (!lmc) {
      return std::unexpected(
          Failure{2, fmt::format("{}: {} has LIDs {} to {}: 1, 2, 4, ... or 128 of them are needed, "
                                 "beginning at a multiple of their number",
                                 file_, guid, first, last)});
    }
    port.lid = first;
    port.lmc = *lmc;
    if (!is_switch) lmc_ = std::max(lmc_, *lmc);
    ++used_;
    return {};
  }

  const base::GuidLids& lids_;
  const std::string& file_;
  std::size_t used_ = 0;
  std::uint8_t lmc_ = 0;
};

/// The LIDs that the comments of a dump tell: each port's from the first to the last.
base::GuidLids lids_of(const sm::LftDump& dump) {
  base::GuidLids lids;
  for (const auto& [lid, port] : dump.owners) {
    auto& range = lids.try_emplace(port, base::LidRange{lid, lid}).first->second;
    range.last = lid;  // the map is in the order of LIDs
  }
  return lids;
}

std::expected<void, Failure> apply_lids(const RouteOptions& options, RouteInput& input) {
  base::GuidLids lids;
  const auto& file = options.lids.empty() ? options.lfts : options.lids;
  if (!options.lids.empty()) {
    auto read = base::load_lids(options.lids);
    if (!read) return bad_input(read.error());
    lids = std::move(*read);
  } else if (input.lfts) {
    lids = lids_of(*input.lfts);
  }
  if (lids.empty()) return {};
  LidGiver giver(lids, file);
  if (auto given = giver.give(input.complete); !given) return given;
  input.lmc = giver.lmc();
  if (giver.used() < lids.size()) {
    const auto unknown = lids.size() - giver.used();
    input.notes.push_back(fmt::format("{}: {} of its {} ports {} not in the fabric", file, unknown,
                                      lids.size(), unknown == 1 ? "is" : "are"));
  }
  return {};
}

std::expected<void, Failure> load_accepted(const RouteOptions& options, RouteInput& input) {
  const auto text = base::read_file(options.accepted);
  if (!text) return bad_input({text.error()});
  auto accepted = read_accepted(input.complete, *text, options.accepted);
  if (!accepted) return bad_input(accepted.error());
  input.accepted = std::move(*accepted);
  return {};
}

std::expected<void, Failure> take_away(const RouteOptions& options, RouteInput& input) {
  const auto text = base::read_file(options.without);
  if (!text) return bad_input({text.error()});
  const auto removals = base::read_removals(input.complete, *text, options.without);
  if (!removals) return bad_input(removals.error());
  input.without = base::without(input.complete, *removals);
  return {};
}

}  // namespace

std::expected<RouteInput, Failure> load_input(const RouteOptions& options) {
  auto fabric = base::load_fabric(options.topology);
  if (!fabric) return bad_input(fabric.error());
  RouteInput input{.complete = std::move(*fabric), .without = {}, .lfts = {}, .accepted = {}, .notes = {}};
  if (!options.lfts.empty()) {
    auto dump = sm::load_lfts(options.lfts);
    if (!dump) return bad_input(dump.error());
    input.lfts = std::move(*dump);
  }
  if (auto done = apply_lids(options, input); !done) return std::unexpected(done.error());
  if (!options.accepted.empty()) {
    if (auto done = load_accepted(options, input); !done) return std::unexpected(done.error());
  }
  if (!options.without.empty()) {
    if (auto done = take_away(options, input); !done) return std::unexpected(done.error());
  }
  return input;
}

}  // namespace smd::cli
