package post

// Memory of the machine, as people tell of it: it grows until something ends, there is not enough of it, or each process fills it with the same.

const (
	// ofHost is what it is called. VRAM and the RAM of a GPU are others, see ofGPUs.
	ofHost = `(?:(?:system|host|cpu|main|physical|computer|machine|server|pc)(?: ?['’]s)?[ -](?:memory|ram)|ram)`
	// takenDown is how a program or its machine ends then.
	takenDown = `(?:kill(?:s|ed)|terminat(?:es|ed)|crash(?:es|ed|ing)?|dies|died|fr[eo]e?z\w*|h[au]ngs?|unrespons\w*|re-?boot\w*|stops? respond\w*)`
	// grownHost is memory of the machine that grows until then.
	grownHost = `\b(?:increas|grow|ris|climb|leak|eat|consum|accumulat|fill|us)\w*\b[^.\n]{0,24}\b` + ofHost + `\b[^.\n]{0,80}\b` + takenDown + `\b` +
		`|\b` + ofHost + `\b[^.\n]{0,30}\b(?:increas|grow|ris|climb|leak|fill|accumulat)\w*\b[^.\n]{0,80}\b` + takenDown + `\b`
	// wantingHost is too little of it, and endedFor how that shows: alone such words are of manuals, too.
	wantingHost = `(?:\b(?:insufficient|not enough|not sufficient|too little|lack of|shortage of|low on)(?: \w+)? (?:system|host|cpu|main|physical)[ -](?:memory|ram)\b|` +
		`n['’]t (?:\w+ ){0,2}(?:enough|sufficient) (?:system|host|cpu|main|physical)[ -](?:memory|ram)\b|\b(?:not enough|insufficient) ram\b|` +
		`\b(?:system|host|cpu|main|physical)[ -](?:memory|ram) (?:is|was) (?:not enough|insufficient|too small)\b|` +
		`\bout[- ]of[- ](?:system|host|cpu|main)[- ](?:memory|ram)\b)`
	// costsRAM is what each turn of a loop adds to it.
	costsRAM    = `\b(?:each|every)\b(?:[^.\n]|\.\w){0,40}\b(?:cost|leak|eat|take|us|consum|add)\w*\b[^.\n]{0,16}\b\d+(?:\.\d+)? ?[MG](?:i?B)? (?:of )?RAM\b`
	endedFor    = `\b(?:kill(?:s|ed)|crash\w*|dies|died|fail(?:s|ed)|stop(?:s|ped)|abort(?:s|ed)|exit(?:s|ed)|errors?)\b`
	endsForHost = endedFor + `[^.\n]{0,60}` + wantingHost + `|` + wantingHost + `[^.\n]{0,60}` + endedFor
	// loadedUntil is what is loaded into it until then.
	loadedUntil = `\b(?:load|read|put|cop(?:y|ie))\w*\b[^.\n]{0,60}\b(?:in|into|to|on)(?: the)? ` + ofHost + `\b[^.\n]{0,60}\b` + takenDown + `\b|` + cachedUntil
	// cachedUntil is a data set that is cached there until then; a cache of that kind is none of a GPU, so that a bare word for the failure is enough.
	cachedUntil = `(?:\b(?:cach|stor|keep)\w*\b[^.\n]{0,40}\b(?:in|into|to)(?: the)? ` + ofHost + `\b|\b(?:ram|(?:system|host|cpu)[ -]memory) cach\w+\b)[^.\n]{0,50}\b` +
		`(?:oom\w*|out of (?:memory|ram)|` + takenDown + `)\b`
)

// signaled is a program that ended by the signal with which a system without memory ends one, by its number: https://docs.kernel.org/admin-guide/mm/concepts.html#oom-killer
const signaled = `\b(?:exit(?:s|ed)?|(?:exit|return)[ _-]?(?:code|status))\b(?: (?:with|code|return ?code|status|of|is|was|=))*[ =:]{1,3}-9\b`

// batchKilled is what Slurm does: it counts the memory of the machine alone (https://slurm.schedmd.com/cgroup.conf.html#OPT_ConstrainRAMSpace).
const batchKilled = `\bslurm(?:['’]s)? (?:oom|out[- ]of[- ]memory)\b|\b(?:oom|out[- ]of[- ]memory)(?: \w+)? (?:from|by|of|in) slurm\b`

