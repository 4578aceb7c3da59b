package post

import (
	"strings"

	"nvpeak/sampler"
)

// since is a time from which on something is, and fault that it fails.
const (
	since = `\bsince (?:yesterday|today|this (?:morning|week)|last (?:night|week)|(?:about )?(?:an?|two|three|four|\d+|some|a few) (?:days?|weeks?|hours?))`
	fault = `\b(?:errors?|oom|out of memory|fails?|failing|problems?|crash\w*)\b`
)

const (
	// processEnded is how somebody tells that a process is gone, and stillHeld that the memory of the GPU is not free for that.
	processEnded = `(?:\bkill(?:s|ed|ing)? (?:it|them|the|my|all|every|that|this|those|these)\b|\bkill (?:-\w{1,7} |["'\x60<\[{$]*(?:\w+ )?(?:pid|process)\b)|\bpkill\b|\bno such process\b|\bctrl[ +-]?\^?[cz]\b|` +
		`\b(?:stopp|terminat|interrupt|cancel|cancell|abort|clos|exit|quitt|end)(?:ed|ing) (?:the|my|this|that|all) (?:\w+ )?(?:process(?:es)?|programs?|` +
		`scripts?|jobs?|training|run|python|server)\b|` +
		`\b(?:process(?:es)?|programs?|scripts?|jobs?|python)\b (?:\w+ )?(?:ha[sd]|is|was|were|are|got|being)? ?(?:been |already |long |now |` +
		`normally )*(?:ended|stopped|terminated|killed|closed|exited|dead|gone|finished|interrupted|disappeared)\b|\bdisappear\w*\b[^.\n]{0,12}\bnvidia-smi\b|` +
		`\b(?:no|not any|without any) (?:\w+ )?process(?:es)?\b[^.\n]{0,12}\b(?:is |are )?(?:listed|shown|running|found|there|visible|left|at all)\b|` +
		`kill ?(?:了|掉|-9|\p{Han}{0,4}进程)|杀(?:掉|死|了)|进程[^。\n]{0,8}(?:没了|消失|已(?:经)?(?:结束|退出)|不存在)|(?:看不到|没有|找不到|查不到)[^。，\n]{0,6}进程|(?:程序|训练|脚本)[^。，\n]{0,6}(?:结束|终止|停止|退出|中断)(?:后|了))`
	heldMemory = `\b(?:memory|vram)\b (?:\w+ |(?:of|on) (?:the |my |this )?\w+ )?`
	stillHeld  = `(?:\bstill (?:hold|occup|us|tak|show|report|consum|keep)\w*\b[^.\n]{0,24}?(?:\b(?:memory|vram)\b|\b\d+(?:\.\d+)? ?[MG]i?B\b)|` +
		heldMemory + `(?:is|was|are|remains?|stays?)? ?still (?:being |all )?(?:held|occupied|used|in use|allocated|taken|full|reserved|` +
		`not (?:released|freed))\b|` + heldMemory + `(?:remains?|stays?) (?:occupied|used|in use|allocated|full|held|taken)\b|` +
		heldMemory + `(?:(?:(?:is|was|does|did|has)(?: not|n['’]t)|never) (?:been |get |be )?|not )(?:released?|freed?|cleared?|deallocated?|given back|` +
		`come back)\b|\bdoes(?: not|n['’]t) (?:release|free|clear|deallocate) (?:the |its |any )?(?:gpu )?(?:memory|vram)\b|显存[^。，\n]{0,6}(?:还|仍|依然|依旧|一直)[^。，\n]{0,6}(?:占|没|不|在)|显[存卡][^。，\n]{0,6}(?:没有?|未|不会?|无法)(?:被)?(?:释放|清))`
)

// backends are interfaces to the GPU of which a game has several; frameworkAt is a framework with its version.
const (
	backends    = `\b(?:dxvk|vkd3d(?:-proton)?|wined3d|(?:dx|d3d|direct ?3d|directx) ?(?:9|10|11|12)|vulkan|opengl)\b`
	frameworkAt = `(?:(?:py)?torch|tensorflow|jax|mxnet|paddle\w*|keras)(?: version)? ?[=v]*\d+\.\d+`
)

// A model that a program loads, that it does so, and when.
const (
	aModel   = `(?:models?|engines?|pipelines?|LLM|weights)`
	madeAnew = `(?:(?:re-?)?(?:loaded|initiali[sz]ed|instantiated)|re-?(?:created|built|started)|created|constructed)`
	eachTime = `\b(?:every|each)(?: (?:new|single|incoming))? (?:requests?|calls?|quer(?:y|ies)|predictions?|inferences?|invocations?)\b`
)

// withSteps is what comes as a run goes on, in words that do not say of what there is more.
const withSteps = `\b(?:when|as|while|once) (?:the )?(?:number of )?(?:iterations?|steps?|epochs?)(?: (?:number|count))? (?:is |are |keeps? |starts? )*(?:grow\w*|` +
	`increas\w*|goes up|go up|going up|gets? (?:larger|higher|bigger))`

