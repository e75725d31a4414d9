// SPDX-License-Identifier: Apache-2.0
#pragma once
// Why a request ended without what was asked for, with all that an operator wants to know about it.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "mad/clock.h"
#include "mad/transport.h"
#include "mad/wire/packet.h"

namespace smd::mad {

enum class Fault : std::uint8_t {
  timeout,     ///< no try was answered
  refused,     ///< answered with a status that is not 0
  closed,      ///< cancelled, or the transport cannot send (see `error`)
  unroutable,  ///< no such route: LID 0 or not unicast
};
/// Name of the fault as in log events and messages.
std::string_view to_string(Fault fault);

struct RequestError {
  Fault fault = Fault::timeout;
  std::uint16_t status = 0;  ///< of the answer, without the direction bit
  wire::MgmtClass mgmt_class{};
  wire::Method method{};
  std::uint16_t attribute = 0;
  std::uint32_t modifier = 0;
  Route route{};
  Guid node{};         ///< as the caller named it; 0: not known
  unsigned tries = 0;  ///< sent; 0: given up before the first
  Duration elapsed{};  ///< since the first try
  int error = 0;       ///< errno of the transport where it could not send
  /// Nothing came from this node, whatever was asked, since the first try: what is still waiting for it
  /// will most probably not be answered either.
  bool node_silent = false;
  std::shared_ptr<const wire::Mad> answer{};  ///< where refused
};

/// Which MAD, along which path, how often, what came back: "Get PortInfo 0x80000001 by 1,4,7: no answer to
/// 4 tries in 2.4 s".
std::string to_string(const RequestError& error);

}  // namespace smd::mad
