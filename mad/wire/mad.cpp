// SPDX-License-Identifier: Apache-2.0
#include "mad/wire/mad.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mad/wire/ar_info.h"
#include "mad/wire/node.h"
#include "mad/wire/notice.h"
#include "mad/wire/port_ext.h"
#include "mad/wire/port_info.h"
#include "mad/wire/sm_info.h"
#include "mad/wire/switch.h"
#include "mad/wire/tables.h"

namespace smd::wire {
namespace {

struct Named {
  std::uint16_t number;
  std::string_view name;
};

template <Layout... A>
constexpr auto names_of() {
  return std::array{Named{A::kAttribute, A::kName}...};
}

// RandomForwardingTable, VendorDiag and LedInfo have no table here: nothing asks for them.
constexpr auto kAttributes = names_of<NodeInfo, NodeDescription, SwitchInfo, GuidInfo, PortInfo, PKeyTable,
                                      SlToVl, VlArbitration, LinearForwardingTable, MulticastForwardingTable,
                                      SmInfo, Notice, PortInfoExtended, MlnxExtPortInfo, ArInfo>();
constexpr std::array kOtherAttributes{Named{0x0001, "ClassPortInfo"}, Named{0x001A, "RandomForwardingTable"},
                                      Named{0x0030, "VendorDiag"}, Named{0x0031, "LedInfo"}};

constexpr std::array kMethods{
    Named{0x01, "Get"},          Named{0x02, "Set"},           Named{0x03, "Send"},
    Named{0x05, "Trap"},         Named{0x06, "Report"},        Named{0x07, "TrapRepress"},
    Named{0x12, "GetTable"},     Named{0x13, "GetTraceTable"}, Named{0x14, "GetMulti"},
    Named{0x15, "Delete"},       Named{0x81, "GetResp"},       Named{0x86, "ReportResp"},
    Named{0x92, "GetTableResp"}, Named{0x94, "GetMultiResp"},  Named{0x95, "DeleteResp"}};

constexpr std::array kClasses{Named{0x01, "SubnLID"}, Named{0x03, "SA"},       Named{0x04, "Perf"},
                              Named{0x05, "BM"},      Named{0x06, "Device"},   Named{0x07, "CM"},
                              Named{0x08, "SNMP"},    Named{0x0A, "Mellanox"}, Named{0x81, "SubnDR"}};

/// The code in bits 2 to 4 of a status.
constexpr std::array<std::string_view, 8> kStatusCodes{"",
                                                       "unsupported version",
                                                       "unsupported method",
                                                       "unsupported method/attribute",
                                                       "status code 4",
                                                       "status code 5",
                                                       "status code 6",
                                                       "invalid field"};

template <class Table>
std::string_view find(const Table& table, unsigned number) {
  const auto found = std::ranges::find(table, number, &Named::number);
  return found == table.end() ? std::string_view{} : found->name;
}

}  // namespace

std::string status_text(std::uint16_t value) {
  std::string text;
  const auto add = [&](std::string_view word) {
    if (!text.empty()) text += '+';
    text += word;
  };
  if ((value & kStatusBusy) != 0) add("busy");
  if ((value & kStatusRedirect) != 0) add("redirect");
  const unsigned code = (value >> 2U) & 7U;
  if (code != 0) add(kStatusCodes[code]);
  if (const unsigned rest = value & ~0x1FU; rest != 0) add(fmt::format("0x{:04x}", rest));
  return text.empty() ? "ok" : text;
}

std::string method_name(Method method) {
  const auto name = find(kMethods, static_cast<unsigned>(method));
  return name.empty() ? fmt::format("method 0x{:02x}", static_cast<unsigned>(method)) : std::string(name);
}

std::string attribute_name(std::uint16_t attribute) {
  auto name = find(kAttributes, attribute);
  if (name.empty()) name = find(kOtherAttributes, attribute);
  return name.empty() ? fmt::format("attribute 0x{:04x}", attribute) : std::string(name);
}

std::string class_name(MgmtClass mgmt_class) {
  const auto name = find(kClasses, static_cast<unsigned>(mgmt_class));
  return name.empty() ? fmt::format("class 0x{:02x}", static_cast<unsigned>(mgmt_class)) : std::string(name);
}

}  // namespace smd::wire
