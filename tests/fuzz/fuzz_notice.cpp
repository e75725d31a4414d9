// SPDX-License-Identifier: Apache-2.0
// A notice, and its details by each kind of trap.
#include "mad/wire/trap.h"
#include "tests/fuzz/attribute.h"

namespace {

template <smd::wire::TrapDetails... D>
void each_kind(const smd::wire::Notice& notice) {
  const auto one = [&]<class Kind>(std::type_identity<Kind> /*kind*/) {
    smd::fuzz::attribute<Kind>(notice.details);
    const auto found = smd::wire::details<Kind>(notice);
    if (!found) return;
    const auto again =
        smd::wire::generic_notice(notice.type, notice.producer, notice.trap, notice.issuer_lid, *found);
    smd::fuzz::demand(smd::wire::details<Kind>(again) == found);
  };
  (one(std::type_identity<D>{}), ...);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smd::wire;
  smd::fuzz::attribute<Notice>({data, size});
  const auto notice = decode<Notice>({data, size});
  if (!notice) return 0;
  smd::fuzz::demand(!describe(*notice).empty());
  each_kind<GidDetails, LinkStateDetails, PortErrorDetails, LocalChangeDetails, SystemImageDetails,
            BadMKeyDetails, BadKeyDetails, BadPKeyAtSwitchDetails>(*notice);
  return 0;
}
