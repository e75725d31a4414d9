// SPDX-License-Identifier: Apache-2.0
#include "mad/wire/performance_optional.h"
#include "tests/fuzz/attribute.h"

SMD_FUZZ_ATTRIBUTE(smd::wire::PortReceiveDataSl)
