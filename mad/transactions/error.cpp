// SPDX-License-Identifier: Apache-2.0
#include "mad/transactions/error.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "mad/transactions/route.h"

namespace smd::mad {
namespace {

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
    case Fault::refused:
      return fmt::format("refused with status 0x{:04x} ({})", error.status, wire::status_text(error.status));
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

std::string to_string(const RequestError& error) {
  auto text = wire::method_name(error.method);
  if (wire::is_smp(error.mgmt_class)) {
    text += fmt::format(" {}", wire::attribute_name(error.attribute));
  } else {
    text += fmt::format(" {} attribute 0x{:04x}", wire::class_name(error.mgmt_class), error.attribute);
  }
  if (error.modifier != 0) text += fmt::format(" 0x{:x}", error.modifier);
  const bool directed = std::holds_alternative<DirectedPath>(error.route);
  text += fmt::format(" {} {}: {}", directed ? "by DR path" : "to", to_string(error.route), outcome(error));
  return text;
}

}  // namespace smd::mad
