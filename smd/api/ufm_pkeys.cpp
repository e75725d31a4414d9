// SPDX-License-Identifier: Apache-2.0
// Partitions as UFM shows them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/port_set.h"
#include "mad/base/rate.h"
#include "smd/api/fabric_ports.h"
#include "smd/api/handlers.h"
#include "smd/api/json_out.h"
#include "smd/api/pieces.h"
#include "smd/api/tenant.h"
#include "smd/api/ufm.h"

namespace smd::api {

using sm::Json;
using sm::JsonArray;
using sm::JsonObject;

namespace {

using config::Membership;

struct Shown {
  bool guids = false, qos = false;
};

struct UfmMember {
  Guid port;
  Membership membership = Membership::limited;
  bool index0 = false;
  std::size_t order = 0;  ///< of several for a port the last one counts
};

/// What the rules of a partition are resolved with.
struct Rules {
  const config::PartitionPolicy& policy;
  const config::PolicyPartition& partition;
};

/// What the rules make of these ports, after `last`. `self`: the SM's; 0: it is not one of them.
void add_resolved(const Rules& rules, const config::PortIndex& index, Guid self, Guid last,
                  std::vector<UfmMember>& members) {
  if (index.ports().empty()) return;
  const std::map<std::string, PKey, std::less<>> no_partitions;
  for (const auto& rule : rules.partition.members) {
    const auto found = config::resolve(
        rule.ports, {.groups = rules.policy.groups, .partitions = no_partitions, .self = self}, index);
    for (const auto at : found.ports) {
      const auto port = index.ports()[at].port_guid;
      if (last < port) members.push_back({port, rule.membership, rule.index0, members.size()});
    }
  }
}

/// Members of the partition that are in the fabric, after `last`.
void add_present(const SubnetView& view, const Rules& rules, Guid last, std::vector<UfmMember>& members) {
  const auto* now = view.snapshot.get();
  if (now == nullptr) return;
  const auto pkey = rules.partition.pkey;
  const auto decided = now->decided.partitions;
  const auto* then = decided && decided->policy ? decided->policy->find(pkey) : nullptr;
  const bool same = then != nullptr && then->members == rules.partition.members &&
                    then->runs == rules.partition.runs && decided->policy->groups == rules.policy.groups;
  if (!same) {  // they have changed a moment ago: a client reads what it has written
    const FabricPorts fabric(now);
    return add_resolved(rules, fabric.index(), fabric.self(), last, members);
  }
  const auto at = std::ranges::find(decided->partitions, pkey, &sm::PartitionPart::Partition::pkey);
  if (at == decided->partitions.end()) return;
  for (const auto& one : at->members) {
    if (last < one.port) members.push_back({one.port, one.membership, one.index0, members.size()});
  }
}

/// Ports of hosts that are down, whose GUIDs are still in use: of members by their name or a pattern.
class AbsentPorts {
 public:
  /// None where `now` is null.
  explicit AbsentPorts(const sm::Snapshot* now) : ports_(known_ports(now)), index_(ports_.ports) {}
  AbsentPorts(const AbsentPorts&) = delete;
  AbsentPorts& operator=(const AbsentPorts&) = delete;
  const config::PortIndex& index() const { return index_; }

 private:
  static NamedPorts known_ports(const sm::Snapshot* now) {
    if (now == nullptr || !now->stored) return {};
    auto known = absent_ports(*now, absent_hosts(*now));
    std::erase_if(known.ports, [&](const auto& port) { return !now->stored->lids.contains(port.port_guid); });
    return known;
  }
  NamedPorts ports_;
  config::PortIndex index_;
};

/// The members after `last`, by GUID: those that are in the fabric or were, and GUIDs that are to be members
/// when they come, whose rules count. Made anew for each piece: nothing of it waits for a client.
std::vector<UfmMember> ufm_members(const SubnetView& view, const AbsentPorts& absent, const Rules& rules,
                                   Guid last) {
  std::vector<UfmMember> members;
  add_present(view, rules, last, members);
  add_resolved(rules, absent.index(), Guid{}, last, members);
  for (const auto& rule : rules.partition.members) {
    for (const auto& term : rule.ports.terms) {
      if (term.kind == config::PortTermKind::guid && last < term.first)
        members.push_back({term.first, rule.membership, rule.index0, members.size()});
    }
  }
  std::ranges::sort(members, {}, [](const UfmMember& one) { return std::pair(one.port, one.order); });
  std::vector<UfmMember> once;
  for (const auto& one : members) {
    if (!once.empty() && once.back().port == one.port) once.pop_back();
    once.push_back(one);
  }
  return once;
}

/// KB and Gb/s; 2 KB and 10 Gb/s are UFM's own defaults. Those that the API was given are for the broadcast
/// group, and kept where the partition has none.
Json qos_json(const policy::Policies& policies, const config::PolicyPartition& partition) {
  Mtu mtu = Mtu::none;
  std::uint8_t rate = 0;
  const auto given = policies.api.find(partition.name);
  if (given != policies.api.end()) mtu = given->second->settings.mtu, rate = given->second->settings.rate;
  for (const auto& group : partition.groups) {
    if (group.broadcast) mtu = group.mtu, rate = group.rate;
  }
  const auto kilobytes = mtu == Mtu::none ? 2U : std::max(1U, bytes(mtu) / 1024);
  const auto mbps = rate_mbps(rate);
  const double gbps = mbps == 0 ? 10 : mbps / 1000.0;
  return Json(JsonObject{
      {"mtu_limit", number(kilobytes)},
      {"rate_limit", gbps == std::floor(gbps) ? number(static_cast<std::uint64_t>(gbps)) : Json(gbps)},
      {"service_level", number(partition.sl.value())}});
}

/// The text of partitions as UFM shows them: an object by key, or a single one.
class UfmText {
 public:
  UfmText(std::shared_ptr<const SubnetView> view, policy::MergedPtr merged,
          std::vector<const config::PolicyPartition*> partitions, Shown shown, bool by_key)
      : view_(std::move(view)),
        merged_(std::move(merged)),
        partitions_(std::move(partitions)),
        shown_(shown),
        by_key_(by_key),
        absent_(std::make_shared<const AbsentPorts>(shown.guids ? view_->snapshot.get() : nullptr)) {}

