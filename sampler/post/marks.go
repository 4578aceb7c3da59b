package post

import "nvpeak/sampler"

// withoutGraph is code that runs without gradients; onlyFrees is such a block in which nothing is computed.
var (
	withoutGraph = lazily(`(?:\bwith |@)torch\.(?:no_grad|inference_mode)\(`)
	onlyFrees    = lazily(`(?m)^\s*with torch\.(?:no_grad|inference_mode)\(\):[ \t]*\n(?:[ \t]+(?:del [^\n]*|torch\.cuda\.empty_cache\(\)|gc\.collect\(\))[ \t]*(?:\n|$))+`)
)

var pairsNodes = lazily(`\bWh_repeated_\w+|\ball_combinations_matrix\b`)

// marks are what a text names anywhere: in sentences, in code or in what a program printed.
var marks = []struct {
	what  string
	words *lazy
}{
	// Detectors of one stage by their name.
	{sampler.ToldYOLO, lazily(`(?i)\byolo(?:[-_ ]?v?(?:[5-9]|1[0-2])\w*|x)?\b`)},
	{sampler.ToldFineTunes, lazily(`(?i)\bfine[- ]?tun(?:e|es|ing)\b|微调`)},
	// A layer of graph attention that joins each node with each other, by what its code calls that: the graph goes through as a whole, and has no batch.
	// https://github.com/diegoantognini/pyGAT/blob/master/layers.py
	{sampler.ToldWholeGraph, pairsNodes}, {sampler.ToldNoBatch, pairsNodes},
	// Multiple instance learning: a step takes one bag, as large as it is, and its instances are what a batch is elsewhere.
	// https://github.com/mahmoodlab/CLAM/blob/master/utils/utils.py
	{sampler.ToldBags, lazily(`(?i)\b(?:large|larger|largest|big|bigger|huge|long|skip\w*) (?:\w+ )?bags\b|\bbags? (?:of|with) (?:\w+ ){0,3}(?:patches|instances|tiles|embeddings)\b|\bmultiple[- ]instance learning\b`)},
	// Parts of ComfyUI that only read a picture, for which no model of diffusion is loaded.
	{sampler.ToldReadsPicture, lazily(`(?i)\bcontrolnet[-_ ]?(?:aux|pre[-_ ]?processors?)\b|\b\w*(?:depth|normal|pose|canny|seg|line|edge)\w*[-_ ]?pre[-_ ]?processor\b`)},
	// Code that runs without gradients.
	{sampler.ToldGraphOff, withoutGraph},
	// Whoever writes takes a smaller batch for the way, and asks how.
	{sampler.ToldAsksBatch, lazily(`(?i)\b(?:how (?:do|can|could|should|to)|such as|where)\b[^.?]{0,30}\b(?:chang|reduc|lower|decreas|modify)\w*\b[^.?]{0,20}\bbatch`)},
	// Whoever writes takes the CPU for the way, and asks how.
	{sampler.ToldAsksCPU, lazily(`(?i)\b(?:I should|should I|(?:can|could) (?:I|we)|how (?:do|can|could|should) (?:I|we)|how to|` +
		`(?:want|like|way|possible|possibility) to)\b[^.?\n]{0,20}\b(?:use|run|force|execute|` +
		`do (?:it|this))\b[^.?\n]{0,24}?(?:\b(?:on|with|use|using|in)\b[^.?\w\n]{0,3}(?:the |my |an? )?|--?d(?:evice)?[ =]["']?)cpu\b[^\w-]`)},
	// So many GPUs as somebody says he has.
	{sampler.ToldGPUs, lazily(`(?i)\b(?:[2-8]|two|three|four|six|eight) ?[x×*]? ?(?:\w+ ){0,2}(?:GPUs|cards|[AVH]100s?|[34]090s?)\b|` +
		`\b(?:[2-8] ?[x×*]|two|three|four|dual) ?(?:(?:nvidia|geforce|rtx|gtx|tesla) ?)*(?:[1-5]0[5-9]0(?: ?ti)?s?|[ATLPVH]\d{1,3}[Gs]?)\b|` +
		`[2-8两二三四八] ?[个张块] ?(?:\d+ ?G\w?的? ?)?(?:显卡|卡|GPU|[1-5]0[5-9]0|[ATLPVH]\d{1,3})|显卡 ?[x×*] ?[2-8]|` +
		`\b(?:[AVHTL]\d{1,3}|[1-5]0[5-9]0) ?(?:GPUs?|显卡|卡) ?[x×*] ?[2-8]\b`)},
	// The libraries that hold tables on the GPU, as code and words name them.
	{sampler.ToldTables, lazily(`(?i)\b(?:dask_)?cudf\b|\bdask[-_]cuda\b|\bcuml\b`)},
	// A system of Windows as forms ask for it, a path there, the wording of PyTorch's CPU allocator on it, its errors and what only it has.
	{sampler.ToldWindows, lazily(`(?im)^\W*(?:OS|operating system|platform|system)?\W*(?:microsoft )?windows(?: ?(?:7|8|10|11)\w*)?\W*$|\bOS\b[^\n]{0,12}\bwindows\b|` +
		`\b(?:on|under) windows(?: ?1[01])?\b|\bin (?-i:Windows|WINDOWS)[,;:.)]|\(windows(?: ?1[01])?\)|\b[c-f]:\\\w|DefaultCPUAllocator: not enough memory|` +
		`\bWinError \d|\bos error 1455\b|\bpaging ?files?\b|\b(?:the|my|your|its|windows|an?|larger|bigger|more|no|enough|increase|increased) page file\b|` +
		`\bpagefile(?:s|\.sys)?\b|页面文件|\bVirtualAlloc\b`)},
	// A GPU that was not meant, beside one that is free, or because the setting that chooses one has no effect.
	{sampler.ToldWrongGPU, lazily(`(?i)\b(?:us(?:es|ing)|tak(?:es|ing)|pick(?:s|ed|ing)|choos(?:es|ing)|select(?:s|ed|ing)|runs? on|running on) (?:the )?wrong (?:GPU|card|graphics card|` +
		`device)\b|\bGPU ?[1-9] is (?:completely |totally |still )?(?:free|empty|idle|unused)\b[^.\n]{0,24}\b(?:how|why)\b|` +
		`\b(?:instead of|rather than|not) (?:on )?(?:the |my )?(?:dedicated|discrete|second|bigger|larger|other) (?:GPU|card)\b|` +
		`\bCUDA_ ?VISIBLE_ ?DE\w+\b[^.\n]{0,60}\b(?:(?:does|did|do|will|wo)(?:n['’]?t| not) (?:seem to )?(?:work|help|have any effect|take effect|change)|` +
		`no effect|is ignored|not working|didn['’]?t work out|can ?not set)`)},
	// Processes of one's own, each of which has a context and mostly a model of its own.
	{sampler.ToldOwnMany, lazily(`(?i)\b(?:I|we) (?:\w+ )?(?:run|runs|start|started|launch|launched|have|use|spawn\w*) (?:[2-9]|[1-9]\d+|two|three|four|five|six|eight|ten|several|many|` +
		`multiple) (?:\w+ ){0,2}?(?:containers|processes|workers|instances|copies)\b[^.\n]{0,40}\beach\b|` +
		`\beach (?:container|process|worker|instance|copy) (?:takes?|uses?|needs?|loads?|holds?|is using|is taking)\b[^\n]{0,160}\b(?:[2-9]|[1-9]\d+|several|` +
		`many|all) (?:\w+ )?(?:containers|processes|workers|instances|copies)\b|` +
		`\bwhen (?:I|we) (?:start|run|launch) (?:an?|the) (?:second|third|another|[2-9](?:nd|rd|th)) (?:\w+ )?(?:instance|process|container|copy|worker)\b|` +
		`\b(?:only )?(?:[2-9]|two|three|four|five) (?:\w+ )?(?:instances?|copies) (?:\w+ ){0,3}(?:paral\w*|at once|at the same time|side by side|simultaneously)\b`)},
	// No container, or one that has the /dev/shm of its machine.
	{sampler.ToldNoContainer, lazily(`(?i)\b(?:without|no|non)["'”]*[ -](?:us(?:e|ing) |any |an? )*(?:docker|containers?)\b|` +
		`(?:\b(?:do|does|did|am|are|is|was)(?: not|n['’]?t)|['’]m not)["'”]* (?:us(?:e|ing) |(?:running |run )?(?:it )?(?:in|inside|within|with) )+(?:an? |` +
		`any |the )*(?:docker|containers?)\b|\boutside (?:of )?(?:an? |any |the )?(?:docker|containers?)\b|\bbare[- ](?:metal|server)\b|` +
		`\b(?:singularity|apptainer|enroot)\b|(?:没有?(?:使用|用)|不(?:使用|用|是|在)+)\s*(?:docker|容器)`)},
	// https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-training-algo-running-container.html: there it is started without options of one's own.
	{sampler.ToldHosted, lazily(`(?i)\bsage ?maker\b|\bgcloud (?:ai|ml|ai-platform|training)\b|\b(?:vertex|google cloud|gcp) ?(?:ai|ml)\b|\b(?:cloud ml|ai platform|cloudml)\b|` +
		`\b(?:no|not|n['’]t) (?:\w+ ){0,3}docker run\b|\b(?:in|on|with|using|use|from|via|my|an?|the) (?:google )?(?:kaggle|colab)\b|` +
		`\b(?:kaggle|colab)(?:'s)? (?:notebook|kernel|pro|session|runtime|gpu|tpu)\b|/kaggle/(?:working|input)\b`)},
	{sampler.ToldWorkersOff, lazily(`(?i)\bnum[-_ ]?workers?["'\x60]?(?: (?:is|are|was|were))?(?: (?:already |also )?(?:set|put|reduced|lowered)(?: to )?)?(?: ?(?:==?|:) ?| is | at | of |` +
		` |设置?[为成]|改[为成]|[为是])?(?:0|zero)\b|` +
		`\b(?:sett?(?:ing)?|put(?:ting)?|reduc(?:ed|ing)|lower(?:ed|ing)|chang(?:ed|ing)) (?:the |my )?num[-_ ]?workers?["'\x60]? to (?:0|zero)\b`)},
	// What the Trainer of transformers calls the predictions that it has so far: https://github.com/huggingface/transformers/blob/v4.30.0/src/transformers/trainer.py
	{sampler.ToldTrainer, lazily(`\bpreds_host\b|\bnested_concat\(`)},
	// Memory of the machine that the GPU reads by itself.
	{sampler.ToldPinned, lazily(`(?i)\bpin_memory\b|\bcuda(?:HostAlloc|MallocHost|HostRegister)\b|\bcuMem(?:HostAlloc|HostRegister|AllocHost)\b|\bpin(?:ned|ning)[- ](?:host[- ])?memory\b|\bpage[- ]locked\b`)},
	// What WSL is compared with.
	{sampler.ToldOnWindows, lazily(`(?i)windows ?(?:下|里|上|中|系统)?[^。；;\n]{0,24}(?:正常|没(?:有)?问题|可以|能跑|能运行)|windows ?(?:では|で)[^。\n]{0,20}(?:動|問題な)|` +
		`под windows[^.\n]{0,24}(?:работает|нормально|без проблем)|\b(?:unter|auf) windows\b[^.\n]{0,20}\b(?:läuft|geht|klappt|funktioniert)|` +
		`\b(?:installed|using|used|run|running) (?:\w+ ){0,2}(?:on|in|from|under) (?:native )?windows\b[^\n]{0,30}\b(?:works?|working)\b|` +
		`\b(?:on|in|under|with) (?:native |plain |pure )?windows\b[^.\n]{0,50}\b(?:works?|worked|runs?|ran|fine|ok|okay|no (?:problem|error|issue)s?)\b|` +
		`\bwindows (?:itself )?(?:works|runs|is (?:fine|ok))\b|\b(?:works?|worked|runs?|ran) (?:fine |well |ok )?(?:on|in|under) (?:native |plain )?windows\b`)},
	// Where a system puts what does not fit into its RAM.
	{sampler.ToldPageFile, lazily(`(?i)\bvirtual mem(?:ory)?\b|\bpage ?files?\b|\bpaging ?files?\b|\bswap ?(?:file|space|memory|partition)?\b|虚拟内存|页面文件`)},
	// Some of several GPUs, by their places, their number, or what goes on without one of them.
	{sampler.ToldSomeGPUs, lazily(`(?i)\bno (?:errors?|problems?|issues?) (?:at all )?(?:when|with|if|on)\b[^.\n]{0,24}\b(?:just|only|a single) (?:(?:with|one|1|a|single) ?){0,3}(?:GPU|card|[1-9]0[5-9]0)|` +
		`\b\d{1,2}(?:st|nd|rd|th)? ?(?:-|–|to|,|and|&) ?(?:the )?\d{1,2}(?:st|nd|rd|th) (?:GPUs?|cards?)\b|` +
		`\b(?:only|just) (?:\d{1,2}|one|two|three|four|five|six|some) (?:out )?of (?:my |the |all )*(?:\d{1,2}|two|three|four|five|six|seven|eight)? ?(?:GPUs|` +
		`cards)\b|\bwith \d{1,2} (?:GPUs |cards )?it (?:works|runs),? (?:but )?with \d{1,2}\b|` +
		`\b(?:taking|took|take|remov\w*|unplug\w*|without) (?:out )?(?:one|1|a) (?:GPU|card)\b[^.\n]{0,50}\b(?:fix\w*|works?|solve\w*|runs?)\b|` +
		`\b(?:until|before|since|after|when|once) (?:I|we) (?:have |had |just )*(?:add|install|connect|plug|put)(?:ed|ged)?(?: in)? (?:(?:an?|one|my|the|another|next|new|second|third|fourth|fifth|sixth|more|\d(?:nd|rd|th)) )+(?:(?:nvidia|geforce|rtx|gtx|amd|rx) ?)*(?:GPUs?|cards?|[1-9]0[5-9]0(?: ?ti)?|P\d{2,3})\b`)},
	// The switch of MATLAB's train, which has no batch: https://www.mathworks.com/help/deeplearning/ref/network.train.html
	{sampler.ToldTrainsWhole, lazily(`(?i)["'‘’“”]useGPU["'‘’“”]`)},
	// The command of a training with darknet, and its settings.
	{sampler.ToldDarknet, lazily(`(?im)\bdarknet(?:\.exe)?\s+detector\s+train\b|\bTry to set subdivisions=\d+|^[ \t>]*batch ?= ?\d+\s+subdivisions ?= ?\d`)},
	// What darknet prints before each change of size: https://github.com/AlexeyAB/darknet/blob/master/src/detector.c
	{sampler.ToldResizes, lazily(`(?m)^[\s>|]*Resizing(?:, random_coef = [\d.]+)?\s+\d{3,4}\b`)},
	// Darknet at the first layer of a network, where it holds nothing yet.
	{sampler.ToldFirstLayer, lazily(`(?m)^[\s>]*0 +CUDA Error: out of memory`)},
	// A picture or a video of a size that is told and small.
	{sampler.ToldTiny, lazily(`(?i)\b(?:resolution|size|images?|videos?|pictures?|frames?)\b[^.\n]{0,30}\b(?:[1-9]\d|[12]\d\d) ?[x×*] ?(?:[1-9]\d|[12]\d\d)\b|` +
		`\b(?:[1-9]\d|[12]\d\d) ?[x×*] ?(?:[1-9]\d|[12]\d\d)\b(?: ?px)?,? (?:at |with )?\d{1,3} steps\b`)},
	// Fewer bits, which somebody has no wish for.
	{sampler.ToldKeepsBits, lazily(`(?i)` + fewerBits + `[^.\n]{0,60}\b(?:I|we) (?:do|would)(?:n['’]t| not) (?:\w+ )?(?:like|want)\b|\b(?:I|we) (?:do|would)(?:n['’]t| not) (?:\w+ )?(?:like|want) to (?:use|take|go|step|drop|run|quanti\w+|lower|lose)\b[^.\n]{0,40}` + fewerBits)},
	// What brings a model to fewer bits with samples: it has no bits to be loaded in.
	{sampler.ToldCalibrates, lazily(`(?i)(?:执行|进行|做|跑)(?:了|一个)?(?:模型|训练后)?量化(?:[^版模]|$)|量化工具|量化校准|\bpost[- ]training quanti[sz]\w+|\bPTQ\b|` +
		`\b(?:quanti[sz]\w+)\b[^.\n]{0,60}\bcalibrat(?:e|es|ing|ion)\b|\bcalibrat(?:e|es|ing|ion)\b[^.\n]{0,60}\bquanti[sz]\w+`)},
	// The programs that grow trees, which have no batch.
	{sampler.ToldTrees, lazily(`(?i)\b(?:xgboost|lightgbm|catboost|XGB\w+)\b`)},
	// XGBoost before 1.7, which has no QuantileDMatrix, and before 3.0, which has none that reads from RAM (its release notes).
	{sampler.ToldOldXGBoost, lazily(`(?i)\bxgb\w*(?:[^\w\n]|\bversion\b|\bis\b|\bof\b|\bmy\b|\bv){1,8}(?:0\.[4-9]\d|1\.[0-6])(?:\.\d+)?\b`)},
	{sampler.ToldMidXGBoost, lazily(`(?i)\bxgb\w*(?:[^\w\n]|\bversion\b|\bis\b|\bof\b|\bmy\b|\bv){1,8}(?:1\.7|2\.\d)(?:\.\d+)?\b`)},
	// The input pipelines of TensorFlow, in code and in what they print.
	{sampler.ToldTFData, lazily(`(?i)\btf\.data\.|\bshuffle_dataset_op\b|\bshuffle buffer\b`)},
	// A small model that drafts for a large one.
	{sampler.ToldDraft, lazily(`(?i)\bloading (?:the )?draft (?:model|modules)\b|--(?:draft[-_]model\w*|model-draft|speculative[-_]model)\b`)},
	// A model of which there are two.
	{sampler.ToldTwice, lazily(`(?i)\bload(?:s|ed|ing)?\b[^.\n]{0,24}\b(?:models?|weights)\b[^.\n]{0,16}\b(?:twice|two times|2 times|a second time)\b|` +
		`\b(?:models?|weights)\b[^.\n]{0,16}\b(?:is|are|was|were|gets?|got|being)\b[^.\n]{0,8}\bloaded (?:twice|two times|2 times|a second time)\b`)},
	// A dataset that is kept in the memory of the machine.
	{sampler.ToldCaches, lazily(`(?i)--cache[- _]*images\b|(?:^|[\s(,])(?:--)?cache ?[= ] ?["']?(?:true|ram)\b|` +
		`\bcach(?:e|es|ed|ing) (?:(?:the|all|my|whole|entire|training) )*(?:dataset|data set|images|pictures) (?:in|into|to) (?:the )?(?:ram|memory)\b|\bcach(?:e|es|ed|ing)(?: (?:it|them|everything|all))? (?:in|into|to) (?:the )?ram\b|\bram cach(?:e|ing) (?:is|was|gets)\b`)},
	// The memory of a reinforcement learner, in code and in words.
	{sampler.ToldReplay, lazily(`(?i)(?:\b|_)replay[-_ ]?(?:buffer|memory|ratio)|\breplay[./](?:size|capacity|length)\b|\breplay\.use\b|\bself\.(?:memory|buffer|replay\w*)\.(?:append|push|add|store)\(|\breplay/?\w*\.py\b`)},
	// The algorithms that have one.
	{sampler.ToldOffPolicy, lazily(`(?i)\b(?:sac|td3|ddpg|dqn)\.(?:train|learn)\b|\b(?:using|running|training|train|run) (?:an? |my |the )?(?:SAC|TD3|DDPG|DQN)\b`)},
	// Those that keep no more than what they have played since their last update.
	{sampler.ToldOnPolicy, lazily(`(?i)\brollout[-_ ]?buffers?\b|\bon[-_]policy(?:_algorithm)?\b|\b(?:Maskable|Recurrent)?PPO\b|\bA2C\b|\bTRPO\b`)},
	// Before its version 0.2: https://github.com/InternLM/lmdeploy/blob/v0.1.0/docs/en/turbomind_config.md
	{sampler.ToldOldLMDeploy, oldLMDeploy},
	// The logits of whole prompts, by the names that vLLM and the tests of language models have for them.
	{sampler.ToldLogprobs, lazily(`(?i)\bprompt_logprobs\b|\blog[-_ ]?likelihoods?(?:_rolling)?\b|\b_?get_(?:prompt_)?logprobs\w*`)},
	// Its context had 2048 tokens by default then: https://github.com/ollama/ollama/blob/v0.5.7/docs/modelfile.md
	{sampler.ToldOldOllama, lazily(`(?i)\bollama(?:[\s:=*#"'\x60/-]|\bversion\b|\bis\b|\bv){1,24}0\.[0-5]\.\d+`)},
	// The builder of TensorRT, which tries ways to compute each layer.
	{sampler.ToldBuilder, lazily(`(?i)\btactic\b|\bIBuilderConfig\b|\b(?:creating|building|builds?|generating|serializ\w+) (?:an? |the |its )?(?:trt |tensorrt )?engine\b|\bbuild_(?:serialized_network|engine|cuda_engine)\b|\bbuild(?:SerializedNetwork|EngineWithConfig|CudaEngine)\b`)},
	// Names of the fitting of gaussians to pictures.
	{sampler.ToldSplats, lazily(`(?i)\bgaussian[-_ ]?splatt?\w*|\bsplatting\b|\bcolmap\b|\b(?:rasterize_|diff_)gaussian\w*|\bgaussian_renderer\b|\bgsplat\b|\bsplatfacto\b|` +
		`\bnerfstudio\b["'\x60]? (?:data ?sets?|format)\b|\b[23]dgs\b|\b(?:rebuild|reconstruct)\w* (?:\w+ ){0,3}scenes?\b|\bscene (?:\w+ ){0,2}reconstruct|` +
		`\b\d{3,5} (?:photos|photographs|drones? (?:images|pictures)|(?:images|pictures) (?:\w+ ){1,3}drones?)\b|` +
		`\b(?:large|big|huge|whole|outdoor|urban)(?:-scale)? scenes?\b[^.\n]{0,24}\b\d{3,5} (?:images|pictures)\b`)},
	// The programs that make the vocabulary of a language model, which read a text and have neither batches nor workers.
	{sampler.ToldVocabulary, lazily(`(?i)\bsentencepiecetrainer\b|\bspm(?:_train\b|\.train\()|\b(?:bpe|wordpiece|unigram|wordlevel)trainer\b|\btrain_(?:new_)?from_iterator\b|` +
		`\btrain(?:s|ing|ed)? (?:(?:my|the|an?|our|own|new|custom|bpe|unigram|wordpiece|sentencepiece) )*(?:tokenizers?|sentencepiece)\b|` +
		`\b(?:tokenizers?|sentencepiece|vocabulary) training\b`)},
	// The call of MONAI that puts the output of a whole volume together, on the GPU unless told otherwise.
	{sampler.ToldSliding, lazily(`\bsliding_window_inference\b`)},
	// A cloud of points by its number.
	{sampler.ToldCloud, lazily(`(?i)\b\d+(?:[.,]\d+)? ?(?:million|mio|mln|M)\b[^.\n]{0,16}\bpoints?\b|\b\d{1,3}(?:,\d{3}){2} points?\b`)},
	// A longer context as what somebody wants, not as what he has.
	{sampler.ToldLongContext, lazily(`(?i)\b(?:expand|extend|enlarg|increas|lengthen)(?:e|ing)? (?:the |its |my )?(?:model['’]s )?(?:context|sequence)\b`)},
	// What TensorFlow says of its own pool, which it has once the driver gave it.
	{sampler.ToldPooled, lazily(`_bfc\) ran out of memory trying to allocate`)},
	// Names of TensorFlow's operations that fill the variables of a model for the first time.
	{sampler.ToldVariables, lazily(`/Initializer/|\bglobal_variables_initializer\b`)},
	// The operation of TensorFlow by which weights get their first values.
	{sampler.ToldInitial, lazily(`\brandom_op\.cc\b|(?:line \d+, in [^\n]+|\bOOM when allocating tensor[^\n]*|` +
		`\(most recent call last\):)\n[\s>|]*(?:\w+\.)*\w*sess\w*\.run\((?:\w+\.)*(?:(?:global_|all_)variables_initializer|` +
		`initialize_(?:all|global)_variables)\(`)},
	// The part of ONNX Runtime that hands a model to TensorRT.
	{sampler.ToldProvider, lazily(`(?i)\btensorrt_?execution_?provider\b`)},
	// The calls of the driver that make a context, as the frames of any language name them.
	{sampler.ToldContext, lazily(`\bcuCtxCreate|\bcuDevicePrimaryCtxRetain`)},
	// Code that gives the Trainer of transformers metrics to compute.
	{sampler.ToldTrainer, lazily(`\b(?:Seq2Seq)?Trainer\b(?s:.*)\bcompute_metrics\b|\bcompute_metrics\b(?s:.*)\b(?:Seq2Seq)?Trainer\b`)},
	// The step of instance segmentation that brings each mask to the size of the picture.
	{sampler.ToldPastes, lazily(`\bpaste_masks?\b|_paste_mask\b|\bpaste_masks_in_image\b`)},
	// A share of the GPU for a server that leaves next to nothing beside it.
	{sampler.ToldWideShare, lazily(`(?i)\bgpu[-_ ]memory[-_ ]utili[sz]ation\b[^\n]{0,40}?(?:=|:| to| of| at)["'\x60 ]{0,3}(?:1(?:\.0+)?|0?\.9[6-9]\d*)(?:[^\d.]|\.\D|\.?$)|` +
		`\bmem[-_]fraction[-_]static["'\x60]?(?:=| to| of|)["'\x60 ]{1,3}(?:1\.0+|0?\.9[5-9]\d*)\b`)},
	// Monte Carlo moves that insert molecules, or what is deposited.
	{sampler.ToldInserts, lazily(`(?im)\bgcmc\b|\bgrand[- ]canonical\b|\b(?:insert|deposit)(?:s|ed|ing|ion of)? (?:\w+ )?(?:atoms|molecules|particles)\b|^\s*fix\s+\S+\s+\S+\s+(?:gcmc|deposit)\b`)},
	// One input passed, and the next of the same kind did not.
	{sampler.ToldNext, lazily(`(?i)\b(?:works?|worked|runs?|ran|fine|succe\w+|passe[sd])\b[^\n]{0,40}(?:[,.;:]|\bbut\b|\bhowever\b|\bthen\b)[^\n]{0,16}\s{1,2}[^\n]{0,24}\b(?:second|` +
		`2nd|third|another) (?:\w+ ){0,2}(?:frames?|images?|pictures?|videos?|clips?|files?|inputs?|requests?|samples?|` +
		`times?)\b[^\n]{0,60}(?:\b(?:breaks?|broke|fail\w*|crash\w*|errors?|oom|out of memory|memory|stops)\b|\b(?:I|we) get:?\s*\n)|` +
		`\b(?:first|1st) (?:\w+ ){0,2}(?:frames?|images?|pictures?|videos?|clips?|files?|inputs?|runs?|calls?|requests?|predictions?|inferences?|samples?|` +
		`pairs?|iterations?|times?|passes)\b[^\n]{0,80}\b(?:fine|ok|okay|corr\w*t?ly|works?|worked|succe\w+|well|passe[sd]|without|` +
		`no (?:problem|error|issue)s?)\b[^\n]{0,60}\b(?:second|third|2nd|3rd|next|following|later|again)\b[^\n]{0,90}\b(?:errors?|oom|out of memory|fail\w*|` +
		`crash\w*|memory)|` +
		`\b(?:first|1st) (?:\w+ )?(?:frame|image|picture|video|clip|file|input|request|sample|pair)\b[^\n]{0,24}\b(?:works?|worked|passe[sd]|fine|ok|` +
		`goes through|went through)\b[^\n]{0,40}\b(?:second|2nd|next) (?:frame|image|picture|video|clip|file|input|request|sample|pair|` +
		`one)\b[^\n]{0,12}\n\W{0,3}(?:\w+\.)*\w*Error: [^\n]{0,16}\bout of memory\b|` +
		`\b(?:passe[sd]|process(?:es|ed)|finish(?:es|ed)|handle[sd]|goes through|gets through) (?:only |just )?(?:one|the first|a single) (?:\w+ )?(?:frame|` +
		`image|picture|video|clip|file|input|request|sample|pair)\b[^\n]{0,12}\b(?:and|then|but)\b[^\n]{0,12}\b(?:throws|fails|crash\w*|errors?|oom|` +
		`out of memory|dies|stops)\b|` +
		`\b(?:errors?|oom|out of memory|fail\w*|crash\w*)\b[^\n.]{0,30}\b(?:on|at|in|with|for|during) (?:the )?(?:second|2nd|third|3rd) (?:frame|image|picture|` +
		`video|clip|file|input|run|call|request|prediction|inference|sample|pair|pass)\b|第二[张帧个次][^\n。]{0,12}(?:报错|爆|OOM|显存)`)},
	// The variable of JAX and TensorFlow by which memory of the machine counts, however it is told that it is set.
	{sampler.ToldUnified, lazily(`TF_FORCE_UNIFIED_MEMORY["'\x60]?(?: ?[=:,] ?| (?:is |was |set )*to |\s*\()["'\x60]?(?:1|true)\b`)},
	// Settings of ZeRO for how much is gathered at once, in elements.
	{sampler.ToldBuckets, lazily(`"(?:(?:reduce|allgather|stage3_prefetch)_bucket_size|stage3_max_live_parameters)"\s*:\s*(?:[5-9](?:\.\d+)?e\+?0?8|\d(?:\.\d+)?e\+?(?:09|9|10)|[5-9]\d{8}|\d{10,})\b`)},
	// The step of llama.cpp in which it takes the cache of keys and values.
	{sampler.ToldFullCache, lazily(`(?i)\bfailed to allocate buffer for (?:the )?kv[- ]cache\b|\bkv_cache_init\(\) failed\b`)},
	// A training of what one subject looks like, as its extension of a web UI prints it.
	{sampler.ToldPictureSet, lazily(`(?m)^Initializing dreambooth training|^\s*Text Encoder Epochs: *\d`)},
	// Fewer channels, or what a number in the middle of a shape is.
	{sampler.ToldChannels, lazily(`(?i)\b(?:fewer|reduc\w*|decreas\w*|lower\w*|smaller)\b[^.?\n]{0,24}\b(?:channels|filters|feature maps|fmaps?)\b|` +
		`\bwhere\b[^.?\n]{0,12}\b(?:8|16|32|64|128|256|512|1024)\b[^.?\n]{0,12}\b(?:comes?|coming) from\b`)},
	// The warning of a tokenizer before a text that is longer than its model takes.
	{sampler.ToldLong, lazily(`Token indices sequence length is longer than the specified maximum`)},
	// A mesh that is taken from a grid, whose values lie there all at once.
	{sampler.ToldMesh, lazily(`(?i)\bmarching[-_ ]?cubes\b|\bmesh(?:es|ing|if\w+)?\b[^.\n]{0,40}\b(?:\d{2,4} ?[x×*] ?\d{2,4} ?[x×*] ?\d{2,4}|\d{2,4}\^3)`)},
	// cuDNN that is not there, or is not the one that the program was built for.
	{sampler.ToldNoCuDNN, lazily(`\bdnn != nullptr|\bDNN library is not found\b|\bLoaded runtime CuDNN library: [^\n]{1,40} but source was compiled with\b|\bCould not load (?:dynamic )?library ["']?libcudnn`)},
	// Servers of one's own on one GPU.
	{sampler.ToldServers, lazily(`(?i)\b(?:one|first|1st|another|other) (?:vllm |sglang )?(?:instance|server|engine)s?\b[^.\n]{0,16}\b(?:has been|is|was|are|were) (?:already |` +
		`successfully )?(?:set up|up|running|started|launched|deployed|loaded)\b|` +
		`\b(?:second|2nd|two|2|both|several|multiple) (?:vllm |sglang |llm )?(?:instances?|servers?|engines?|models)\b[^.\n]{0,30}\b(?:on|with|in|into|onto) (?:the|a|` +
		`one) (?:same |single )?(?:gpu|card)\b|` +
		`\bModels?: ?[2-9] ?[*×x] ?\S`)},
	// Speech with the voice of a recording that is given beside the text.
	{sampler.ToldClones, lazily(`(?i)\bmulti[-_ ]?tts\b|\bmulti[-_ ]?speaker\b(?s:.*)\b(?:tts|synthe\w+)\b|\b(?:tts|synthe\w+)\b(?s:.*)\bmulti[-_ ]?speaker\b|\bvoice[-_ ]?clon\w+|` +
		`\bclon\w+ (?:my |a |the )?voices?\b|\b(?:reference|prompt)[-_ ](?:audio|wav|speech|voice)\b|参考音频|声音克隆|\bclone-voice\b`)},
	// Scripts and options of programs that work in tiles.
	{sampler.ToldTiles, lazily(`(?i)\w_tile[sd]?\.py\b|\bpython[^\n]*\.py[^\n]* --\w*tile_?size[ =]\d|\.enable_(?:vae_)?tiling\(\)|\b(?:enabled|turned on|activated|switched on) (?:the )?til(?:ed|ing)\b|\btil(?:ed|ing) (?:is |was )?(?:already )?(?:on|enabled|turned on)\b`)},
}
