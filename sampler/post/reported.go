package post

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// cardName is a GPU by its name.
const cardName = `(?:[AHLVTP]\d{1,3}|(?:rtx|gtx|titan|geforce) ?\w{1,5}|[1-5]0[5-9]0)`

var (
	// ranOut are words for a failure for want of memory.
	ranOut = lazily(`(?i)\bgpu(?: memory)? bad_alloc\b|\bbad_alloc["'\x60]* errors?\b|\b(?:graphics|video|gpu) (?:memory|ram) (?:is |was |has been )?exceeded\b|` +
		`\bexceed(?:s|ed|ing)? (?:the |my |our )?(?:cuda|gpu|video) memory(?: limit)?\b|\bno more memory on (?:the |my )?(?:cuda|gpu|card)\b|` +
		`\bnot enough (?:gpu |cuda |video )?(?:memory|vram) for both\b|\bdevice memory (?:is |was |has been )?exhausted\b|` +
		`\binsufficient (?:graphics|device) (?:memory|ram)\b|\b(?:errors?|messages?|warnings?)\b[^.\n]{0,24}\blow (?:video|graphics|gpu) memory\b|` +
		`\b\d{1,3} ?Gi?B (?:of )?(?:vram|(?:gpu|video|graphics) (?:memory|ram)) (?:is|are|was|were) (?:not enough|insufficient|too little)\b|` +
		`\b(?:needs?|needed|wants?|wanted|requires?|required) more (?:memory|vram) than (?:my|our|the) (?:\d+ ?GB )?(?:gpu|card|graphics card) has\b|` +
		`\b(?:wants?|needs?|asks? for|allocat\w*) \d{1,3} ?Gi?B (?:of )?(?:gpu|video|graphics) (?:ram|memory)\b[^.\n]{0,24}\b(?:my|our|on an?|` +
		`but)\b[^.\n]{0,24}\b\d{1,3} ?Gi?B\b|\bE_OUTOFMEMORY\b|\bcu(?:da)?_?mem_?alloc\w*\W{0,3}\b(?:errors?|fail\w*)\b|` +
		`\bno (?:gpu )?memory (?:is |was )?(?:left|remains|remaining) for the kv[- ]cache\b|\b(?:leaves?|left) no (?:gpu )?memory for the kv[- ]cache\b|` +
		`\b(?:gpu|vram|video memory|gpu memory|memory of (?:the |my )?gpu)\b(?: \w+)?? (?:runs|ran|gets|got|is|was|becomes) (?:completely |totally |` +
		`entirely )?(?:full|maxed out|exhausted|not enough)\b|` +
		`\b(?:memory|vram) (?:is|was|gets?|got|becomes?) (?:\w+ )?(?:exhausted|used up|overloaded)\b|` +
		`\b(?:goes|went|going|gets|got|runs|ran) (?:over|beyond|past|above) (?:the |my |our |its )?(?:gpu |cuda |video |available )?(?:memory|vram)(?: limit|` +
		` size)?\b|\b(?:eats?|ate|eating|fills?|filled|filling|consum\w+) (?:up )?(?:(?:all|the whole|the entire) )?(?:of )?(?:my |the |` +
		`its )*(?:\d+ ?Gi?B (?:of )?)?(?:vram|(?:gpu|video) memory|memory of (?:my|the) gpu)\b[^.]{0,30}\b(?:crash\w*|dies|died|stop\w*|fail\w*|errors?|` +
		`kill\w*)\b|` +
		`\b(?:gpu )?memory (?:error|allocation (?:failed|failure|error))s? (?:on|from|of|with|for) (?:the |my |an? )?(?:\d+ ?GB )?(?:gpu|cuda|card)\b|` +
		`\bneeds? more (?:vram|gpu memory) than (?:I|my|we|there)\b|\bfailed to allocate (?:\w+ )?memory on (?:the |my )?(?:device|gpu|card)\b|` +
		`\b(?:wo|does|do|did)(?:n['’]?t| not) fit (?:in|into|on|onto) (?:(?:my|our) (?:\d+ ?Gi?B )?(?:gpu|card|vram)|` +
		`(?:an? |my |our |one |single )+(?:nvidia |tesla )?` + cardName + `)\b|\bcan(?:not|['’]?t| not) fit (?:it|this|them|everything|(?:the |my |this |that )\w+(?: \w+)?) (?:in|into|on|onto) (?:an? |my |our |one |single )+(?:\d+ ?Gi?B )?(?:gpu|card|` + cardName + `)\b|\b(?:gpu|card)\b(?: (?:with|of) \d+ ?Gi?B)? (?:can(?:not|['’]?t| not)|could(?: not|n['’]?t)) (?:hold|fit|take) (?:all|both|them|everything)\b|` +
		`\b(?:gpu|card)\b[^.]{0,16}\b(?:does not|doesn['’]?t|do not|don['’]?t) have (?:enough|sufficient) (?:memory|vram|ram)\b|` +
		`\b(?:cuda|gpu)_?(?:error_?)?out_of_memory\b|\boom(?:s|ed|['’]d)?\b|` +
		`\bout[ -]of[ -](?:the |all |my |our |both )*(?:\d+ ?G(?:i?B)? )?(?:of )?(?:(?:gpu|cuda|video|graphics|system|host|cpu)(?: and |[ -])){0,2}(?:memory|mem\w{1,3}(?:ry|ies)|` +
		`vram|ram)\b|\bnot en\w{2,4} (?:gpu |cuda |video )?(?:memory|vram)\b|\binsufficient (?:gpu |cuda |video )?(?:memory|vram)\b|RESOURCE_EXHAUSTED|` +
		`\bResourceExhaustedError\b|\b(?:memory|vram) (?:is|was) (?:not enough|insufficient)\b|\bcuda out for memory\b|CUDA_ERROR_OUT_OF_MEMORY|` +
		`\b(?:Cuda)?OutOfMemory(?:Error|Exception)?\b|\bcr[au]sh\w*\b[^.]{0,40}\bRAM\b|\bRAM\b[^.]{0,20}\bch?r[au]sh\w*|` +
		`\bRAM (?:usage )?(?:goes|went|gets?|got) (?:over|above|beyond)\b|` +
		`\b(?:system |host |cpu )?RAM\b[^.]{0,30}\b(?:is|gets?|was) (?:\w+ )?(?:full|filled|exhausted|used up)|` +
		signaled + `|` +
		`\bmemory\b(?:[^.]|\.\d){0,60}\b(?:overflows?|(?:has |have )?(?:run|runs|ran) out)\b|\b(?:memory|ram|vram)\b[^.]{0,20}\bexplo(?:de[sd]?|ding)\b|` +
		`\bresource[- ]exhaust\w* (?:error|exception)|\bcuda ?(?:malloc|memory) (?:error|exception)\b|` +
		`\b(?:due to|because of) (?:an? |the )?(?:gpu |cuda |video )?memory (?:issue|problem|error|limit)\w*|\b(?:runs?|ran|end(?:s|ed)? up) without memory\b|` +
		`\b(?:is|was|goes) (?:always )?over memory\b|\b(?:exceed(?:s|ed)?|surpass(?:es|ed)?)\b[^.%]{0,20}\b(?:available|system|host|total) RAM\b|` +
		`\balways over memory\b|\b(?:overflow|overload|crash)(?:s|es|ed)? (?:the )?(?:gpu )?(?:memory|vram)\b|\b(?:CUBLAS|CUDNN)_STATUS_ALLOC_FAILED\b|` +
		`\b(?:is|was|gets?|got|been|be|being|says?|just|displays?|shows?|prints?) (?:silently |simply |just )?["'“\x60]?killed\b|` +
		`\b(?:returns?|gives?|gave|returned|hint of|ends? (?:with|in)) ["'“\x60]+killed\b|\b(?:message|saying|output|word)\b:? ?["'“\x60]+killed\b|` +
		`["'“\x60]killed["'”\x60]\s+(?:(?:will|always|then|just|also|message|error) )*(?:appear|show|come|came|occur|pop|happen)\w*\b|` +
		`\b(?:workers?|process(?:es)?|programs?|scripts?|jobs?),? ?(?:was |were |is |are |always |being )?killed\b|\b(?:gets?|got|getting) (?:the |an? )?["'“\x60]?killed["'”\x60]? error\b|(?:爆|炸)(?:显存|内存)|\b(?:process|program|script|python|job|it)\b (?:just |simply |always |then )?kill(?:s|ed) itself\b|` +
		hanRAM + `|内存[^。]{0,12}占满|(?:被|自动) ?(?:系统)? ?(?:kill|杀)|\benforce fail at \S*(?:CPUAllocator|alloc_cpu)\.cpp\b|\bDefaultCPUAllocator\b|` +
		`\bCUDA error: out of memory\b|\bcudaErrorMemoryAllocation\b|\bVRAM is (?:exhausted|full)\b|` +
		`\b(?:VRAM|GPU memory|video memory) (?:\w+ )?(?:max(?:es|ed) out|overflow(?:s|ed))\b|\bGPU (?:memory )?is full\b|\bno (?:GPU |video )?memory left\b|` +
		`\bexceeds? (?:the |my )?(?:GPU|video) (?:memory|RAM)\b|\bmemory error cuda\b|\b(?:GPU memory|VRAM) (?:fills up|hits|reaches)\b|` +
		`n['’]t have enough (?:VRAM|GPU memory)\b|\b(?:could not|failed to|unable to|cannot) allocate\b[^.\n]{0,40}\b(?:CUDA|GPU)\b|` +
		`\b(?:run|runn?s|running|ran) (?:o[ut]{0,3}|ut) (?:of|off|fo|for) (?:the )?(?:gpu |cuda |video |graphics )?(?:memory|mem|vram)\b|` +
		`\bVK_ERROR_OUT_OF_\w+_MEMORY\b|\b(?:no|zero) (?:more |free )?vram (?:error|left)\b|\bvram (?:is )?exhaust\w*|\bnot enough (?:gpu|cuda|video) mem\b|` +
		`\b(?:required|needed|necessary) (?:gpu |cuda |video )?(?:memory|vram)\b[^.\n]{0,24}\b(?:exceed(?:s|ed)?|is more than|is larger than)\b|` +
		`\b(?:uses?|used|takes?|needs?|using|consumes?) (?:way |far |much )?(?:to|too) (?:much|many) (?:of )?(?:my |the )?(?:gpu|cuda|video|` +
		`graphics)[ -]?(?:memory|ram)?\b|\b(?:uses?|used|takes?|needs?|using|consumes?) (?:way |far |much )?(?:to|too) much vram\b|` +
		`\b(?:I|we)(?:['’]m|['’]ve| always| still| just| then| will| also| again)* (?:get|got|getting|have|had|hit|met|face[ds]?|receive[ds]?|encounter(?:ed)?|` +
		`run into|ran into) (?:an? |the |this |out of )?memory errors?\b|` + podKilled + `|` + allOfRAM + `|` + overLimit + `|` + takesRAM + `|` + ofMachine + `|` + unpinned + `|` + grownHost + `|` + endsForHost + `|` + loadedUntil + `|` + grownTo + `|` + refusedSize + `|` + wanting + failsIn())
	// onHost are words for the memory of the machine.
	onHost = lazily(`(?i)` + notOfGPU + `|` + allOfRAM + `|\b(?:oom|out[ -]of[ -]memory)\b ?\(?(?:(?:of|in|on) )?(?:the )?(?:system|host|cpu|main)[ -](?:ram|memory)\b|` +
		`\b(?:cpu|host|system|main) (?:memory|ram)\b[^.\n]{0,16}\b(?:fills? up|filled up|(?:is|was|gets?|got) (?:\w+ )?(?:full|exhausted))\b|` +
		`\b(?:does|do|did)(?: not|n['’]t) (?:release|free) (?:the |any )?(?:system|host|cpu|main) (?:memory|ram)\b|` +
		`\b(?:lack|shortage|want) of (?:system |host )?(?:ram|(?:system|host) memory)\b|\b\d+ ?GB? of (?:system )?RAM\b[^.]{0,40}\bout of memory\b|` +
		`\bout of memory\b[^.]{0,60}\b(?:on|with) (?:an? |my |the )?(?:system|machine|server|node|computer|pc) (?:with|of|` +
		`that has) \d+ ?GB (?:of )?(?:system )?RAM\b|\b(?:hits?|reaches|at) \d{2,3} ?% of (?:the )?(?:system|host|machine)(?:['’]s)? (?:memory|RAM)\b|` +
		`\benforce fail at \S*(?:CPUAllocator|alloc_cpu)\.cpp\b|\bDefaultCPUAllocator\b|` +
		`\b(?:huge|excessive|enormous|massive|insane) RAM (?:consumption|usage)\b|` + takesRAM + `|\busing GPU in script\?*:?\W{0,3}(?:no|false|cpu)\b|\bout[ -]of[ -](?:the |all |my |our )*(?:\d+ ?G(?:i?B)? )?(?:of )?(?:(?:system |host |cpu )?ram|(?:system|host|cpu) memory)\b|` + ofMachine + `|\b(?:cpu|host|system|ram)[ -]oom\b|\boom (?:on|in|of) (?:the )?(?:cpu )?ram\b|\b(?:ram|memory) on (?:the )?cpu\b|` +
		`\b(?:exceed(?:s|ed)?|surpass(?:es|ed)?)\b[^.]{0,20}\b(?:available|system|host|total) RAM\b|` +
		`\b(?:system |host )?RAM\b[^.]{0,30}\b(?:is|gets?|was) (?:\w+ )?(?:full|filled|exhausted|used up)|\bcr[au]sh\w*\b[^.]{0,40}\bRAM\b|` +
		`\bRAM\b[^.]{0,20}\bch?r[au]sh\w*|\bRAM (?:usage )?(?:goes|went|gets?|got) (?:over|above|beyond)\b|(?:^|[^卡])` + hanRAM + `|(?:CPU|主机|系统)内存[^。]{0,12}占满`)
	// surelyHost is the head of the list of processes that Ray prints when the memory of a machine is nearly full, and words for
	// nothing but that memory.
	surelyHost = lazily(`(?m)` + arrayRetyped + `|^\W*PID\s+MEM\(GB\)\s+COMMAND\b|\b(?i:host (?:is |was )?out of memory|killed by (?:the )?(?:linux |kernel )?oom[- ]?killer|(?:linux|kernel) oom[- ]?killer\b[^.\n]{0,30}\bkill\w*)\b`)
	// errno12 is what the system answers where it has no memory left, which a GPU has no part in.
	errno12 = lazily(`(?i)\[Errno 12\]`)
	// ofGPU is memory of a GPU in words that are common for that of the machine.
	ofGPU = lazily(`(?i)显卡|显存|\b(?:memory|ram|system) and (?:vram|(?:video|gpu|graphics) (?:memory|ram))\b`)
	// either is memory of whatever kind, which a text that speaks of a GPU's means by it, unless it has words for that of the machine.
	either    = lazily(`(?:^|[^卡主机统U ] ?)` + hanRAM)
	surelyRAM = lazily(`(?i)(?:主机|系统|电脑|机器|服务器|CPU)的? ?内存|内存条|\bRAM\b|\bkilled\b|\bswap\b|DataLoader worker`)
	// paintsVideo are words of programs that make pictures and videos; llamas is what only llama.cpp and what is made from it have.
	paintsVideo = lazily(`(?is)` + videoModel + `|\bcomfy\w*|\bworkflows?\b|\b[ti]2[vi]\b|\bsage ?att\w*|\bhunyuan\b|\bflux\b|\bk?sampler\b|\bunet\b`)
	llamas      = lazily(`(?i)\b(?:ollama|llama[._-]cpp|llama runner|koboldcpp|lm ?studio)\b|\bggml_`)
	// killed: by a signal, and the GPU is not spoken of.
	killed = lazily(`(?i)` + signaled + `|\bkill(?:ed|s itself)\b|(?:被|自动) ?(?:系统)? ?(?:kill|杀)`)
	// byHimself is a process that whoever writes has ended, or tried to.
	byHimself = lazily(`(?i)\b(?:I|we|you)(?:['’]ve| have| had| then| just| also| already| even)* kill(?:ed)?\b|` +
		`\bkilled (?:it|them|by (?:me|us|hand|myself)|manually|(?:all |both |the |my |every )+(?:\w+ )?(?:process(?:es)?|jobs?|programs?|scripts?|kernels?))\b|` +
		`\b(?:manually|(?:to|must|should|can|could|cannot|may|not|needs?) be) killed\b`)
	// forGPU is what it was killed for where that is said.
	forGPU = lazily(`(?i)\bkilled\b[^.]{0,60}\b(?:due to|because|since|as|by|for|when|once)\b[^.]{0,24}\b(?:(?:cuda|gpu|video)(?: memory| ram| usage)|vram)\b|` +
		`\b(?:(?:cuda|gpu|video) memory|vram)\b[^.]{0,40}\b(?:increas|grow|ris|climb|fill)\w*\b[^.]{0,60}\bkilled\b`)
	// otherSignal ended a process and is none of those that a system without memory sends.
	otherSignal = lazily(`(?i)\bkilled by (?:the )?signal:? ?(?:segmentation fault|aborted|terminated|illegal instruction|floating point|hangup|interrupt|(?:1|2|4|6|8|11|15)\b|SIG(?:SEGV|ABRT|TERM|ILL|FPE|HUP|INT)\b)`)
	// cpuWorks: with the same memory of the machine it goes through, which beside a failure for want of memory speaks for the GPU.
	cpuWorks = lazily(`(?i)\b(?:the |my )?CPU (?:works|is (?:fine|ok))\b|\bworks? (?:fine |well |ok )?(?:on|with|using) (?:the |my )?CPU\b`)
	// handles of CUDA libraries that could not be made.
	handles = lazily(`\bCU(BLAS|DNN)_STATUS_ALLOC_FAILED\b`)
	// code is no sentence.
	sized = lazily(`(?i)\b(?:batch(?:[-_ ]?size)?|bs) ?= ?\d+|\b(?:with|using|set|setting|use|for|at) [\w-]+` + takenValue + `(?:(?:,| and|, and) [\w-]+` + takenValue + `)*`) // as people write a size or a setting in a sentence
	code  = lazily(`^[rfb]?(?:"{3}|'{3})|\(["'r]|[=!]=|=\s*[("'\[{]|[│❱]|--\S*oom|\becho\b|\w::\w|\b[A-Z]{3,}_[A-Z_]+\(|\w = \w|#\s*\w+Error|^//|\w\(&|` +
		`^[+-]?\s*"[^"]*",?$|^(?i:cuda|gpu|error)\b[^:]{0,30}:|^\W*(?:raise|throw|return|elif|except)\b|(?i:\bevents?:|\berrors?:) *\d`)
	// happens: it did, or does each time.
	happens = lazily(`(?i)\b(?:getting|running|having|receiving|facing|stops?|stopped|dies|died|die (?:with|of|from|on)|ch?rash(?:es|ed)?|fail(?:s|ed|ing)?|comes?|came|` +
		`goes|went|gets?|got|ran|runs?|throws?|gives?|gave|raises?|hits?|is|are|was|ends?|ended|happens?|happened|appears?|occurs?|occur|occurred|exists?|` +
		`overflows?|exceed(?:s|ed)|surpass(?:es|ed)|shows?|says?|reports?|reported|displays?|keeps?|kill(?:s|ed)|terminate[sd]|fr(?:eezes|oze)|have|had|` +
		`leads? to|results? in|caus(?:es|ed)|exit(?:s|ed)|returns? ["'“]+|(?:it|they|script|program|training|inference)(?: now)? returns?|breaks?|broke|then|today|` +
		`since (?:last|yesterday|this)|still|always|immediately|too|when (?:I|we|my)|while|during|as soon as|after)\b|` +
		`(?:\S+ ){4,}["'“]?(?:cuda |gpu )?(?:oom|out of memory)["'”.!]*$|^(?:[^\s:"]+ ){2}[^:"]*: *["'“]?(?:cuda |gpu )?(?:oom|out)|^.{0,3}(?i:cuda |gpu )?oom|` +
		`^\W*(?:(?:cuda|gpu|device|rank|error|still|always|\d+|#\d+):? ){0,4}(?:oom|out of memory)(?: error)?,? even (?:if|with|when|after|on|for)\b|` +
		`\bproduced\b|\b(?:oom|out of memory) now\W*$|\b(?:aborts?|aborted)\b|[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Cyrillic}]` + endsIn())
	// talk: it is only talked about, as in documentation and in lists of changes.
	talk = lazily(`(?i)\byou(?:r|rs)?\b|\b(?:may|might|could|would|should|likely|possibly|potential(?:ly)?|probably)\b|` +
		`^\W*(?:add|adds|added|better|improve|handle|support|remove|make|update|reduce|lower|use|set|try|configures?|specif(?:y|ies)|defines?|controls?|` +
		`provide|surface|expose|propagate|emit|track|document|docs|feat|chore|tests?|refactor)\b|\bit will raise\b|` +
		`\b(?:in case|e\.g\.|for example|for instance|such as|how to|how can|how do|previously (?:it |we )?(?:was|were|went|ran|got|crashed|failed|hit)|` +
		`what to do|known issues?|limitations?|(?:is|are) (?:now )?reported|` +
		`can (?:also |still |even )?(?:happen|occur|fail|run out|go out|go oom|be|cause|lead|get)|consider|workaround|troubleshooting)\b|` +
		`\b(?:fix(?:es|ed)?|avoid\w*|prevent\w*|mitigat\w*|solv(?:e[sd]?|ing)|resolv\w*|skip\w*|retr(?:y|ies|ied|ying)|recover\w*|catch\w*|improv\w*|support\w*|merge[ds]?)\b|` +
		`\b(?:of|for|to|detect\w*|list\w*|find\w*) (?:\w+ )?oom[- ]killed\b|\b(?:oom|out[- ]of[- ]memory)(?: error)? (?:memory )?(?:summary|header|retryable|suggests?|situations?|conditions?)\b|` + spared + `|\b(?:was|were|am) afraid\b|\bexpected (?:it|this|that) to\b|\bfirst (?:suspected|thought)\b|\bI (?:read|heard) that\b|\bwondering (?:whether|if)\b|` +
		`\b(?:my friend|someone|somebody) (?:got|gets|said|says|has|had)\b|\bothers who\b|` +
		`\b(?:occurs?|happens?|raised|thrown|refers?)\s+(?:when|if|that|to)\b|\b(?:raises|throws|returns|prints) ["'“\x60][^"'”\x60]+["'”\x60] (?:for|if)\b|` +
		`(?:^|[^sd] )\bsomething like\b|\b(?:if|unless) (?:you|the|your|an?|it|this|that|there|any|one|memory|not|still|gpu|cuda|\w+ing)\b|\bmeans\b|` +
		`\b(?:oom|memory) (?:events|errors) (?:is|are)\b|#\d{2,}|\bso (?:set|raise|lower|increase|reduce) (?:it|them|the)\b|` +
		`\b(?:followed by|looks like|appears to|recommend\w*|last (?:year|month|week|time))\b|^\W*(?:before|previously|earlier)\b|^\W*\*\*[^*]+\*\*\s*[(:]|怎么办|` + otherwise + doubtsIn() + deniesIn())
)

