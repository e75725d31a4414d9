// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scheduling priority and time slice of the calling thread. A process without the right to change them keeps
// them: that is no error.

namespace smd::base {

/// Below the threads that answer the fabric, whatever the process has: five steps of setpriority(2).
void lower_priority();

/// A thread that works for microseconds, whenever it is woken. From Linux 6.12 on (EEVDF) one that asks for
/// short slices of time, here the shortest, 0.1 ms (sched_setattr(2), sched_runtime), need not wait until a
/// busy one has used up its slice of 3 ms. Older kernels change nothing.
void wake_at_once();

}  // namespace smd::base