// keptByRanks is memory of the other GPUs of a job that stays taken when it is over: processes of it are left there.
var keptByRanks = lazily(`(?i)\b(?:when|after|once|although|though) (?:the |my )?(?:program|script|training|job|run|process)(?: on \w+)? (?:ends|ended|exits|exited|finishes|finished|stops|stopped|is (?:over|done|finished|killed)|terminates|terminated|dies|died|crashes|crashed)\b` +
	`[^.\n]{0,80}\b(?:other|remaining|rest of the) (?:gpus?|cards)(?: \w+)? (?:(?:is|are|was|were|does|do|did)(?: not|n['’]t)|never|still) (?:\w+ )?(?:releas\w+|freed?|cleared?|held|occupied|in use|taken|full)\b|` +
	`\b(?:other|remaining) (?:gpus?|cards)(?: \w+)? (?:(?:is|are|was|were|does|do|did)(?: not|n['’]t)|never|still) (?:\w+ )?(?:releas\w+|freed?|cleared?|held|occupied|in use|taken)\b[^.\n]{0,30}` +
	`\b(?:when|after|once|although|though) (?:the |my )?(?:program|script|training|job|run|process) (?:ends|ended|exits|exited|finishes|finished|stops|stopped|is (?:over|done|finished|killed)|terminates|terminated|dies|died|crashes|crashed)\b`)

// vainCell is a cell of a notebook that was to free the memory, and did not: what other cells made is still there, and nothing need grow.
const vainCell = `\b(?:memory|vram)\b[^.\n]{0,24}(?:n['’]?t|\b(?:not|never))\b(?: (?:get|be|been))? (?:clear|free|releas)\w*[^.\n]{0,40}\b(?:run|ran|running|re-?run\w*|execut\w*) (?:(?:the|this|that|my|first|last) )*cell\b`

// keptInside is memory that a program keeps which goes on.
var keptInside = lazily(`(?i)\b(?:after|with|in|for|between) (?:each|every|the first|one) (?:\w+ )?(?:epochs?|steps?|iterations?|batch(?:es)?|images?|pictures?|videos?|files?|` +
	`requests?|inferences?|calls?|generations?|trials?|folds?)\b|\bjupyter|\bnotebook|\bipython\b|\bcolab\b|\bkaggle\b|\bdel \w|\bin the same process\b|` +
	`\b(?:if|whether|how) [^.\n]{0,24}` + processEnded + `[^.\n]{0,40}\?`)

