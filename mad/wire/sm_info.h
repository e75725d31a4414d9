// SPDX-License-Identifier: Apache-2.0
#pragma once
// SMInfo: identity and state of a subnet manager. Layout: libibmad's IB_SMINFO_*.

#include <string_view>
#include <tuple>

#include "mad/base/id.h"
#include "mad/wire/codec.h"

namespace smd::wire {

enum class SmState : std::uint8_t { not_active = 0, discovering = 1, standby = 2, master = 3 };

/// Name of the SM state; "unknown" for a reserved value.
constexpr std::string_view to_string(SmState state) {
  switch (state) {
    case SmState::not_active:
      return "not-active";
    case SmState::discovering:
      return "discovering";
    case SmState::standby:
      return "standby";
    case SmState::master:
      return "master";
  }
  return "unknown";
}

/// What a Set of SMInfo asks for: its attribute modifier.
enum class SmControl : std::uint32_t {
  handover = 1,
  acknowledge = 2,
  disable = 3,
  standby = 4,
  discover = 5
};

/// Name of the control packet; "unknown" for a reserved attribute modifier.
constexpr std::string_view to_string(SmControl control) {
  switch (control) {
    case SmControl::handover:
      return "HANDOVER";
    case SmControl::acknowledge:
      return "ACKNOWLEDGE";
    case SmControl::disable:
      return "DISABLE";
    case SmControl::standby:
      return "STANDBY";
    case SmControl::discover:
      return "DISCOVER";
  }
  return "unknown";
}

struct SmInfo {
  static constexpr std::uint16_t kAttribute = 0x0020;
  static constexpr std::string_view kName = "SMInfo";
  static constexpr std::size_t kBytes = 21;
  Guid guid{};
  std::uint64_t sm_key = 0;
  std::uint32_t act_count = 0;  ///< grows while the SM is alive
  std::uint8_t priority = 0;    ///< 0 to 15; of equals the lower GUID is master
  SmState state{};

  /// Rows of the byte layout: libibmad's IB_SMINFO_*.
  static constexpr auto fields() {
    using T = SmInfo;
    return std::tuple{field("GUID", &T::guid, 0, 64), field("SM_Key", &T::sm_key, 64, 64, Style::secret),
                      field("ActCount", &T::act_count, 128, 32), field("Priority", &T::priority, 160, 4),
                      field("SMState", &T::state, 164, 4)};
  }
  friend bool operator==(const SmInfo&, const SmInfo&) = default;
};
static_assert(well_formed<SmInfo>());

}  // namespace smd::wire
