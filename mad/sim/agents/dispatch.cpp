// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/agents/dispatch.h"

#include "mad/wire/mad.h"

namespace smd::sim {
namespace {

constexpr std::uint8_t kSmLid = 0x01, kSmDirected = 0x81, kClasses = 80, kVersions = 0x83;
constexpr std::size_t kOui = 37;  ///< of a vendor MAD: behind header, RMPP header and one reserved byte

bool is_vendor(std::uint8_t mgmt_class) { return mgmt_class >= 0x30 && mgmt_class <= 0x4F; }

std::uint32_t oui_of(std::span<const std::uint8_t> mad) {
  if (mad.size() < kOui + 3) return 0;
  return static_cast<std::uint32_t>(mad[kOui] << 16U | mad[kOui + 1] << 8U | mad[kOui + 2]);
}

}  // namespace

bool is_valid(const Registration& r) {
  if (r.mgmt_class == 0) return true;
  const bool of_smi = r.mgmt_class == kSmLid || r.mgmt_class == kSmDirected;
  if (r.mgmt_class >= kClasses && !of_smi) return false;
  if (of_smi != (r.interface == Interface::smi) || r.version >= kVersions) return false;
  if (is_vendor(r.mgmt_class) && r.oui == 0) return false;
  return !r.rmpp || has_rmpp(r.mgmt_class);
}

bool conflicts(const Registration& a, const Registration& b) {
  if (a.mgmt_class == 0 || a.mgmt_class != b.mgmt_class || a.version != b.version) return false;
  if (is_vendor(a.mgmt_class) && a.oui != b.oui) return false;
  return (a.methods[0] & b.methods[0]) != 0 || (a.methods[1] & b.methods[1]) != 0;
}

bool is_for(const Registration& r, std::span<const std::uint8_t> mad) {
  const auto header = wire::decode<wire::MadHeader>(mad);
  if (!header || r.mgmt_class == 0) return false;
  if (static_cast<std::uint8_t>(header->mgmt_class) != r.mgmt_class || header->class_version != r.version)
    return false;
  if (is_vendor(r.mgmt_class) && oui_of(mad) != r.oui) return false;
  const auto method = static_cast<unsigned>(header->method) & 0x7FU;
  return ((r.methods[method / 64] >> (method % 64)) & 1U) != 0;
}

bool has_rmpp(std::uint8_t mgmt_class) {
  switch (mgmt_class) {
    case 0x03:  // SA
    case 0x06:  // device management
    case 0x10:  // device administration
    case 0x12:  // BIS
      return true;
    default:
      return is_vendor(mgmt_class);
  }
}

std::size_t data_offset(std::uint8_t mgmt_class) {
  if (mgmt_class == 0x03) return 56;
  if (mgmt_class == 0x06 || mgmt_class == 0x10 || mgmt_class == 0x12) return 64;
  return is_vendor(mgmt_class) ? 40 : 24;
}

}  // namespace smd::sim
