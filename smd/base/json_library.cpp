// SPDX-License-Identifier: Apache-2.0
// The one file that holds Boost.JSON's code (Debian's libboost1.81-dev has it as headers only).
#include <boost/json/src.hpp>