// ofMachine is a machine that stops, told in one sentence with its memory.
const ofMachine = `\bram\b(?: \w+){0,3} (?:increas|grow|ris|fill)\w*\b[^.]{0,60}\b(?:until|till)\b[^.]{0,24}\b(?:crash|kill|die|freez)\w*\b|` +
	`\b(?:machine|computer|laptop|workstation|server|node|system|pc)\b[^.]{0,16}\b(?:collaps|crash|fr[eo]ez?|froz|h[au]ng|reboot|died|dies|stop+ed respond|` +
	`unrespons)\w*\b[^.]{0,60}\b(?:(?:cpu|host|system|main) (?:memory|ram)|ram)\b|` +
	`\b(?:(?:cpu|host|system|main) (?:memory|ram)|ram)\b[^.]{0,60}\b(?:machine|computer|laptop|workstation|server|node|system|pc)\b[^.]{0,16}\b(?:collaps|` +
	`crash|fr[eo]ez?|froz|h[au]ng|reboot|died|dies|stop+ed respond|unrespons)\w*`

// fewerBits are weights of fewer than 16.
const fewerBits = `\b(?:q[2-8](?:_\w+)?|quants?|quanti[sz]\w+|nf4|fp8|int[48]|[48][- ]?bits?|fewer bits)\b`

