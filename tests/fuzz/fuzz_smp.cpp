// SPDX-License-Identifier: Apache-2.0
// A whole MAD of any bytes as an SMP: every accessor, the answer to it, and the attribute that it names.
#include <algorithm>
#include <vector>

#include "mad/wire/attributes.h"
#include "mad/wire/mad.h"
#include "mad/wire/smp.h"
#include "tests/fuzz/attribute.h"

namespace {

using namespace smd::wire;
using smd::PortNum;
using smd::fuzz::demand;

template <class... A>
void named_attribute(const Smp& smp) {
  ((smp.attribute() == A::kAttribute ? smd::fuzz::attribute<A>(smp.data()) : void()), ...);
}

void header(const Smp& smp) {
  const MadHeader header = smp.header();
  demand(header.base_version == smp.base_version() && header.mgmt_class == smp.mgmt_class());
  demand(header.class_version == smp.class_version() && header.method == smp.method());
  demand(header.tid == smp.tid() && header.attribute == smp.attribute() && header.modifier == smp.modifier());
  demand(!method_name(smp.method()).empty() && !attribute_name(smp.attribute()).empty());
  demand(!class_name(smp.mgmt_class()).empty() && !status_text(smp.status()).empty());
}

void every_setter(const Smp& from) {
  Smp to;
  to.set_base_version(from.base_version());
  to.set_mgmt_class(from.mgmt_class());
  to.set_class_version(from.class_version());
  to.set_method(from.method());
  if (from.is_directed()) to.set_returning(from.returning());
  to.set_status(from.status());
  to.set_hop_pointer(from.hop_pointer());
  to.set_hop_count(from.hop_count());
  to.set_tid(from.tid());
  to.set_attribute(from.attribute());
  to.set_modifier(from.modifier());
  to.set_m_key(from.m_key());
  to.set_dr_slid(from.dr_slid());
  to.set_dr_dlid(from.dr_dlid());
  std::ranges::copy(from.data(), to.data().begin());
  for (std::size_t hop = 0; hop <= 300; ++hop) {
    to.set_initial_path(hop, from.initial_path(hop));
    to.set_return_path(hop, from.return_path(hop));
  }
  // Reserved bytes 18, 19 and 36 to 63 have no accessor.
  Smp masked = from;
  std::ranges::fill(masked.bytes().subspan(18, 2), std::uint8_t{0});
  std::ranges::fill(masked.bytes().subspan(36, 28), std::uint8_t{0});
  demand(to == masked);
}

/// A request built anew from what the SMP says is the same, but for what a request does not say.
void built_again(const Smp& smp) {
  std::vector<PortNum> path;
  for (std::size_t hop = 1; hop <= smp.hop_count(); ++hop) path.push_back(smp.initial_path(hop));
  const Smp built = smp.is_directed() ? Smp::directed(smp.method(), smp.attribute(), smp.modifier(), path)
                                      : Smp::lid_routed(smp.method(), smp.attribute(), smp.modifier());
  demand(built.mgmt_class() == (smp.is_directed() ? MgmtClass::sm_directed : MgmtClass::sm_lid));
  demand(built.method() == smp.method() && built.attribute() == smp.attribute());
  demand(built.modifier() == smp.modifier() && built.status() == kStatusOk && !built.returning());
  if (!smp.is_directed()) return;
  demand(built.hop_count() == std::min<std::size_t>(path.size(), Smp::kMaxHops));
  for (std::size_t hop = 1; hop <= built.hop_count(); ++hop) {
    demand(built.initial_path(hop) == smp.initial_path(hop));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto smp = Smp::from_bytes({data, size});
  demand(smp.has_value() == (size >= Smp::kBytes));
  if (!smp) return 0;
  header(*smp);
  every_setter(*smp);
  built_again(*smp);
  const Smp answer = smp->response(kStatusBadField);
  demand(answer.status() == kStatusBadField && answer.method() == response_to(smp->method()));
  demand(answer.tid() == smp->tid() && answer.returning() == (smp->is_directed() && !smp->returning()));
  demand(response_to(smp->method()) == Method::none || !is_response(smp->method()));
  demand(!to_string(static_cast<SmControl>(smp->modifier())).empty());
  named_attribute<NodeInfo, NodeDescription, SwitchInfo, GuidInfo, PortInfo, PKeyTable, SlToVl, VlArbitration,
                  LinearForwardingTable, MulticastForwardingTable, SmInfo, Notice, PortInfoExtended,
                  MlnxExtPortInfo, ArInfo>(*smp);
  return 0;
}
