package sampler

// The words of OOMEvent, LogContext and Alert, each declared here alone.

// Kinds of failure: what OOMEvent.Kind holds, error_kind in JSON. A new one is a constant here, with its
// place in ErrorKinds, and a row that advice judges it by.
const (
	KindCUDA             = "cuda_oom"            // PyTorch's allocator on a CUDA device
	KindCUDAAsync        = "cuda_async_oom"      // PyTorch's cudaMallocAsync backend
	KindCUDAError        = "cuda_error_oom"      // a CUDA call that returned out of memory
	KindCUDADriver       = "cuda_driver_oom"     // the same from the CUDA driver API
	KindRefused          = "driver_refused"      // the driver was seen to refuse a request, and the process ended
	KindHIP              = "hip_oom"             // AMD
	KindXPU              = "xpu_oom"             // Intel
	KindMPS              = "mps_oom"             // Apple
	KindNPU              = "npu_oom"             // Ascend
	KindCuBLAS           = "cublas_alloc_failed" // cuBLAS could not create its workspace
	KindCuDNN            = "cudnn_alloc_failed"  // cuDNN could not create its workspace
	KindCuDNNNoAlgorithm = "cudnn_no_algorithm"  // cuDNN found no algorithm that fits into memory
	KindNCCL             = "nccl_oom"
	KindXLA              = "xla_oom" // JAX, and TensorFlow compiled by XLA
	KindTensorFlow       = "tf_oom"
	KindKVCache          = "kv_cache_no_memory"       // an inference server has no room for its KV cache
	KindStartupFree      = "startup_free_below_limit" // less is free at start than the server may use
	KindWarmup           = "warmup_oom"               // a server's warm-up does not fit
	KindStaticPool       = "static_pool_too_small"    // SGLang's static memory pool
	KindGGML             = "ggml_alloc_failed"        // llama.cpp, Ollama
	KindORT              = "ort_arena_oom"            // ONNX Runtime
	KindTensorRT         = "trt_oom"
	KindCuPy             = "cupy_oom"
	KindRMM              = "rmm_oom"        // RAPIDS memory manager
	KindRMMPool          = "rmm_pool_limit" // the maximum size of an RMM pool
	KindPaddle           = "paddle_oom"
	KindMXNet            = "mxnet_oom"
	KindBitsAndBytes     = "bnb_oom"
	KindJulia            = "julia_oom"
	KindNumba            = "numba_oom"
	KindOtherGPU         = "other_gpu_oom"     // any other GPU failure
	KindKernelKill       = "kernel_oom_kill"   // the kernel's OOM killer
	KindCgroupKill       = "cgroup_oom_kill"   // the limit of a cgroup, container or Slurm job
	KindKilled           = "killed_no_reason"  // killed by SIGKILL; nobody says why
	KindWorkerKilled     = "worker_killed"     // a worker process: of a DataLoader, a server, a task queue
	KindShm              = "shm_bus_error"     // /dev/shm is full
	KindMmap             = "mmap_enomem"       // a mapping was refused
	KindHostAlloc        = "host_alloc_failed" // an allocation of host memory failed
	KindRayMonitor       = "ray_memory_monitor"
	KindKubernetes       = "k8s_oomkilled" // Kubernetes says OOMKilled
)

// ErrorKinds are all kinds of failure.
var ErrorKinds = [...]string{
	KindCUDA, KindCUDAAsync, KindCUDAError, KindCUDADriver, KindRefused, KindHIP, KindXPU, KindMPS, KindNPU, KindCuBLAS,
	KindCuDNN, KindCuDNNNoAlgorithm, KindNCCL, KindXLA, KindTensorFlow, KindKVCache, KindStartupFree,
	KindWarmup, KindStaticPool, KindGGML, KindORT, KindTensorRT, KindCuPy, KindRMM, KindRMMPool, KindPaddle,
	KindMXNet, KindBitsAndBytes, KindJulia, KindNumba, KindOtherGPU, KindKernelKill, KindCgroupKill,
	KindKilled, KindWorkerKilled, KindShm, KindMmap, KindHostAlloc, KindRayMonitor, KindKubernetes,
}