// videoModel is one that makes videos, by its name, by both of its sizes (https://github.com/Wan-Video/Wan2.1) or by how users of ComfyUI call what
// runs it: the nodes of others around it are wrappers, its own are native. A size or a format of files alone names no kind of model.
const videoModel = `\bwan ?-?2[._]\d|\bwan ?video|\bvideo ?wrapper\b|\bnative (?:work ?)?flows?\b|\b1\.3B(?:_|\b).{0,400}\b14B(?:_|\b)|\b14B(?:_|\b).{0,400}\b1\.3B(?:_|\b)`

const (
	// takenValue is what somebody writes behind the name of a setting that he has taken.
	takenValue = ` ?= ?(?:["'\x60][\w.-]{1,24}["'\x60]|[\w.]{1,12}\b)`
	// refusedSize is an amount that is asked of a GPU, at which the program ends.
	refusedSize = `\b(?:tr(?:y|ies|ied|ying) to|wants? to|attempts? to|will|it) (?:alloc\w*|reserv\w*|request\w*)\b[^.\n]{0,16}?\b\d+(?:\.\d+)? ?[GT]i?B\b(?:[^.\n]|` +
		`\.\d){0,40}?\b(?:gpu|cuda|vram|device|card)\b[^.\n]{0,24}\b(?:crash(?:es|ed)|dies|died|fail(?:s|ed)|aborts?|aborted|stops|stopped)\b`
	// grownTo is a GPU that fills up until the program ends, told without a word for the failure.
	grownTo = `\b(?:(?:gpu|cuda|video) (?:memory|ram)|vram|memory of the gpu)(?: usage| consumption| use)?\b[^.]{0,30}\b(?:increas|grow|ris|` +
		`climb)\w*\b[^.]{0,50}\b(?:crash(?:es|ed)|dies|died|(?:is|gets|was|be) killed|fail(?:s|ed))(?:\s*[.,;!?)]|\s*$|` +
		` (?:at|after|with|in|on|during|around|and|because|due)\b)`
	// wanting is a program that ends for want of memory.
	wanting = `\b(?:gpu|cuda|vram) memory allocation (?:failures?|errors?)\b|\b(?:exceed(?:s|ed)?|surpass(?:es|ed)?) the memory of (?:the|my|our) (?:gpu|card)\b|(?:\b(?:cuda|gpu|runs?|ran|get|got) |[\p{Han}] ?)out memory\b|` +
		`\b(?:breaks?|broke|crash(?:es|ed)?|fail(?:s|ed)?|dies|died|stops|stopped|ends|ended|aborts|aborted) (?:\w+ ){0,3}?(?:due to|because of|for|from|` +
		`by) (?:an? |the )?(?:lack|shortage|want) of (?:gpu |cuda |video |system |host )?(?:memory|v?ram)\b`
)

