package sampler

// What concrete advice needs to exist where a text is from. Each follows ToldShows in LogContext.Told.
const (
	ShowsTransformers = "transformers"   // models of transformers are loaded
	ShowsTrainer      = "trainer"        // its Trainer runs
	ShowsDiffusers    = "diffusers"      // pipelines of diffusers
	ShowsTorch        = "torch"          // lines of code for PyTorch
	ShowsLoader       = "loader"         // a DataLoader in code
	ShowsLibrary      = "library"        // the loop is that of a library or of a tool
	ShowsAdapters     = "adapters"       // adapters are trained
	ShowsFSDP         = "fsdp"           // FSDP shards
	ShowsDeepSpeed    = "deepspeed"      // DeepSpeed runs
	ShowsRanks        = "ranks"          // one process for each GPU
	ShowsCheckpoint   = "checkpoint"     // a checkpoint is read or written
	ShowsSaves        = "saves"          // by lines of code
	ShowsAttention    = "attention"      // attention is computed
	ShowsContainer    = "container"      // a container
	ShowsKubernetes   = "kubernetes"     // pods
	ShowsNotebook     = "notebook"       // a notebook
	ShowsColab        = "colab"          // a hosted notebook, whose containers are not one's own
	ShowsArguments    = "arguments"      // settings of a server as arguments of a call
	ShowsLinux        = "linux"          // Linux
	ShowsServe        = "serve"          // a server started by its command
	ShowsEngine       = "engine"         // a server used as a library
	ShowsLlamaServer  = "llama_server"   // the programs of llama.cpp by their present names
	ShowsLlamaPython  = "llama_python"   // its binding for Python, with arguments of that
	ShowsModelOption  = "model_option"   // a command with the option --model
	ShowsChunks       = "chunks"         // a program for folding that has --chunk_size
	ShowsPipeline     = "pipeline"       // a pipeline of transformers or LMDeploy
	ShowsJAX          = "jax"            // lines of code for JAX
	ShowsArrayFile    = "array_file"     // arrays are read from files
	ShowsXGBoost      = "xgboost"        // XGBoost in Python
	ShowsSDScripts    = "sd_scripts"     // sd-scripts train
	ShowsParquet      = "parquet"        // tables are read from Parquet files
	ShowsTFData       = "tf_data"        // lines of code for tf.data
	ShowsPieces       = "sentencepiece"  // sentencepiece, its code or its commands
	ShowsOldTF        = "old_tf"         // TensorFlow 1 with its sessions
	ShowsSecondGPU    = "second_gpu"     // a GPU beside GPU 0
	ShowsReplay       = "replay"         // code that fills a replay buffer
	ShowsMainPy       = "main_py"        // a tool started by its main.py
	ShowsInvokePy     = "invoke_py"      // InvokeAI started by invoke.py
	ShowsExamplePy    = "example_py"     // the example of the reference code of a language model
	ShowsHeadless     = "headless"       // a simulator that takes --headless
	ShowsBuild        = "build"          // the program is built from its source
	ShowsFewBits      = "few_bits"       // weights of 8 bits or fewer are in force
	ShowsFourBits     = "four_bits"      // of 4 bits
	ShowsSixteenBits  = "sixteen_bits"   // weights of 16 bits are in force
	ShowsTextUI       = "text_ui"        // text-generation-webui
	ShowsBeforeNoGrad = "before_no_grad" // PyTorch before 0.4
	ShowsSession      = "session"        // ONNX Runtime failed while it read a model
	ShowsApp          = "app"            // what is used is a page in a browser, which a script of its own makes
	ShowsCorrelation  = "correlation"    // pictures are compared point by point
	ShowsGradients    = "gradients"      // what it makes follows gradients, though nothing is trained
	ShowsOwnPipe      = "own_pipe"       // a script of one's own makes a pipeline of diffusers
	ShowsRollout      = "rollout"        // a trainer runs vLLM on the GPUs on which it trains
	ShowsCached       = "cached"         // the message of PyTorch 1.0 to 1.3
)
