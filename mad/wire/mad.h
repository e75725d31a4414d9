// SPDX-License-Identifier: Apache-2.0
#pragma once
// The common header of every MAD. Layout: libibmad's IB_MAD_*, the kernel's struct ib_mad_hdr.

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "mad/base/id.h"
#include "mad/wire/codec.h"

namespace smd::wire {

/// Bytes of a MAD without RMPP.
inline constexpr std::size_t kMadBytes = 256;

enum class MgmtClass : std::uint8_t {
  none = 0,
  sm_lid = 0x01,
  sa = 0x03,
  perf = 0x04,
  bm = 0x05,
  device = 0x06,
  cm = 0x07,
  snmp = 0x08,
  vendor_mlnx = 0x0A,
  sm_directed = 0x81
};

enum class Method : std::uint8_t {
  none = 0,
  get = 0x01,
  set = 0x02,
  send = 0x03,
  trap = 0x05,
  report = 0x06,
  trap_repress = 0x07,
  get_table = 0x12,
  get_trace_table = 0x13,
  get_multi = 0x14,
  remove = 0x15,
  get_resp = 0x81,
  report_resp = 0x86,
  get_table_resp = 0x92,
  get_multi_resp = 0x94,
  remove_resp = 0x95
};

/// True of methods that answer another MAD. (A TrapRepress answers a Trap and has no such bit.)
constexpr bool is_response(Method method) { return (static_cast<unsigned>(method) & 0x80U) != 0; }
/// Whether it belongs to a MAD of its receiver: a response, or the TrapRepress of a trap (kernel:
/// ib_response_mad).
constexpr bool is_answer(Method method) { return is_response(method) || method == Method::trap_repress; }

/// The method that answers; none where a method has no answer.
constexpr Method response_to(Method method) {
  switch (method) {
    case Method::get:
    case Method::set:
      return Method::get_resp;
    case Method::trap:
      return Method::trap_repress;
    case Method::report:
      return Method::report_resp;
    case Method::get_table:
    case Method::get_trace_table:
      return Method::get_table_resp;
    case Method::get_multi:
      return Method::get_multi_resp;
    case Method::remove:
      return Method::remove_resp;
    default:
      return Method::none;
  }
}

/// Values of a MAD's status. Bits 0 and 1 are flags, bits 2 to 4 a code; the upper byte belongs to the class
/// (bit 15 of a directed-route SMP is its direction and no status).
inline constexpr std::uint16_t kStatusOk = 0, kStatusBusy = 0x0001, kStatusRedirect = 0x0002,
                               kStatusBadVersion = 0x0004, kStatusBadMethod = 0x0008,
                               kStatusBadMethodAttribute = 0x000C, kStatusBadField = 0x001C;

/// "ok", "busy", "unsupported method/attribute", …; combinations are joined by '+'.
std::string status_text(std::uint16_t value);
/// "Get", "Set", …; "method 0x2a" where it has no name.
std::string method_name(Method method);
/// "PortInfo", …; "attribute 0x002a" where it has no name. Attributes of the subnet management classes.
std::string attribute_name(std::uint16_t attribute);
/// "SubnLID", "SubnDR", "SA", "Perf", …; "class 0x2a" where it has no name.
std::string class_name(MgmtClass mgmt_class);

struct MadHeader {
  static constexpr std::string_view kName = "MadHeader";
  static constexpr std::size_t kBytes = 24;
  std::uint8_t base_version = 1;
  MgmtClass mgmt_class{};
  std::uint8_t class_version = 1;
  Method method{};
  std::uint16_t status = 0;
  std::uint16_t class_specific = 0;
  Tid tid{};
  std::uint16_t attribute = 0;
  std::uint32_t modifier = 0;

  /// Rows of the byte layout: libibmad's IB_MAD_*, the kernel's struct ib_mad_hdr.
  static constexpr auto fields() {
    using T = MadHeader;
    return std::tuple{field("BaseVersion", &T::base_version, 0, 8),
                      field("MgmtClass", &T::mgmt_class, 8, 8, Style::hex),
                      field("ClassVersion", &T::class_version, 16, 8),
                      field("Method", &T::method, 24, 8, Style::hex),
                      field("Status", &T::status, 32, 16, Style::hex),
                      field("ClassSpecific", &T::class_specific, 48, 16, Style::hex),
                      field("TransactionID", &T::tid, 64, 64),
                      field("AttributeID", &T::attribute, 128, 16, Style::hex),
                      field("AttributeModifier", &T::modifier, 160, 32, Style::hex)};
  }
  friend bool operator==(const MadHeader&, const MadHeader&) = default;
};
static_assert(well_formed<MadHeader>());

}  // namespace smd::wire