// unpinned is memory of the host that a program was to pin and could not.
const unpinned = `\b(?:can ?not|can['’]?t|could(?: not|n['’]t)|unable to|fail(?:s|ed)? to|not able to|refus\w+ to) (?:\w+ )?(?:alloc\w*|pin|get|reserve|` +
	`register)\b(?:[^.\n]|\.\d){0,40}?\b(?:pinned|page[- ]locked) (?:host |system )?memory\b|` +
	`\b(?:pinned|page[- ]locked) (?:host |system )?memory\b[^.\n]{0,16}\b(?:fails?|failed|(?:is|was|gets) refused)\b|` +
	`\b(?:cuda(?:HostAlloc|MallocHost|HostRegister)|cuMem(?:HostAlloc|HostRegister|AllocHost))\b[^.\n]{0,24}\b(?:fails?|failed|errors?)\b`

var couldNotPin = lazily(`(?i)` + unpinned)

// takesRAM is a program for which the memory of the machine is not enough; ofGPUs is that of a GPU by the same word.
const takesRAM = `\b(?:consum|eat|ate|fill|exhaust|occup|us|pump|tak|took|hog|gobbl|drain|swallow|suck|devour|saturat)\w* (?:up )?(?:all|nearly all|almost all|` +
	`all but \S+) (?:of )?(?:my |the |its |available |system |host |free |physical )*(?:memory ?\(RAM\)|RAM\b)`

// allOfRAM is that in languages that Latin letters are of, as notebooks print it there, too; overLimit is more than a job had asked for.
const (
	allOfRAM  = `\b(?:utili[sz]|usa|usó|usan|consum|consomm|agot|llen|ocup|acapar|esgot|esaur|épuis)[\p{L}]* (?:toda l?a|toute la|tutta la) (?:memoria |memória |mémoire )?RAM\b`
	overLimit = `\bexceed(?:s|ed|ing)? (?:(?:this|that|the|my|our|its|job['’]s) )+memory limit\b`
)

var ofGPUs = lazily(`(?i)\b(?:gpu|video|graphics|cuda)[ -]RAM\b|\bRAM (?:of|on|in|from) (?:(?:the|my|an?|each|both|our) )*(?:\w+ )?(?:gpu|graphics?|card|cuda|video)`)

// yesOrNo is a question whether something does; hiresFix is the name of a setting, which fixes nothing.
var (
	yesOrNo  = lazily(`(?i)^\W*(?:does|do|will|would|can|could)\b[^.]*\?\s*$`)
	hiresFix = lazily(`(?i)\bhi(?:gh)?[- ]?res\.? ?fix\b`)
)

var (
	// heaps are memory that is neither of a GPU nor of the machine: what a program gave itself. ofDevices are words of the others.
	heaps     = lazily(`(?i)\bjava(?:\.lang\.OutOfMemoryError|script heap| heap)|\b(?:JVM|metaspace|heap space|GC overhead|maxmemory|redis|allowed memory size|innodb_buffer_pool|shared_buffers|work_mem|elasticsearch)\b`)
	ofDevices = lazily(`(?i)\b(?:gpus?|vram|cuda\w*|cudnn|nvidia|geforce|rtx|gtx|torch|pytorch|tensorflow|jax|oom[- ]?killed|killed)\b|显[存卡]`)
	// onDisk is an error with the name of one of memory, for a disk that is full.
	onDisk = lazily(`(?i)\b(?:disk )?quota (?:is |was )?exceeded\b|\bno space left on device\b|\btoo many open files\b`)
	// byName is something that only is called like that.
	byName = lazily(`(?i)^\W*(?:now playing|playing|tracks?|songs?|albums?|uploading|uploaded|downloading|downloaded|wrote|saved|saving|repo|repository|artifact)\b`)
)

// spared: it did not run out.
const spared = `\bimpossible to (?:go |run |get )?(?:oom|out of)|(?:\b(?:no|without|never|not|zero|longer|instead of|rather than|against|than)|` +
	`n['’]t)\s+(?:(?:gets?|got|had|go|goes|gone|runs?|ran|ends?|in|sees?|seen|saw|hits?|an?|any|single|more|the|cuda|gpu|cpu|host|system|ram|running|going|` +
	`into)[\s-]+){0,4}(?:oom|out[ -]of)`

