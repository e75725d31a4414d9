// SPDX-License-Identifier: Apache-2.0
#include "mad/wire/performance_lanes.h"
#include "tests/fuzz/attribute.h"

SMD_FUZZ_ATTRIBUTE(smd::wire::PortReceiveDataSl)