// hanRAM is memory that ran out in Chinese. Alone it is the machine's, unless a GPU is spoken of; that of a GPU has a word of its own.
const hanRAM = `(?:内存(?:不足|溢出|超(?:限|出|了)|耗尽|爆(?:了|掉|满)|炸了)|[爆超]内存)`

// notOfGPU denies that it is the GPU's, where memory is spoken of.
const notOfGPU = `\b(?:memory|ram)\b ?\(?,? ?(?:and |but |it is |this is )*(?:not?|isn['’]t) (?:the |on |of |in )*(?:cuda|gpu|video|graphics)(?:['’]s)?(?: card| memory| ram|\)|,|\.)|` +
	`(?:内存)[^。，\n]{0,6}(?:不是|而不是|非)(?:显存|GPU)`

// arrayRetyped is NumPy's message for an array that it could not make, as people write it from memory.
const arrayRetyped = `(?i:\ballocate\b[^\n]{0,40}\barray\b[^\n]{0,60}\n?[^\n]{0,16}\bdata ?type\b)`

// podKilled is what Kubernetes calls a container that was killed for it, where somebody met it.
const podKilled = `\b(?:reasons?|status|state|error|see|saw|seen|shows?|says|found|gets?|got|getting|gives?)\b[^.\n]{0,30}\bOOMKilled\b`

var killedPod = lazily(podKilled)

// podsOnly: a sentence tells of a failure by that word alone.
func podsOnly(s sentence) bool {
	return killedPod.MatchString(s.text) && !ranOut.MatchString(killedPod.ReplaceAllString(s.text, " "))
}

// copies are whole models of which each process loads one into it. largerThanRAM sets their size against that of the machine's memory, which is
// larger than a GPU's where it is only called memory.
var (
	copies = lazily(`(?i)\b(?:each|every|all|both|\d+|two|four|eight)(?: of)?(?: the| my| our)?(?: \w+)? (?:ranks?|process(?:es)?|workers?|` +
		`gpus?)\b[^.\n]{0,24}\bloads?\b[^.\n]{0,24}\b(?:models?|checkpoints?|weights)\b|` +
		`\b(?:two|three|four|eight|\d+|several|multiple)(?: complete| full| whole| entire| separate)* (?:models|copies|checkpoints)\b[^.\n]{0,24}\bload\w*\b|` +
		`\b(?:ram|(?:cpu|host|system) memory)\b[^.\n]{0,40}\b[2-9]\d? ?[x×*] ?\d{1,4} ?Gi?B?\b|` + // as many times what one process takes
		`\bload\w*\b[^.\n]{0,40}\b(?:in|on|by) (?:each|every) (?:rank|process|worker)\b|每个?(?:进程|rank|卡)[^。\n]{0,8}(?:都|会)[^。\n]{0,8}加载`)
	largerThanRAM = lazily(`(?i)\b(?:models?|weights|` +
		`checkpoint)\b[^.\n]{0,24}\b\d{2,4} ?GB?\b[^.\n]{0,24}\b(?:(?:ram|(?:host|system|cpu) memory)(?: size)? (?:is|of) (?:only )?\d{2,4} ?G|` +
		`memory(?: size)? (?:is|of) (?:only )?(?:[2-9]\d\d|\d{4}) ?G)`)
	// terabytes are of a machine: it ran out of them, as is said.
	terabytes = lazily(`(?i)\b(?:oom|out[- ]of[- ]memory)\b[^.\n]{0,30}\b(?:even|al?though|despite|with)\b[^.\n]{0,30}(?:\b(?:memory|ram)\b[^.\n]{0,24}\b\d(?:\.\d)? ?TB\b|\b\d(?:\.\d)? ?TB (?:of )?(?:\w+ )?(?:memory|ram)\b)`)
	// fillsHost is any of these, unless ofGPUAlone stands beside it.
	fillsHost = lazily(`(?i)` + grownHost + `|` + wantingHost + `|` + loadedUntil + `|` + batchKilled + `|` + costsRAM)
	// ofGPUAlone are words for a GPU's memory beside which that of the machine is not meant.
	ofGPUAlone = lazily(`(?i)\bcuda\W{1,3}(?:error|oom|out)|\bvram\b|\bgpu memory\b|显存`)
	// fusesDepth is the step of COLMAP that joins depth maps, which uses no GPU: https://colmap.github.io/faq.html
	fusesDepth = lazily(`(?i)\bcolmap\b(?s:.*)\b(?:stereo[_ ]?)?fus(?:ion|e|ing)\b`)
)