// otherwise: it is said to be another problem.
const otherwise = isNot + ` (?:(?:an?|the|really|actually|simply|just|any) )*(?:issue|problem|matter|question|case|error|symptom|sign) (?:about|of|with|from|due to) ` + wantOf +
	`|` + isNot + ` (?:(?:really|actually|just|simply|likely) )*(?:because of|due to|caused by|related to|about|from) ` + wantOf +
	`|\b(?:unrelated to|nothing to do with|rul(?:e|es|ed|ing) out|exclud(?:e|es|ed|ing)) ` + wantOf +
	`|` + isNot + ` (?:think|believe|suspect) (?:it|this|that)(?:['’]s| is| was| has)? (?:(?:about|due to|because of) )?` + wantOf +
	`|` + isNot + ` (?:(?:really|possibly) )*(?:be|look like|seem like|seem to be|appear to be) (?:an? (?:error|problem|issue|case|matter) (?:of|for|about|with) )?` + wantOf +
	`|\b(?:oom|out[ -]of[ -]memory)(?: \w+)? (?:is|was)(?: not|n['’]t) (?:(?:the|an?|my|our) )?(?:problem|issue|cause|reason|culprit|case)\b`

const (
	// isNot denies; wantOf is the failure as what is denied.
	isNot  = `(?:\b(?:not|no|cannot)|\b(?:is|was|are|does|do|did|ca|could|should|would)n['’]?t)`
	wantOf = `(?:(?:an?|the|any|my|our|some|being|running|going) )*(?:(?:cuda|gpu|simple|typical|plain) )*(?:oom\b|out[ -]of[ -](?:(?:gpu|cuda|video) )?(?:mem|v?ram))`
)

// wishes are no doubt about what happened.
var wishes = lazily(`(?i)\b(?:I|we) would (?:like|love|want)\b|\bwould be (?:great|nice|happy|appreciated|grateful)\b`)

// asks is a question for help with what happened to the one who writes.
var asks = lazily(`(?i)\b(?:is|are) there (?:an?|any) (?:\w+ )?(?:fix|solution|workaround|way|trick|method)s?\b(?: to (?:solve|fix|resolve|reduce|lower))?|` +
	`\bhow (?:can|do|should|could) (?:I|we) (?:\w+ )?(?:fix|solve|resolve|avoid|prevent|handle|debug)\b`)

// asksAbout is a question for help too, where who writes it speaks of himself. Elsewhere it is a heading.
var asksAbout = lazily(`(?i)\bhow to (?:solve|fix|resolve|deal with|handle|modify|change|reduce|lower)\b|\bwhat if\b|\bhow (?:can|do|should|could) (?:I|we)\b|` +
	`\b(?:I|we) should try\b|\bI do(?:n['’]?t| not) k?now (?:if|why|whether)\b|怎么办|如何解决|如果`)

// met is somebody to whom it happened, whatever else the sentence is about; brings is what did that to him.
var (
	met = lazily(`(?i)\b(?:(?:I|we)(?:['’]m|['’]ve)?(?: (?:am|have|had|always|still|just|also|then|keep|now|often|sometimes|usually|frequently|regularly|constantly))*|` +
		`(?:and|but) (?:still|then|always|again)) (?:get|got|getting|encounter(?:ed|ing)?|meets?|met|ran into|running into|receive[d]?|receiving|face[d]?|` +
		`facing|hit|see|saw)\b[^.;!?]{0,40}(?:\boom\b|\bout[ -]of[ -]memory\b)|` +
		`(?:\boom\b|\bout[ -]of[ -]memory\b)[^.;!?]{0,30}\b(?:happens?|occurs?|appears?|comes?|shows? up)\b[^.;!?]{0,10}\b(?:when|while|after|as soon as) (?:I|we)\b|` +
		`\b(?:when|while|after) (?:I|we)\b[^.;!?]{0,60}\b(?:occ[ue]r\w*|happens?|problem of|error of)\b[^.;!?]{0,20}(?:\boom\b|\bout[ -]of[ -]memory\b)`)
	brings = lazily(`(?i)\b(?:since|because|but|then) (?:my|our|the) (?:GPU|card|machine|server|training|job|script|program)\b[^.;!?]{0,60}\b(?:runs|ran|is running|` +
		`keeps running) out of (?:GPU |CUDA |video )?(?:memory|vram)\b|` +
		`\b(?:this|it|which) (?:always |still |just |also |then |now )?(?:throws|raises|leads to|results in|gives)\b[^.;!?]{0,40}(?:\boom\b|` +
		`\bout[ -]of[ -]memory\b)`)
)

// manners are how somebody speaks to those whose help he wants: no doubt that it happened.
var manners = lazily(`(?i)\b(?:using|with|at|in|on|following) (?:all |the |your )*(?:recommended|suggested)\b|\bshould (?:still |also )?have (?:about |around |at least )?\d+ ?G|` +
	`\b(?:you(?:rs?)?|(?:could|would|can|may|might) (?:I|you|we|u)|could not|how should I|such as)\b|` +
	`^\W*(?:before|previously|earlier) (?:(?:the|my|this|that|last) )+(?:updat|upgrad)\w*|` +
	`\b(?:raises|throws|returns|prints) ["'“\x60][^"'”\x60]+["'”\x60] (?:for|if)\b|\b(?:occurs?|happens?) to (?:me|us)\b`)

// comesWhen is when it comes, in a sentence that goes on to ask about it.
var comesWhen = lazily(`(?i)\b(?:occurs?|happens?|appears?|comes?) (?:when|if|while) (?:I|we|my|our|(?:train|test|runn?|us|infer|evaluat|load|fine-?tun|sav|process)\w*ing|inference)\b|` +
	`\b(?:but|while|and)\b[^.,;?]{0,24}\b(?:small\w*|low\w*|short\w*|tiny)\b[^.,;?]{0,30}\bcan be\b(?: [^b]|[,.?!]|$)`)

// What should have been says nothing against what came instead: hopes end at the word that turns to it, or stand behind though. evenIf
// is what was so, not what may be; maybes are hopes of who speaks of himself; contrary is a failure that should not come and does.
var (
	hopes  = lazily(`(?i)\b(?:should|(?:would|could) (?:normally|usually)|expected (?:it|this|that|\w+ \w+) to)\b`)
	maybes = lazily(`(?i)\b(?:may|might|could|would|possibly|probably)\b`)
	turns  = lazily(`(?i)[\s,;(–—-](?:but|yet|however|nevertheless|nonetheless|while|whereas)\b`)
	though = lazily(`(?i)\b(?:although|though|whereas|despite|in spite of)\b[^,;]*`)
	evenIf = lazily(`(?i)\beven if\b`)
	// wasSo is when it happened, by whoever saw it.
	wasSo = lazily(`(?i)\bif ((?:the |my |an? )?(?:\w+ )?\w+ (?:was|were) (?:above|over|long|large|big|high|more|great)\w*)`)
	// ranThen is when or with what it ran, or since when it does not, against which the failure of now is set.
	ranThen = lazily(`(?i)\b(?:last (?:week|month|night|year|time)|yesterday|previously|earlier|` +
		`before),? (?:(?:it|this|that|everything|training|inference|(?:the|my|our) (?:same )?\w+) (?:still |just |all )?)?(?:ran|worked|trained|works|fitted|` +
		`fit|was (?:fine|ok|okay))\b[^.\n]{0,40}?(?:[,;]|\bbut\b)|\bsince last (?:week|month|night)\b|` +
		`[,;] ?(?:but |and )?(?:with|in|on|at|using) (?:the )?(?:commit|version|release|v\d|\d+\.\d)[^,;\n]{0,24}\bno (?:oom|out of memory|problems?|errors?|` +
		`issues?)\b`)
	contrary = lazily(`(?i)\bshould(?: not|n['’]?t) ([^.,;]{4,60}),? (?:but|yet|and yet) (?:it|this) (?:\w+ )?(?:does|did|happens)\b`)
)

// expected is a sentence without what was only expected where it tells of a failure.
func expected(s string) string {
	if evenIf.MatchString(s) {
		s = evenIf.ReplaceAllString(s, "even with")
	}
	s = wasSo.ReplaceAllString(s, "when $1")
	s = ranThen.ReplaceAllString(s, " ")
	if contrary.MatchString(s) {
		s = contrary.ReplaceAllString(s, "does $1")
	}
	if first.MatchString(s) && maybes.MatchString(s) {
		return expectedBy(expectedBy(s, maybes), hopes)
	}
	return expectedBy(s, hopes)
}

