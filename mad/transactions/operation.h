// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "mad/wire/packet.h"

namespace smd::mad {

/// Gets, or all other methods, of one attribute of a class: what a node is known to answer, or not to.
struct Operation {
  std::uint16_t attribute = 0;
  bool set = false;
  wire::MgmtClass mgmt_class = wire::MgmtClass::sm_lid;  ///< of both classes of SMPs sm_lid
  friend bool operator==(const Operation&, const Operation&) = default;
};

/// The kind of a request, from its class, attribute and method; both SMP classes give sm_lid.
inline Operation operation_of(const wire::Mad& mad) {
  return {mad.attribute(), mad.method() != wire::Method::get, wire::attributes_of(mad.mgmt_class())};
}

}  // namespace smd::mad
