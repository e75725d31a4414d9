// SPDX-License-Identifier: Apache-2.0
// Partitions as UFM shows them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "mad/base/rate.h"
#include "smd/api/handlers.h"
#include "smd/api/json_out.h"
#include "smd/api/tenant.h"
#include "smd/api/ufm.h"

namespace smd::api {

using sm::Json;
using sm::JsonArray;
using sm::JsonObject;

namespace {

using config::Membership;

/// "True" is what Python's clients write.
bool is_asked(const Question& question, const std::string& key) {
  const auto at = question.query.find(key);
  return at != question.query.end() && (at->second == "true" || at->second == "True" || at->second == "1");
}

struct Shown {
  bool guids = false, qos = false;
};

struct UfmMember {
  Membership membership = Membership::limited;
  bool index0 = false;
};

/// Members that are in the fabric, and GUIDs that are to be members when they come.
std::map<Guid, UfmMember> ufm_members(const SubnetView& view, const config::PolicyPartition& partition) {
  std::map<Guid, UfmMember> members;
  const auto decided = view.snapshot ? view.snapshot->decided.partitions : nullptr;
  if (decided) {
    const auto at =
        std::ranges::find(decided->partitions, partition.pkey, &sm::PartitionPart::Partition::pkey);
    if (at != decided->partitions.end()) {
      for (const auto& one : at->members) members[one.port] = {one.membership, one.index0};
    }
  }
  for (const auto& [rule, order] : partition.members) {
    for (const auto& term : rule.ports.terms) {
      if (term.kind == config::PortTermKind::guid) members[term.first] = {rule.membership, rule.index0};
    }
  }
  return members;
}

JsonArray guids_json(const SubnetView& view, const config::PolicyPartition& partition) {
  JsonArray guids;
  for (const auto& [port, member] : ufm_members(view, partition))
    guids.push_back(Json(JsonObject{{"guid", text(ufm_text(port))},
                                    {"index0", Json(member.index0)},
                                    {"membership", text(to_string(member.membership))}}));
  return guids;
}

/// KB and Gb/s; 2 KB and 10 Gb/s are UFM's own defaults.
Json qos_json(const config::PolicyPartition& partition) {
  Mtu mtu = Mtu::none;
  std::uint8_t rate = 0;
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

Json partition_object(const SubnetView& view, const config::PolicyPartition& partition, Shown shown) {
  const bool management = partition.pkey.same_partition(config::kDefaultPartition);
  JsonObject object{{"partition", text(management ? "management" : partition.name)},
                    {"ip_over_ib", Json(partition.ipoib)}};
  if (shown.guids && management) {
    object.emplace("index0", Json(false));
    object.emplace("membership", text("limited"));
    object.emplace("guids", Json(JsonArray{}));
  } else if (shown.guids) {
    object.emplace("guids", Json(guids_json(view, partition)));
  }
  if (shown.qos) object.emplace("qos_conf", qos_json(partition));
  return Json(std::move(object));
}

}  // namespace

Answer ufm_pkeys(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto& view = *chosen->view;
  if (!view.ground || !view.ground->merged) return error_of(503, "waiting", "the store is not open yet");
  const bool asked = question.query.contains("guids_data") || question.query.contains("qos_conf");
  const Shown shown{.guids = is_asked(question, "guids_data"), .qos = is_asked(question, "qos_conf")};
  JsonArray keys;
  JsonObject by_key;
  for (const auto& partition : view.ground->merged->partitions) {
    if (!sees_partition(*question.access, view.name, partition.name)) continue;
    const auto key = ufm_text(partition.pkey);
    if (asked) by_key.emplace(key, partition_object(view, partition, shown));
    if (!asked) keys.push_back(text(key));
  }
  return answer_of(asked ? Json(std::move(by_key)) : Json(std::move(keys)));
}

Answer ufm_pkey_of(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto& view = *chosen->view;
  if (!view.ground || !view.ground->merged) return error_of(503, "waiting", "the store is not open yet");
  const bool management = question.part("pkey") == "0x7fff" || question.part("pkey") == "0x7FFF";
  const auto pkey =
      management ? std::expected<PKey, Answer>(config::kDefaultPartition) : ufm_pkey(question.part("pkey"));
  if (!pkey) return pkey.error();
  const auto* partition = view.ground->merged->find(*pkey);
  if (partition == nullptr || !sees_partition(*question.access, view.name, partition->name))
    return {.status = 200, .body = "{}", .bundle = nullptr, .allow = {}};  // byte for byte: clients compare
  const Shown shown{.guids = is_asked(question, "guids_data"), .qos = is_asked(question, "qos_conf")};
  return answer_of(partition_object(view, *partition, shown));
}

}  // namespace smd::api