// What a person tells of a failure: LogContext.Told holds some of them.
const (
	ToldGrowth       = "growth"                // memory rises from step to step
	ToldLate         = "late"                  // it comes after many steps
	ToldVaries       = "varies"                // it comes at another step each time
	ToldLarger       = "larger"                // it comes with longer or larger inputs
	ToldFirstGPU     = "first_gpu"             // every process takes memory of GPU 0
	ToldOneGPU       = "one_gpu"               // of several GPUs one holds all of the model
	ToldShared       = "shared"                // other people use the machine
	ToldHeld         = "held"                  // a process that should be gone holds memory
	ToldSharded      = "sharded"               // the model is sharded over GPUs
	ToldUnloaded     = "unloaded"              // what an unloaded model held is not given back
	ToldCopies       = "copies"                // each process loads all of a model
	ToldDecoding     = "decoding"              // a picture is decoded
	ToldResults      = "results"               // outputs are collected on the GPU
	ToldCollects     = "collects"              // arrays stay until a garbage collector that does not see them runs
	ToldUpdate       = "update"                // it ran before an update
	ToldWorked       = "worked"                // the same ran before, and nothing else is said to have changed
	ToldVariables    = "variables"             // TensorFlow was making the variables of a model
	ToldTranscribes  = "transcribes"           // it writes down what is said
	ToldSliding      = "sliding"               // the output of a sliding window is put together
	ToldPooled       = "pooled"                // the pool of TensorFlow was at work before
	ToldOffload      = "offload"               // parts of the model are kept in host memory
	ToldUnallocated  = "unallocated"           // gigabytes were reserved but unallocated
	ToldSegments     = "segments"              // it runs with expandable segments
	ToldKeeps        = "keeps"                 // its code keeps outputs, losses or states
	ToldGraph        = "graph"                 // the graph of a step is kept
	ToldGraphOff     = "graph_off"             // code is shown that runs without gradients
	ToldSame         = "same"                  // it comes at the same step again
	ToldCheckpoint   = "checkpoint"            // it comes when a checkpoint is loaded, to the GPU or to resume
	ToldLoader       = "loader"                // there are data loader workers
	ToldNotebook     = "notebook"              // it runs in a notebook
	ToldTried        = "tried_"                // and a setting: it was changed, and that did not help
	ToldCured        = "cured_"                // and a setting: changing it was what helped
	ToldTwice        = "twice"                 // a program loads its model a second time
	ToldSized        = "sized"                 // it works on pictures, videos or volumes of a size that is given
	ToldBillions     = "billions"              // all weights of a model of billions of parameters are trained
	ToldContext      = "context"               // no context could be made on the GPU
	ToldOption       = "option_"               // and an option of 32 bits: it is in force
	ToldPixels       = "pixels"                // it works on pictures, videos or volumes
	ToldGPUs         = "gpus"                  // there are several GPUs
	ToldTables       = "tables"                // tables are read on the GPU
	ToldTrainsWhole  = "trains_whole"          // all samples lie on the GPU at once, and there is no batch
	ToldDarknet      = "darknet"               // darknet trains, whose batch is divided in its .cfg
	ToldResizes      = "resizes"               // its network was given another size in the run, as it printed
	ToldUnlike       = "unlike_"               // and a number: PyTorch advises to leave that GPU out, as the others have more
	ToldShort        = "short"                 // the text is no longer than people write: what it does not show is not known to be there
	ToldShows        = "shows_"                // and one of ShowsTransformers and so on: the text has it
	ToldObjects      = "objects"               // it learns to find objects in pictures, and nothing says that memory rises with each step
	ToldPhotos       = "photos_"               // and bytes: pictures were loaded just before, which take as many at 4 bytes a pixel
	ToldInForce      = "in_force_"             // and a setting as it is written in code
	ToldTrees        = "trees"                 // it grows trees from a table
	ToldTFData       = "tf_data"               // it reads its samples by tf.data
	ToldAsksBatch    = "asks_batch"            // how to lower the batch is asked
	ToldBatch        = "batch"                 // a batch is spoken of
	ToldLengths      = "lengths"               // the length of sequences of tokens is spoken of
	ToldLargePainter = "large_painter"         // a model that makes pictures has ten billions of parameters or more
	ToldAsksOffload  = "asks_offload"          // whether parts of the model can be kept in host memory is asked
	ToldAsksLow      = "asks_low"              // for an option with which a model that runs takes less of the GPU
	ToldAsksRAM      = "asks_ram"              // whether the memory of the machine can be used is asked
	ToldOtherGPUs    = "other_gpus"            // there are free GPUs
	ToldTiny         = "tiny"                  // pictures or videos of less than 300 pixels a side
	ToldFirstLayer   = "first_layer"           // the first layer found no memory
	ToldOutsized     = "outsized"              // the model is said to be larger than the GPU
	ToldWholeGraph   = "whole_graph"           // a graph is trained on as a whole
	ToldWeights      = "weights_"              // and a number: a model of that many billions of parameters
	ToldKeepsBits    = "keeps_bits"            // fewer bits are what somebody does not want
	ToldCalibrates   = "calibrates"            // a tool brings a model to fewer bits with samples
	ToldQuantizing   = "quantizing"            // a model is being brought to fewer bits
	ToldSideBySide   = "side_by_side"          // several models are asked at the same time
	ToldParallel     = "parallel"              // requests run at the same time
	ToldDraft        = "draft"                 // a draft model is loaded beside the model
	ToldCaches       = "caches"                // the whole dataset is kept in host memory, by an option
	ToldReplay       = "replay"                // transitions are kept in a buffer to train on again
	ToldOffPolicy    = "off_policy"            // a learner of a kind that has a replay buffer
	ToldEpochs       = "epochs"                // it comes after whole epochs, so each sample had passed
	ToldSpeech       = "speech"                // it works on recordings of speech, which differ in length
	ToldPictureSet   = "picture_set"           // a model that makes pictures is trained
	ToldResume       = "resume"                // a checkpoint is loaded on several GPUs
	ToldSplats       = "splats"                // gaussians are fitted to pictures, one picture at a time
	ToldOne          = "one"                   // a batch of one is spoken of
	ToldVocabulary   = "vocabulary"            // the vocabulary of a language model is made from a text
	ToldInria        = "inria"                 // with the program of those who published it, or one made from it
	ToldModelsKept   = "models_kept"           // the log counts models that stay
	ToldMerges       = "merges"                // adapters are put into the weights below them, and nothing is trained
	ToldText         = "text"                  // a language model writes
	ToldTraining     = "training"              // the program trains
	ToldInference    = "inference"             // it runs a model
	ToldImages       = "image_tool"            // it makes pictures
	ToldDomain       = "domain_"               // and a domain: what the program works on
	ToldCPU          = "cpu"                   // it works on the CPU
	ToldAsksCPU      = "asks_cpu"              // how to run it on the CPU is asked
	ToldInitial      = "initial"               // weights are drawn at random for the first time
	ToldProvider     = "provider"              // TensorRT runs within ONNX Runtime
	ToldPastes       = "pastes"                // masks of instances are put into pictures of full size
	ToldFewer        = "fewer"                 // it works with fewer inputs
	ToldRoomy        = "roomy_"                // and a number: the GPU that has room, as a list of devices shows
	ToldListed       = "listed_"               // and the number of a GPU and its name, as llama.cpp lists them at start
	ToldHosted       = "hosted"                // in a place that starts the container itself: no option of Docker can be given
	ToldNoWorkers    = "no_workers"            // the data loader has no workers, as is said
	ToldWorkersOff   = "workers_off"           // the data loader has no workers, as is said
	ToldDataLarger   = "data_larger"           // the data are said to be larger than the GPU
	ToldDevice       = "device_"               // and a number: the GPU on which it was meant to run
	ToldInstances    = "instances"             // it finds the instances in pictures, which have more or fewer of them
	ToldWindows      = "windows"               // it runs on Windows
	ToldSmallerModel = "smaller_model"         // a smaller model is asked for
	ToldLong         = "long"                  // long recordings, texts or videos are spoken of
	ToldSet          = "set_"                  // and a setting: a size that whoever writes has set himself
	ToldElsewhere    = "elsewhere"             // another program does the same on this GPU
	ToldTiles        = "tiles"                 // the picture is processed in tiles already
	ToldWideShare    = "wide_share"            // the server was given nearly all of the GPU
	ToldSmallGPU     = "small_gpu"             // the GPU is called a small one
	ToldDemo         = "demo"                  // a demonstration that takes next to nothing fails
	ToldOnSlice      = "on_slice"              // it fails where a GPU is divided by MIG
	ToldRunsOnly     = "inference_fits"        // a model runs where it cannot be trained on
	ToldUnmeant      = "unmeant_gpu"           // a second GPU is used where one is meant
	ToldGraphs       = "all_graphs"            // all graphs of a data set are taken for one
	ToldLoadedTwice  = "loaded_twice"          // a server is told to load a model several times
	ToldTFProgram    = "tf_program"            // a program on TensorFlow is named
	ToldPredicts     = "predicts"              // a training went through, and what the same model gives for all samples does not
	ToldNext         = "next"                  // the first of several inputs that are alike passed, and the next did not
	ToldChannels     = "channels"              // fewer channels of a layer are asked for
	ToldTrainer      = "trainer"               // the Trainer of transformers computes metrics
	ToldTool         = "tool_"                 // and the name of a program of package tools
	ToldInserts      = "inserts"               // atoms or molecules are put into a system as it runs
	ToldWork         = "work_"                 // and one of WorkScene and so on: a program that others wrote does that, with no model of one's own
	ToldAsksGPU      = "asks_gpu"              // what GPU it takes is asked
	ToldAnySize      = ToldTried + "any_size"  // whatever size was set, even a tiny one
	ToldTriedCut     = ToldTried + "parts"     // tiles were tried, or made smaller
	ToldSide         = "side_"                 // and a number: so many pixels a side have its pictures, as is said
	ToldYOLO         = "yolo"                  // it is a detector of one stage
	ToldSpikes       = "spikes"                // memory is said to jump up now and then
	ToldSmaller      = "smaller_fails"         // a smaller model fails where a larger one ran
	ToldEpochEnd     = "epoch_end"             // a hook of Lightning is given what all steps of an epoch returned
	ToldAfterwards   = "after_validation"      // it comes once a validation is over
	ToldGPUHas       = "gpu_has_"              // and a number: so many GiB has the GPU, as is said
	ToldRAM          = "ram_"                  // and a number: so many GiB of RAM has the machine, as is said
	ToldBackend      = "backend"               // with another interface to the GPU it runs
	ToldNamed        = "named_version"         // another version of the framework is in use than the program names
	ToldExample      = "example"               // a test, a demo or an example is run as its authors give it
	ToldRaised       = "raised_"               // and a setting with its value, or things with their number: with that it ran, with more it failed
	ToldTinyModel    = "tiny_model"            // a small variant of Whisper is in force
	ToldModelSize    = "model_size_"           // and a number: a model of that many billions of parameters, in whatever bits
	ToldModels       = "models"                // a program loads one model after another
	ToldLoadsEach    = "loads_each"            // a program loads its model anew at each request
	ToldPeakFirst    = "peak_first"            // memory is high at the start and low after
	ToldDead         = "dead"                  // a process was ended, and what it held is not given back
	ToldCell         = "cell"                  // a cell of a notebook was run to free memory, and did not
	ToldCulprit      = "culprit"               // without one part of the model or of a library memory does not grow
	ToldEachRun      = "each_run"              // the first run goes through, and those after it fail at once
	ToldMachines     = "machines"              // it runs elsewhere, with other versions or less memory
	ToldTogether     = "together"              // it began for several at the same time
	ToldNotLoaded    = "not_loaded"            // not even the model was loaded, or the first tensor failed
	ToldLeastBatch   = "least_batch"           // the batch is the smallest that the program takes
	ToldNoBatch      = "no_batch"              // whoever writes found no batch that is set
	ToldAllAtOnce    = "all_at_once"           // a program has no batch, and whoever writes wants one for what goes through it at once
	ToldBags         = "bags"                  // a sample is a bag of many instances, which is a batch alone
	ToldReadsPicture = "reads_picture"         // a picture is only read: its depth, normals or poses
	ToldOnPolicy     = "on_policy"             // a learner that trains on what it has just played, kept until the next update
	ToldDefault      = "default_"              // and an option with its number: what it is unless it is set, as the text says
	ToldBuilder      = "builder"               // TensorRT makes an engine
	ToldLogprobs     = "logprobs"              // what a language model gives for each token of its prompts is asked for
	ToldOthersRun    = "others_run"            // other models run in the same program, as is said
	ToldOldOllama    = "old_ollama"            // Ollama before 0.6, whose context is 2048 tokens unless one is set
	ToldOldLMDeploy  = "old_lmdeploy"          // LMDeploy before 0.2, whose cache is a number of sequences in config.ini
	ToldPlays        = "plays"                 // an agent learns to play a game
	ToldFrozen       = "frozen"                // the program is packed: nobody changes its code
	ToldSuspects     = "suspects"              // the versions of framework and CUDA are suspected
	ToldAsExample    = "as_example"            // it is no larger than the example of its authors
	ToldLargerGPU    = "larger_gpu"            // on a GPU with more memory it runs, as is said
	ToldRadeon       = "radeon"                // the GPU is AMD's
	ToldROCm         = "rocm"                  // and it runs under ROCm
	ToldApple        = "apple"                 // it runs on a Mac
	ToldJetson       = "jetson"                // it runs on a board whose GPU and programs share the memory
	ToldLanguage     = "language_"             // and the name of a language, or of a library, that does not call PyTorch as Python does
	ToldTriedCollect = ToldTried + "collect"   // the garbage collector was called in vain
	ToldCollected    = "collected"             // calls of the garbage collector make it go through
	ToldWrongGPU     = "wrong_gpu"             // it runs on another GPU than it should, or the setting that chooses one is said to have no effect
	ToldOwnMany      = "own_many"              // several processes of one's own share the GPU, each with its part
	ToldRuns         = "runs_"                 // and the kind of weights with which it is said to run: fp8, GGUF
	ToldFineTunes    = "fine_tunes"            // a model of others is trained on
	ToldWithout      = "without_"              // and an option without which it is said to run
	ToldCut          = "cut_command"           // a comment within a command ends it
	ToldDown         = "down_to_"              // and a setting with its value: the smallest that was tried in vain
	ToldAlone        = "alone"                 // nobody else is said to use the GPU
	ToldUnified      = "unified"               // JAX may use memory of the machine as well
	ToldTorchFolds   = "torch_folds"           // proteins are folded by a program that computes with PyTorch or Paddle, not with JAX
	ToldAtStart      = "at_start"              // it comes at the start
	ToldGPUCount     = "gpu_count_"            // and a number: so many GPUs there are, as is said
	ToldFull         = "full_training"         // all weights are trained, as is said
	ToldMesh         = "mesh"                  // a mesh is taken from a grid of values
	ToldNoCuDNN      = "no_cudnn"              // cuDNN could not be loaded
	ToldServers      = "servers"               // several servers are meant to share a GPU
	ToldClones       = "clones"                // it speaks with the voice of a recording
	ToldLargerRuns   = "larger_runs"           // with a larger value of a setting it runs
	ToldAnyBatch     = ToldTried + "any_batch" // smaller batches and larger ones made no difference
	ToldAnyWorkers   = ToldTried + "workers_0" // without data loader workers, or whatever their number, it fails as well
	ToldBuckets      = "buckets"               // buckets of ZeRO of half a billion elements or more are set
	ToldFullCache    = "full_cache"            // the cache of keys and values of llama.cpp found no memory
	ToldFree         = "free"                  // more of the GPU is free than was asked for, as is said
	ToldEmpty        = "empty"                 // the GPU is nearly empty when it fails, as is said
	ToldNoContainer  = "no_container"          // it runs in no container, or in one of a kind that shares /dev/shm with its machine
	ToldPinned       = "pinned"                // pinned memory is spoken of
	ToldNetworks     = "networks"              // one of the networks that are trained takes much of the GPU by itself
	ToldWSL          = "wsl"                   // it runs in the Linux within Windows
	ToldOnWindows    = "beside_windows"        // the same runs on Windows, beside which WSL is
	ToldPageFile     = "page_file"             // the page file, virtual memory or swap is spoken of
	ToldSomeGPUs     = "some_gpus"             // of several GPUs only some fail, or it ran until one more was there
	ToldOldXGBoost   = "old_xgboost"           // XGBoost before 1.7
	ToldMidXGBoost   = "mid_xgboost"           // XGBoost from 1.7 on, before 3.0
	ToldPairs        = "pairs_"                // and a number: a matrix has a value for each pair of so many things; 0: how many is not told
	ToldSlice        = "slice_"                // and a number: the GPU is a slice of one by MIG, of so many GiB
	ToldEmbeds       = "embeds"                // a model makes embeddings or ranks what was found: it writes nothing
	ToldPacks        = "packs"                 // several samples are packed into one, by a setting that is on
	ToldMovedFirst   = "moved_first"           // a whole pipeline is put on the GPU before its parts are to wait in RAM
	ToldLoops        = "loops"                 // one process works through many inputs, as is said
	ToldFirstFuller  = "first_fuller"          // the first of several GPUs that train with one process holds more than the others
	ToldRemote       = "remote"                // the failure is quoted from the answer of a service
	ToldCaching      = "caching_latents"       // it comes while latents are cached
	ToldThrifty      = "thrifty"               // all of a model that makes pictures is trained, with the settings on that take less
	ToldCloud        = "cloud"                 // points by the million, with which a scene begins
	ToldLongContext  = "long_context"          // a language model is to learn a longer context, which is the aim
	ToldAsksMore     = "asks_more"             // how to go on to a larger size than ran is asked
	ToldVisible      = "visible_gpus_"         // and the GPUs that whoever writes chose
)

