// SPDX-License-Identifier: Apache-2.0
#pragma once
// The precompiled header of the rooms from here on: Asio (7 to 10 s a file) and the attributes, whose tables
// of fields are checked while they are compiled (3 to 4 s).
#include "mad/asio.h"
#include "mad/wire/attributes.h"
#include "mad/wire/sa/records.h"
