// SPDX-License-Identifier: Apache-2.0
#include "mad/wire/performance.h"
#include "tests/fuzz/attribute.h"

SMD_FUZZ_ATTRIBUTE(smd::wire::PortSamplesControl)
