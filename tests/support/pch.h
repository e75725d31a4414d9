// SPDX-License-Identifier: Apache-2.0
#pragma once
// The precompiled header of the tests: what nearly all of them include, at the tests' own optimisation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "mad/pch.h"
