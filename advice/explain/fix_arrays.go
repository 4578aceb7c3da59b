package explain

import "nvpeak/sampler"

// fixesArrays are for programs that compute with arrays and may have no batch at all: JAX, CuPy, code on Metal.
var fixesArrays = []fixRow{
	{id: FixCapSampleSize, source: "https://docs.jax.dev/en/latest/_autosummary/jax.lax.map.html",
		kinds: ownCode, cost: 0.12,
		lives: map[string]float64{CauseTooBig: 0.93, CauseFragmentation: 0.5, CauseUnknown: 0.5, CauseMemoryLimit: 0.4, CauseDataSpike: 0.9},
		when: func(f *failure) bool {
			return f.arrays() && !f.inNetwork() && (f.program.kind != training || f.computesArrays()) && f.program.name != "alphafold" && !f.told(sampler.ToldText) && f.phase() != sampler.PhaseLoading
		},
		reach: always(1),
		variant: func(f *failure) string {
			switch {
			case f.extra("total_allocation_bytes").Known():
				return "program"
			case f.managed() != "":
				return "managed"
			}
			return "pieces"
		},
		pairs: func(f *failure) []any { return []any{"all", gib(f.extra("total_allocation_bytes").Or(0))} },
		do: func(f *failure) []string {
			if f.managed() != "" {
				return []string{f.managed() + "  " + f.comment("do.managed"), f.comment("do.pieces")}
			}
			if f.event.Kind != sampler.KindXLA && len(f.context.Functions) == 0 {
				return []string{f.comment("do.fewer_rows"), f.comment("do.pieces")} // who calls a library has no loop of his own
			}
			if f.event.Kind != sampler.KindXLA {
				return []string{f.comment("do.pieces")}
			}
			if f.domain() == sampler.DomainProteins && len(f.context.Functions) == 0 {
				return f.lessInput() // of a program that others wrote
			}
			return []string{"ys = jax.lax.map(f, xs, batch_size=64)  " + f.comment("do.lax_map"),
				"jax.jit(f, donate_argnums=(0,))  " + f.comment("do.donate"), f.comment("do.closure")}
		}},
	{id: FixOtherAllocator, source: "https://docs.cupy.dev/en/stable/user_guide/memory.html",
		kinds: ownCode, cost: 0, work: true, // whatever else it is
		lives:   map[string]float64{CauseUnknown: 0.9, CauseTooBig: 0.9, CauseFragmentation: 0.9, CauseLeak: 0.8},
		when:    func(f *failure) bool { return f.outsideCuPy() },
		reach:   always(1),
		variant: func(f *failure) string { return "cupy_pool" },
		do: func(f *failure) []string {
			return []string{"cupy.get_default_memory_pool().free_all_blocks()  " + f.comment("do.before_plan"), f.comment("do.pool_keeps")}
		}},
	{id: FixLeak, source: "https://github.com/google/brax/blob/034c6da5829f20dfc89a3accad1eff040aedf4c8/brax/training/agents/sac/train.py",
		kinds: ownCode, cost: 0,
		lives: map[string]float64{CauseTooBig: 0.98, CauseUnknown: 0.7, CauseMemoryLimit: 0.6},
		when: func(f *failure) bool {
			return (f.told(sampler.ToldReplay) || f.told(sampler.ToldOffPolicy)) && f.event.Kind == sampler.KindXLA && !f.onHost()
		},
		reach:   always(1),
		variant: func(f *failure) string { return "replay_whole" },
		do: func(f *failure) []string {
			return []string{f.comment("do.replay_whole"), f.comment("do.replay_bytes")}
		}},
	{id: FixOtherAllocator, source: sourceJAX,
		kinds: ownCode, cost: 0.02,
		lives: map[string]float64{CauseFragmentation: 0.85, CauseLeak: 0.2},
		when: func(f *failure) bool {
			return f.pooled() && f.environment["TF_GPU_ALLOCATOR"] == "" && f.environment["XLA_PYTHON_CLIENT_ALLOCATOR"] == ""
		},
		do: func(f *failure) []string {
			list := []string{"export TF_GPU_ALLOCATOR=cuda_malloc_async"}
			if f.environment["XLA_PYTHON_CLIENT_PREALLOCATE"] == "false" {
				list = append(list, "unset XLA_PYTHON_CLIENT_PREALLOCATE  "+f.comment("do.one_pool"))
			}
			if f.pooledLate() {
				list = append(list, f.comment("do.from_checkpoint"))
			}
			return list
		}},
	{id: FixHalfPrecision, source: "https://docs.pytorch.org/docs/stable/notes/mps.html",
		kinds: ownCode, cost: 0.03,
		lives: map[string]float64{CauseTooBig: 0.8, CauseMemoryLimit: 0.7, CauseLeak: 0.6, CauseUnknown: 0.5},
		when: func(f *failure) bool {
			return f.event.Kind == sampler.KindMPS && f.language() != "mlx" && f.program.kind != training && !f.halfPrecision() && f.fullPrecisionOption() == ""
		},
		reach: func(f *failure) float64 {
			if f.environment["PYTORCH_MPS_HIGH_WATERMARK_RATIO"] != "" {
				return 0.6
			}
			return 1
		},
		variant: func(f *failure) string { return "mps" },
		do: func(f *failure) []string {
			return []string{`model = model.to("mps", dtype=torch.float16)  ` + f.comment("do.half_inputs"), f.comment("do.one_at_a_time")}
		}},
	{id: FixCapSampleSize, source: "https://pytorch-geometric.readthedocs.io/en/latest/tutorial/neighbor_loader.html",
		kinds: ownCode, cost: 0.1,
		lives: map[string]float64{CauseTooBig: 0.93, CauseDataSpike: 0.6, CauseUnknown: 0.5},
		when: func(f *failure) bool {
			return f.passesMessages() && f.batch() == 0 && !f.onHost() && f.phase() != sampler.PhaseValidation
		},
		reach:   always(1),
		variant: func(f *failure) string { return "graph" },
		do: func(f *failure) []string {
			if !f.inFile("conv/message_passing.py") {
				return []string{"sampler = dgl.dataloading.NeighborSampler([15, 10])", "dgl.dataloading.DataLoader(graph, train_ids, sampler, batch_size=1024)"}
			}
			return []string{"NeighborLoader(data, num_neighbors=[15, 10], batch_size=1024, input_nodes=data.train_mask)"}
		}},
	{id: FixOtherAllocator, source: "https://docs.rapids.ai/api/dask-cuda/stable/spilling/",
		kinds: ownCode, cost: 0.05,
		lives: map[string]float64{CauseTooBig: 0.9, CauseUnknown: 0.6, CauseMemoryLimit: 0.5, CauseFragmentation: 0.5},
		when: func(f *failure) bool {
			return !f.onHost() && (f.event.Kind == sampler.KindRMM || f.event.Kind == sampler.KindRMMPool) && f.dataFrames() && !f.growsTrees()
		},
		reach:   always(1),
		variant: func(f *failure) string { return "spill" },
		do: func(f *failure) []string {
			return []string{`cudf.set_option("spill", True)  ` + f.comment("do.spill"), "dask-cuda-worker ADDRESS --device-memory-limit 0.6  " + f.comment("do.dask"),
				"rmm.reinitialize(managed_memory=True)  " + f.comment("do.or")}
		}},
	{id: FixCapSampleSize, source: "https://xgboost.readthedocs.io/en/stable/tutorials/external_memory.html",
		kinds: ownCode, cost: 0.05,
		lives: map[string]float64{CauseTooBig: 0.9, CauseUnknown: 0.6, CauseMemoryLimit: 0.6, CauseFragmentation: 0.5},
		when:  func(f *failure) bool { return !f.onHost() && f.growsTrees() },
		reach: always(1),
		variant: func(f *failure) string {
			if f.told(externalMemory) {
				return "trees_external"
			}
			if f.told(sampler.ToldOldXGBoost) {
				return "trees_old"
			}
			return "trees"
		},
		do: func(f *failure) []string {
			switch {
			case f.told(externalMemory):
				list := []string{f.comment("do.larger_batches"), "max_quantile_batches=32, cache_host_ratio=1.0  " + f.comment("do.external_arguments")}
				if indexOf(f.event.Text, "arena") >= 0 {
					list = append(list, "rmm.mr.set_current_device_resource(rmm.mr.PoolMemoryResource(rmm.mr.CudaAsyncMemoryResource()))  "+f.comment("do.no_arena"))
				}
				return list
			case f.told(sampler.ToldOldXGBoost):
				return []string{f.comment("do.newer_xgboost"), f.comment("do.fewer_columns")}
			case f.told(sampler.ToldMidXGBoost) && f.told(sampler.ToldInForce+"QuantileDMatrix"):
				return []string{f.comment("do.fewer_bins"), f.comment("do.fewer_columns")}
			case f.told(sampler.ToldMidXGBoost):
				return []string{"xgboost.QuantileDMatrix(X, y, max_bin=128)  " + f.comment("do.quantile"), f.comment("do.fewer_columns")}
			case f.told(sampler.ToldInForce + "QuantileDMatrix"):
				return []string{f.comment("do.external_instead"), f.comment("do.fewer_bins")}
			}
			return []string{"xgboost.QuantileDMatrix(X, y, max_bin=128)  " + f.comment("do.quantile"), "xgboost.ExtMemQuantileDMatrix(batches, max_bin=128)  " + f.comment("do.external")}
		}},
}