  /// A partition, or some of its GUIDs.
  bool operator()(std::string& text) {
    if (at_ == partitions_.size()) {
      text += partitions_.empty() ? "{}\n" : by_key_ ? "}\n" : "\n";
      return false;
    }
    const auto& partition = *partitions_[at_];
    if (last_ == Guid{}) begin(text, partition);
    if (shown_.guids && !is_management(partition) && !add_guids(text, partition)) return true;
    end(text, partition);
    ++at_, last_ = Guid{};
    return true;
  }

 private:
  static bool is_management(const config::PolicyPartition& partition) {
    return partition.pkey.same_partition(config::kDefaultPartition);
  }
  void begin(std::string& text, const config::PolicyPartition& partition) const {
    if (by_key_) text += (at_ == 0 ? "{" : ",") + sm::to_text(Json(ufm_text(partition.pkey))) + ":";
    const bool management = is_management(partition);
    JsonObject object{{"partition", smd::api::text(management ? "management" : partition.name)},
                      {"ip_over_ib", Json(partition.ipoib)}};
    if (shown_.guids && management) {
      object.emplace("index0", Json(false));
      object.emplace("membership", smd::api::text("limited"));
      object.emplace("guids", Json(JsonArray{}));
    }
    text += sm::to_text(Json(std::move(object)));
    text.pop_back();
    if (shown_.guids && !management) text += ",\"guids\":[";
  }
  /// False: there are more.
  bool add_guids(std::string& text, const config::PolicyPartition& partition) {
    // Members are made anew for each piece: 17 times for a large partition.
    constexpr std::size_t kPieces = 16, kFewest = 1'000;
    const auto at_once = std::max(kFewest, partition.members.size() / kPieces);
    const auto members = ufm_members(*view_, *absent_, {*merged_, partition}, last_);
    for (std::size_t i = 0; i < std::min(members.size(), at_once); ++i) {
      if (last_ != Guid{}) text += ',';
      const auto& member = members[i];
      text += sm::to_text(Json(JsonObject{{"guid", smd::api::text(ufm_text(member.port))},
                                          {"index0", Json(member.index0)},
                                          {"membership", smd::api::text(to_string(member.membership))}}));
      last_ = member.port;
    }
    return members.size() <= at_once;
  }
  void end(std::string& text, const config::PolicyPartition& partition) const {
    if (shown_.guids && !is_management(partition)) text += ']';
    if (shown_.qos)
      text += ",\"qos_conf\":" + sm::to_text(qos_json(*view_->policy_state->policies, partition));
    text += '}';
  }

  std::shared_ptr<const SubnetView> view_;
  policy::MergedPtr merged_;  ///< of which the partitions are
  std::vector<const config::PolicyPartition*> partitions_;
  Shown shown_;
  bool by_key_;
  std::shared_ptr<const AbsentPorts> absent_;  ///< of the view
  std::size_t at_ = 0;                         ///< of partitions_
  Guid last_{};                                ///< that is in the text of this one; 0: it has not begun
};

}  // namespace

Answer ufm_pkeys(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto& view = *chosen->view;
  if (!view.policy_state || !view.policy_state->merged)
    return error_of(503, "waiting", "the store is not open yet");
  const bool asked = question.query.contains("guids_data") || question.query.contains("qos_conf");
  const Shown shown{.guids = ufm_is_asked(question, "guids_data"), .qos = ufm_is_asked(question, "qos_conf")};
  std::vector<const config::PolicyPartition*> seen;
  for (const auto& partition : view.policy_state->merged->partitions) {
    if (sees_partition(*question.access, view.name, partition.name)) seen.push_back(&partition);
  }
  if (asked)
    return answer_in_pieces(UfmText(chosen->view, view.policy_state->merged, std::move(seen), shown, true));
  JsonArray keys;
  for (const auto* one : seen) keys.push_back(text(ufm_text(one->pkey)));
  return answer_of(Json(std::move(keys)));
}

Answer ufm_pkey_of(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto& view = *chosen->view;
  if (!view.policy_state || !view.policy_state->merged)
    return error_of(503, "waiting", "the store is not open yet");
  const auto pkey = ufm_pkey_or_default(question.part("pkey"));
  if (!pkey) return pkey.error();
  const auto* partition = view.policy_state->merged->find(*pkey);
  if (partition == nullptr || !sees_partition(*question.access, view.name, partition->name))
    return {.status = 200, .body = "{}", .bundle = nullptr, .allow = {}};  // byte for byte: clients compare
  const Shown shown{.guids = ufm_is_asked(question, "guids_data"), .qos = ufm_is_asked(question, "qos_conf")};
  return answer_in_pieces(UfmText(chosen->view, view.policy_state->merged, {partition}, shown, false));
}

}  // namespace smd::api
