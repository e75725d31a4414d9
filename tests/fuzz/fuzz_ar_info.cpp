// SPDX-License-Identifier: Apache-2.0
#include "mad/wire/ar_info.h"
#include "tests/fuzz/attribute.h"

SMD_FUZZ_ATTRIBUTE(smd::wire::ArInfo)