func expectedBy(s string, hopes *lazy) string {
	if !hopes.MatchString(s) {
		return s
	}
	if at := though.FindStringIndex(s); at != nil && !ranOut.MatchString(s[at[0]:at[1]]) {
		s = s[:at[0]] + hopes.ReplaceAllString(s[at[0]:at[1]], "is to") + s[at[1]:]
	}
	fail := ranOut.FindStringIndex(s)
	if fail == nil {
		return s
	}
	from := 0
	for at := turns.FindStringIndex(s[:fail[0]]); at != nil; at = turns.FindStringIndex(s[from:fail[0]]) {
		from += at[1]
	}
	return hopes.ReplaceAllString(s[:from], "is to") + s[from:]
}

// unmet are words beside which it did not happen.
var unmet = lazily(`(?i)\b(?:no|not|never|without|avoid\w*|instead|rather|any)\b|n['’]t\b`)

// happened: it is said with these words, and not that it did not come.
func happened(s string, words *lazy) bool {
	found := words.FindString(s)
	return found != "" && !unmet.MatchString(found)
}

// forced is a setting that somebody has to take so that it does not come, which it does otherwise.
var forced = lazily(`(?i)\b(?:I|we)\b[^.;!?\n]{0,50}\b(?:have|had|need|needed|must|forced|(?:can|could) (?:only|just)|use|used|set|reduced|` +
	`lowered)\b[^.;!?\n]{0,80}\b(?:small\w*|lower|reduced|less|fewer|\d+)\b[^.;!?\n]{0,40}\bto (?:avoid|prevent) (?:the |an? |this )?["'\x60]?(?:cuda |` +
	`gpu )?(?:oom|out[ -]of[ -]memory)\b`)

// namesTask is a title that is of some work on failures: whoever reports one says so below.
var namesTask = lazily(`(?i)\b(?:settings?|fix(?:es|ing)?|handling|logging|metrics?|events?|detection|reporting|protection|information|recovery|tests?)\W*$`)

// talkAfter is how far behind the words for the failure talk is about it; what comes later is of something else.
const talkAfter = 120

// reported is a failure that a text tells of.
func reported(text string, all []sentence, scan Scan, j *judge) (sampler.OOMEvent, bool) {
	own := firstHand(all) || slices.ContainsFunc(all, func(s sentence) bool { return himself.MatchString(s.text) }) && j.weighs() <= 0
	if heaps.MatchString(text) && !ofDevices.MatchString(text) {
		return sampler.OOMEvent{}, false
	}
	faulted := faults.MatchString(text)
	hears := own && !otherSignal.MatchString(text) && !slices.ContainsFunc(all, func(s sentence) bool { return deniesShort.MatchString(s.text) })
	for _, s := range all {
		if s.note || faulted && doubts.MatchString(s.text) {
			continue
		}
		if s.title && namesTask.MatchString(s.text) {
			continue
		}
		at := ranOut.FindStringIndex(s.text)
		heard := at == nil && hears && heardShort(s, shortIn(j, s, len(all)))
		switch {
		case at != nil:
		case heard:
			at = []int{0, len(s.text)}
		default:
			continue
		}
		if heaps.MatchString(s.text) && !ofDevices.MatchString(s.text) || onDisk.MatchString(s.text) || byName.MatchString(s.text) {
			continue
		}
		if j.inSource(s) || onlyKilled(s) && otherSignal.MatchString(text) {
			continue
		}
		if !own && podsOnly(s) {
			continue // which rules and manuals name, too
		}
		if yesOrNo.MatchString(s.text) && !first.MatchString(s.text) {
			continue
		}
		bare := unbracketed(s.text)
		words := expected(hiresFix.ReplaceAllString(pointer.ReplaceAllString(s.text[:min(len(s.text), at[1]+talkAfter)], " "), " "))
		if own {
			if strings.ContainsAny(s.text, "?？") {
				words = comesWhen.ReplaceAllString(words, " ")
			}
			words = manners.ReplaceAllString(asksAbout.ReplaceAllString(asks.ReplaceAllString(words, " "), " "), " ")
		}
		if !s.title && (own && forced.MatchString(s.text) || len(all) > 1 && happened(s.text, met) || own && happened(s.text, brings) || happened(s.text, ranHere) && (own || j.weighs() < 0)) {
			return eventOf(text, s, all, scan), true
		}
		if talk.MatchString(asks.ReplaceAllString(wishes.ReplaceAllString(words, " "), " ")) || !s.title && (code.MatchString(sized.ReplaceAllString(bare, " ")) && !(own && first.MatchString(s.text)) || !own && !happens.MatchString(s.text) && !recalls.MatchString(s.text)) {
			continue
		}
		return eventOf(text, s, all, scan), true
	}
	if pleads(all) {
		for _, s := range all {
			if !s.note && !(faulted && doubts.MatchString(s.text)) && (ranOut.MatchString(s.text) || fills.MatchString(s.text)) && !code.MatchString(s.text) && !neither.MatchString(s.text) && !j.inSource(s) && !(onlyKilled(s) && otherSignal.MatchString(text)) {
				return eventOf(text, s, all, scan), true
			}
		}
	}
	if len(all) > 1 && all[0].title && keepsFrom.MatchString(all[0].text) && ranOut.MatchString(all[0].text) && ownCommand.MatchString(text) && j.weighs() <= 0 {
		return eventOf(text, all[0], all, scan), true
	}
	if at := cutShort.FindStringIndex(text); at != nil {
		line := 1 + strings.Count(text[:at[0]], "\n")
		e := eventOf(text, sentence{text: strings.TrimSpace(text[at[0]:at[1]]), line: line}, all, scan)
		if strings.HasPrefix(e.Text, "MemoryError") {
			e.Framework, e.Kind, e.MemoryKind = "", sampler.KindHostAlloc, sampler.MemoryHost
		}
		if strings.HasPrefix(e.Text, "BFCArena") {
			e.Framework, e.Kind, e.MemoryKind = "onnxruntime", sampler.KindORT, sampler.MemoryGPU
		}
		if strings.HasPrefix(e.Text, "Hint:") {
			e.Framework, e.Kind, e.MemoryKind = "tensorflow", sampler.KindTensorFlow, sampler.MemoryGPU
		}
		return e, true
	}
	if line := strings.TrimSpace(text); !strings.Contains(line, "\n") && headline(line) {
		return eventOf(text, sentence{text: line, line: 1 + strings.Count(text[:strings.Index(text, line)], "\n"), title: true}, all, scan), true
	}
	if hears && j.weighs() <= 0 {
		if s, ok := complaint(all); ok {
			e := eventOf(text, s, all, scan)
			e.Extra["complaint"] = true
			return e, true
		}
	}
	if s, ok := wantsLess(text, all); ok && hears && j.weighs() <= 0 {
		e := eventOf(text, s, all, scan)
		e.Extra["complaint"] = true
		return e, true
	}
	if s, ok := remarked(text, all); ok {
		return eventOf(text, s, all, scan), true
	}
	if at := unreduced.FindStringIndex(text); at != nil && own && slices.ContainsFunc(all, func(s sentence) bool { return happened(s.text, fails) }) {
		return eventOf(text, sentence{text: strings.TrimSpace(text[at[0]:at[1]]), line: 1 + strings.Count(text[:at[0]], "\n")}, all, scan), true
	}
	return sampler.OOMEvent{}, false
}

// pointer says within a sentence where more of it stands; call are the arguments of one that is named there.
var (
	pointer = lazily(`(?i)\((?:as|see|cf)\b[^()]*#\d{2,}[^()]*\)`)
	call    = lazily(`\w?\([^()]*\)`)
	begun   = lazily(`^\([^()]*\)+`)
)

// unbracketed is a sentence without the arguments of calls that it names, where it tells of the failure outside of them and is no call itself.
func unbracketed(s string) string {
	if !strings.ContainsRune(s, '(') || strings.ContainsAny(s, "{};") || !telling.MatchString(s) {
		return s
	}
	bare := call.ReplaceAllString(call.ReplaceAllString(begun.ReplaceAllString(s, " "), " "), " ")
	if !ranOut.MatchString(bare) {
		return s
	}
	return bare
}

