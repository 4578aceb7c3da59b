package explain

// Causes, as sampler.Cause and the JSON output name them.
const (
	CauseTooBig          = "too_big"          // the GPU is too small for the job
	CauseValidationSpike = "validation_spike" // validation needs more than training
	CauseDataSpike       = "data_spike"       // one unusually large batch or sample
	CauseFragmentation   = "fragmentation"    // enough memory, but not in one piece
	CauseLeak            = "leak"             // memory grows at constant work
	CauseOtherProcess    = "other_process"    // another process uses the GPU
	CauseUnattributed    = "unattributed"     // memory that no visible process owns
	CauseImbalance       = "imbalance"        // several ranks or most of the work on one GPU
	CauseMemoryLimit     = "memory_limit"     // a limit below the GPU's capacity
	CauseHostMemory      = "host_memory"      // the machine ran out of RAM
	CauseSharedMemory    = "shared_memory"    // /dev/shm is too small
	CauseOversubscribed  = "oversubscribed"   // more allocated than the GPU has
	CausePreallocation   = "preallocation"    // memory reserved in advance
	CauseUnknown         = "unknown"          // cannot be told
)

// Fixes, as sampler.Advice and the JSON output name them.
const (
	FixAMPBF16                 = "amp_bf16"
	FixCapPreallocation        = "cap_preallocation"
	FixCapSampleSize           = "cap_sample_size"
	FixConfirmHostKill         = "confirm_host_kill"
	FixExpandableSegments      = "expandable_segments"
	FixExpandableSegmentsOff   = "expandable_segments_off"
	FixLeak                    = "fix_leak"
	FixGradientCheckpointing   = "gradient_checkpointing"
	FixHalveBatchAccumulate    = "halve_batch_accumulate"
	FixNoGradValidation        = "no_grad_validation"
	FixRaiseLimit              = "raise_limit"
	FixRebalanceRanks          = "rebalance_ranks"
	FixRecordRun               = "record_run"
	FixReduceDataLoaderWorkers = "reduce_dataloader_workers"
	FixReducePinnedMemory      = "reduce_pinned_memory"
	FixShardOrOffload          = "shard_or_offload"
	FixShmSize                 = "shm_size"
	FixShrinkValidationBatch   = "shrink_validation_batch"
	FixSmallerModel            = "smaller_model"
	FixSmallerOptimizer        = "smaller_optimizer"
	FixStopOtherProcess        = "stop_other_process"
	FixNoGradInference         = "no_grad_inference"
	FixSmallerInput            = "smaller_input"
	FixOtherAllocator          = "other_allocator"
	FixHalfPrecision           = "half_precision"
	FixOffloadModel            = "offload_model"
	FixLimitRequests           = "limit_requests"
	FixShortenContext          = "shorten_context"
	FixLoadOnCPU               = "load_on_cpu"
	FixSaveOnCPU               = "save_on_cpu"
	FixOtherVersion            = "other_version"
	FixCuDNNBenchmark          = "cudnn_benchmark"
	FixCheckFiles              = "check_files"
	FixCommunicators           = "nccl_buffers"
	FixOtherGPU                = "other_gpu" // of alerts alone: a message does not tell what is free elsewhere
)