// What a program does that has not all that a model has: what follows ToldWork.
const (
	WorkScene      = "scene"      // it renders a scene
	WorkGame       = "game"       // it plays, or emulates a console
	WorkAtoms      = "atoms"      // it moves atoms
	WorkGrid       = "grid"       // it solves equations on a grid or with particles
	WorkPhotos     = "photos"     // it reconstructs a place from photos
	WorkParticles  = "particles"  // it averages pictures of frozen particles
	WorkScan       = "scan"       // it reconstructs a volume from projections
	WorkMining     = "mining"     // it mines a coin
	WorkHashes     = "hashes"     // it looks for passwords
	WorkStreams    = "streams"    // it encodes or decodes video
	WorkQueries    = "queries"    // it answers queries on tables
	WorkRows       = "rows"       // it clusters rows, or lays them out in a plane
	WorkVectors    = "vectors"    // it searches vectors
	WorkBoosting   = "boosting"   // it grows trees by CatBoost or LightGBM
	WorkMolecule   = "molecule"   // it computes the electrons of a molecule
	WorkQubits     = "qubits"     // it simulates qubits
	WorkReads      = "reads"      // it reads bases from currents
	WorkSpikes     = "spikes"     // it sorts spikes of neurons
	WorkArrays     = "arrays"     // it computes with arrays in Julia or MATLAB, or transforms them
	WorkLayers     = "layers"     // a network of Caffe or Theano, where gradients are not kept unless asked for
	WorkBank       = "bank"       // it learns what is normal by keeping features of pictures, without gradients
	WorkPotentials = "potentials" // a network moves atoms, by PyTorch
	WorkFolds      = "folds"      // it folds a protein, by PyTorch
	WorkDream      = "dream"      // it makes one picture by following gradients, from a text or from noise
	WorkStyle      = "style"      // it changes one picture or recording step by step
	WorkKernels    = "kernels"    // it fits a Gaussian process
	WorkResiduals  = "residuals"  // it trains a network on an equation
	WorkWorlds     = "worlds"     // the physics of many environments at once
)

