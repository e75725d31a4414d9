// SPDX-License-Identifier: Apache-2.0
// A source for the target that makes the precompiled header.
