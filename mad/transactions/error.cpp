// SPDX-License-Identifier: Apache-2.0
#include "mad/transactions/error.h"

#include <fmt/format.h>

#include <system_error>

namespace smd::mad {
namespace {

std::string method_name(std::uint8_t method) {
  switch (method) {
    case 0x01:
      return "Get";
    case 0x02:
      return "Set";
    case 0x03:
      return "Send";
    case 0x05:
      return "Trap";
    case 0x06:
      return "Report";
    case 0x07:
      return "TrapRepress";
    default:
      return fmt::format("method 0x{:02x}", method);
  }
}

/// Attribute numbers as in libibumad's umad_sm.h.
std::string attribute_name(std::uint8_t mgmt_class, std::uint16_t attribute) {
  if (mgmt_class != kSmLidRouted && mgmt_class != kSmDirected) {
    return fmt::format("attribute 0x{:04x} of class 0x{:02x}", attribute, mgmt_class);
  }
  switch (attribute) {
    case 0x0002:
      return "Notice";
    case 0x0010:
      return "NodeDescription";
    case 0x0011:
      return "NodeInfo";
    case 0x0012:
      return "SwitchInfo";
    case 0x0014:
      return "GUIDInfo";
    case 0x0015:
      return "PortInfo";
    case 0x0016:
      return "P_KeyTable";
    case 0x0017:
      return "SLtoVLMappingTable";
    case 0x0018:
      return "VLArbitrationTable";
    case 0x0019:
      return "LinearForwardingTable";
    case 0x001B:
      return "MulticastForwardingTable";
    case 0x0020:
      return "SMInfo";
    case 0x0033:
      return "PortInfoExtended";
    case 0xFF90:
      return "MlnxExtPortInfo";
    default:
      return fmt::format("attribute 0x{:04x}", attribute);
  }
}

/// The bits that all classes share (busy, redirection, invalid field), as in ib_mad.h of the kernel.
std::string_view meaning(std::uint16_t status) {
  if ((status & kStatusBusy) != 0) return "busy";
  switch (status & 0x001CU) {
    case 0x0004:
      return "bad base or class version";
    case 0x0008:
      return "method not supported";
    case 0x000C:
      return "method not supported for this attribute";
    case 0x001C:
      return "invalid value in attribute or modifier";
    default:
      return {};
  }
}

std::string seconds(Duration duration) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  return ms < 1000 ? fmt::format("{} ms", ms) : fmt::format("{:.1f} s", static_cast<double>(ms) / 1000.0);
}

std::string outcome(const RequestError& error) {
  switch (error.fault) {
    case Fault::timeout:
      if (error.tries == 0) return "not sent, the node is silent";
      return fmt::format("no answer to {} tr{} in {}", error.tries, error.tries == 1 ? "y" : "ies",
                         seconds(error.elapsed));
    case Fault::refused: {
      const auto why = meaning(error.status);
      return fmt::format("refused with status 0x{:04x}{}{}{}", error.status, why.empty() ? "" : " (", why,
                         why.empty() ? "" : ")");
    }
    case Fault::closed:
      if (error.error == ECANCELED) return "cancelled";
      return fmt::format("cannot send: {}", std::generic_category().message(error.error));
    case Fault::unroutable:
      return "no such route";
  }
  return {};
}

}  // namespace

std::string_view to_string(Fault fault) {
  switch (fault) {
    case Fault::timeout:
      return "timeout";
    case Fault::refused:
      return "refused";
    case Fault::closed:
      return "closed";
    case Fault::unroutable:
      return "unroutable";
  }
  return "unknown";
}

std::string to_string(const Route& route) {
  if (const auto* lid_route = std::get_if<LidRoute>(&route)) return fmt::format("LID {}", lid_route->lid);
  const auto& path = std::get<DirectedPath>(route);
  if (path.hops() == 0) return "itself";
  std::string text;
  for (std::size_t hop = 0; hop < path.hops(); ++hop) {
    if (hop > 0) text += ',';
    text += fmt::to_string(path.hop(hop).value());
  }
  return text;
}

std::string to_string(const RequestError& error) {
  auto text =
      fmt::format("{} {}", method_name(error.method), attribute_name(error.mgmt_class, error.attribute));
  if (error.modifier != 0) text += fmt::format(" 0x{:x}", error.modifier);
  const bool directed = std::holds_alternative<DirectedPath>(error.route);
  text += fmt::format(" {} {}: {}", directed ? "by" : "to", to_string(error.route), outcome(error));
  return text;
}

}  // namespace smd::mad
