/* The tables of runtime/src/kernel_descriptor.h as the runtime's compiler lays them out.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kernel_descriptor.h"

#include "abi_tables.h"

#define FIELD(structure, name) {#structure, #name, offsetof(structure, name)}
#define WHOLE(structure) {#structure, "", sizeof(structure)}
const field_place abi_descriptor_fields[] = {
    FIELD(mhac_size, name), FIELD(mhac_size, offset), FIELD(mhac_size, minimum), FIELD(mhac_size, maximum), WHOLE(mhac_size),
    FIELD(mhac_extent, size), FIELD(mhac_extent, divisor), FIELD(mhac_extent, factor), WHOLE(mhac_extent),
    FIELD(mhac_argument, name), FIELD(mhac_argument, offset), FIELD(mhac_argument, strides_offset), FIELD(mhac_argument, element_bytes),
    FIELD(mhac_argument, type), FIELD(mhac_argument, flags), FIELD(mhac_argument, check), FIELD(mhac_argument, check_size),
    FIELD(mhac_argument, check_other), FIELD(mhac_argument, rank), FIELD(mhac_argument, dims), WHOLE(mhac_argument),
    FIELD(mhac_workspace_buffer, element_bytes), FIELD(mhac_workspace_buffer, type), FIELD(mhac_workspace_buffer, rank),
    FIELD(mhac_workspace_buffer, dims), WHOLE(mhac_workspace_buffer),
    FIELD(mhac_operand, kind), FIELD(mhac_operand, index), WHOLE(mhac_operand),
    FIELD(mhac_kernel, name), FIELD(mhac_kernel, function), FIELD(mhac_kernel, operand_count), FIELD(mhac_kernel, operands),
    WHOLE(mhac_kernel),
    FIELD(mhac_guard, size), FIELD(mhac_guard, minimum), FIELD(mhac_guard, maximum), FIELD(mhac_guard, per_worker), WHOLE(mhac_guard),
    FIELD(mhac_candidate, target), FIELD(mhac_candidate, features), FIELD(mhac_candidate, guard_count), FIELD(mhac_candidate, guards),
    FIELD(mhac_candidate, workspace_count), FIELD(mhac_candidate, workspace), FIELD(mhac_candidate, kernel_count),
    FIELD(mhac_candidate, kernels), FIELD(mhac_candidate, arena_bytes), FIELD(mhac_candidate, batch_size),
    FIELD(mhac_candidate, prepare_count), FIELD(mhac_candidate, prepare), WHOLE(mhac_candidate),
    FIELD(mhac_entry, abi), FIELD(mhac_entry, name), FIELD(mhac_entry, version), FIELD(mhac_entry, targets),
    FIELD(mhac_entry, cpu_features), FIELD(mhac_entry, args_bytes), FIELD(mhac_entry, workspace_offset),
    FIELD(mhac_entry, workspace_bytes_offset), FIELD(mhac_entry, size_count), FIELD(mhac_entry, sizes), FIELD(mhac_entry, argument_count),
    FIELD(mhac_entry, arguments), FIELD(mhac_entry, candidate_count), FIELD(mhac_entry, candidates),
    FIELD(mhac_entry, prepared_offset), FIELD(mhac_entry, prepared_tag), FIELD(mhac_entry, position_sizes), FIELD(mhac_entry, prepared_count),
    FIELD(mhac_entry, prepared), WHOLE(mhac_entry),
    {NULL, NULL, 0}};