// externalMemory: XGBoost reads its data in batches already, as code shows.
const externalMemory = sampler.ToldInForce + "ExtMemQuantileDMatrix"

// managed is how arrays are put into memory of which pages move between RAM and the GPU, where that is asked for; "" for none.
// https://docs.nvidia.com/cuda/cuda-programming-guide/04-special-topics/unified-memory.html
func (f *facts) managed() string {
	switch {
	case !f.told(sampler.ToldAsksRAM):
	case f.event.Kind == sampler.KindNumba:
		return "numba.cuda.managed_array(shape, dtype)"
	case f.event.Kind == sampler.KindCuPy:
		return "cupy.cuda.set_allocator(cupy.cuda.MemoryPool(cupy.cuda.malloc_managed).malloc)"
	}
	return ""
}

// dataFrames: an operation of cuDF, which can spill. Others allocate with RMM too.
func (f *facts) dataFrames() bool {
	return f.inFile("cudf/", "dask", "dataframe.py", "groupby.py") || f.inFunction("merge", "groupby", "join", "read_csv", "read_parquet", "concat", "sort_values") ||
		f.inCode("cudf", "dask", ".merge(", ".groupby(", ".join(", "read_parquet(", "read_csv(") || indexOf(f.event.Text, "cudf") >= 0
}

