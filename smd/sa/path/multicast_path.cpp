// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/path/multicast_path.h"

#include "mad/base/rate.h"
#include "mad/wire/sa/path_record.h"
#include "smd/sa/path/limits.h"
#include "smd/sa/registry/aliases.h"
#include "smd/sa/registry/group_parameters.h"
#include "smd/sa/registry/membership.h"
#include "smd/sa/viewer.h"

namespace smd::sa {
namespace {

using Record = wire::PathRecord;

constexpr std::uint8_t kFarthest = 255;  ///< HopLimit

/// A group's value is what it is: a limit is met by it or not.
bool suits(const Request& request, const Record& asked, const GroupParameters& terms) {
  const auto mtu = limited(
      terms.mtu, limit_of(request, Record::kMtuSelector, Record::kMtu, asked.mtu_selector, asked.mtu));
  const auto rate =
      limited(StaticRate{terms.rate, rate_mbps(terms.rate)},
              limit_of(request, Record::kRateSelector, Record::kRate, asked.rate_selector, asked.rate));
  const bool lives = meets(
      terms.life, limit_of(request, Record::kLifeSelector, Record::kLife, asked.life_selector, asked.life));
  const bool keyed = !request.has(Record::kPKey) || asked.pkey.partition() == terms.pkey.partition();
  return keyed && lives && mtu == terms.mtu && rate && rate->code == terms.rate &&
         (!request.has(Record::kSl) || asked.sl == terms.sl) &&
         (!request.has(Record::kFlowLabel) || asked.flow_label == terms.flow_label) &&
         (!request.has(Record::kTrafficClass) || asked.traffic_class == terms.traffic_class) &&
         (!request.has(Record::kHopLimit) || asked.hop_limit == terms.hop_limit) &&
         !(request.has(Record::kReversible) && asked.reversible);
}

/// What a packet has to carry to come as far as the group's name says: who made the group seldom says
/// (OpenSM's pr_process_multicast does the same).
std::uint8_t hop_limit_of(const Mgid& mgid, const GroupParameters& terms) {
  return scope_of(mgid) == kLinkLocal ? terms.hop_limit : kFarthest;
}

/// The source where it is named, else the requester; null where no port has it.
const EndPort* source_of(const Directory& directory, const Registry& registry, const Request& request,
                         const Record& asked, const EndPort* requester) {
  if (!request.has(Record::kSgid) && !request.has(Record::kSlid)) return requester;
  const auto* by_gid = request.has(Record::kSgid) ? find_port(directory, registry, asked.sgid) : nullptr;
  const auto* by_lid = request.has(Record::kSlid) ? directory.by_lid(asked.slid) : nullptr;
  if (request.has(Record::kSgid) && request.has(Record::kSlid)) return by_gid == by_lid ? by_gid : nullptr;
  return request.has(Record::kSgid) ? by_gid : by_lid;
}

}  // namespace

bool is_to_group(const Request& request) {
  const auto asked = wire::decode<Record>(request.data);
  if (!asked) return false;
  if (request.has(Record::kDgid)) return asked->dgid.multicast();
  return request.has(Record::kDlid) && asked->dlid.value() >= 0xC000 && asked->dlid.value() != 0xFFFF;
}

Answer multicast_path(const Directory& directory, const Registry& registry, const Request& request,
                      const EndPort* requester) {
  const bool trusted = request.sa.sm_key != 0;
  const auto* viewer =
      requester != nullptr ? Viewer::of_fabric(directory, requester->lid, trusted).port() : nullptr;
  const auto asked = *wire::decode<Record>(request.data);
  const auto* source = source_of(directory, registry, request, asked, requester);
  if (source == nullptr) return refuse(request.has(Record::kSgid) ? wire::kSaInvalidGid : wire::kSaNoRecords);
  Answer answer{.status = wire::kStatusOk, .record_bytes = Record::kBytes, .records = {}};
  // A Get means one path whatever it says; a table may have none.
  const bool gets = request.mad.method == wire::Method::get;
  if (!gets && request.has(Record::kPaths) && asked.paths == 0) return answer;
  const auto add = [&](const Mgid& mgid, const Group& group) {
    const auto& terms = group.terms;
    if (request.has(Record::kDlid) && asked.dlid != group.mlid) return;
    if (viewer != nullptr && !has_pkey(*viewer, terms.pkey)) return;
    if (!has_pkey(*source, terms.pkey) || !suits(request, asked, terms)) return;
    const Record path{.dgid = Gid{mgid.bytes},
                      .sgid = request.has(Record::kSgid) ? Gid::of(directory.prefix(), asked.sgid.guid())
                                                         : directory.gid_of(*source),
                      .dlid = group.mlid,
                      .slid = request.has(Record::kSlid) ? asked.slid : source->lid,
                      .flow_label = terms.flow_label,
                      .hop_limit = hop_limit_of(mgid, terms),
                      .traffic_class = terms.traffic_class,
                      .paths = 1,
                      .pkey = terms.pkey,
                      .sl = terms.sl,
                      .mtu_selector = wire::Selector::exactly,
                      .mtu = terms.mtu,
                      .rate_selector = wire::Selector::exactly,
                      .rate = terms.rate,
                      .life_selector = wire::Selector::exactly,
                      .life = terms.life};
    answer.records.resize(answer.records.size() + Record::kBytes);
    wire::encode_over(path, std::span(answer.records).last(Record::kBytes));
  };
  if (request.has(Record::kDgid)) {
    const Mgid mgid{asked.dgid.bytes};
    if (const auto* group = registry.groups().find(mgid)) add(mgid, *group);
  } else {
    for (const auto& [mgid, group] : registry.groups()) add(mgid, group);
  }
  const auto count = answer.records.size() / Record::kBytes;
  if (gets && count == 0) return refuse(wire::kSaNoRecords);
  if (gets && count > 1) return refuse(wire::kSaTooManyRecords);
  return answer;
}

}  // namespace smd::sa
