// SPDX-License-Identifier: Apache-2.0
#pragma once
// The precompiled header of the tests that hold a whole daemon.
#include "tests/support/managed_world.h"
#include "tests/support/pch.h"