// passesMessages: a network on graphs was sending features along edges, of which there are as many as the
// graph has that it was given.
func (f *facts) passesMessages() bool {
	return f.inFile("conv/message_passing.py") || f.inFunction("update_all", "gspmm", "gsddmm", "apply_edges")
}

// growsTrees: XGBoost, whose data and histograms fill the GPU, not a batch.
func (f *facts) growsTrees() bool {
	return f.event.Framework == "xgboost" || f.inFile("xgboost/") || f.inCode("xgboost.", "xgb.") || indexOf(f.event.Text, "xgboost") >= 0 || f.told(sampler.ToldTrees)
}

// outsideCuPy: a library that CuPy calls found no memory for itself. The pool keeps what deleted arrays had, and gives it to arrays alone.
func (f *failure) outsideCuPy() bool {
	return (f.inFile("cupy/") || f.inCode("cupy.") || f.inFunction("cupy.")) && indexOf(f.event.Text, "_ALLOC_FAILED") >= 0 && !f.onHost()
}

// inNetwork: the arrays of CuPy are those of a network, of which a library makes them: https://docs.chainer.org/en/stable/
func (f *failure) inNetwork() bool {
	return f.event.Framework == "cupy" && (f.shows(sampler.ShowsLibrary) || f.inFile("chainer/"))
}

// computesArrays: what CuPy computes is no network, so that what its author calls a training has no batch.
func (f *failure) computesArrays() bool {
	return (f.event.Kind == sampler.KindCuPy || f.event.Framework == "cupy") && !f.inNetwork() && !f.told(sampler.ToldBatch)
}

// arrays: the program calls a library of arrays.
func (f *failure) arrays() bool {
	switch f.event.Kind {
	case sampler.KindXLA, sampler.KindCuPy, sampler.KindNumba, sampler.KindRMM:
		return !f.onHost() && !f.outsidePool()
	}
	return f.event.Framework == "cupy" && !f.onHost()
}

// pooled: the allocator that TensorFlow and XLA share on GPUs hands out parts of one pool and moves nothing.
func (f *failure) pooled() bool {
	if indexOf(f.event.Text, "That was not possible") >= 0 || indexOf(f.event.Text, "in memory space") >= 0 {
		return false // a TPU
	}
	return !f.onHost() && (f.event.Kind == sampler.KindXLA || f.event.Kind == sampler.KindTensorFlow) && !f.outsidePool() && !f.shareRefused()
}

// poolHadRoom: more was free than was asked for, as is said.
func (f *failure) poolHadRoom() bool {
	m, known := f.shortfall()
	return f.pooled() && known && m == 0 && !f.total.Known()
}

// spikesInPool: after an epoch or many steps one request stands out, in a pool of which nobody outside sees how full it is.
func (f *failure) spikesInPool() bool {
	whole := f.context.PoolLimit.Or(f.total.Or(0))
	return f.pooled() && f.inTraining() && f.late() && whole > 0 && f.requested.Or(0) >= partOf(whole, 0.05)
}

// pooledLate: it comes after many steps. Programs that are compiled ask for the same in each.
func (f *failure) pooledLate() bool {
	return f.pooled() && f.event.Kind == sampler.KindXLA && !f.takesEach() && (f.told(sampler.ToldLate) || f.context.Step.Or(0) >= 1000 || f.context.Epoch.Or(0) >= 3)
}