// situations are words for them, which may stand in several sentences. beside must match too, and except must not, where they are set.
var situations = []struct {
	what                  string
	words, beside, except *lazy
}{
	// What a process held may be with its children still, or with what the driver could not end.
	{sampler.ToldDead, keptByRanks, nil, nil},
	{sampler.ToldVaries, lazily(`(?i)\b(?:runs?|running|trains?|training|works?|working|goes|going)(?: \w+)? (?:fine|well|ok|okay|smoothly|normally)\b[^.\n]{0,50}` + atSomeBatch + `[^.\n]{0,40}\b(?:oom|out of memory)\b`), nil, nil},
	// Of which weights and what the optimizer keeps are a large part, whatever the batch.
	{sampler.ToldNetworks, lazily(`(?i)\b(?:u-?net|transformer|teacher|student|critic|discriminator|optimi[sz]er|text encoder)(?: \w+)?\b (?:occup(?:y|ies|ied)|takes?|took|uses?|consumes?|needs?)\b[^.\n]{0,30}(?:\bmemory\b|\bvram\b|\d ?G(?:i?B)?\b)`), nil, nil},
	{sampler.ToldDead, lazily(`(?i)` + processEnded + `[^\n]{0,120}?\n{0,2}[^\n]{0,120}?` + stillHeld + `|` + stillHeld + `[^.\n]{0,24}\b(?:after|although|though|when|once|while)\b[^.\n]{0,40}?` + processEnded), nil, keptInside},
	{sampler.ToldCell, lazily(`(?i)` + vainCell), nil, nil},
	{sampler.ToldNotebook, lazily(`(?i)` + vainCell), nil, nil},
	{sampler.ToldCulprit, lazily(`(?i)\b(?:when|if|once|after) (?:I |we )(?:comment|remov|disabl|drop|replac|skip|leav|tak)\w*(?: out| away)? [^.\n]{1,40}?\b(?:stable|constant|level|flat|no (?:memory )?(?:leak|growth)|(?:does|do)(?: not|n['’]t) (?:grow|increas|leak|rise)\w*)\b|` +
		`\bwithout (?:the |this |that )?\w+(?: layers?)?,? [^.\n]{0,24}\b(?:memory|vram|usage)\b[^.\n]{0,24}\b(?:stable|constant|level|flat)\b`),
		lazily(`(?i)\b(?:layers?|modules?|un-?pool\w*|conv\w*|lstm|gru|rnn|attention|backbone|nn\.\w+|F\.\w+)`), lazily(`(?i)\.append\(|\+= ?loss|\bretain_graph\b|\bno_grad\b`)},
	// Those that are not made with JAX, whose variables change nothing in them.
	{sampler.ToldTorchFolds, lazily(`(?i)\b(?:openfold|fastfold|uni-?fold|esm-?fold|omegafold|rose?ttafold|helixfold|boltz|protenix|chai-?1)\w*`), nil, lazily(`(?i)\b(?:alphafold|colabfold|jax)\w*|\bXLA_`)},
	{sampler.ToldModels, lazily(`(?i)\b(?:chang|switch|swap)\w* (?:the |my |between |to )*(?:other |another |different |new )?(?:models?|checkpoints?)\b[^.\n]{0,20}\b(?:again|back|` +
		`at run ?time|in the (?:web ?)?(?:ui|menu|drop ?down)|without restart\w*)\b|\b(?:switch|swap)\w* between (?:\w+ ){0,2}(?:models|checkpoints)\b|` +
		`\b(?:models?|checkpoints?)\b[^.\n]{0,20}(?:\b(?:should|must)\b|\b(?:is|was|are|does|do|did)(?:n['’]?t| not| never)\b|\bnever\b) (?:\w+ )?(?:be |been |` +
		`get )*(?:releas|unload|freed)\w*|` +
		`\bload\w*\b[^.\n]{0,40}\b(?:models|checkpoints)\b[^.\n]{0,24}\b(?:in sequence|one after (?:another|the other)|in turn|sequentially)\b|` +
		`\b(?:when|after|once|as soon as|if)\b[^.\n]{0,16}\b(?:load|select|choos|pick)\w* (?:the |a |an )?(?:second|another|next|different) (?:\w+ )?(?:model|` +
		`checkpoint)\b|` +
		`\bloading (?:another|a second|the next|the second) (?:\w+ )?(?:model|checkpoint)\b[^.\n]{0,24}\b(?:gives?|fails|ends|causes|leads|runs|crash\w*)\b|` +
		`(?:切换|更换|换)(?:另一个|其他|别的)?模型[^。\n]{0,16}(?:爆|不足|溢出|不够|OOM)`), nil, nil},
	// A server that is started within a function which answers, and again in each call of it.
	{sampler.ToldLoadsEach, lazily(`(?i)\b` + aModel + `\b[^.\n]{0,24}\b(?:is|are|was|were|gets?|being|be)\b[^.\n]{0,16}\b` + madeAnew + `\b[^.\n]{0,16}` + eachTime + `|\b(?:re-?)?(?:loads?|initiali[sz]es?|creates?|instantiates?|builds?|starts?) (?:\w+ ){0,3}?` + aModel + `\b[^.\n]{0,20}` + eachTime + `|` + eachTime + `[^.\n]{0,20}\b(?:re-?)?(?:loads?|initiali[sz]es?|creates?|instantiates?) (?:\w+ ){0,3}?` + aModel + `\b`), nil,
		lazily(`(?i)\b(?:not|n['’]t|never|without|instead of|avoid\w*|should|could|would|must|whether|if) (?:\w+ ){0,3}?(?:re-?)?(?:load|initiali[sz]|creat|instantiat|build|start)\w*\b`)},
	{sampler.ToldModels, lazily(`(?i)\b(?:enough|room|space|fit)\b[^.\n]{0,24}\bfor both (?:of )?(?:the |my |a )?[\w-]+(?: models?)? and (?:the |my |a )?[\w-]+ (?:models?|networks?)\b`), nil, nil},
	// The model of speech is still there when that of speakers comes: https://github.com/m-bain/whisperX#python-usage--
	{sampler.ToldModels, lazily(`(?i)\b(?:at|in|during|on|by) (?:the )?diari[sz]ation\b|` +
		`\bdiari[sz]ation (?:step|stage|part|phase)?\b[^.\n]{0,24}\b(?:fails|crash\w*|ooms?|out of memory|runs out)\b|` +
		`\btranscription\b[^.\n]{0,40}\b(?:goes?|works?|went|worked|runs|ran)\b[^.\n]{0,60}\bdiari[sz]ation\b`), lazily(`(?i)whisper`), nil},
	// A title is no sentence.
	{sampler.ToldGrowth, lazily(`\.append\(\s*torch\.\w+\([^\n]*(?:device=["']?cuda|\.cuda\(\))`), nil, nil},
	{sampler.ToldGrowth, lazily(`(?i)\A[#\s]*(?:(?:cuda|gpu|vram|cupy|a|possible) ){0,3}memory leak(?:s|age)?\b[^?\n]{0,60}\n`), lazily(`(?i)\b(?:in|within|inside) (?:an?|the|my) (?:\w+ )?loop\b|\b(?:each|every) (?:iteration|call|step|image|picture|file|request)\b|\brepeatedly\b`), nil},
	{sampler.ToldDataLarger, lazily(`(?i)\b(?:data\w*|tables?|arrays?|files?|csv|matri\w+|graphs?|index)\b(?: (?:that|which) (?:is|are))?[^.?\n]{0,20}\b(?:larger|bigger|greater) than (?:the |my |our |a )?(?:gpu|vram|device|card)\b`), nil, nil},
	{sampler.ToldUnloaded, lazily(`(?i)\b(?:after|even (?:if|when|after|by)|although|once|when) (?:I |we |it |the |a |my )*(?:unload\w*|` +
		`model \S+ (?:is|was) unloaded)\b[^.\n]{0,80}\b(?:memory|vram)\b[^.\n]{0,24}(?:n['’]t|\bnot|\bnever|\bstill)\b|` +
		`\bunload\w*\b[^.\n]{0,30}(?:n['’]t|\bnot|\bnever) (?:release|free|give back)\w*\b[^.\n]{0,20}\b(?:memory|vram)\b|` +
		`卸载[^。\n]{0,10}模型[^。\n]{0,16}显存[^。\n]{0,8}(?:没|未|不)`), nil, nil},
	{sampler.ToldPeakFirst, lazily(`(?i)\b(?:at (?:the )?(?:(?:very )?(?:start|begin\w*)|first)|(?:when|once|as) (?:the )?(?:training|it)\s+(?:is |has )?(?:start|beg[iua]n)\w*|` +
		`(?:in|during|for|on) the first (?:few )?(?:iterations?|steps?|batch\w*|seconds?|minutes?))\b[^\n]{0,100}\b(?:memory|vram|usage|` +
		`\d ?[MG]i?B)\b[^\n]{0,80}\b(?:it|this|that|which|memory|usage|vram|then|and|will)\s+(?:then |quickly |slowly |back |always )*(?:drops?|dropped|falls|` +
		`fell|decreas\w+|goes (?:back )?down|went (?:back )?down|comes down|shrinks?|settles?)\b|` +
		`\b(?:memory|vram|usage)\b[^.\n]{0,40}\b(?:at the (?:very )?(?:start|begin\w*)|in(?:to)? the first (?:iteration|step|batch)\w*|at first|` +
		`initially)\b[^\n]{0,60}\b(?:it|this|that|which|memory|usage|vram|then|and|will)\s+(?:then |quickly |slowly |back |always )*(?:drops?|dropped|falls|` +
		`fell|decreas\w+|goes (?:back )?down|went (?:back )?down|settles?|stabili\w+)\b`), nil, nil},
	{sampler.ToldEachRun, lazily(`(?i)\b(?:1st|first|one) (?:run|time|start|launch|execution)\b[^\n]{0,80}\n?[^\n]{0,30}\b(?:subsequent|later|following|` +
		`(?:any|every|each|all) (?:other|later|further|subsequent|next|following))\b (?:runs?|times?|starts?|launch\w*|executions?|` +
		`attempts?)[^\n]{0,50}\b(?:errors?|fail\w*|crash\w*|oom|out of memory|immediately|at once)\b|` +
		`\b(?:works?|runs?) (?:only |just )?once\b[^.\n]{0,60}\b(?:re-?boot\w*|restart\w* the (?:computer|machine|pc|server))\b|` +
		`\b(?:every|each) (?:second|other) (?:start|run|launch)\b[^.\n]{0,40}\b(?:fails?|crash\w*|errors?|oom|out of memory)\b|` +
		`\b(?:after|since) (?:an? |the )?(?:suspend\w*|sleep|hibernat\w*|standby)\b[^.\n]{0,60}\b(?:fails?|crash\w*|errors?|oom|out of memory)\b`), nil, nil},
	{sampler.ToldMachines, lazily(`(?i)\b(?:works?|worked|runs|ran|trains|trained)\b[^.\n]{0,30}\b(?:on|with|in) (?:my |an? |the |our |one )*(?:local|old|older|smaller|laptop|home|GTX|titan|(?:nvidia |geforce |rtx )?[12]0[5-9]0)`),
		lazily(`(?i)\b(?:server|machine|gpu|card|computer|one|pc)\b[^.\n]{0,30}\b(?:is|has|have|with)\b (?:\w+ )?(?:more (?:powerful|memory|vram|gpu)|bigger|larger|` +
			`stronger|better|newer)|\btorch\b\D{0,12}(?:0\.[34]|1\.\d)(?s:.)*\btorch\b\D{0,12}(?:1\.\d|2\.\d)|` +
			`\bwith (?:py)?(?:torch )?v?\d\.\d\b[^\n]{0,80}\bwith (?:py)?(?:torch )?v?\d\.\d`), nil},
	// Code is no sentence. A graph that is kept in one is the cause where it comes after more steps, or is supposed to be.
	{sampler.ToldGraph, lazily(`\bretain_graph\s*=\s*True\b`), lazily(`(?i)` + withSteps + `|\b(?:because of|due to|caused by|comes? from|is) (?:the |this |that )?retain_graph\b`), nil},
	{sampler.ToldResults, predictionsSoFar, nil, nil},
	// Arrays of Julia, whose collector does not see what they hold on the GPU: https://cuda.juliagpu.org/stable/usage/memory/
	{sampler.ToldCollects, lazily(`(?i)\b(?:GC\.)?gc\(\)|\bgarbage collect\w*|\b(?:gc|collector) (?:does(?: not|n['’]?t)|sensitive|aware)\b`), lazily(`\busing (?:CUDA|CuArrays|CUDArt|CUDAnative|CUDAdrv|Flux|Knet|AMDGPU)\b|\bCu(?:da)?Array\b|\bKnetArray\b`),
		lazily(`(?i)\b(?:even|although|though|despite|tried|after)\b[^.\n]{0,40}\bgc\(|\bgc\([^.\n]{0,60}(?:n['’]t|\b(?:not|no effect|nothing|still|neither)\b)`)},
	// A program in Julia that goes on keeps what it has freed until a collector runs that does not see it.
	{sampler.ToldNext, lazily(`(?i)\b(?:retain(?:s|ed|ing)?|keeps?|kept|holds? on to)\b[^.\n]{0,24}\b(?:gpu|video|device) (?:\w+ )?(?:memory|vram)\b`),
		lazily(`(?i)\bjulia\b|\b\w+\.jl\b|\bCuArrays?\b`), nil},
	// The first GPU has what DataParallel gathers, beside its own part of the batch.
	{sampler.ToldFirstFuller, lazily(`(?i)\b(?:overhead|overload\w*|more (?:gpu )?memory|most of the memory)\b[^.\n]{0,30}\b(?:in|on|of|by) (?:the )?(?:first|main|master) gpu\b|\b(?:first|main|master) gpu(?:['’]s)?\b(?: memory)? (?:\w+ )?(?:overflow\w*|overload\w*|overhead|(?:uses|takes|costs|holds|consumes) (?:\w+ )?more)|` +
		`\bone gpu\b[^.\n]{0,30}\b\d+(?:\.\d+)? ?G\w*[^.\n]{0,40}\b(?:another|the other)\b[^.\n]{0,40}\b\d+(?:\.\d+)? ?G`), lazily(`(?i)\btrain\w*`),
		lazily(`(?i)\b(?:torchrun|ddp|distributed\w*|fsdp|deepspeed|accelerate|ranks?|device_map|pipeline|vllm|inference)\b`)},
	// The error is what a service answered, so that it is on a GPU of whoever runs it. Who runs it himself shows its log, its start or his GPU.
	{sampler.ToldRemote, lazily(`(?i)\b(?:server|api|endpoint|backend|space|service)(?: side)? (?:has )?(?:returned|responded|replied|answered|responds|returns|replies)\b[^\n]{0,60}(?:\n[^\n]{0,40})?\b(?:error|out of memory|oom|5\d\d)\b|` +
		`(?:服务端|服务器|接口|后端)返回(?:的|了)?(?:错误|报错|异常)|\b(?:inference|hosted|serverless) (?:api|endpoint)s?\b[^.\n]{0,40}\b(?:returns?|returned|fails?|errors?|out of memory|oom)\b|` +
		`"error": ?"[^"\n]*","warnings": ?\[`), nil,
		lazily(`(?i)\bnvidia-smi\b|\bTraceback\b|\bdocker\b|\bmy (?:own )?(?:gpu|card|server|machine|[1-5]0[5-9]0)\b|\blocal(?:host|ly)?\b|\b127\.0\.0\.1\b|\bollama\b|\bself[- ]hosted\b|` +
			`\b(?:RTX|GTX|tesla|quadro) ?\w*\d|本地|我的(?:显卡|服务器)|部署`)},
	// The pictures go through the encoder before the training, and that fails.
	{sampler.ToldCaching, lazily(`(?i)\b(?:caching|cache|pre-?cach\w*) (?:of )?(?:the |my )?latents?\b[^.。\n]{0,60}(?:\b(?:oom\w*|out of memory|crash\w*|fail\w*)|爆|溢出)|\blatents?[-_ ]ca?ch\w*[^.。\n]{0,60}(?:\boom\b|\bOOM|out of memory|crash\w*|fail\w*|爆|溢出)|` +
		`(?:\b(?:oom\w*|out of memory|crash\w*|fail\w*|dies|runs out)\b)[^.。\n]{0,40}\b(?:while|when|during|at|in)\b[^.。\n]{0,12}\b(?:caching|latents?[-_ ]cach\w*)`), nil,
		lazily(`(?i)\b(?:(?:without|not|n['’]t|no|disabl\w*) (?:\w+ )?cach\w*|don['’]?t cache) latents?\b`)},
	// TensorFlow was told to take no more than it needs.
	{sampler.ToldInForce + "allow_growth", lazily(`\ballow_growth\s*=\s*True\b|\bset_memory_growth\([^)\n]*,\s*True\)`), nil, nil},
	// The same game or renderer through another interface to the GPU.
	{sampler.ToldBackend, lazily(`(?i)\b(?:does(?: not|n['’]t)|did(?: not|n['’]t)|never) (?:happen|occur|crash)\w*[^.,\n]{0,12} (?:with|on|under|in|using|when using) (?:the )?` + backends + `|` + backends + `[^.\n]{0,60}\b(?:not (?:had )?a single (?:crash|error)|no (?:crash\w*|problems?|issues?|errors?)|` +
		`without (?:any )?(?:crash\w*|problems?|issues?|errors?)|(?:works?|worked|runs?|ran|is|was) (?:\w+ )?(?:fine|well|perfectly|stable|ok|okay))\b|` +
		`\b(?:works?|worked|runs?|ran) (?:fine |well |ok |perfectly )?(?:with|on|under|using) (?:the )?` + backends), nil, nil},
	// The program was made with one version of its framework, and another is installed.
	{sampler.ToldNamed, lazily(`(?i)\b(?:based on|built (?:on|with|for)|written (?:for|with)|made (?:for|with)|uses?|requires?|needs?|is|are|was)\b[^.,\n]{0,16}\b` + frameworkAt + `[^\n]{0,30}\b(?:but|while|whereas|however|yet)\b[^.\n]{0,12}\bI\b[^.\n]{0,24}\b` + frameworkAt), nil, nil},
	{sampler.ToldTogether, lazily(`(?i)\b(?:days?|weeks?|hours?) ago\b[^.\n]{0,60}\b(?:started|began|appear\w*|stopped|failed|failing)\b|` + since + `\b[^.\n]{0,60}` + fault + `|` + fault + `[^.\n]{0,40}` + since + `\b`),
		lazily(`(?i)\b(?:on|for|with|in) (?:two|both|several|different|all|three|many) (?:of my |different |of our )?(?:accounts?|machines|computers|users|notebooks|` +
			`servers)\b|\b(?:others|other (?:people|users)|everybody|everyone) (?:too|also|as well|(?:have|has|get|gets|report) (?:it|this|the same))\b|` +
			`\b(?:several|many|some) (?:other )?(?:users|people|friends)\b[^.\n]{0,24}\b(?:same|too|also)\b`), nil},
	{sampler.ToldNotLoaded, lazily(`(?i)\bline \d+,? in <module>\s*\n\s*\w+\.(?:cuda\(|to\(["']cuda)[^\n]*\n\S*(?:RuntimeError|torch\S*Error)|` +
		`\b(?:models?|weights) (?:is |are |was |were |has |have )?(?:not|n['’]t) (?:even |yet |been )+(?:loaded|created|made)\b|` +
		`\bbefore (?:even )?(?:the |any |it )?(?:models?|weights|model weights)? ?(?:is|was|are|were|has been|have been|loading) (?:even )?(?:loaded|loading|` +
		`the model)\b|\bvery early (?:on|in|at|during) (?:the )?start\w*|\btorch\.(?:zeros|ones|tensor|randn?|empty)\(\[?[\d.]{1,4}\]?\)\.(?:cuda|to)\(|` +
		`\b(?:at|in|on|line)\b[^.\n]{0,14}\b(?:model|net)\w*\.(?:cuda|to)\(|` +
		`\b(?:model|net)\w*\.(?:cuda|to)\([^)\n]{0,20}\)["'\x60]? (?:throws|raises|gives|fails|ends|itself)\b|` +
		`\b(?:while|when|as|before) (?:the |its )?weights (?:are|were) (?:being |even |still )?(?:created|made|loaded)\b|` +
		`\bvery first (?:line|call|operation|cuda call|tensor)\b|\b(?:even|just) (?:a|one) (?:single |tiny |small )+tensor\b|` +
		`\beven\b[^.\n]{0,24}\b(?:an empty|a tiny|a trivial|the smallest) (?:\w+ )?(?:files?|csv|tables?|data ?frames?|series|arrays?|tensors?|programs?|examples?)\b`), nil, nil},
	{sampler.ToldLeastBatch, lazily(`(?i)\bbatch[-_ ]?(?:size)?s?\b[^.!?\n]{0,24}\b(?:is|are|was|goes|went|turned|set|cranked|already)\b[^.!?\n]{0,12}\b(?:all the way down|` +
		`as (?:low|small) as (?:it goes|possible|it gets|can be|it can be)|(?:at|to) (?:the |its )?(?:bare )?minimum|at rock bottom)\b|` +
		`\bbatch[-_ ]?(?:size)?\b[^.!?\n]{0,40}\b(?:already|is|at|to) (?:\w+ )?(?:the |its )?(?:minimum|minimal|lowest|smallest) ?(?:value|possible|allowed|` +
		`size|one)?(?:[.,;!?\n]|$)|\b(?:minimum|minimal|smallest|lowest) (?:possible |allowed |permitted )?batch[-_ ]?size (?:of (?:this|the|your) \w+ )?is\b|` +
		`\bbatch[-_ ]?size\b[^.\n]{0,16}\b(?:can(?:not|n['’]?t|['’]?t)|must not) be (?:smaller|lower|less|below)\b|` +
		`\b(?:minimum|smallest|lowest) (?:possible|allowed|permitted) batch|(?:batch|批)[^。？！\n]{0,20}(?:最小值|最小了|已(?:经)?(?:是)?最小|不能再(?:小|降|减))`), nil, nil},
	{sampler.ToldNoBatch, lazily(`(?i)\b(?:have(?: not|n['’]?t)|did(?: not|n['’]?t)|do(?: not|n['’]?t)|can(?:not|['’]?t| not)|could(?: not|n['’]?t)) (?:\w+ )?(?:found|find|see|seen|` +
		`have|locate|identify)\b(?: (?:any|a|the|such|an?y?|where|option|setting|parameter|for|of|to|set|change)\b)* ["'\x60]?batch[-_ ]?size\b|` +
		`\bthere (?:is|['’]s) no (?:such )?["'\x60]?batch[-_ ]?size\b|\b(?:has|have|with) no batch(?:es|[-_ ]?size)\b|(?:没有|找不到|没找到)[^。，\n]{0,6}batch[-_ ]?size`), nil, nil},
	{sampler.ToldAllAtOnce, lazily(`(?i)\b(?:add|introduc|expos|implement|provid)\w*\b[^.\n]{0,24}\b(?:possibility|option|parameter|argument|setting|support)\b[^.\n]{0,16}["'\x60 ]batch[-_ ]?size\b|` +
		`\badd(?:ing)? (?:an? |the )?["'\x60]?batch[-_ ]?size["'\x60]? (?:parameter|argument|option)\b`), nil, nil},
	{sampler.ToldSuspects, lazily(`(?i)\b(?:might|may|could|maybe|perhaps|probably|possibly|guess|think|suspect|seems?|caused|due|because|is it|wonder)\b[^.?!\n]{0,40}\b(?:versions?|` +
		`build)\b[^.?!\n]{0,30}\b(?:cuda|(?:py)?torch|tensorflow|driver|cudnn)\b|` +
		`\b(?:might|may|could|maybe|perhaps|probably|possibly|guess|think|suspect|seems?|caused|due|because|is it|wonder)\b[^.?!\n]{0,40}\b(?:cuda|` +
		`(?:py)?torch|tensorflow|driver|cudnn)(?: (?:and|or|/) \w+)? versions?\b|(?:版本)[^。\n]{0,10}(?:不匹配|不对应|冲突|的问题|导致)`), nil, nil},
	{sampler.ToldAsExample, lazily(`(?i)\bsame (?:size|sizes|settings?|images?|pictures?|data|resolution)\b[^.?!\n]{0,24}\b(?:your|the (?:example|paper|demo|readme))\b|` +
		`\b(?:your|the) (?:own )?(?:example|demo|sample|default|provided) (?:images?|pictures?|data|settings?|config\w*|command|script)\b|` +
		`\b(?:exactly )?(?:as|like) (?:in|described in|said in|written in) (?:the|your) (?:readme|paper|tutorial|docs?|documentation)\b`), nil, nil},
	// A model that makes vectors of texts, or ranks texts that were found, beside no word of one that writes.
	{sampler.ToldEmbeds, lazily(`(?i)\bre-?rank(?:er|ers|ing)\b|` +
		`\bembedd?ings?(?: (?:and|&|or|/) \w+)? (?:models?|services?|servers?|endpoints?|nims?|microservices?|pods?|inference)\b|\btext-embeddings-inference\b|` +
		`\binfinity[-_]emb\b|\bembeddings? and re(?:trieval|-?rank)`), nil, lazily(`(?i)\bmax_new_tokens\b|\.generate\(|\b(?:train|fine[- ]?tun)(?:s|ed|ing)\b|\bcross[- ]?encoder\.fit|\bchat(?:s|bot|ting)?\b|\bcompletions?\b`)},
	// Several samples in one sequence, by the names that trainers have for it: https://docs.axolotl.ai/docs/multipack.html
	{sampler.ToldPacks, lazily(`(?i)\b(?:sample|neat|eval_sample)_packing["'\x60]?(?: ?[:=] ?| (?:is |was |set )*(?:to )?)(?:true|on|enabled|1)\b|` +
		`--(?:neat_|sample_)?packing(?:[ =]true)?(?:\s|$)|\bpacking ?= ?True\b|\b(?:with|using|enabl\w+) (?:sample )?packing\b`), nil, nil},
	// A pipeline that its own script moves as a whole, and that is told to bring its parts to the GPU in turn.
	{sampler.ToldMovedFirst, lazily(`(?s)\.from_(?:pretrained|single_file)\((?:[^()]|\([^()]*\)){0,600}\)\s*\.(?:to\(\s*["']cuda|cuda\(\)).{0,400}\.enable_(?:model|` +
		`sequential)_cpu_offload\(|\bpipe\w*\.(?:to\(\s*["']cuda[^\n]*|cuda\(\))\n.{0,400}\.enable_(?:model|sequential)_cpu_offload\(`), nil, nil},
	// Documents, pictures or recordings that one process goes through in a loop.
	{sampler.ToldLoops, lazily(`(?i)循环(?:地)?(?:读取|处理|解析|调用|遍历|识别|预测)[^。，\n]{0,8}(?:文档|文件|图[片像]|视频|音频|pdf|数据|样本)|` +
		`\b(?:in|inside|within|with) (?:a|one|the) (?:for |while )?loop\b[^.\n]{0,40}\b(?:documents?|files?|pdfs?|images?|pictures|videos?|audios?|recordings|` +
		`texts)\b|` +
		`\bloop(?:s|ed|ing)? (?:over|through) (?:(?:all|many|the|my|several|a|of|list|folder|directory|hundreds|thousands) ){0,4}(?:documents?|files?|pdfs?|` +
		`images?|pictures|videos?|audios?|recordings|texts)\b`), nil, lazily(`(?i)\btrain(?:s|ed|ing)?\b|训练|\bepochs?\b`)},
	// The same settings went through with other data on the same machine.
	{sampler.ToldWorked, lazily(`(?i)\b(?:ran|run|runs|works?|worked|processed|refined|finished)\b[^.\n]{0,40}\b(?:another|other|a different|a previous|` +
		`an earlier) (?:\w+ )?(?:data ?set|sample|project|subject|map|volume|movie)s?\b[^.\n]{0,30}\b(?:no|without(?: any)?) (?:problem|issue|` +
		`error)s?\b[^.\n]{0,40}\bsame (?:settings|parameters|box|size|config\w*|options)\b|` +
		`\b(?:ran|worked|went through) (?:fine |well |ok )?before\b[^.\n]{0,20}\bwith the same (?:settings|parameters|box|size|config\w*|options)\b`), nil, nil},
	// A trainer of models that make pictures, whose usual savings are all on.
	{sampler.ToldThrifty, lazily(`(?i)\b(?:enabled|activated|turned on|using|checked|ticked|with)\b[^.\n]{0,60}\b8[- ]?bit\b[^.\n]{0,60}\bgradient[- _]checkpoint\w*|` +
		`\b(?:enabled|activated|turned on|using|checked|ticked|with)\b[^.\n]{0,60}\bgradient[- _]checkpoint\w*[^.\n]{0,60}\b8[- ]?bit\b`),
		lazily(`(?i)\bdreambooth\b|\bcache latents\b|\blatents? cach\w*`), lazily(`(?i)\bloras?\b|\btextual inversion\b|\bunet only\b`)},
	// What somebody tries first of all, before there is any work. Where a model or pictures are spoken of, it may be large all the same.
	{sampler.ToldDemo, lazily(`(?i)\b(?:basic|simple|simplest|tiny|minimal|toy|trivial|counter|hello[- ]world|vector ?add\w*)(?: \w+)? (?:demo|example|program|kernel)\b[^.\n]{0,60}` + fault + `|` +
		fault + `[^.\n]{0,40}\b(?:basic|simple|simplest|tiny|minimal|toy|trivial|counter|hello[- ]world|vector ?add\w*)(?: \w+)? (?:demo|example|program|kernel)\b|` +
		`\./(?:demo|vectorAdd|deviceQuery|hello\w*)(?:[\s,;:.]|$)`), nil,
		lazily(`(?i)\b(?:models?|images?|pictures?|videos?|train\w*|batch\w*|resolution|weights|\w*torch\w*|tensorflow|tokens?|datasets?)\b|模型|训练|图[像片]`)},
	// https://docs.nvidia.com/datacenter/tesla/mig-user-guide/
	{sampler.ToldOnSlice, lazily(`(?i)\b(?:with|on|when|if|once|after|under) (?:a |the )?MIG(?:[- ]enabled| (?:is |was )?(?:enabled|on|active|turned on))\b[^.\n]{0,60}` + fault + `|` +
		fault + `[^.\n]{0,40}\b(?:with|on|when|if|once|after|under) (?:a |the )?MIG(?:[- ]enabled| (?:is |was )?(?:enabled|on|active|turned on))\b`), nil, nil},
	// A model of others runs, and all of its weights cannot be trained.
	{sampler.ToldRunsOnly, lazily(`(?i)\b(?:inference|generation|generating|prediction|evaluation|chat(?:ting)?|the demo)\b[^.\n]{0,30}\b(?:works?|worked|runs?|ran|fits?|(?:is|was) (?:fine|ok|okay)|no problems?|fine)\b[^\n]{0,40}\b(?:but|while|whereas|however)\b[^\n]{0,40}\bfine[- ]?tun\w*|` +
		`\bfine[- ]?tun\w*[^.\n]{0,60}` + fault + `[^.\n]{0,24}\b(?:but|while|whereas|although|though)\b[^.\n]{0,16}\b(?:inference|generation|prediction|evaluation|chat(?:ting)?)\b[^.\n]{0,16}\b(?:works?|worked|runs?|ran|fits?|fine|ok|okay)\b|` +
		`(?:推理|评测|交互|对话|预测|生成)[^。\n]{0,8}(?:正常|可以|没有?问题|能跑|能运行)[^。\n]{0,24}微调`), nil,
		lazily(`(?i)\b(?:q?lora|peft|adapters?|offload\w*|zero[-_ ]?[23]|8[- ]?bit)\b`)},
	// The Trainer of transformers divides a batch over all GPUs that it sees: https://huggingface.co/docs/transformers/main_classes/trainer#transformers.TrainingArguments.n_gpu
	{sampler.ToldUnmeant, lazily(`(?i)\b(?:other|second|another|2nd) (?:gpu|card)\b[^.\n]{0,16}\b(?:is|gets?|was|starts) (?:also |then |being |suddenly |to be )*(?:used|filled|occupied)\b|\b(?:uses?|fills?|occup\w+) (?:both|all) (?:of (?:my|the) )?(?:gpus|cards)\b|` +
		`(?:另一|第二|另外一)[张块个](?:显卡|卡|GPU)[^。\n]{0,8}(?:也|同样|同时)[^。\n]{0,4}(?:使用|占用|被用)`), lazily(`(?i)\b(?:only|just|single|want|meant|intend\w*)\b[^.\n]{0,24}\b(?:one|1|single|gpu)\b|其中一[张块个]|单卡|只(?:想|用)[^。\n]{0,6}一[张块个]`), lazily(`\bCUDA_VISIBLE_DEVICES ?= ?["']?\d["']?(?:\s|$)`)},
	// The first graph of a data set in memory is dataset[0]; its data are those of all: https://pytorch-geometric.readthedocs.io/en/latest/tutorial/create_dataset.html
	{sampler.ToldGraphs, lazily(`\bdataset\.(?:_?data)\.(?:x|edge_index|edge_attr)\b`), nil, nil},
	// https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/user_guide/model_configuration.html#instance-groups
	{sampler.ToldLoadedTwice, lazily(`(?s)\binstance_group\b.{0,80}\bcount ?: ?(?:[2-9]|\d\d)\b`), nil, nil},
	{sampler.ToldTFProgram, lazily(`(?i)\b(?:run)?stardist\b|\btensorflow\b|\bkeras\b|\bcsbdeep\b|\bspleeter\b`), nil, nil},
	{sampler.ToldUnloaded, lazily(`(?i)\b(?:modules?|plugins?|programs?|steps?|tools?|library|node)\b[^.\n]{0,16}\b(?:does|did|do)(?:n['’]?t| not) (?:seem to )?(?:free|release)\w* (?:up )?(?:the |its )?(?:gpu |video )?(?:memory|vram)\b[^.\n]{0,16}\b(?:after|when|once) (?:it |the \w+ )?(?:is |has |was )?(?:finish\w*|done|complet\w*|ends?|ended|runs?|ran)\b`), nil, nil},
	// Ollama alone chooses how much of a model the GPU holds. Who says so of smaller models says nothing of that.
	{sampler.ToldOthersRun, lazily(`(?i)\b(?:(?:all|every|any|most)(?: of)?(?: my| the)?|while|whereas|but|and) other models?\b(?: (?:that |which )?I (?:have|use|tried|run)| \w+ly)? (?:(?:can|do|all|still) )?(?:works?|runs?|loads?|are fine)\b`),
		lazily(`(?i)\bollama\b`), nil},
	{sampler.ToldFrozen, lazily(`\bFailed to execute script\b|\b_MEI\d{3,}\b`), nil, nil},
}

