// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every attribute of subnet management.

#include "mad/wire/ar_info.h"     // IWYU pragma: export
#include "mad/wire/capability.h"  // IWYU pragma: export
#include "mad/wire/node.h"        // IWYU pragma: export
#include "mad/wire/notice.h"      // IWYU pragma: export
#include "mad/wire/port_ext.h"    // IWYU pragma: export
#include "mad/wire/port_info.h"   // IWYU pragma: export
#include "mad/wire/sm_info.h"     // IWYU pragma: export
#include "mad/wire/switch.h"      // IWYU pragma: export
#include "mad/wire/tables.h"      // IWYU pragma: export
#include "mad/wire/trap.h"        // IWYU pragma: export
