// SPDX-License-Identifier: Apache-2.0
#pragma once
// The formats, one function each. Byte for byte as OpenSM 3.3.23 writes them, but for the order of switches
// and nodes (ours: ascending GUID) and what docs/differences.md lists.

#include "smd/dump/out.h"
#include "smd/dump/view.h"

namespace smd::sm::inline dumps {

void dump_subnet_lst(Out& out, const DumpView& view);    ///< opensm-subnet.lst: a line for each linked port
void dump_lfts(Out& out, const DumpView& view);          ///< opensm-lfts.dump
void dump_mcfdbs(Out& out, const DumpView& view);        ///< opensm.mcfdbs: switches with entries
void dump_guid2lid(Out& out, const DumpView& view);      ///< guid2lid
void dump_topology_net(Out& out, const DumpView& view);  ///< topology.net: ibnetdiscover's format
void dump_opensm_sl2vl(Out& out, const DumpView& view);  ///< opensm-sl2vl.dump: a block for each end port
void dump_path_sl(Out& out, const DumpView& view);       ///< path-sl.txt for ibdmchk -c
void dump_sl2vl(Out& out, const DumpView& view);         ///< sl2vl.txt for ibdmchk -d
void dump_fdbs(Out& out, const DumpView& view, const HopTable& hops);        ///< opensm.fdbs
void dump_lid_matrix(Out& out, const DumpView& view, const HopTable& hops);  ///< opensm-lid-matrix.dump

}  // namespace smd::sm::inline dumps
