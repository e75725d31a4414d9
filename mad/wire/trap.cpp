// SPDX-License-Identifier: Apache-2.0
#include "mad/wire/trap.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mad/wire/print.h"

namespace smd::wire {
namespace {

constexpr std::array kNames{std::pair{trap::kGidInService, "GID in service"},
                            std::pair{trap::kGidOutOfService, "GID out of service"},
                            std::pair{trap::kGroupCreated, "multicast group created"},
                            std::pair{trap::kGroupDeleted, "multicast group deleted"},
                            std::pair{trap::kLinkStateChange, "link state change"},
                            std::pair{trap::kLocalLinkIntegrity, "local link integrity"},
                            std::pair{trap::kBufferOverrun, "excessive buffer overrun"},
                            std::pair{trap::kFlowControlWatchdog, "flow control update watchdog"},
                            std::pair{trap::kLocalChange, "local change"},
                            std::pair{trap::kSystemImageGuidChange, "system image GUID change"},
                            std::pair{trap::kBadMKey, "bad M_Key"},
                            std::pair{trap::kBadPKey, "bad P_Key"},
                            std::pair{trap::kBadQKey, "bad Q_Key"},
                            std::pair{trap::kBadPKeyAtSwitch, "bad P_Key at switch"}};

/// Text of the details of the first kind that fits.
template <TrapDetails... D>
std::string details_text(const Notice& notice) {
  std::string text;
  const auto try_one = [&]<TrapDetails Kind>(std::type_identity<Kind> /*kind*/) {
    const auto found = details<Kind>(notice);
    if (found) text = print(*found);
    return found.has_value();
  };
  static_cast<void>((try_one(std::type_identity<D>{}) || ...));
  return text;
}

}  // namespace

std::string trap_name(std::uint16_t number) {
  const auto* const found = std::ranges::find(kNames, number, [](const auto& named) { return named.first; });
  return found == kNames.end() ? fmt::format("trap {}", number) : found->second;
}

std::string describe(const Notice& notice) {
  const auto text =
      details_text<GidDetails, LinkStateDetails, PortErrorDetails, LocalChangeDetails, SystemImageDetails,
                   BadMKeyDetails, BadKeyDetails, BadPKeyAtSwitchDetails>(notice);
  if (text.empty()) return fmt::format("{} details={:02x}", print(notice), fmt::join(notice.details, ""));
  return fmt::format("trap={} \"{}\" IssuerLID={} {}", notice.trap, trap_name(notice.trap), notice.issuer_lid,
                     text);
}

}  // namespace smd::wire