// chosen is the list of GPUs that whoever writes gave to CUDA_VISIBLE_DEVICES, in a shell or in a script, or the one on which a model is to lie.
var chosen = lazily(`CUDA_VISIBLE_DEVICES["']?\]?\s*[=,:]\s*[(\["']{0,2}(\d{1,2}(?:,\s?\d{1,2})*)["')\]]|\bdevice_map ?= ?["'\x60]?\{["']{2}: ?(\d{1,2})\}`)

// byDefault is an option with what it is unless it is set, as documentation says it.
var byDefault = lazily(`--([a-z][a-z-]+)\b["'\x60]?[^\n-]{0,40}?\b[Dd]efault(?:s| value)?(?: is| to| of|:|=) ?["'\x60]?(0\.\d{1,3})\b`)

// addSituation puts them into a context.
func addSituation(c *sampler.LogContext, text string) {
	for _, row := range situations {
		if row.words.MatchString(text) && (row.beside == nil || row.beside.MatchString(text)) && (row.except == nil || !row.except.MatchString(text)) {
			c.Told = append(c.Told, row.what)
		}
	}
	if at := byDefault.FindStringSubmatch(text); at != nil {
		c.Told = append(c.Told, sampler.ToldDefault+strings.ReplaceAll(at[1], "-", "_")+" "+at[2])
	}
	if at := chosen.FindStringSubmatch(text); at != nil {
		c.Told = append(c.Told, sampler.ToldVisible+at[1]+at[2])
	}
}