// What a program works on: what follows ToldDomain.
const (
	DomainAudio    = "audio"
	DomainGraph    = "graph"
	DomainPictures = "pictures"
	DomainPoints   = "points" // clouds of points
	DomainProteins = "proteins"
	DomainRays     = "rays"   // of light through a scene
	DomainSeries   = "series" // of figures over time
	DomainSound    = "sound"  // that is made: music, effects
	DomainSpeech   = "speech" // that is made of a text
	DomainText     = "text"
	DomainVideo    = "video"
	DomainVision   = "vision" // pictures that a language model is shown
	DomainVolumes  = "volumes"
)

// Kinds of alerts: what Alert.Kind holds. Each has a rule in package watch.
const (
	AlertGPULost      = "gpu_lost"
	AlertOOM          = "oom"
	AlertRepeatSpike  = "repeat_spike"
	AlertNeed         = "need_does_not_fit"
	AlertNeighbor     = "neighbour"
	AlertGrowth       = "growth"
	AlertFlush        = "flush"
	AlertHostMemory   = "host_memory"
	AlertSwap         = "swap"
	AlertXID          = "xid"
	AlertImbalance    = "imbalance"
	AlertUnattributed = "unattributed"
	AlertLevel        = "level"
)

// Where the memory was that ran out: what OOMEvent.MemoryKind holds.
const (
	MemoryGPU     = "gpu"
	MemoryHost    = "host"
	MemoryUnknown = "unknown"
)

// Phases of a run: what LogContext.Phase holds.
const (
	PhaseLoading    = "loading"
	PhaseTraining   = "training"
	PhaseValidation = "validation"
	PhaseSaving     = "saving"
	PhaseInference  = "inference"
)