// telling begins what somebody met.
var telling = lazily(`(?i)\b(?:there (?:is|was|are|were)|(?:I|we|it) (?:get|gets|got|see|saw|met|meet|ran|runs?|gives?|gave)|(?:error|problem) (?:occurs|occurred|comes|came))\b`)

// onlyKilled: a sentence says of a process that it was killed, and not for what.
func onlyKilled(s sentence) bool {
	return killed.MatchString(s.text) && !ranOut.MatchString(killed.ReplaceAllString(s.text, " "))
}

// pleads: who writes asks others for help, in which he doubts much that has happened to him ("it may lead to").
func pleads(all []sentence) bool {
	own, others := spokenOf(all)
	return len(all) > 1 && own > others && slices.ContainsFunc(all, func(s sentence) bool { return plea.MatchString(s.text) })
}

// keepsFrom is a title that asks how something is kept from failing: of who shows the command of a server of his, which has failed so.
var (
	keepsFrom  = lazily(`(?i)\bhow (?:to|can (?:I|we)|do (?:I|we)|should (?:I|we)) (?:\w+ )?(?:ensure|make sure|avoid|prevent|keep|stop)\b`)
	ownCommand = lazily(`(?m)^\W*(?:python3? -m (?:vllm|sglang|lmdeploy)[.\w]*|vllm serve|lmdeploy serve|trtllm-serve|text-generation-launcher|ollama run|(?:\./|\.\\)?llama-server)\b[^\n]*`)
)

// complains: who writes tells of an error that he gets.
func complains(all []sentence) bool {
	own, others := spokenOf(all)
	return own > others && slices.ContainsFunc(all, func(s sentence) bool {
		return ranOut.MatchString(s.text) && happens.MatchString(s.text) && !talk.MatchString(expected(s.text))
	})
}

// helpWanted is what only those ask who want help.
const helpWanted = `\b(?:is|are) there (?:an?|any\w*|some\w*|other)\b[^.]*\?|\bwhat (?:should|can|could|do|am) I\b|\bwhat (?:should|can|could|must) be done\b[^.\n]*\?|` +
	`\bhow (?:can|do|should|could|to)\b[^.]*\?|\bwhy\b[^.]*\?|\b(?:any|your) (?:help|ideas?|advi[cs]es?|suggestions?|insights?|tips)\b|` +
	`\b(?:please|can|could) (?:any(?:one|body) |some(?:one|body) |you )?help\b|\b(?:thanks|thank you)\b|` +
	`\blook(?:ing)? forward (?:to|for) (?:your|an?|any|the|some) (?:\w+ )?(?:reply|answer|response|help|solution|feedback)\b|` +
	`\b(?:I am|I['’]m) (?:\w+ )?(?:confused|puzzled|stuck|at a loss)\b|\bhow (?:can|do) I\b|请问|怎么办|求助|(?:能否|可否|能不能|是否可以|有没有办法)[^。\n]{0,12}(?:解决|处理|避免|帮)`

var (
	plea = lazily(`(?i)\b(?:workaround|solution)s?\b|` + helpWanted)
	// fills is a GPU that fills up, told without a word for how that ends.
	fills = lazily(`(?i)\bmemory (?:issue|problem)s?\b|` +
		`\b(?:GPU|CUDA|VRAM)\b[^.]{0,30}\b(?:memory|usage|consumption)?\b[^.]{0,20}\b(?:keeps?|is|was|kept) (?:\w+ ){0,2}(?:growing|increasing|rising|` +
		`climbing)\b|\b(?:GPU memory|VRAM)\b[^.]{0,20}\b(?:grows|increases|rises|climbs|blows up|fills up|grow and grow|grow\w* more and more)\b|` +
		`\b(?:GPU|CUDA|VRAM|memory)\b[^.?]{0,24}\b(?:usage |consumption |use )?(?:will |would |then )*(?:blows?|blew) up\b|` +
		`\bstarv\w+ (?:of|for) (?:\w+ )?(?:memory|vram)\b|` + unreleased)
	// neither: it did not happen, it is what a program or a text is to do about it, or only an example of it.
	neither = lazily(`(?i)` + spared + `|` + otherwise + `|\b(?:no|not|never|without|any)\b[^.]{0,12}\bmemory (?:issue|problem)s?\b|` +
		`\b(?:avoid|prevent|catch|handl|detect|estimat|simulat|ignor|fix|solv|resolv)\w*\b[^.]{0,40}\b(?:oom|out[ -]of)|` +
		`^\W*(?:will|would|won['’]t|does|do|can|could|should|may|might)\b[^.]*\?|\b(?:want|like|love) to\b[^.]{0,60}\b(?:oom|out[ -]of)\b|` +
		`\b(?:if|unless|in case|e\.g\.|for example|such as|known issues?|workaround)\b` + deniesIn())
)

// unreleased is memory of a GPU that a program keeps when its work is done, for want of which the next work ends.
const unreleased = `\b(?:GPU|CUDA|VRAM|video)\b[^.?]{0,40}\b(?:(?:is|was|are|does|do|did|will|wo)(?:n['’]?t| not| never)|never|not|still|cannot|` +
	`can['’]?t) (?:\w+ )?(?:be |being |get |gets )*(?:releas\w+|freed?|unload\w*|cleared|cleaned|given back|` +
	`(?:fully |completely )?(?:consumed|occupied|held|allocated))\b|` +
	`\b(?:does|do|did|is|will|wo)(?:n['’]?t| not|t) (?:seem to )?(?:unload|releas\w*|free|clear) (?:up )?(?:(?:the|my|its|any|all) )*(?:gpu |cuda |` +
	`video )?(?:memory|vram)\b`

// unreduced is what XLA's compiler prints of a program that stays larger than it wants. A run that goes on prints it too, so it
// is a failure only where somebody says so: fails, without what unmet has in front.
var (
	sizeRetyped = lazily(`(?i)\ballocate (?:an? )?(\d+(?:\.\d+)?) ?([KMGT])(?:i?B)?\b[^\n]{0,24}\barray\b`)
	unreduced   = lazily(`Can['’]t reduce memory use below [^\n]{1,60} by rematerialization; only reduced to [\d.]+ ?[KMGT]?i?B \((\d{6,15}) bytes\)`)
	fails       = lazily(`(?i)(?:(?:\b(?:no|not|never|without|any)|n['’]t)\s+(?:\w+\s+){0,2})?\b(?:fail(?:s|ed|ing)?|crash(?:es|ed|ing)?|errors?|dies|died|stops|stopped|aborts?|aborted|memory (?:\w+ )?(?:issue|problem))\b`)
)

// cutShort is the head of a traceback in a notebook, which names the error that a post leaves off below, or what TensorFlow
// prints below one, or the arena of ONNX Runtime in a title that is full.
var cutShort = lazily(`(?m)^\s*(?:\w+\.)*(?:MemoryError|OutOfMemoryError|ResourceExhaustedError) +Traceback \(most recent call last\)|` +
	`^\s*Hint: If you want to see a list of allocated tensors when OOM happens|\bBFCArena::AllocateRawInternal\([^\n]*\) Failed to alloc\w*\s*$`)

// eventOf makes the event. The context is read as if the error stood at the end of the text.
func eventOf(text string, s sentence, all []sentence, scan Scan) sampler.OOMEvent {
	e := sampler.OOMEvent{OtherProcesses: []sampler.OtherProcess{}, Occurrences: 1, Context: &sampler.LogContext{}}
	if like, err := scan(strings.NewReader(text + "\n\nRuntimeError: CUDA out of memory\n")); err == nil && len(like) == 1 && like[0].Context != nil {
		e.Context = like[0].Context
	}
	e.Framework, e.Kind, e.MemoryKind = kindOf(text, s.text, all)
	e.Line, e.Text = s.line, sampler.Clean(s.text)
	e.Extra = map[string]any{"told": true}
	if at := sizeRetyped.FindStringSubmatch(text); at != nil && e.Kind == sampler.KindHostAlloc {
		if size, err := sampler.ParseBytes(at[1] + at[2]); err == nil {
			e.Framework, e.Requested = "numpy", sampler.Some(size)
		}
	}
	if at := unreduced.FindStringSubmatch(text); at != nil && e.MemoryKind == sampler.MemoryGPU {
		if size, err := strconv.ParseUint(at[1], 10, 64); err == nil {
			e.Framework, e.Kind, e.Requested, e.Extra["total_allocation_bytes"] = "jax", sampler.KindXLA, sampler.Some(sampler.Bytes(size)), float64(size)
		}
	}
	return e
}

