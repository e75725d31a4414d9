// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the 54 bytes of details of a generic notice mean, by trap number. Layout: rdma-core's
// ib_mad_notice_attr_t; Wireshark's packet-infiniband.c has the same.

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "mad/base/gid.h"
#include "mad/base/id.h"
#include "mad/wire/codec.h"
#include "mad/wire/notice.h"

namespace smd::wire {

namespace trap {
inline constexpr std::uint16_t kGidInService = 64, kGidOutOfService = 65, kGroupCreated = 66,
                               kGroupDeleted = 67, kLinkStateChange = 128, kLocalLinkIntegrity = 129,
                               kBufferOverrun = 130, kFlowControlWatchdog = 131, kLocalChange = 144,
                               kSystemImageGuidChange = 145, kBadMKey = 256, kBadPKey = 257, kBadQKey = 258,
                               kBadPKeyAtSwitch = 259;
}  // namespace trap

/// "link state change", …; "trap 7" where it has no name.
std::string trap_name(std::uint16_t number);

/// 64 to 67: a port's or a group's GID.
struct GidDetails {
  static constexpr std::array<std::uint16_t, 4> kTraps{64, 65, 66, 67};
  static constexpr std::size_t kBytes = Notice::kDetailBytes;
  Gid gid{};
  static constexpr auto fields() { return std::tuple{gid_field("GIDADDR", &GidDetails::gid, 48)}; }
  friend bool operator==(const GidDetails&, const GidDetails&) = default;
};
static_assert(well_formed<GidDetails>());

/// 128: a port of the switch with this LID changed its state.
struct LinkStateDetails {
  static constexpr std::array<std::uint16_t, 1> kTraps{128};
  static constexpr std::size_t kBytes = Notice::kDetailBytes;
  Lid lid{};
  static constexpr auto fields() { return std::tuple{field("LIDADDR", &LinkStateDetails::lid, 0, 16)}; }
  friend bool operator==(const LinkStateDetails&, const LinkStateDetails&) = default;
};
static_assert(well_formed<LinkStateDetails>());

/// 129 to 131: too many errors at a port.
struct PortErrorDetails {
  static constexpr std::array<std::uint16_t, 3> kTraps{129, 130, 131};
  static constexpr std::size_t kBytes = Notice::kDetailBytes;
  Lid lid{};
  PortNum port{};
  /// Rows of the details of traps 129 to 131: rdma-core's ib_mad_notice_attr_t (ntc_129_131).
  static constexpr auto fields() {
    using T = PortErrorDetails;
    return std::tuple{field("LIDADDR", &T::lid, 16, 16), field("PORTNO", &T::port, 32, 8)};
  }
  friend bool operator==(const PortErrorDetails&, const PortErrorDetails&) = default;
};
static_assert(well_formed<PortErrorDetails>());

/// 144: something that the node can change by itself did change. The flags (and CapabilityMask2) count where
/// `other_local_changes` is set.
struct LocalChangeDetails {
  static constexpr std::array<std::uint16_t, 1> kTraps{144};
  static constexpr std::size_t kBytes = Notice::kDetailBytes;
  Lid lid{};
  bool other_local_changes = false;
  std::uint32_t capability_mask = 0;  ///< the new one
  bool capability_mask2_change = false, hierarchy_info_change = false, sm_priority_change = false;
  bool link_speed_enabled_change = false, link_width_enabled_change = false, node_description_change = false;
  std::uint16_t capability_mask2 = 0;
  /// Rows of the details of trap 144: rdma-core's ib_mad_notice_attr_t (ntc_144).
  static constexpr auto fields() {
    using T = LocalChangeDetails;
    return std::tuple{field("LIDADDR", &T::lid, 16, 16),
                      field("OtherLocalChanges", &T::other_local_changes, 47, 1),
                      field("CAPABILITYMASK", &T::capability_mask, 48, 32, Style::hex),
                      field("CapabilityMask2Change", &T::capability_mask2_change, 90, 1),
                      field("HierarchyInfoChange", &T::hierarchy_info_change, 91, 1),
                      field("SMPriorityChange", &T::sm_priority_change, 92, 1),
                      field("LinkSpeedEnabledChange", &T::link_speed_enabled_change, 93, 1),
                      field("LinkWidthEnabledChange", &T::link_width_enabled_change, 94, 1),
                      field("NodeDescriptionChange", &T::node_description_change, 95, 1),
                      field("CAPABILITYMASK2", &T::capability_mask2, 96, 16, Style::hex)};
  }
  friend bool operator==(const LocalChangeDetails&, const LocalChangeDetails&) = default;
};
static_assert(well_formed<LocalChangeDetails>());

/// 145: the node has a new system image GUID.
struct SystemImageDetails {
  static constexpr std::array<std::uint16_t, 1> kTraps{145};
  static constexpr std::size_t kBytes = Notice::kDetailBytes;
  Lid lid{};
  Guid system_image{};
  /// Rows of the details of trap 145: rdma-core's ib_mad_notice_attr_t (ntc_145).
  static constexpr auto fields() {
    using T = SystemImageDetails;
    return std::tuple{field("LIDADDR", &T::lid, 16, 16), field("SYSTEMIMAGEGUID", &T::system_image, 48, 64)};
  }
  friend bool operator==(const SystemImageDetails&, const SystemImageDetails&) = default;
};
static_assert(well_formed<SystemImageDetails>());

/// 256: an SMP came with a wrong M_Key. What it was, and the way that it came.
struct BadMKeyDetails {
  static constexpr std::array<std::uint16_t, 1> kTraps{256};
  static constexpr std::size_t kBytes = Notice::kDetailBytes;
  Lid lid{}, dr_slid{};
  std::uint8_t method = 0;
  std::uint16_t attribute = 0;
  std::uint32_t modifier = 0;
  std::uint64_t m_key = 0;
  bool directed = false, path_truncated = false;
  std::uint8_t hop_count = 0;
  std::array<PortNum, 30> return_path{};
  /// Rows of the details of trap 256: rdma-core's ib_mad_notice_attr_t (ntc_256).
  static constexpr auto fields() {
    using T = BadMKeyDetails;
    return std::tuple{field("LIDADDR", &T::lid, 16, 16),
                      field("DRSLID", &T::dr_slid, 32, 16),
                      field("METHOD", &T::method, 48, 8, Style::hex),
                      field("ATTRIBUTEID", &T::attribute, 64, 16, Style::hex),
                      field("ATTRIBUTEMODIFIER", &T::modifier, 80, 32, Style::hex),
                      field("MKEY", &T::m_key, 112, 64, Style::secret),
                      field("DRNotice", &T::directed, 184, 1),
                      field("DRPathTruncated", &T::path_truncated, 185, 1),
                      field("DRHopCount", &T::hop_count, 186, 6),
                      array_field("DRNoticeReturnPath", &T::return_path, 192, 8)};
  }
  friend bool operator==(const BadMKeyDetails&, const BadMKeyDetails&) = default;
};
static_assert(well_formed<BadMKeyDetails>());

/// 257, 258: a packet came with a wrong P_Key, or Q_Key.
struct BadKeyDetails {
  static constexpr std::array<std::uint16_t, 2> kTraps{257, 258};
  static constexpr std::size_t kBytes = Notice::kDetailBytes;
  Lid lid1{}, lid2{};
  std::uint32_t key = 0;  ///< a P_Key stands in the lower 16 bits
  Sl sl{};
  std::uint32_t qp1 = 0, qp2 = 0;
  Gid gid1{}, gid2{};
  /// Rows of the details of traps 257 and 258: rdma-core's ib_mad_notice_attr_t (ntc_257_258).
  static constexpr auto fields() {
    using T = BadKeyDetails;
    return std::tuple{field("LIDADDR1", &T::lid1, 16, 16),
                      field("LIDADDR2", &T::lid2, 32, 16),
                      field("KEY", &T::key, 48, 32, Style::hex),
                      field("SL", &T::sl, 80, 4),
                      field("QP1", &T::qp1, 88, 24),
                      field("QP2", &T::qp2, 120, 24),
                      gid_field("GIDADDR1", &T::gid1, 144),
                      gid_field("GIDADDR2", &T::gid2, 272)};
  }
  friend bool operator==(const BadKeyDetails&, const BadKeyDetails&) = default;
};
static_assert(well_formed<BadKeyDetails>());

/// 259: a switch dropped a packet with a wrong P_Key at one of its ports. `data_valid` says which of the
/// other fields the switch has filled.
struct BadPKeyAtSwitchDetails {
  static constexpr std::array<std::uint16_t, 1> kTraps{259};
  static constexpr std::size_t kBytes = Notice::kDetailBytes;
  std::uint16_t data_valid = 0;
  Lid lid1{}, lid2{};
  PKey pkey{};
  Sl sl{};
  std::uint32_t qp1 = 0, qp2 = 0;
  Gid gid1{}, gid2{};
  Lid switch_lid{};
  PortNum port{};
  /// Rows of the details of trap 259: rdma-core's ib_mad_notice_attr_t (ntc_259).
  static constexpr auto fields() {
    using T = BadPKeyAtSwitchDetails;
    return std::tuple{field("DataValid", &T::data_valid, 0, 16, Style::hex),
                      field("LIDADDR1", &T::lid1, 16, 16),
                      field("LIDADDR2", &T::lid2, 32, 16),
                      field("PKEY", &T::pkey, 48, 16),
                      field("SL", &T::sl, 64, 4),
                      field("QP1", &T::qp1, 72, 24),
                      field("QP2", &T::qp2, 104, 24),
                      gid_field("GIDADDR1", &T::gid1, 128),
                      gid_field("GIDADDR2", &T::gid2, 256),
                      field("SWLIDADDR", &T::switch_lid, 384, 16),
                      field("PORTNO", &T::port, 400, 8)};
  }
  friend bool operator==(const BadPKeyAtSwitchDetails&, const BadPKeyAtSwitchDetails&) = default;
};
static_assert(well_formed<BadPKeyAtSwitchDetails>());

/// Details of one kind of generic trap.
template <class D>
concept TrapDetails = Layout<D> && requires { D::kTraps; };

/// The details, where the notice is generic and its trap has details of this kind.
template <TrapDetails D>
std::optional<D> details(const Notice& notice) {
  if (!notice.is_generic) return std::nullopt;
  for (const std::uint16_t number : D::kTraps) {
    if (number == notice.trap) return decode<D>(notice.details);
  }
  return std::nullopt;
}

/// A generic notice with these details.
template <TrapDetails D>
Notice generic_notice(NoticeType type, std::uint32_t producer, std::uint16_t trap_number, Lid issuer,
                      const D& details) {
  Notice notice{
      .is_generic = true, .type = type, .producer = producer, .trap = trap_number, .issuer_lid = issuer};
  encode(details, notice.details);
  return notice;
}

/// One line: the trap's name and its details by their fields; of other notices the fields of Notice and the
/// details as bytes.
std::string describe(const Notice& notice);

}  // namespace smd::wire