// frameworks are told by their names and by what runs on them only.
var frameworks = []struct {
	words           *lazy
	framework, kind string
}{
	{lazily(`(?i)\b(?:ollama|llama[._-]cpp|ggufs?|llama runner)\b`), "llama.cpp", sampler.KindGGML},
	{lazily(`RuntimeError: CUDA error: out of memory|torch\.AcceleratorError: CUDA error`), "pytorch", sampler.KindCUDAError},
	{lazily(`(?i)\bpaddle`), "paddle", sampler.KindPaddle},
	{lazily(`(?i)\bjax(?:lib)?\b|\bflax\b|\bcolabfold\b`), "jax", sampler.KindXLA},
	{lazily(`\bBFCArena\b`), "onnxruntime", sampler.KindORT},
	{lazily(`(?i)\b(?:py)?torch\w*|\btorch\.|\blightning\b|\btransformers\b|\bfsdp\b|\bdiffusers\b|\.pth?\b|\baccelerate\b|\bdeepspeed\b|\bdevice_map\b|\bmodel\.generate\b|\bhugging ?face\b|\bpipe\.`), "pytorch", sampler.KindCUDA},
	{lazily(`(?i)\b(?:tensorflow|keras)\b|\bTF(?: version)?[ :=v]{1,3}[12]\.\d|\bfrozen_graph\b`), "tensorflow", sampler.KindTensorFlow},
	{lazily(`(?i)\bcuda[ -](?:oom|out)|\bcuda:\d`), "pytorch", sampler.KindCUDA},
}

// libraries are the kinds of error of handles.
var libraries = map[string]string{"BLAS": sampler.KindCuBLAS, "DNN": sampler.KindCuDNN}

// ofOthers is a failure that others had, for whom something was changed, or in another report than this one.
var ofOthers = lazily(`(?i)\b(?:for|of|by|from) (?:the |an? |another |other |some |its )?(?:\w+ )?(?:authors?|users?|people|person|persons|somebody|someone|others|` +
	`reporters?)\b|\b(?:another|other|a different|an older|that) (?:ticket|issue|thread|post|pr|pull request|report)s?\b`)

// runsOnCPU is a model that runs on the CPU by the words of whoever writes, where no GPU is spoken of: what fills up is RAM.
var runsOnCPU = lazily(`(?i)\b(?:during|in|for|with|doing|while) (?:an? |the |my )?CPU (?:inference|training|prediction|evaluation)\b|` +
	`\b(?:inference|training|predict\w*|evaluat\w*|running (?:it|the model|this)|runs?) (?:\w+ ){0,2}on (?:an? |the |my )?CPUs?\b|` +
	`\b(?:using|with|on) an? (?:[\w.-]+ ){0,2}CPU(?: (?:instance|machine|node|vm|box|server|only)| from\b|[.,;]|$)`)

// onCPUAlone: it runs on the CPU, and the text has no word of a GPU.
func onCPUAlone(text string, all []sentence) bool {
	return !gpuWord.MatchString(text) && (byOptionOnCPU(text) || slices.ContainsFunc(all, func(s sentence) bool { return runsOnCPU.MatchString(s.text) && !doubted.MatchString(s.text) }))
}

// gpuWord is any word of a GPU.
var gpuWord = lazily(`(?i)gpu|cuda|vram|nvidia|geforce|\b[rg]tx\b|显[存卡]`)

// limitOfHost is one that whoever writes gives to a container.
var limitOfHost = lazily(`(?i)\b(?:requested|asked for|reserved|allocated) \d+ ?G(?:i?B)? (?:of )?(?:memory|ram)\b[^.\n]{0,60}\bexceed\w*\b|\bmemory limit (?:is|of|was|to) (?:only |just )?\d+ ?[MG]i?B?\b|` +
	`\b(?:containers?|pods?|instances?|functions?)\b[^.\d]{0,16}\b(?:is limited|limited|has a (?:memory )?limit|` +
	`limit)\b[^.\d]{0,10}\d+(?:\.\d+)? ?[MG]i?B?\b`)

// ramUsage is of the machine where nothing else is of a GPU, and so is the RAM that somebody has for what is learned from again.
var ramUsage = lazily(`(?i)\bRAM (?:usage|consumption|use)\b|(?:电脑|机器|主机|服务器)的? ?内存|\breplay[-_ ]?buffer(?s:.{0,600})\b\d+ ?Gi?B of RAM\b`)

// RAM alone is that of the GPU, too, where it is said beside that VRAM ran out.
var (
	outOfVRAMWords = lazily(`(?i)\b(?:oom|out[ -]of[ -]memory)\b (?:on|with|in) (?:an? |my |the )*(?:\d+ ?Gi?B? (?:of )?)?vram\b|\bout[ -]of[ -](?:gpu |video )?vram\b`)
	ofMachineAlone = lazily(`(?i)\b(?:system|host|cpu|main|physical|computer|machine|server|node|kill\w*|swap\w*)\b|内存`)
)

// kindOf says of which framework and memory a sentence tells. That the RAM is full may stand in another.
func kindOf(text, told string, all []sentence) (framework, kind, memory string) {
	if killedPod.MatchString(told) {
		return "kubernetes", sampler.KindKubernetes, sampler.MemoryHost
	}
	if couldNotPin.MatchString(told) {
		for _, row := range frameworks {
			if row.words.MatchString(text) {
				return row.framework, sampler.KindHostAlloc, sampler.MemoryHost
			}
		}
		return "", sampler.KindHostAlloc, sampler.MemoryHost
	}
	outOfVRAM := slices.ContainsFunc(all, func(s sentence) bool {
		return outOfVRAMWords.MatchString(s.text) && !talk.MatchString(expected(s.text))
	})
	if surelyHost.MatchString(text) || errno12.MatchString(told) || onCPUAlone(text, all) || shortOfRAM(text, all) || limitOfHost.MatchString(text) && !gpuWord.MatchString(text) || (largerThanRAM.MatchString(text) || terabytes.MatchString(text) || fusesDepth.MatchString(text)) && !ofGPUAlone.MatchString(text) || slices.ContainsFunc(all, func(s sentence) bool {
		return (onHost.MatchString(s.text) && !(outOfVRAM && !ofMachineAlone.MatchString(s.text)) || fillsHost.MatchString(s.text) && !ofGPUAlone.MatchString(s.text)) && !talk.MatchString(expected(s.text)) && !ofOthers.MatchString(s.text) && !ofGPU.MatchString(s.text) && !ofGPUs.MatchString(s.text) && !(either.MatchString(s.text) && (ofGPU.MatchString(text) || gpuWord.MatchString(s.text)) && !surelyRAM.MatchString(text))
	}) {
		return "", sampler.KindHostAlloc, sampler.MemoryHost
	}
	if killed.MatchString(byHimself.ReplaceAllString(told, " ")) && !forGPU.MatchString(told) && !(cpuWorks.MatchString(text) && slices.ContainsFunc(all, func(s sentence) bool { return ranOut.MatchString(killed.ReplaceAllString(s.text, " ")) })) {
		return "", sampler.KindKilled, sampler.MemoryHost
	}
	if !gpuWord.MatchString(text) && (ramUsage.MatchString(text) || hearsHost(all)) {
		return "", sampler.KindHostAlloc, sampler.MemoryHost
	}
	handle := handles.FindStringSubmatch(told)
	for _, row := range frameworks {
		if row.kind == sampler.KindGGML && paintsVideo.MatchString(text) && !llamas.MatchString(text) {
			continue // their files are read by other programs, too
		}
		if row.words.MatchString(text) {
			if handle != nil {
				return row.framework, libraries[handle[1]], sampler.MemoryGPU
			}
			return row.framework, row.kind, sampler.MemoryGPU
		}
	}
	return "", sampler.KindOtherGPU, sampler.MemoryGPU
}
