package post

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// largerRuns is a setting with more of which it is said that it runs.
const largerRuns = `\b(?:large|big|high|long|great)(?:r|er|ger)? (?:[\w-]+ ){0,3}?(?:[\w-]*tokens?|lengths?|[\w-]*sizes?|batch\w*|values?|settings?|numbers?|limits?|` +
	`contexts?|ones?)\b[^.!?\n]{0,24}\b(?:works?|runs?|starts?|(?:is|are) (?:fine|ok|okay))\b`

// A version stands behind versionAt: a fullVersion can be nothing else, anyVersion could be another number. How it goes with one stands behind it.
const (
	versionAt   = `\b(?:with|using|use|in|on|under|version|release)(?: (?:the )?(?:\w+ )?| )`
	fullVersion = `(?:v\d+(?:\.\d+)+|\d+\.\d+\.\d+)\S{0,8}`
	anyVersion  = `v?\d+\.\d+(?:\.\d+)*\S{0,8}`
	goesWell    = `[^\n]{0,40}\b(?:can|could|works?|worked|runs?|ran|fits?|loads?|loaded|trains?|trained|fine|no (?:problem|issue)s?)\b`
	goesBadly   = `[^\n]{0,40}(?:\b(?:can ?not|fail\w*|crash\w*|errors?|oom\w*|out of|runs? out)\b|n['’]?t\b)`
)

// betweenVersions is memory that became more from one version to another, which is no growth from step to step.
const betweenVersions = `\b(?:memory|vram)(?: \w+)?(?: \w+)? (?:has |have )?(?:increased|rose|risen|went up|grew|grown|doubled|tripled|` +
	`(?:is|are|was) (?:much |far )?(?:higher|more|larger))\b(?: a lot| much| greatly| significantly| dramatically| massively| by \S+(?: [GM]i?B)?|` +
	` from \S+ to \S+| \d+x)* (?:after|since|with|in|from|between|by) (?:the |an? |my |last |version |` +
	`release )*(?:\b(?:updat(?:es?|ed|ing (?:to|from))\b|upgrad\w*|(?:new(?:er|est)?|latest|last|recent) (?:version|release|commit|build)|` +
	`(?:version|release|commit) )|\b[a-z-]+ v?\d+\.\d)`

// jumps is memory that is said to rise at one time, and not from step to step.
const jumps = `\b(?:memory|vram|usage)\b[^.\n]{0,16}\b(?:(?:increas|ris|grow|jump)(?:es|ed|ing|s) (?:very )?suddenly|suddenly (?:increas|ris|grow|jump)(?:es|ed|ing|s))\b`

// notFreedAfterEnd is memory that a process held which was ended: no growth.
const notFreedAfterEnd = `(?:\b(?:not|never|still)|n['’]t)\b[^.\n]{0,40}\b(?:after|when|once|although|though)\b[^.\n]{0,16}(?:\bctrl[ +-]?\^?c\b|` +
	`\b(?:kill|stopp|terminat|interrupt|clos|exit|quitt)(?:ed|ing)\b|` +
	`\b(?:process|program|script|job)\b (?:is |was |has |had |been )*(?:gone|dead|ended|killed|stopped|terminated|closed|exited|finished)\b)`

const (
	// askedFor is what a request is called.
	askedFor = `\b(?:alloc\w*|request\w*|asks?|asked|wants?|wanted|needs?|needed|tr(?:y|ies|ied|ying) to)\b`
	// noWorkers is a data loader that reads in the process itself, and goneWith that with it there is no failure.
	noWorkers = `\b(?:(?:num[-_ ]?)?workers?\b(?: of (?:the |my )?(?:data ?loader|\w+))?["'\x60)]{0,2}(?: (?:is|are|was|were) (?:set|put|reduced|lowered))?(?: ?[=:] ?|` +
		` to | is | at | of | as )(?:0|zero)\b|(?:without (?:any )?|no |zero |0 )(?:(?:data ?loader|extra) )?workers\b)`
	goneWith = `\b(?:(?:errors?|problems?|issues?|oom|it|this|that|message|crash\w*)\b(?: then| is| has| just| will)? (?:goes|went|gone|disappear\w*|vanish\w*|stops|` +
		`stopped|solved|fixed|does(?:n['’]?t| not) (?:happen|occur|appear|come))|(?:works?|worked|runs|ran|fine|ok|okay|solve[sd]|fixe[sd])|` +
		`no (?:more )?(?:errors?|problems?|oom))\b`
)

// tells are the words for what the context names. except are words beside which they mean something else.
var tells = []struct {
	what          string
	words, except *lazy
}{
	{sampler.ToldGrowth, lazily(`(?i)\b(?:memory|vram) (?:is |gets? |was |got |becomes? )?(?:completely )?(?:filled|fills|full)(?: up)? (?:after|over|within) (?:a few|some|several|[\d~-]+) (?:full )?epochs?\b|` +
		`\bafter (?:\w+ ){0,3}(?:a few|several|some|\d{1,3}(?: ?(?:-|–|to|or) ?\d{1,3})?) (?:generations?|images?|pictures?|prompts?|requests?|runs|songs|clips)\b[^.\n]{0,16}\b(?:v?ram|memory)\b[^.\n]{0,16}\b(?:saturat|fill|clog)\w*|` +
		`\bonly way to (?:flush|free|clear|release|recover|reset|reclaim|get back) (?:up )?(?:the |my |this |all )*(?:(?:gpu|system|video|used) )?(?:v?ram|memory)\b[^.\n]{0,40}\b(?:restart|stop|kill|reboot|re-?run|clos|re-?launch)\w*|` +
		`\b(?:grow|grows|rise|rises|climb|climbs) and (?:grow|grows|rise|rises|climb|climbs)\b|\bgrow\w* more and more\b|` +
		`\b(?:looks?|seems?|sounds?)(?: to (?:be|me))? like (?:an? )?accumulation\b|` +
		`\b(?:memory|vram) (?:is )?not (?:fully|completely|entirely) (?:released|freed)\b|` +
		`\b(?:smaller|lower|half|halving|halved|reduc\w+) (?:the |my )?batch(?:[-_ ]?sizes?)?\b[^.;]{0,40}\b(?:only |just )?(?:lasts?|lasted|survives?|goes on|` +
		`makes? it last|runs?|delays?|postpones?|takes?) (?:it )?(?:a bit |a little |much |for )*(?:longer|later|more (?:steps|iterations|batches|epochs))\b|` +
		`\d+ ?[gG][bB]? ?的?(?:内存|显存)[^。\n]{0,6}(?:最多|只能|只)[^。\n]{0,6}(?:跑|训练?|撑)到?[^。\n]{0,4}\d+ ?多?个? ?(?:epoch|轮)|` +
		`(?:显存|内存|卡)[^。\n]{0,30}(?:一直|不断)?漏(?:到|了)|(?:炸|爆|溢出|OOM|oom)[^。\n]{0,12}从 ?\d+ ?G[^。\n]{0,8}漏到|从 ?\d+(?:\.\d+)? ?G[^。\n]{0,12}(?:涨|漏|升)到 ?\d|` +
		`\b(?:after|with|in|for) (?:each|every) (?:\w+ )?(?:epoch|step|iteration|video|request|file|call|batch|image|` +
		`run)\b[^.]{0,20}\b(?:\d+(?:\.\d+)? ?[MG]i?B|a (?:bit|little)|some) (?:\w+ )?more\b|` +
		`\b(?:a (?:bit|little)|some|\d+(?:\.\d+)? ?[MG]i?B) more (?:memory )?(?:after|with|in|for) (?:each|every)\b|` +
		`\bstarts? (?:at|with) (?:about |around )?\d+(?:\.\d+)? ?[MG]i?B\b[^.]{0,30}\b(?:ends?|goes|grows|up to|reach\w*|until)\b|` +
		`\b(?:GPU|VRAM) usage (?:climbs|grows|rises|increases|goes up)\b|` +
		`\b(?:append|add|stor|collect|sav|keep)\w* (?:each|every|all|the) (?:of the )?(?:\w+ )?(?:loss(?:es)?|outputs?|results?|predictions?|embeddings?|` +
		`features?|tensors?)\b[^.]{0,24}\b(?:to|in|into|on) (?:an? |the |one )?(?:python )?(?:list|array|dict\w*)\b|\b\w*loss\w* ?\+= ?\w*loss(?:[^.\w]|$)|` +
		`\b(?:keep|carry|reus)\w* (?:the )?hidden states?\b[^.]{0,30}\b(?:batch|step|iteration|epoch)|` +
		`\b(?:each|every) (?:\w+ )?(?:call|request|iteration|step|file|image|video|epoch|inference|prediction)\b[^.]{0,16}\b(?:takes?|adds?|uses?|consumes?|` +
		`eats?) (?:up )?(?:(?:some|a bit|a little) )?(?:more|memory|vram)\b|\bmemory_allocated\(\)[^.]{0,24}\b(?:grow|increas|ris)\w*|` +
		`(?:显存|内存)[^。]{0,14}(?:在增加|在增长|都增加|都会增加|累积)|` +
		`\b(?:memory|vram|ram)\b[^.]{0,60}?\b(?:continues?|keeps?|starts?|began) (?:to |on )?(?:increas|inc\w{2,8}ing|grow|ris|climb)\w*|` +
		`\b(?:memory|vram|ram)\b[^.]{0,60}?\b(?:grow(?:s|ing|n)?|(?:goes|going|go) up|increas(?:es|ing|ed)|ris(?:es|ing)|climb(?:s|ing)?|accumulat(?:es|ing)|` +
		`pil(?:es|ing) up|higher than before|not (?:being )?(?:released|freed))\b|` +
		`\b(?:gradients?|graphs?|tensors?|things|activations?)\b[^.]{0,20}\b(?:are|is|being|were) (?:\w+ )?(?:kept|stored|retained|held) (?:in|` +
		`on) (?:the )?(?:gpu )?(?:memory|gpu|vram)\b|` +
		`\b(?:memory|vram)\b[^.]{0,40}\b(?:will not|won['’]?t|(?:is |are )?never|does(?: not|n['’]t)|do(?: not|n['’]t)|cannot|can['’]?t)(?: be| being| get|` +
		` gets| seem to be)* (?:released|freed|cleared|given back)\b|\b(?:memory )?leak(?:s|age|ing)?\b|` +
		`\bGPU (?:usage )?(?:continue[sd]?|keeps?|kept) (?:to )?(?:increas|grow|ris)\w*|\baccumulat(?:e|es|ed|ing) (?:\w+ )?memory\b|` +
		`\bmemory\b[^.]{0,60}\b(?:slow|steady|constant|gradual)(?: and \w+)? incre(?:ase|ment\w*)\b|` +
		`\b(?:slow|steady|constant|gradual)\w* (?:and \w+ )?incre(?:as\w*|ment\w*)\b[^.]{0,40}\b(?:memory|vram)\b|` +
		`\b(?:nothing|n['’]t think anything) is (?:ever )?freed\b|\bnever freed\b|\beats up (?:\w+ ){0,2}memory\b|` +
		`\b(?:free|available) (?:\w+ )?(?:memory|ram)\b[^.]{0,30}\b(?:keeps? )?(?:decreas|shrink|drop)\w*|\bmore and more (?:\w+ )?(?:memory|vram|ram)\b|` +
		`\b(?:several|many|multiple|different) (?:\w+ )?models (?:\w+ ){0,3}in a (?:for )?loop\b|\busage is getting (?:bigger|larger|higher)\b|` +
		`\bstoring (?:every|all|each)\b[^.]{0,20}\b(?:states?|loss(?:es)?|graphs?)\b|` +
		`\b(?:is|are|keeps) (?:always|constantly|steadily) (?:growing|increasing)\b|` +
		`\b(?:execut|runn?)\w* (?:the |a )?(?:same )?cell (?:multiple|several|many) times\b|\b(?:seems to|keeps) (?:grow|increas)\w*|` +
		`\b(?:slowly|steadily|gradually|constantly|continuously|linearly|continues to|keeps) (?:increas|grow|rais)\w* (?:(?:its|the|my|in) )?(?:ram|memory|` +
		`vram)\b|\bvariable is not released|\b(?:memory|vram|it|usage)\b[^.]{0,30}\b(?:never|does(?: not|n['’]?t)) (?:go|come)(?:es|s)? (?:back )?down\b|` +
		`\bcreep(?:s|ing)? up\b|\bincreasing (?:\w+[ -])?(?:memory|vram)\b|` +
		`\b(?:memory|vram)\b[^.]{0,30}\b(?:do|does|is|was|did)(?:n['’]t| not) (?:get )?(?:be )?(?:free|freed|cleared|clear)\b|` +
		`(?:显存|内存)[^。]{0,12}(?:一直(?:缓慢|慢慢|不停|稳步|线性)?地?(?:涨|上涨|增|上升)|(?:缓慢|慢慢|逐步|稳步|线性)地?(?:涨|上涨|增|上升)|一直飙升|上涨|不断|持续|逐渐|越来越)`),
		lazily(`(?i)` + betweenVersions + `|\b(?:no|not a|without|any)\s+(?:memory )?leak|` + jumps + `|` +
			`with (?:the |larger )?(?:(?:system|input|problem|model|image|batch) )?(?:batch|size|resolution|length|image)|RAM usage doesn't|\btemporarily\b|` +
			`\b(?:very |only )?briefly\b|\brapidly\b|\bloading\b|` + notFreedAfterEnd + `|` + vainCell + `|\b(?:after|when|once|while) (?:the |my )?\S+ (?:is|was|are|gets) (?:built|created|initiali[sz]ed|constructed|loaded|imported)\b|` +
			`\b(?:when|if|by|after|once) (?:I |we )?(?:increas|rais)(?:e|es|ed|ing) (?:the|my|this|that|its|it|them)\b|` +
			`^\W*(?:is|are|was|could|may|might)\b[^.]{0,40}\bleak|\b(?:if|whether|maybe|perhaps|could be|may be|might be|possibly|I (?:think|guess|suspect|believe|suppose))\b[^.,]{0,30}\bleak`)},
	// However fast it grows: it is by growing that it ends.
	{sampler.ToldGrowth, lazily(`(?i)\b(?:memory|vram|ram|usage)\b[^.]{0,40}\b(?:grow|increas|ris|climb)\w*\b[^.]{0,30}\b(?:finally|eventually|until|till|in the end|at last|` +
		`sooner or later)\b[^.]{0,30}\b(?:overflow\w*|oom|out of|full|exhaust\w*|exceed\w*|crash\w*|fail\w*|dies|errors?)\b`),
		lazily(`(?i)\bloading\b|\b(?:with|as|when) (?:the |larger |longer |bigger )*(?:batch|size|resolution|length|image|model|context)|\b(?:no|not a|without|any)\s+(?:memory )?leak`)},
	{sampler.ToldSpikes, lazily(`(?i)` + jumps + `|\b(?:periodic(?:al)?|occasional|sporadic|intermittent|irregular|rare|sudden|random|short) (?:\w+ )?(?:peaks?|spikes?|jumps?|` +
		`bursts?)\b[^.]{0,40}\b(?:memory|vram|usage)\b|` +
		`\b(?:memory|vram|usage)\b[^.]{0,40}\b(?:periodic(?:al)?|occasional|sporadic|intermittent|irregular|rare|sudden|random) (?:\w+ )?(?:peaks?|spikes?|` +
		`jumps?|bursts?)\b|` +
		`\b(?:memory|vram|usage)\b[^.]{0,30}\b(?:peaks|spikes|jumps(?: up)?|shoots up|bursts) (?:periodically|occasionally|sporadically|suddenly|randomly|` +
		`sometimes|now and then|from time to time|once in a while|every now and then|at random|irregularly)\b|` +
		`\b(?:occasionally|sometimes|suddenly|now and then|from time to time|once in a while|periodically)\b[^.]{0,20}\b(?:memory|vram|` +
		`usage)\b[^.]{0,16}\b(?:peaks|spikes|jumps|shoots|bursts)\b`),
		lazily(`(?i)\b(?:validation|evaluation|eval|checkpoint|sav(?:e|ing)|loading|start(?:up)?|beginning|first (?:step|iteration|batch))\b`)},
	{sampler.ToldAsksMore, lazily(`(?i)\b(?:how|any|suggestions?|advice|ways?|possible|can (?:I|we))\b[^.\n]{0,24}\bscale (?:up|it up|this up|to|further|beyond)\b|` + asksLarger), nil},
	{sampler.ToldLate, lazily(`(?i)` + withSteps), nil},
	{sampler.ToldLate, lazily(`(?i)\bafter (?:an? )?(?:stable |long |successful )?(?:runn?|simulat)(?:ing)? (?:for|of) (?:about |around |~)?\d[\d.,]* ?(?:\w+seconds?|[pn]s|hours?|hrs?|days?|minutes?)\b|` +
		`\btook\b[^.]{0,12}\d ?(?:h|hours?|hrs?|days?)\b[^.]{0,12}\bbefore (?:it |the )?(?:crash|fail|error|stop|dy|die)\w*`), nil},
	{sampler.ToldLate, lazily(`(?i)\b\d{2,5}s (?:or|to|and) \d{2,5}s (?:of )?(?:training )?(?:steps|iterations|iters|batches)\b|\bwell into (?:the |my )?(?:training|run|epoch)\b|` +
		`\b(?:hundreds|thousands) (?:or (?:even )?thousands )?of (?:training )?(?:steps|iterations|iters|batches) (?:in|later|into|before)\b`), nil},
	{sampler.ToldAfterwards, lazily(`(?i)\b(?:after|following|once|as soon as) (?:the |each |every |a |one |its |my |first )*(?:validation|evaluation|` +
		`eval)(?: (?:step|loop|phase|epoch|run))?(?: (?:is|was|has|gets?) (?:\w+ )?(?:done|over|finished|complete[d]?)| (?:ends|finishes|completes))?\b`),
		lazily(`(?i)\b(?:during|in|while|before) (?:the |each |every )?(?:validation|evaluation|eval)\b|\bafter (?:the )?(?:validation|evaluation|eval)[-_ ](?:set|data\w*|loader|batch\w*|metric\w*|step \d)`)},
	{sampler.ToldLate, lazily(`(?i)\b(?:in|at|on|during|after) (?:the |my )?\d{0,3}\d(?:st|nd|rd|th) (?:training )?(?:epoch|iteration|step|batch)\b|` +
		`\b(?:some|several|a few|many) hundreds?(?: or thousands?)? (?:of )?(?:steps?|iterations?|iters?|batch(?:es)?)\b|` +
		`\b(?:several|some|a few|many|\d+) (?:cases|volumes|scans|subjects|patients|items|inputs|frames|clips|prompts|questions) (?:are|were|is|get|got|` +
		`have been) (?:\w+ )?(?:completed?|processed|done|finished|through)\b[^.]{0,20}\b(?:before|then|until|and)\b|` +
		`\d[\d,]* ?多?(?:个|次)? ?(?:batch|step|iter|epoch)\w* ?(?:之?后|以后|左右)|第 ?\d+ ?(?:个|轮)? ?(?:epoch|轮|步|step)\w*[^。\n]{0,14}(?:报|爆|oom|OOM|溢出|不足)|` +
		`\d+ ?(?:steps?|iters?|batch|步) ?左右[^。\n]{0,8}(?:报|爆|oom|OOM|溢出|不足)|` +
		`\bthe first \d+ (?:steps|iterations|batches|files|images|videos|documents) (?:are|were|run|ran|work|worked|go|went|pass)\w*\b[^.]{0,30}\b(?:then|but|` +
		`and)\b|\b(?:fails?|stops?|dies|crash\w*) (?:at|on|in) the \d+(?:th|st|nd|rd)\b|` +
		`\b(?:many|several|\d+) (?:\w+ )?(?:files|pdfs|videos|images|documents|pages|songs) in a row\b|` +
		`\b(?:a few|\d{1,2}) ?% (?:of|on|in|into|through) (?:the |my )?(?:\w+ )?(?:epoch|training|run)\b|\bin (?:the )?later (?:training|epochs|steps)\b|跑着跑着|` +
		`(?:跑|训练|运行|推理)了?(?:一会|一段|到?一半|几个?(?:小时|分钟|轮|epoch))|` +
		`\b(?:after|for) (?:just |about |around |only )?(?:an? |one )?(?:couple|few|some|several|\d{1,3})(?: of)? (?:minutes|mins)\b|` +
		`\b(?:an? )?(?:couple|few)(?: of)? (?:minutes|mins) (?:into|in|later|after)\b|` +
		`\bafter (?:training |running |processing |testing |evaluating )?(?:on )?(?:some |about |around |~)?(?:\d+-)?(?:a few|few|some|several|many|` +
		`\d[\d,.]*k?) ?(?:hundreds?|thousands?|k)? ?(?:of )?(?:\w+ ){0,2}(?:steps?|iterations?|iters?|epochs?|batch(?:es)?|examples|samples|images|requests|` +
		`hours|hrs)\b|\bafter (?:a certain|some) (?:period|amount) of time\b|` +
		`\bafter (?:a few|several|many|some) (?:\w+ )?(?:generations|prompts|pictures|inferences)\b|` +
		`\b(?:randomly|in the middle of (?:an?|the) (?:epoch|training|run))\b|\brandom (?:points?|steps?|times?|batch(?:es)?|epochs?|iterations?|moments?)\b|` +
		`\b(?:at|on|after) (?:varying|different|various|irregular) (?:points?|steps|times|batches|epochs|iterations|moments|places)\b|` +
		`\b(?:ran|runs?|went|goes|came|got|gets|trained) (?:up )?to (?:the )?(?:epoch (?:[5-9]|\d\d)|(?:[5-9]|\d{2,4})(?:th)? epoch)`), nil},
	{sampler.ToldLarger, lazily(`(?i)\b(?:longer|larger|bigger|higher[ -]res\w*|(?:very|too|extremely) (?:long|large)|specific) (?:than \w+ )?(?:sentences?|sequences?|texts?|prompts?|` +
		`inputs?|images?|pictures?|photos?|files?|videos?|frames?|footage|documents?|samples?)\b|` +
		`\b(?:with|for|on|but|only) (?:some|certain|a few) (?:images?|pictures?|photos?|videos?|documents?|sentences?|inputs?)\b|` +
		`\b(?:images?|pictures?|photos?|videos?) (?:bigger|larger|longer|higher|greater) than\b|\bfootage above\b|` +
		`\b(?:works?|worked|runs?|ran)\b[^.]{0,60}\b(?:sequence|scene|video|image|picture|photo|sample|clip|file|recording|example)s?\b[^.]{0,20}\bbut (?:when|` +
		`if|after|once|with)\b[^.]{0,20}\b(?:switch|chang|mov)\w* (?:it )?to\b|\bexceed\w* (?:the )?max\w*[ _-]?(?:seq|len|token)\w*|` +
		`\b(?:not|without|n['’]t) skip(?:ping)? (?:the |any |those )?(?:\w+ of )?(?:large|big|long)\b|` +
		`\b(?:so |too |very )?many (?:gt |ground[- ]truth )?(?:boxes|objects|instances|points|nodes|atoms|residues)\b|(?:句子|文本|图片|图像|序列)[^。]{0,6}(?:长|大)`), nil},
	{sampler.ToldLarger, lazily(`(?i)\b(?:when|if|with|once|whenever|for)\b[^.,\n]{0,16}\b(?:an? |the |some |any |too |very )(?:long|large|big|huge) (?:inputs?|prompts?|contexts?|requests?|texts?|tokens?|documents?|sequences?|sentences?|images?|pictures?)\b[^.\n]{0,24}\b(?:oom\w*|out of|runs? out|crash\w*|fail\w*|errors?|dies|stops)\b`), nil},
	{sampler.ToldFull, lazily(`(?i)\bfull[-_ ]?(?:parameters?|params?|fine[-_ ]?tun\w*|weights?)\b|\b(?:train|tun|updat)\w* all (?:of )?(?:the |its )?(?:parameters|weights)\b|全(?:参|量)`), lazily(`(?i)\b(?:not|n['’]t|instead of|rather than|no) (?:do |a |use )?full\b`)},
	{sampler.ToldLargerRuns, lazily(`(?i)\b(?:small|low|short|few|tiny)(?:er)?\b[^.!?\n]{0,60}\b(?:fail\w*|can(?:not|['’]?t)|caus\w*|out of memory|oom|errors?|crash\w*)\b[^.!?\n]{0,40}\b(?:but|while|whereas)\b[^.!?\n]{0,30}` + largerRuns + `|` + largerRuns + `[^.!?\n]{0,30}\b(?:but|while|whereas)\b[^.!?\n]{0,30}\b(?:small|low|short|few|tiny)(?:er)?\b[^.!?\n]{0,60}\b(?:fail\w*|can(?:not|['’]?t)|` +
		`do(?:es)?(?:n['’]?t| not)|out of memory|oom|errors?|crash\w*)\b`), nil},
	{sampler.ToldLong, lazily(`(?i)\b(?:\d{4,}|\d{1,2}[,.]\d{3}) (?:video )?frames\b`), lazily(`(?i)\btrain|\bdata ?set`)},
	{sampler.ToldLong, lazily(`(?i)\b(?:long|lengthy|longest) (?:(?:audio|speech|text|video|wav|fasta|input|music|training) )?(?:audios?|recordings?|files|utterances?|sentences?|` +
		`sequences?|documents?|texts?|videos?|clips?|songs?|tracks?|speech|articles?|paragraphs?|transcripts?|samples?|reviews?|stories|dialog(?:ue)?s?)\b|` +
		`\bmax_?(?:duration|audio_len\w*|wav_len\w*)\b|` +
		`\b\d+(?:\.\d+)?[- ]?(?:s|secs?|seconds?|min|minutes?|hours?)[- ](?:long )?(?:(?:mono|stereo|\d+ ?khz) )*(?:audios?|wavs?|clips?|recordings?|songs?|` +
		`tracks?|utterances?|segments?)\b|` +
		`\b(?:audios?|wavs?|clips?|recordings?|songs?|utterances?|sentences|texts|documents|some|many) (?:are|is) (?:\w+ )?long\b|长(?:音频|文本|句子|视频)|` +
		`(?:音频|录音|样本|视频)[^。\n]{0,6}(?:未|没有?)(?:经过?)?(?:切分|切割|分割|切片|裁剪)|最长(?:的)? ?\d{2,4} ?(?:s\b|秒|分钟)`), lazily(`(?i)\b(?:short|shorter|not|no|only|just)\b[^.]{0,20}\b(?:long|\d)`)},
	{sampler.ToldElsewhere, lazily(`(?i)\b(?:this|that|another|other|the (?:original|official)) (?:gui|ui|tool|program|app(?:lication)?|repo|fork|implementation|extension|` +
		`node)\b[^.]{0,40}\b(?:works?|worked|runs?|ran) (?:fine|well|ok|okay|without|perfectly|great)|` +
		`\b(?:standalone|plain|original|official|native) (?:\w+ )?(?:scripts?|code|repo\w*|demo|program|version|implementation|cli)\b[^.]{0,40}\b(?:works?|` +
		`worked|runs?|ran|can run|am able)\b|\bwhen (?:I|we) (?:run|use|try)\b.{0,200}\b(?:it|which) (?:runs|works) (?:fine|without|well)|` +
		`\b(?:in|with|using) (?:a1111|automatic1111|comfyui|forge|invokeai|fooocus|the original|diffusers)\b[^.]{0,40}\b(?:works?|runs?) (?:fine|well|ok|` +
		`without)`), lazily(`(?i)\b(?:bits?|smaller|less|lower|cpu|without any \w+ (?:model|lora))\b`)},
	{sampler.ToldFirstGPU, lazily(`(?i)` + othersOnFirst + `|\b(?:many|several|multiple|extra|additional|more|\d+)(?: \w+)? process(?:es)?\b[^.]{0,24}\b(?:on|in) (?:the )?(?:first (?:GPU|card)|` +
		`(?:GPU|cuda|device) ?[:#]? ?0)\b[^.]{0,60}\b(?:others?|other (?:\w+ )?(?:GPUs?|cards?)|rest)\b|` +
		`\b(?:extra|additional|more|other) process(?:es)?\b[^.]{0,24}\b(?:on|in) (?:the )?(?:first (?:GPU|card)|(?:GPU|cuda|device) ?[:#]? ?0)\b|` +
		`\b(?:always|also|still|extra)\b[^.]{0,30}\b(?:some|small|little|a (?:bit|part|few)|\d+ ?M(?:i?B)?)\b[^.]{0,24}\b(?:memory|` +
		`vram)\b[^.]{0,12}\b(?:in|on|of|from) (?:the |my )?(?:first GPU|(?:GPU|cuda|device) ?[:#]? ?0)\b|` +
		`\bmore (?:\w+ )?(?:memory|vram) (?:in|on|of|from) (?:the |my )?(?:first|main|(?:GPU|cuda|device) ?[:#]? ?0|0(?:th)?)\b|` +
		`\b(?:first|last|one|master|0(?:th)?) (?:GPU|card|rank|node|device)\b[^.]{0,60}\bmore (?:\w+ )?memor(?:y|ies)\b|` +
		`\bmemory (?:usage |used )?(?:on|of|in) the (?:default|first|main) (?:GPU|card|device) is [^\n]{1,30}\b(?:others?|rest)\b|` +
		`\b(?:GPU|cuda|device) ?[:#]? ?0\b[^.]{0,60}\bmore (?:\w+ )?memor(?:y|ies)\b|` +
		`\b(?:all|every)\b[^.]{0,30}\b(?:tensors?|weights|models?|ranks?)\b[^.]{0,20}\b(?:sent|loaded|placed|put|moved|goes|go)\b[^.]{0,20}\b(?:GPU|cuda|` +
		`device) ?[:#]? ?0\b|\bGPUs? (?:\w+ ){0,2}maxed out\b[^.]{0,80}\bother GPUs\b|` +
		`\b(?:resum\w*|load\w*\b[^.]{0,60}\b(?:checkpoints?|optimi[sz]er|states?|ckpt|weights))\b[^.]{0,80}\b(?:on|of|to) (?:the first GPU|` +
		`(?:GPU|cuda|device) ?[:#]? ?0)\b|` +
		`\b(?:GPU|cuda|device) ?[:#]? ?0\b[^.]{0,80}\b(?:every|each|all)\b[^.]{0,20}\b(?:script|process|rank|worker|job|model)|` +
		`\b(?:GPU|cuda|device) ?[:#]? ?0\b[^.]{0,40}\b(?:others|other (?:\w+ )?(?:GPUs?|cards?|devices|ones?)|rest)\b|` +
		`\b(?:every|each|all) (?:of )?(?:the |my )?(?:\w+ )?(?:script|process|rank|worker|job|model)(?:s|es)?\b[^.]{0,60}\b(?:(?:GPU|cuda|device) ?[:#]? ?0|` +
		`on (?:one|a single|the same) (?:GPU|card|device))\b`), nil},
	{sampler.ToldOneGPU, lazily(`(?i)\bonly (?:the )?(?:GPU|cuda|device|card) ?[:#]? ?\d (?:loads?|holds?|has|gets?|takes?|is loaded)\b|` +
		`(?:只有|仅) ?(?:GPU|卡|cuda:?) ?\d ?(?:加载|在)[^。]{0,8}(?:模型|权重)|` +
		`\b(?:model|weights?|layers|parameters|everything|memory|tensors)\b[^.]{0,30}?\b(?:all |only |just |entirely )?(?:is|are|was|were|goes|go|sits?|stays?|` +
		`ends? up|gets?|got|being|been)\b[^.]{0,24}?\b(?:all |only |just |entirely |loaded |placed |put |allocated )+(?:up )?(?:on|onto|in|` +
		`to) (?:the )?(?:last|first|second|same|(?:GPU|cuda|device) ?[:#]? ?\d)\b|` +
		`\b(?:it|program|script|code|trainer|model|server|fastchat|vllm|ollama|llama\.cpp|\d|gpus?)\b[^.\n]{0,12}? (?:only|just) (?:ever )?(?:uses|loads|fills|` +
		`sees|runs on|takes) (?:the |my )?(?:(?:first|one|1|single)(?: (?:of|out of) (?:my |the |our |both |all )*(?:\w+ ){0,2}\w+| (?:GPU|card|device))|` +
		`GPU ?0|cuda:0)|` +
		`\b(?:loads?|loaded|puts?|places?|allocates?|allocated|is put) (?:(?:the|my|its|whole|full|entire|all|model|weights|everything|it|of) )*(?:only |` +
		`just )?(?:in|on|onto|into|to) (?:only |just )?(?:the )?(?:one|a single|first) (?:GPU|card)\b(?: only\b)?|` +
		`\b(?:everything|all (?:the )?(?:layers|weights|tensors)) (?:in|on|onto|into|to) (?:the )?(?:first (?:GPU|card)|GPU ?:?0|cuda:0)|` +
		`\b(?:all|whole|entire) (?:of )?(?:the |my )?(?:model|weights|layers)\b[^.]{0,30}\b(?:on|onto|in|to) (?:the )?(?:last|first|one|a single|same|(?:GPU|cuda|device) ?[:#]? ?\d)\b(?: GPU| card| device)?|` +
		`\b(?:only|just) (?:the )?(?:(?:first|last|one)(?: of the| of my)? (?:GPUs?|card|device)|(?:GPU|cuda|device) ?[:#]? ?\d)\b[^.]{0,60}\b(?:others?|` +
		`other (?:\w+ )?(?:GPUs|cards)|rest)\b[^.]{0,30}\b(?:empty|idle|free|unused|not (?:being )?used|nothing|0 ?%|do(?:es)? nothing)|` +
		`\bother (?:\w+ )?(?:GPUs|cards|two|three|\d)\b[^.]{0,24}\b(?:empty|idle|unused|not (?:being )?used)\b|(?:只|全)(?:用|占|在|放|加载)[^。]{0,8}(?:一张卡|第一张|最后一张|0 ?号卡|卡 ?0|GPU ?0)[^。]{0,24}(?:其他|其余|别的)`),
		lazily(`(?i)\b(?:want|prefer|would like|if|whether|how (?:to|can|do)|chose|choose|restrict\w*|only have|have only|has only|intend\w*)\b|\bCUDA_VISIBLE_DEVICES\b`)},
	{sampler.ToldShared, lazily(`(?i)\b(?:GPU|card) is shared\b|\bshares? (?:the|this|our|my) (?:GPU|card)\b|` +
		`\b(?:chrome|browsers?|desktop|firefox|photoshop|games?)\b[^.]{0,30}\b(?:open|running|uses?|using)\b[^.]{0,24}\b(?:same|GPU|card)\b|` +
		`\b(?:is|are) (?:running|loaded|active) (?:as well|too|also|in parallel|in the background)\b[^.]{0,20}\b(?:GPU|card)\b|` +
		`\b(?:several|two|other|many|multiple) (?:users?|people)\b|` +
		`\banother (?:code|program|job|script|training|experiment|user|person)\b[^.]{0,30}\b(?:GPU|card)|\bshared (?:machine|server|gpu)s?\b|` +
		`\b(?:two|2|several|another|both) (?:\w+ )?(?:kernels?|notebooks?|processes|programs|instances)\b`),
		lazily(`(?i)\bshared gpu memory\b|\b(?:no|without) (?:other|another)|\b(?:saw|see|seen|read|like|unlike|for) (?:\w+ )?(?:many |other |multiple )people\b|` +
			`\busers (?:report|say|get|have the same)\b|\bpeople (?:seem|can|could|are able|have|had|say|said|got?|with)\b|` +
			`\b(?:torchrun|ddp|distributed|ranks?|data ?loader|workers?)\b`)},
	{sampler.ToldShared, lazily(`(?i)\bother (?:vram|gpu|video memory) (?:consumers?|users?|programs?|process\w*)\b|` +
		`\b(?:works?|worked|runs?|ran|loads?|loaded|fits?|starts?) (?:\w+ )?(?:when|if|after|once|as soon as) (?:I |we )?(?:clos(?:e|ed|ing)|quit(?:ting)?) \w`),
		lazily(`(?i)\b(?:no|without|any) other\b|\b(?:not|n['’]t|never) (?:work|run|load|fit|start)\w*|\beven (?:when|if|after|once)\b|\?`)},
	{sampler.ToldOtherGPUs, lazily(`(?i)\b(?:[1-7]|one|two|three|some|most) of (?:them|the (?:gpus|cards)|these) (?:are|is) (?:\w+ )?(?:occupied|busy|in use|used|full|taken)\b|` +
		`\bnvidia-smi\b[^.\n]{0,30}\b(?:shows?|says?|reports?)\b[^.\n]{0,12}\b(?:gpu|card) (?:that )?(?:I['’]m|I am|we are|it is|is) (?:us\w+|set|` +
		`chosen)[^.\n]{0,30}\b\d+(?:\.\d+)? ?G(?:i?B)? (?:is |are |of memory )?free\b|` +
		`\bnothing (?:is |runs |else )*(?:running )?on (?:the )?(?:GPU|cuda|device) ?[=:#]? ?\d\b|` +
		`\bGPU ?\d\b[^.]{0,20}\b(?:is|was) (?:full|busy|occupied|in use|used)\b[^.]{0,40}\bGPU ?\d\b[^.]{0,16}\b(?:free|empty|idle|unused)\b|` +
		`\bGPU ?#?\d\b,? (?:which )?(?:is|was) (?:\w+ )?(?:pre-?)?(?:occupied|busy|in use|taken)\b|` +
		`\bstill (?:(?:attempts?|tries|tried|wants?) to )?(?:uses?|using|takes?|allocates?)(?: \w+){0,2}? (?:on )?(?:the )?(?:GPU|cuda|device) ?[:#]?0\b|` +
		`\bCUDA_VISIBLE_DEVICES\b[^.]{0,40}\bbut\b[^.]{0,40}\b(?:still|always)\b[^.]{0,24}\b(?:GPU|cuda|device) ?:?0\b|` +
		`\b(?:[2-8]|two|three|four|several|other|another) (?:free|empty|idle|unused) (?:GPUs?|cards?)\b|` +
		`\b(?:device(?:_map|_ids?)?|gpu[-_ ]?ids?|CUDA_VISIBLE_DEVICES)\b[^.]{0,24}(?:\bnot|n['’]t)(?: fully| always| really)? (?:respected|honou?red)\b|` +
		`\b(?:does|do|did)(?: not|n['’]t) (?:respect|honou?r)\b[^.]{0,16}\b(?:device(?:_map|_ids?)?|gpu[-_ ]?ids?|CUDA_VISIBLE_DEVICES)\b|` +
		`\bother (?:GPUs?|cards?)\b[^.]{0,20}\b(?:is|are) (?:totally |completely )?(?:free|empty|idle|unused)\b`), nil},
	{sampler.ToldHeld, lazily(`(?i)\b(?:after|until|unless|only after|once) (?:an? |the |I |my )*(?:re-?boot\w*|` +
		`restart(?:ing|ed)?\b(?: (?:the |my )?(?:computer|machine|pc|laptop|server|kernel|notebook|session|runtime))?)\b[^.]{0,24}\b(?:works?|worked|runs?|ran|` +
		`fine|solved|gone|okay?)\b|\b(?:works?|worked|runs|ran|solved|fixed)\b[^.]{0,24}\bafter (?:an? |I |the |my )*(?:re-?boot|restart)\w*|` +
		`\bfails?\b[^.]{0,24}\buntil I (?:re-?boot|restart)\b|` +
		`\bmemory\b[^.]{0,20}\b(?:(?:is|was|does|did|gets|be)(?: not|n['’]t)|never) (?:get |being )?(?:released?|freed|cleared|` +
		`given back)\b[^.]{0,24}\b(?:after|when|once|though|although) (?:I |the |my |it |is |has |was )*(?:stop|kill|exit|close|ctrl|cancel|interrupt|script|` +
		`program|process|end)\w*|` +
		`\b(?:ctrl[ +-]?c|killing|closing|stopping|interrupting)\b[^.]{0,40}\b(?:leaves?|left|keeps?|remains?|still)\b[^.]{0,30}\b(?:process|gpu|memory|` +
		`vram)\b|` +
		`\bnvidia-smi\b[^.]{0,30}\b(?:shows?|says?|reports?|lists?|i see)\b[^.]{0,24}\b(?:another|other|a second|old|many|several)\b[^.]{0,16}\b(?:python|` +
		`process\w*|programs?|jobs?|users?)\b|\b\d+(?:\.\d+)? ?Gi?B\b[^.]{0,24}\b(?:in use|used|occupied|taken|` +
		`allocated)\b[^.]{0,24}\b(?:(?:although|though|but|even if|when|while) (?:there is |I run |I have )?(?:nothing|` +
		`no (?:other )?(?:process|program|job|one))|before (?:I|it|my|the))\b|` +
		`\bafter (?:closing|killing|stopping|ending|quitting) (?:all |every |the |my |some )*(?:other )?(?:programs?|process\w*|apps?|applications?|browsers?|` +
		`chrome|jobs?|notebooks?|kernels?)\b[^.]{0,20}\b(?:works?|worked|ran|runs|fine)\b|` +
		`\b(?:some(?:body|one)(?: else)?|another (?:user|person|student|colleague)|my colleagues?|a colleague)\b[^.]{0,24}\b(?:trains?|training|runs|running|` +
		`uses|using|occup\w*)\b[^.]{0,12}\b(?:on|uses|using|occup\w*) (?:the )?(?:same|this|that|my) (?:GPU|card|machine|server|node)\b|` +
		`\b(?:kernel|notebook|session)s?\b[^.]{0,16}\b(?:still|also) (?:open|running|alive|active)\b|(?:显卡|GPU|卡)上?(?:还)?(?:有|被)(?:别人|其他|其它|别的)|` +
		`\bwhile (?:the |my |another |a )?(?:other )?(?:training|experiment|job|model|run) is (?:still )?(?:going on|running|in progress|training|ongoing)\b|` +
		`\b(?:when|once|after) (?:the |my |another )?(?:training|job|experiment|run) is (?:over|done|finished)\b[^.]{0,30}\bGPU is free\b|` +
		`\b(?:previous|old|stale|zombie|orphan\w*|dead) (?:\w+ )?process(?:es|\(es\))?(?:[^.\w]|\s)[^.]{0,60}\b(?:hold(?:s|ing)?|retain\w*|remain\w*|keep\w*|` +
		`still)\b|\borphan\w*\b[^.]{0,30}\b(?:GPU|memory)\b|\b(?:GPU|memory)\b[^.]{0,30}\borphan\w*|` +
		`\b(?:process|program|script|job|training|run) (?:has |is |was |had )?(?:ended|finished|stopped|terminated|killed|closed|` +
		`exited)\b[^.]{0,40}\b(?:memory|vram)\b[^.]{0,20}\b(?:still|(?:remains?|stays?) (?:occupied|used|allocated|full))\b|` +
		`\bnvidia-smi\b[^.]{0,80}\b(?:no|not|n['’]t|without)\b[^.]{0,30}\bprocess\w*|` +
		`\b\d+(?:\.\d+)? ?Gi?B\b[^.]{0,30}\b(?:is|are|was|were) (?:already |always )?(?:taken|used|occupied|held)\b[^.]{0,40}\b(?:by default|` +
		`before (?:I|it|the)|nothing (?:is|was) running|no process\w*)\b|nvidia-smi[^.]{0,30}프로세스가 보이지|기본적으로 차지`),
		lazily(`(?i)\bdata ?loader\b|\bworkers?\b`)},
	{sampler.ToldSharded, lazily(`(?i)\bfsdp\b|\bfully[ -]?shard\w*|\bdeepspeed\b|\bzero[-_ ]?3\b|\bzero[- ](?:stage|optimization)[- ]3\b`), nil},
	{sampler.ToldCopies, copies, nil},
	{sampler.ToldResults, lazily(`(?i)\b(?:logits|predictions?|outputs?) of (?:all|every|each)\b[^.]{0,30}\b(?:kept|collected|stored)\b|\bpreds_host\b|\bnested_concat\b|` +
		`\b(?:logits|predictions?|outputs?)\b[^.]{0,40}\baccumulated\b|\baccumulat\w* (?:all )?(?:the )?(?:outputs?|logits|predictions?)\b|` +
		`\b(?:predictions?|outputs?|logits|results|tensors)\b[^.]{0,40}\b(?:aggregat\w*|collect\w*|concatenat\w*|accumulat\w*|gather\w*|kept|` +
		`stay)\b[^.]{0,40}\b(?:GPU|CUDA|VRAM)\b|` +
		`\b(?:aggregat\w*|collect\w*|concatenat\w*|accumulat\w*|gather\w*|keep\w*)\b[^.]{0,30}\b(?:predictions?|outputs?|logits)\b[^.]{0,30}\b(?:GPU|CUDA|` +
		`VRAM)\b`), nil},
	{sampler.ToldResults, lazily(`(?i)\b(?:results?|outputs?|embeddings?|predictions?|features?|logits|representations?)\b[^.]{0,70}\b(?:remain|stay|stored?|left|` +
		`held)\w*\b[^.]{0,24}\b(?:GPU|CUDA|VRAM)\b|\bstorage[-_ ]mode\b[^.]{0,12}\b(?:to|is|=|as) ?["'\x60]?(?:gpu|cuda)\b|` +
		`\b(?:encod|embed|vectoriz|predict|infer|classif|extract)\w*\b[^.]{0,60}\b(?:\d[\d.,-]{0,12} ?(?:million|billion|M)|\d{1,3}(?:,\d{3}){2,}|` +
		`[1-9]\d{2},\d{3}|[1-9]\d{5,}|[1-9]\d{2,3} ?k) (?:\w+ )?(?:records?|sentences?|texts?|documents?|docs|rows?|samples?|images?|passages?|lines|items|` +
		`entries|queries|chunks|sequences?|vectors?)\b`), lazily(`(?i)\b(?:model|paramet\w+|train(?:s|ed|ing)?|fine[- ]?tun\w*|index(?:es|ing)?|faiss)\b`)},
	{sampler.ToldUpdate, lazily(`(?i)\bbetween (?:version |v)?\d+\.\d+(?:\.\d+)?\S* and v?\d+\.\d|\bback (?:to|on) (?:version |v)?\d+\.\d+(?:\.\d+)?\b(?: for (?:me|now|us))?|` +
		`\b(?:after|since|post|following)\b[^.;,?]{0,24}\b(?:updat|upgrad)\w*|\bI (?:have )?just (?:updat|upgrad)ed\b|` +
		`\b(?:I|we)(?:['’]ve| have| had)? (?:\w+ )?(?:updat|upgrad)ed (?:(?:it|this|the \w+|my \w+|\w+) )?(?:to|from|using|via|with|by|and|yesterday|today|` +
		`again)\b|\bupdated from v?\d|\b(?:before|prior to) (?:the |this |that |my |last |latest )*(?:updat|upgrad|upd\b)|` +
		`\b(?:current|latest|last|newest|new|recent) update (?:of|broke|made|makes|introduc\w*)\b|` +
		`\bwith (?:the |this )?(?:latest|last|newest|new|recent) update\b|` +
		`\bthe (?:\w+ )?(?:update|upgrade|new (?:version|release)|latest (?:version|release|build)) (?:now )?(?:uses?|takes?|needs?|requires?|` +
		`consumes?) (?:\w+ )?more\b|` +
		`\b(?:(?:down|roll)(?:ed|ing)? ?(?:grad(?:ed|ing)|back)) (?:it |this )?to\b[^.]{0,40}\b(?:works?|worked|fixe[sd]|help(?:s|ed)|fine)\b|` +
		`\bprior to the updat|\bwork(?:s|ed)\b[^.]{0,40}\b(?:previous|earlier|older|old|last) (?:version|commit|release|build)|` +
		`\b(?:previous|earlier|older|old|last) (?:versions?|commits?|releases?|` +
		`builds?)\b[^.?]{0,30}\b(?:(?:works?|worked|ran|runs?|okay?|no (?:problem|issue))\b|fine(?:[.,;:!?)]|\s+[a-su-z(]|\s*$))|` +
		`\bpreviously (?:running|on|used|using|had) (?:version |release |build )?v?\d+\.\d|` +
		`\b(?:to|how to|can I) (?:re-?install|re-?roll|go back|roll ?back|revert|down ?grade|return) (?:to )?(?:the |an? )?(?:previous|earlier|older|old|` +
		`last) (?:version|release|build|commit)|\b(?:able|could)\b[^.]{0,40}\bunder this commit\b|` +
		`(?:^|[^\w\s]\s*|\b(?:a|the|some|this|is|memory|vram|performance|possible|potential|recent|new|big|serious|severe) )regression\b(?:\W*$|[:.,!?\])]|` +
		` (?:in|since|from|between|after|of|introduced|caused|compared|that|was|is|here|as|bug|issue)\b)|` +
		`\b(?:after|since) (?:an? |the |my |doing )*git pull\b|\bpulled (?:the )?(?:latest|newest|new|recent) (?:changes|commits?|version|code|master|main)\b|` +
		`\b(?:it|that|this|update|release|version|commit)\b (?:has )?(?:broke|stopped working|started failing) (?:it\b|with|in|after|since)|\bupdate broke\b|` +
		`\b(?:down ?grading|rolling back|reverting|going back)\b(?:[^.]|\.\d){0,40}\b(?:solves?|solved|fix\w*|helps?|helped|works?|worked)\b|` +
		`\b(?:switch|mov|go|upgrad)ing from v?\d+\.\d+\S* to v?\d+\.\d|\bchanged between v?\d+\.\d+\S* and v?\d|` +
		`\b(?:since|with) (?:the |my |this )?new (?:driver|version|build|release)\b[^.]{0,30}\b(?:crash|fail|can['’]?t|cannot|not|stop|error|oom|out of)|` +
		`\b(?:older|old|earlier|previous|last) (?:commit|build|release|version)s?\b[^.]{0,30}\b(?:(?:could|can|works?|worked|possible)\b|` +
		`fine(?:[.,;:!?)]|\s+[a-su-z(]|\s*$))|` +
		`\b(?:work(?:s|ed)|ran|runs?|used to work)\b[^.]{0,24}\b(?:in|with|on) (?:an? )?(?:older|old|earlier|previous|(?:version |release |v)\d)|` +
		`\b(?:in|with) (?:version |release |v)\d+(?:\.\d+)*\S* (?:it|everything|all|this)\b[^.]{0,12}\b(?:works?|worked|was|ran|fine)\b|` +
		`\b(?:twice|double|\d+ ?x|times) (?:the |as much )(?:memory|vram) (?:of|than|as|in) (?:version |v)?\d+\.\d|` +
		`\bon (?:master|main|stable) it (?:works|runs|is fine)|(?:更新|升级)(?:之后|以后|后)|(?:之前|以前)的?版本|(?:旧|老)的?版本[^。\n]{0,12}(?:正常|没(?:有)?问题|可以|能跑|没事|不会|不爆|不报)|` +
		`(?:回退|退回|换回|降)[^。\n]{0,6}(?:旧|老)的?版本|` +
		`\b(?:latest|last|newest) (?:version|release|build|commit) (?:that |which )?(?:is |was )?(?:still )?(?:works?|worked|working|ran|running)\b|` +
		`\b(?:latest|last|newest) (?:known )?(?:working|good) (?:version|release|build|commit)\b|` +
		`\b(?:start\w*|began|begins|happen\w*|appear\w*|occur\w*|broken|fails) (?:happening |occurring |failing )?(?:from|since|as of) (?:version |build |release |commit )[bvr]?\d{2,}`),
		lazily(`(?i)\b(?:each|every|one|first|per|weights?|parameters?|param|gradients?|optimi[sz]er|policy|network|critic|actor|state|priority|` +
			`buffer)[ -](?:\w+[ -])?updat|(?:^|\b(?:after|since|when|by|I|we|have|had|just|to) )(?:updat|` +
			`upgrad)\w* (?:(?:of|to|my|the|our|its|all|their|from|an?|more|bigger|larger) )*(?:\w+ )?(?:weights?|parameters?|gradients?|optimi[sz]er|network|model|` +
			`config\w*|settings?|batch\w*|code|data\w*|GPUs?|cards?|RAM|vram|memory|hardware|plan|pro|premium|subscription|tier|instance|\d+ ?Gi?B|[345]0[5-9]0|A100|H100)\b`)},
	// What its authors publish ran as they published it, and the same does not run now: it installs what is newest.
	{sampler.ToldUpdate, lazily(`(?i)\b(?:official|original|provided|published|unchanged|same|your)\b(?: [^\s.,;:]+){0,5} (?:notebooks?|colabs?|examples?|recipes?|tutorials?|demos?|` +
		`workflows?)\b[^.\n]{0,30}\b(?:now|no longer|suddenly)\b[^.\n]{0,60}\b(?:fail\w*|errors?|crash\w*|oom\w*|out of memory|works?|runs?|dies)\b`), lazily(`(?i)\b(?:larger|bigger|smaller|another|different|longer|my own)\b`)},
	{sampler.ToldUpdate, lazily(`(?i)\b(?:in|with|on|until) (?:(?:version |release |build |tag )[bv]?\d+(?:\.\d+)*|[bv]\d+(?:\.\d+)*|\d+(?:\.\d+)+)\b[^.\n]{0,24}\bworks?\b`), lazily(`(?i)\b(?:not|never)\b|n['’]t\b|\b\d+(?:\.\d+)? ?(?:[GM]i?B|steps?|epochs?|images?|frames?)\b|\bbatch`)},
	// One version is named as the one with which it began or did not come, in whatever order.
	{sampler.ToldUpdate, lazily(`(?i)\b(?:revert\w*|go(?:ing|es)?|went|switch\w*|return\w*|roll\w*|down ?grad\w*) (?:it |this )?(?:back )?to (?:the )?(?:version |release |commit |` +
		`v)?\d+(?:\.\d+)+(?:[^.\n]|\.\d){0,40}\b(?:works?|worked|runs?|ran|fixe[sd]|solve[sd]|fine|ok(?:ay)?)\b|` +
		`\b\d+(?:\.\d+)+\S* (?:and|or) (?:earlier|older|before|lower|below)\b[^.\n]{0,24}\b(?:works?|worked|runs?|ran|fine|ok(?:ay)?)\b|` +
		`\bv?\d+(?:\.\d+)+\S* (?:requires|needs|uses|takes|consumes) (?:\w+ )?more (?:gpu |cuda |video )?(?:memory|vram) than (?:version |release |` +
		`v)?\d+(?:\.\d+)+|\bmore (?:gpu |cuda |video )?(?:memory|vram) than (?:in |with )?(?:version|release|v) ?\d+\.\d|` +
		`\b(?:version|release|build|v) ?\d+(?:\.\d+)+\S* (?:\w+ )?(?:worked|works|(?:ran|runs) (?:fine|well|ok(?:ay)?|with\w*|these|the|it|on|under)|` +
		`(?:was|is) fine)\b|` +
		`\b(?:recent|last|latest|new|newest) (?:\w+ )?(?:update|version|release|commit|build)s? (?:\w+ )?(?:caus|introduc|lead|led|giv|result|bring|brought|` +
		`broke|break)\w*|\bgit bisect\b|\bbisect(?:ed|ing)\b|\b(?:bad|culprit|offending) (?:commit|update|version|release)\b|` +
		`\bcommit [\x60"']?[0-9a-f]{7,40}[\x60"']?\b[^.\n]{0,30}\b(?:introduc|caus|broke|fail)\w*|` +
		`\b(?:older|earlier|previous|old|last) (?:versions?|releases?|builds?|commits?) (?:do|does|did)(?: not|n['’]t) (?:have|show|give) (?:this|the|that|` +
		`such)\b|(?:更新|升级)到[^，。\n]{0,10}后|(?:旧|老|之前的)版本?[^。\n]{0,6}没有(?:这个|此)问题|\brevert\w*\b[^.\n]{0,24}\bto the (?:\w+ )?(?:version|commit|release|build)\b|` + betweenVersions + `|\b(?:older|old|previous|earlier) (?:version|commit|release|build)\b(?:[^.\n]|\.\d){0,160}\b(?:takes?|took|uses?|used|consum\w+|needs?|` +
		`needed) (?:only |still |just |about )*\d+(?:\.\d+)? ?G|` +
		`\b(?:current|latest|newest|recent) (?:master|main|version|commit|release|build|branch)\b(?:[^.\n]|\.\d){0,60}\b(?:takes?|uses?|consum\w+|` +
		`needs?) (?:\w+ )?\d+(?:\.\d+)? ?G|` +
		`\b(?:\d+(?:\.\d+)? ?x|twice|double|times) (?:\w+ )?(?:more|the|as much) (?:gpu )?(?:memory|vram) (?:than|as) (?:before|previously|it used)|` +
		`\boom\b[^.\n]{0,16}\bcurrent (?:master|main)\b|(?:アップデート|バージョンアップ)(?:して(?:から|以降|後)|した(?:ら|後|あと))|(?:前|旧|以前)のバージョン(?:では|は)[^。\n]{0,12}(?:動|問題な)|` +
		`\b(?:seit|nach) dem (?:letzten |neuen )?(?:Update|Upgrade)\b|\bdepuis la (?:dernière )?mise à jour\b|\bdesde la (?:última )?actualización|` +
		`(?:после|с последнего) обновлени`),
		lazily(`(?i)\bsame (?:\w+ )?(?:error|problem|issue)s?\b|\balso\b|\bboth\b|(?:\bnot|n['’]t|\bnever) (?:\w+ )?(?:work|help|fix|solve|run)\b|\b(?:will|should|could|would|might|may|whether|how)\b|\?`)},
	// Two versions are set against each other, one of them by a number that only versions have.
	{sampler.ToldUpdate, lazily(`(?i)` + versionAt + fullVersion + goesWell + `[^\n]{0,40}\b(?:but|while|whereas|and)\b[^\n]{0,12}` + versionAt + anyVersion + goesBadly + `|` + versionAt + anyVersion + goesWell + `[^\n]{0,40}\b(?:but|while|whereas|and)\b[^\n]{0,12}` + versionAt + fullVersion + goesBadly + `|` +
		versionAt + fullVersion + goesBadly + `[^\n]{0,40}\b(?:but|while|whereas|and)\b[^\n]{0,12}` + versionAt + anyVersion + goesWell), lazily(`(?i)\b(?:same|also|both)\b`)},
	{sampler.ToldWorked, lazily(`(?i)\b(?:last (?:week|month|night)|yesterday)\b[^.\n]{0,30}\b(?:ran|worked|works|trained|was fine)\b|` +
		`\b(?:errors?|oom|out of memory|fails?) since (?:last (?:week|month|night)|yesterday|this (?:morning|week))\b|` +
		`\bsame (?:settings|parameters|config\w*|command|options)\b[^.\n]{0,30}\bnow\b|` +
		`\b(?:was|were|had been|has been) (?:working|running) (?:\w+ )?(?:yesterday|recently|before|earlier|previously|fine|well|perfectly|ok|on \w+day)\b|` +
		`\bused to (?:work|run|fit)\b|` +
		`\b(?:worked|ran|trained) (?:\w+ )?(?:yesterday|recently|earlier|last (?:week|month|night|time)|on \w+day|a few (?:days|hours|minutes) ago)\b|` +
		`\b(?:yesterday|previously|(?:an? )?(?:few )?(?:days?|weeks?|hours?) ago)\b[^.\n]{0,30}\b(?:works?|worked|working|ran|running|run|train(?:ed)?|fine)\b|` +
		`\bback to (?:an? |the )?\w+ (?:\w+ )?that (?:previously )?worked\b|(?:昨天|之前|以前|前几天)[^。\n]{0,10}(?:正常|能跑|可以|没问题|好好的)`),
		lazily(`(?i)(?:换成|换了|改成|改用)[^。]{0,8}(?:数据|模型|卡|显卡)|\b(?:another|other|different|larger|bigger) (?:GPU|card|machine|server|model|data ?set)|\b\w+ version\b|\bversions? \d`)},
	{sampler.ToldSegments, lazily(`(?i)\bexpandable[_ ]segments?\b[^.]{0,80}\b(?:(?:it|code|this|training|everything) (?:now )?(?:runs?|ran|works?|worked)|solv\w*|fix(?:es|ed)|` +
		`help(?:s|ed)|without (?:any )?errors?|no (?:more )?(?:oom|errors?))\b`), lazily(`(?i)\b(?:not|n['’]t|never|no) (?:\w+ )?(?:work|help|solve|fix)`)},
	{sampler.ToldGraph, lazily(`(?i)\bretain_graph\s*=\s*True\b|\bretain(?:s|ed|ing)?\b[^.]{0,24}\bgraphs?\b|\b(?:autograd|computation(?:al)?) graphs?\b[^.]{0,30}\b(?:kept|keeps|retained|held|accumulat\w*|never freed)\b`), nil},
	{sampler.ToldSame, lazily(`(?i)\b(?:always|again|each time|every time|same)\b[^.]{0,16}\bat (?:the same )?\d{1,2} ?%|` +
		`\bat (?:the same|exactly the same|always the same) (?:point|place|step|iteration|batch|percentage)\b|` +
		`\b(?:same|again|every time|each time|both (?:times|runs)|twice|always)\b[^.]{0,40}\b(?:at|on|in) (?:the same )?(?:iter(?:ation)?|step|batch|` +
		`sample)s?\b ?#?\d`), nil},
	{sampler.ToldCheckpoint, lazily(`(?i)\b(?:restor|load|reload)\w* (?:of )?(?:the |an? |its )?optimi[sz]er(?:['’]s)?(?: states?)?\b|\bresum(?:e|es|ed|ing)\b|--?resume\w*|` +
		`\b(?:continu|restart)\w* (?:the )?(?:training )?from (?:an? |the |my )?(?:\w+ )?checkpoints?\b|\btorch\.load\b[^.]{0,200}\b(?:GPU|VRAM)\b|` +
		`\bmap_location\s*=\s*["']?(?:device|cuda)\b|从 ?(?:checkpoint|断点)[^。]{0,4}(?:继续|恢复)|断点续训`),
		lazily(`(?i)\b(?:no|not|without|never|n['’]t)\b[^.]{0,20}\bresum`)},
	// Both sizes are compared in words, as no one does who has not looked at them.
	{sampler.ToldFree, lazily(`(?i)\b(?:free|available)(?: (?:gpu|cuda|video))?(?: memory| vram| ram| space)? (?:is|was) (?:\w+ )?(?:greater|larger|more|bigger|higher) than\b[^.\n]{0,30}` + askedFor + `|\bmore (?:(?:gpu|cuda|video) )?(?:memory |vram |space )?(?:is |was )?(?:free|available)\b[^.\n]{0,12}\bthan\b[^.\n]{0,30}` + askedFor + `|` +
		`\b(?:tries|tried|trying|wants?|wanted|asks?|asked) (?:to allocate |for )?(?:\w+ )?less than\b[^.\n]{0,24}\b(?:free|available)\b`),
		lazily(`(?i)\b(?:if|whether|unless|until|should|must|ensure|check|make sure)\b|(?:\bnot|n['’]t) (?:\w+ )?(?:greater|larger|more|bigger|higher|less)\b`)},
	{sampler.ToldEmpty, lazily(`(?i)\b(?:gpu|cuda|vram|video memory|(?:graphics )?card)\b[^.,;\n]{0,24}\b(?:almost|nearly|practically|mostly|virtually|basically|totally|completely) (?:empty|unused)\b|` +
		`\b(?:there (?:is|are|was|were)|(?:I|we) (?:still )?(?:have|had)|has|having|with) (?:still |more than )?(?:enough|plenty of) (?:empty|free|available|unused|spare) (?:vram|(?:gpu|video|cuda) memory|memory on the (?:gpu|card))\b`),
		lazily(`(?i)\b(?:not|if|whether|before|after|until|then|once|otherwise|other|second|another|first)\b|n['’]t\b`)},
	{sampler.ToldNoWorkers, lazily(`(?i)` + noWorkers + `[^.\n]{0,40}` + goneWith + `|` + goneWith + `[^.\n]{0,40}` + noWorkers + `|\bunless (?:I |we )?(?:set|use|run|put|lower|reduce)\w*\b[^.\n]{0,12}` + noWorkers + `|\b(?:only|just) (?:happens|occurs|fails|comes|appears|crashes)\b[^.\n]{0,40}\b(?:more than|over|above) (?:\w+ ){0,2}workers?\b`),
		lazily(`(?i)\b(?:still|even|also|same|neither|nor|regardless|whatever|how|should|could|would|might|may|maybe|try)\b|` +
			`\b(?:do|does|did|is|was|wo)(?:n['’]?t| not) (?:help|work|solve|fix|change|go away|disappear|run|vanish|gone|fixed|solved)|\?`)},
	{sampler.ToldLoader, lazily(`(?i)\bdata ?loader\b|\bnum_workers\b`), lazily(`(?i)\b(?:no|not|without) (?:\w+ )?data ?loader|\bnum_workers\W{1,3}0\b`)},
	{sampler.ToldNotebook, lazily(`(?i)\b(?:colab|jupyter(?:lab)?|(?:kaggle|ipython|python) notebook|(?:my|the|this|a) notebook)\b`), lazily(`(?i)\b(?:not|no|without|outside)\b[^.]{0,20}\b(?:colab|jupyter|notebook)`)},
	{sampler.ToldUnallocated, lazily(`(?i)\b[1-9]\d*(?:\.\d+)? ?Gi?B (?:\w+ ){0,2}reserved[- ]but[- ]unallocated\b|\bfragmented\b|\b(?:due to|because of|caused by|suspect\w*|looks like) (?:\w+ ){0,2}fragmentation\b`), nil},
	{sampler.ToldOffload, lazily(`(?i)(?:\b|_)offload`), nil},
	{sampler.ToldBatch, lazily(`(?i)(?:\b|_)(?:mini)?-?batch(?:es|[-_ ]?sizes?)?(?:\b|_)|批`), nil},
	{sampler.ToldVaries, lazily(`(?i)\b(?:once|one(?: time)?|sometimes|the first time|first) (?:was |came )?(?:at|in|after|on|during) (?:the )?(?:\d{1,7}(?:st|nd|rd|th)? ?(?:epochs?|iterations?|iters?|steps?)|` +
		`(?:epoch|iteration|iter|step) #?\d{1,7})\b[^.\n\d]{0,12}\b(?:once|another(?: time)?|(?:the )?other(?: time)?|then|sometimes|(?:the )?second(?: time)?) (?:was |came )?(?:at|in|after|on|during) (?:the )?(?:(?:epoch|` +
		`iteration|iter|step) )?#?\d{1,7}`), nil},
	{sampler.ToldEpochs, lazily(`(?i)\b(?:after|at|in|on|until|during) (?:about |around |` +
		`~)?(?:(?:the )?(?:(?:[2-9]|[1-9]\d{1,2})(?:st|nd|rd|th)|(?:second|third|fourth|fifth|tenth)) epoch\b|` +
		`(?:a few|some|several|many|[2-9]|\d{2,4}) ?(?:th )?epochs?\b|epochs? ?[=#:]? ?(?:[2-9]|\d{2,4})\b)|` +
		`\b(?:ran|runs?|went|goes|came|got|gets|trained) (?:up )?to (?:the )?(?:epoch (?:[5-9]|\d\d)|(?:[5-9]|\d{2,4})(?:th)? epoch)`), nil},
	{sampler.ToldLargePainter, lazily(`(?i)\bflux(?:[ .-]?[12])?(?:[ .-]?(?:dev|schnell|krea|kontext))?\b|\bsd ?3\.5\b|\bhidream\b|\bqwen[- ]image\b`), lazily(`(?i)\btrain(?:s|ing)?\b|\bloras?\b`)},
	{sampler.ToldLengths, lazily(`(?i)\b(?:\w+_)?max[-_ ]?seq\w*|\b(?:model_)?max_length\b|\bcutoff_len\b|\bblock_size\b|\b(?:seq(?:uence)?|context|input|token)s? lengths?\b|` +
		`\b\d{1,3}k (?:tokens?|seq\w*|context)\b|\blong(?:er)? (?:sequences?|sentences?|contexts?|inputs)\b|序列长度|长序列|\d+k ?的?序列`), nil},
	{sampler.ToldAsksOffload, lazily(`(?i)\b(?:add|adding|support\w*|enabl\w*|implement\w*|us(?:e|ing))\b[^.?]{0,24}\b(?:cpu|ram|model|sequential)[-_ ]?(?:cpu[-_ ])?offload\w*|\boffload(?:ing)? (?:parts?|layers|some|weights|models?)\b[^.?\n]{0,80}\?`), nil},
	{sampler.ToldAsksRAM, lazily(`(?i)\b(?:us(?:e|ing)|fall ?back to|spill(?:ing)? to|extend(?:ing)? (?:in)?to)\b[^.?]{0,24}\b(?:host|system|cpu|main) ?-?(?:RAM|memory)\b|\b(?:unified|managed) memory\b`), nil},
	{sampler.ToldOutsized, lazily(`(?i)\b(?:model|parameters?|weights|checkpoint)\b[^.]{0,60}\b(?:larger|bigger|greater) than (?:the |my |a |one |single |available )*(?:GPUs?|cards?|` +
		`VRAM|memory)\b|` +
		`\b(?:model|weights)\b[^.]{0,40}\b(?:(?:does|do|can|could|will|would)(?:n['’]?t| not)|can['’]?t|cannot|not) fit\b[^.]{0,24}\b(?:in|into|on|onto|` +
		`within)\b[^.]{0,16}\b(?:GPUs?|cards?|VRAM|memory)\b`), lazily(`(?i)\bbatch`)},
	{sampler.ToldWholeGraph, lazily(`(?i)\bfull[- _]?batch\b|\b(?:whole|entire|full|single|big|large|huge) graph\b|\bgraph (?:is|was)(?: \w+)? too (?:large|big)\b|` +
		`\bgraph\b[^.]{0,60}\b\d[\d,. ]*(?:k|m|million|thousand)? ?(?:nodes|vertices|points|edges)\b|\bgraph\b[^.]{0,40}\bmany (?:nodes|points|edges)\b|` +
		`\b(?:my|our) (?:data\w*|network) (?:has|have|contains?) (?:about |over |around )?\d[\d,]{3,} nodes\b`), lazily(`(?i)\b(?:each|every|per|graphs)\b`)},
	{sampler.ToldQuantizing, lazily(`(?i)\b(?:quantiz|quantis)(?:e|es|ing)\b[^.]{0,40}\b(?:\d{1,3}b|models?|llama\S*|weights)\b|--wbits \d`), lazily(`(?i)\b(?:vllm|tgi|serv(?:e|ing))\b|--quantize\b`)},
	{sampler.ToldSideBySide, lazily(`(?i)\b(?:all|both|[2-9]|two|three|four|five|several|multiple)(?: of (?:the|my|these))?(?: \w+)? (?:\w+ )?models\b[^.\n]{0,24}\b(?:concurrently|` +
		`simultaneously|at (?:the same time|once)|together|in parallel|side by side)\b|` +
		`\b(?:load|run|put|host|keep|deploy|serv)(?:s|e|ed|ing|ning)? (?:2|two|three|both|several|multiple|many) (?:\w+ ){0,2}models (?:on|onto|into|in|` +
		`to) (?:a|an|the|one|my|same)(?: (?:single|same|one))?(?: \w+){0,2} (?:GPU|card)\b|\b(?:concurrent|simultaneous|parallel)(?:ly)? (?:\w+ )?models\b`), lazily(`(?i)\btrain(?:s|ed|ing)?\b`)},
	{sampler.ToldParallel, lazily(`(?i)\b(?:parallel|concurren\w+|simultaneous\w*|several (?:users|requests|models)|multiple (?:users|requests|models))\b`), nil},
	{sampler.ToldSpeech, lazily(`(?i)\b(?:\w*asr|max[-_]duration|\w+_conformer|conformer[-_ ](?:ctc|encoder|model)|rnn-?t|tts|speech|audio|utterances?|librispeech|aishell|espnet|` +
		`speechbrain|kaldi|transcrib\w*|transcripts?|wavs?)\b|语音`), nil},
	{sampler.ToldTranscribes, lazily(`(?i)\btranscrib\w*|\btranscriptions?\b|\bspeech[- ]to[- ]text\b|\b(?:stt|asr)\b`), lazily(`(?i)\btrain(?:s|ing)?\b`)},
	{sampler.ToldPictureSet, lazily(`(?i)\b(?:kohya\w*|sd-scripts|dreambooth|textual inversion|diffusion-pipe|musubi\S*|flux ?gym|onetrainer|ai-toolkit)\b|` +
		`\b(?:sdxl|sd ?[123](?:\.\d)?|flux\S*|stable[- ]?diffusion)\b[^.]{0,30}\bloras?\b|` +
		`\bloras?\b[^.]{0,30}\b(?:sdxl|sd ?[123](?:\.\d)?|flux\S*|stable[- ]?diffusion)\b`), nil},
	{sampler.ToldResume, lazily(`(?i)\b(?:resum\w*|load_from_checkpoint|` +
		`(?:train|start|continu|restart)\w* (?:\w+ )?from (?:an? |the |my )?(?:\w+ )?checkpoints?)\b[^.]{0,90}\b(?:(?:multi(?:ple)?|several)[-_ ]?gpus?|` +
		`(?:two|four|eight|[2-9]|1\d) GPUs|each (?:GPU|rank)|ddp|distributed)\b|\b(?:multi(?:ple)?[-_ ]?gpus?|ddp|distributed)\b[^.]{0,90}\bresum`), nil},
	{sampler.ToldText, lazily(`(?i)\b(?:\d+x)?\d{1,3}(?:\.\d+)?B\b(?:[- ](?:model|chat|instruct|parameters?))?|` +
		`\b(?:(?:M|LV|V)?LLMs?|L?VLMs?|language models?|chat(?:s|bot|ting)?|(?:code)?llama-?[23]?|llava\S*|internvl\S*|internlm\S*|baichuan\S*|gemma\S*|` +
		`deepseek\S*|codegeex|vicuna|mistral|mixtral|gpt-?[2j]|qwen\S*|chatglm\S*|phi-?[1-4]\S*|falcon-?\d+b\S*|text[- ]generation\S*|prompts? tokens?)\b|量化|` +
		`大模型|多轮对话`),
		lazily(`(?i)\b(?:train(?:s|ing)?|fine[- ]?tun(?:e|es|n?ing)|q?lora|images?|pictures?|videos?|diffusion|esm|proteins?|embeddings?)\b|训练|微调`)},
	{sampler.ToldPixels, lazily(`(?i)\b(?:photos?|\w+\.(?:png|jpe?g|mp4)|\d+ ?(?:mpx|megapixels?)|images?|img(?:sz|_?size)?|pictures?|videos?|frames|footage|\d{3,4}p|coco|yolo\S*|` +
		`[ru]?cnn|u-?net\S*|segmentation|object detection|resolution|pixels?|voxels?|volumes?|ct|mri|3d|point ?clouds?)\b|点云|图[像片]|照片|视频`), lazily(`(?i)\b(?:docker|container|base) images?\b`)},
	{sampler.ToldSized, lazily(`(?i)\b\d{3,4} ?[x*×] ?\d{3,4}(?: ?[x*×] ?\d{1,4})?\b|\b\d{3,4}p\b`), lazily(`(?i)\b(?:seq\w*|tokens?|layers?|hidden)\b`)},
	{sampler.ToldShows + sampler.ShowsFewBits, lazily(`(?i)\b[2-8][- ]?bits?\b[^.;,]{0,24}\b(?:models?|versions?|weights|checkpoints?|quants?|quanti[sz]ed|mixtral|mistral|llama|qwen|gemma|deepseek|phi|yi|` +
		`falcon)|\b(?:quanti[sz]ed|loaded|loading|load it|running|runs?) (?:\w+ )?(?:to|in|with|at|as) (?:int)?[2-8][- ]?bits?\b|` +
		`\b(?:after|already|with|have|I) enabl(?:ed|ing) (?:int)?[2-8][- ]?bits?\b`),
		lazily(`(?i)\b(?:how (?:can|do|to)|can I|could|should|would|whether|if|want|try|plan|not|n['’]t|without|instead|support\w*|possible|optimi[sz]ers?|adamw?)\b|\?`)},
	{sampler.ToldBillions, lazily(`(?i)\b(?:[7-9]|[1-9]\d{1,2})B\b`), lazily(`(?i)q?lora|\bpeft\b|\b(?:int)?[48][- ]?bits?\b|\bint[48]\b|gptq|awq|adapters?\b`)},
	{sampler.ToldCPU, lazily(`(?i)\b(?:works?|worked|runs?|ran|succe\w+|fine|ok|okay|segments|processes|finishes|` +
		`completes)\b[^.]{0,40}\b(?:(?:on|with|using|in|by) (?:the |my |a )?CPU|CPU[- ](?:mode|only|processing))\b|` +
		`\bCPU\b[^.]{0,20}\b(?:works?|worked|runs|ran|is (?:fine|ok|okay))\b`), lazily(`(?i)\b(?:not|n['’]t|never|no|offload\w*|should|could|would)\b`)},
	{sampler.ToldFewer, lazily(`(?i)\b(?:reduc|lower|decreas|cut)\w* (?:the |it |them )?(?:\w+ )?to \d+\b[^.]{0,24}\b(?:execut\w*|works?|worked|runs|ran|finish\w*|complet\w*|fine|ok|` +
		`okay)\b|` +
		`\b(?:limit\w*|reduc\w*|with|only|us(?:e|ing)|process\w*)\b[^.]{0,40}\b\d+ (?:\w+ )?(?:frames|images|pictures|files|samples|rows|sentences|lines|pairs|` +
		`points|documents|examples|records)\b[^.]{0,20}\b(?:works?|worked|runs|ran|fine|ok|okay)\b|` +
		`\b(?:limit\w*|reduc\w*|with|only|us(?:e|ing)|process\w*)\b[^.]{0,20}\b(?:frames|images|pictures|files|samples|rows|sentences|lines|pairs|points|` +
		`documents|examples|records) to \d+[^.]{0,12}\b(?:works?|worked|runs|ran|fine|ok|okay)\b`), lazily(`(?i)\b(?:not|n['’]t|never|even)\b`)},
	{sampler.ToldInstances, lazily(`(?i)\binstance segmentation\b|\bmask[-_ ]?r-?cnn\w*|\bpanoptic\b|\bdetectron2?\b`), nil},
	{sampler.ToldSmallGPU, lazily(`(?i)\b(?:my|the|this|our) (?:\w+ )?(?:GPU|(?:graphics? |video )?card)\b[^.]{0,30}\b(?:low[- ](?:level|end|spec\w*)|` +
		`(?:too|very|really|quite|so|rather|pretty) (?:old|weak|small|limited)|(?:does(?:n['’]?t| not)|not) have enough (?:memory|vram))\b|` +
		`\b(?:only|just)(?: has| have| got| a| an)* ?[12] ?Gi?B (?:of )?(?:dedicated )?(?:GPU|VRAM|(?:graphics? |video )card|` +
		`(?:gpu |video |graphics? )memory)\b`), lazily(`(?i)\b(?:bigger|larger|enough|should|is it|isn['’]t|free|left|remaining|extra|more|per)\b[^.]{0,20}\b[12] ?Gi?B`)},
	{sampler.ToldSmallerModel, lazily(`(?i)\b(?:do|does|should|must|have to|need to|need)\b[^.?]{0,40}\bsmaller (?:model|network|variant|version)\b[^.?]*\?`), nil},
	{sampler.ToldAlone, lazily(`(?i)\b(?:no|without any|not any|not have(?: any)?) other (?:running )?(?:process\w*|program\w*|job|user|task)s?\b[^.]{0,30}\b(?:on|in|us\w+|running|holds?|take\w*)?|` +
		`\b(?:nobody|no one|nothing) else\b[^.]{0,24}\b(?:GPU|card|running|runs|uses?|using|there)\b|` +
		`\b(?:killed|ended|closed|stopped)\b[^.]{0,24}\b(?:needless|unneeded|unnecessary|all other|every other|other)\b[^.]{0,20}\b(?:ones|processes|` +
		`programs)?|\bonly (?:process|program|job) (?:on|using|that uses)\b[^.]{0,12}\b(?:GPU|card)|(?:没有|无)(?:别的|其他|其它|任何)[^。，]{0,6}(?:程序|进程|任务)`), lazily(`(?i)\?|\b(?:if|whether|unless|how|should)\b`)},
	{sampler.ToldAtStart, lazily(`(?i)\b(?:stops?|fails?|dies|crash\w*|ends?|breaks?|happens?|comes?|occurs?|oom\w*)\b[^.]{0,12}\b(?:at|on|during|in|` +
		`right (?:at|on)) (?:the )?(?:very )?(?:start(?:up)?|beginning|launch|first (?:step|iteration|batch))\b|启动(?:时|就|的时候)`), nil},
	{sampler.ToldDecoding, lazily(`(?i)\bvae\b|\bdecod(?:e|es|ing) (?:the )?latents?\b|\b(?:on|at|during|while) decod(?:e|ing)\b`), lazily(`(?i)\btrain(?:s|ing)?\b`)},
}

// given is memory of which there was to be more, which is no growth of what a program takes; taken behind it says that it is.
var (
	given = lazily(`(?i)\b(?:increas(?:e|es|ed)|increasing (?:the|my|our|its)|rais(?:e|es|ed)|enlarg(?:e|es|ed)|extend(?:s|ed)?|expand(?:s|ed)?|add(?:ed)?|upgrad(?:e|ed)|` +
		`boost(?:ed)?) (?:(?:the|my|our|its|your|amount|size|limit|total|available|max\w*|of|more) )*(?:(?:virtual|swap|shared|system|host|physical|docker|` +
		`main|page|paging)[ -]?(?:memory|space|files?|ram)?|swap\w*|pagefiles?|v?ram|shm\w*)\b|` +
		`\b(?:I|we|you|please|to|must|should|can)(?:['’]ve| have| had| already| also| just| then| even| only| please)* (?:increas|rais|enlarg|extend|` +
		`expand)(?:e|ed) (?:(?:the|my|our|its|your|total) )?(?:\w+ ){0,2}memory\b|` +
		`\b(?:increas|rais|enlarg|extend|expand|chang)\w* [^.,;\n]{0,50}?\b(?:did|does|do)(?: not|n['’]t) (?:help|work|change|solve|matter|make)\w*`)
	taken = lazily(`(?i)^(?:['’]s)? (?:usage|use|consumption|footprint|requirements?)\b`)
)

// withoutGiven is a sentence without the memory that somebody gave to a job, or is to give.
func withoutGiven(s string) string {
	for from := 0; ; {
		at := given.FindStringIndex(s[from:])
		if at == nil {
			return s
		}
		if rest := s[from+at[1]:]; taken.MatchString(rest) {
			from += at[1]
			continue
		}
		s = s[:from+at[0]] + "," + s[from+at[1]:]
		from += at[0]
	}
}

type kindRow struct {
	what  string
	words *lazy
}

// kinds are the words for what a program does.
var kinds = []kindRow{
	{sampler.ToldInference, lazily(`(?i)\b(?:not|n['’]t|never) (?:train\w*|fine[- ]?tun\w*)\b|\bonly (?:run |do )?inference\b|\bdarknet(?:\.exe)? +(?:detect\b|detector +(?:test|demo|map|valid|recall)\b)`)},
	{sampler.ToldTraining, lazily(`(?i)(?:跑|练)(?:到|了) ?第? ?\d+ ?(?:轮|个?epoch)|` +
		`\b(?:train|trains|training|trainn?ning|traning|trai[n]ig|train\w*_\w+\.(?:ya?ml|json|toml)|fine?[- ]?tun(?:e|es|n?ing)|(?:have|has|had|successfully|i|we) (?:successfully )?fine[- ]?tuned|kohya\w*|sd-scripts|dreambooth|` +
		`textual inversion|q?lora (?:training|with kohya)|network dim|backward|gradient[- ](?:checkpoint\w*|accum\w*)|fast\.?ai\b[^\n]{0,40}\blesson ?\d|` +
		`full[-_ ]batch)\b|训练|微调`)},
	{sampler.ToldImages, lazily(`(?i)\b(?:[ti]2v|sage ?att\w*|hunyuan ?video|block ?(?:swap\w*|offload\w*)|txt2img|img2img|text[- ]to[- ]image|stable[- ]?diffusion\S*|sdxl|comfyui|` +
		`invokeai|inpaint(?:ing)?|upscal(?:e|es|ing|er)|super[- ]resolution|generat(?:e|es|ing) (?:\w+ )?(?:images?|pictures?|textures?|videos?)|` +
		`(?:an|one|1|single|the) (?:image|picture) (?:of )?\d{3,4} ?[x*×] ?\d{3,4}|flux(?:[.-]?\d)?[-.](?:dev|schnell)\S*|flux\.?1|cogvideo\S*|` +
		`hunyuan-?video\S*|animatediff|controlnet|vae[- ]decod(?:e|ing)|decod(?:e|es|ing) (?:the )?latents?|svd_xt)\b|生成 ?(?:视频|图[像片])`)},
	{sampler.ToldInference, lazily(`(?i)\b(?:(?:perform|run|runn|do|mak)(?:ing|e|s)? (?:an? |the |my |some )?evaluations?|infer[ae]nc(?:e|es|ing)|infe?rence|inferring|infer|` +
		`segment(?:s|ing)? (?:(?:the|an?|my|some|rather|very|large|big|whole) )*(?:images?|pictures?|videos?|slides?|volumes?|scans?|stacks?|cells|` +
		`(?:[23]d |ct |mri |image )?data)|\w+_demo|demo_\w+|` +
		`(?:tried|tested|try|test) (?:it )?(?:with|on) (?:(?:the|an?|my|some|two|three|several|many|different|other|\d+) )+(?:images?|pictures?|photos?|` +
		`videos?)|load_?image\b[^.\n]{0,80}\bsave_?image|(?:swap|reenact|animate|colorize|denoise|enhance|separate)\.py|` +
		`(?:denois|deblur|dehaz|derain|coloriz|colouris|restor|enhanc|stitch)(?:e|es|ing) (?:(?:my|an?|the|some|own|old|large|big|all) )*(?:photos?|images?|` +
		`pictures?|videos?|frames|footage)|post-?process(?:ing|or)?|process\w* (?:very |rather )?long (?:tracks?|recordings?|audio|files?)|` +
		`run(?:ning)? (?:the|my) (?:\w+ )?model (?:on|with)|separat(?:e|ing) (?:\w+ )?(?:songs?|tracks?|audio|stems|vocals|speakers|sources|voices)|` +
		`synthesi[sz](?:e|es|ing)|vocod(?:e|es|ing)|(?:denois|deblur|restor|enhanc)ing task|demo|predict(?:s|ing|ions?)?|caption(?:s|ing)|` +
		`transcrib(?:e|es|ing)|whisper|render(?:s|ing)?|chat(?:s|bot|ting)?|text[- ]generation\S*|first prompt|model\.generate|model\.encode|embeddings?|flask|` +
		`fastapi|endpoint|requests|test[- ]set|generat(?:es|ing)|(?:at|in|during) test[- ]time|test(?:ing)?(?:\.?$|\.?[^.\w])|` +
		`tests (?:the|a|my|an|on|one|single|few|some)\b|runn?ing (?:the )?tests?\b|image in a loop|` +
		`(?:my|own|input|long|short|whole|process\w*) (?:videos?|footage|frames))\b|推理|预测|测试`)},
}

// ownEvaluation is code that somebody wrote to run what is trained already: it trains nothing, however often a training is named beside it.
// trainsThen is a training that went through, and predicts what the same model is asked for after it and does not give.
var (
	ownEvaluation = lazily(`(?i)\b(?:my|own|self[- ]written) (?:\w+ )?(?:evaluation|eval|inference|prediction|testing) (?:code|script|loop|program|file|function)\b|` +
		`\b(?:wrote|written|writ(?:e|ing)) (?:(?:my|own|an?|some|the|simple|short|it) )*(?:evaluation|eval|inference|prediction|testing) (?:code|script|loop|program|file|function)\b|` +
		`\bto (?:evaluate|test|run) (?:the|a|my|our|this) (?:\w+ )?models?\b[^\n]{0,40}\bI (?:have |had |just )*(?:wrote|write|written|made|implement\w*|coded)\b`)
	ofTraining = lazily(`(?i)\b(?:while|during|in|when|at) (?:the )?train(?:ing)?\b|\bepochs?\b|训练时`)
	trainsThen = lazily(`(?i)(?:\b(?:my|the|our) (?:\w+ )?model trains?\b(?: \w+)?|` +
		`\b(?:train\w*|fit(?:s|ting)?|(?:can|could|able to) (?:train|fit))\b[^.\n]{0,24}\b(?:ok|okay|fine|works?|worked|well|success\w*|smooth\w*|(?:no|without|without any) (?:problem|error|issue)s?|` +
		`finish\w*|complet\w*|done))\b[^\n]{0,16}\b(?:but|however|yet)\b(?:[^.\n]|\.\w){0,50}(?:` + refuses + `(?:[^.\n]|\.\w){0,40}` + predicts + `|` + predicts + `(?:[^.\n]|\.\w){0,60}` + refuses + `)`)
)

const (
	refuses  = `(?:n['’]?t\b|\b(?:cannot|can ?not|unable|fail\w*|crash\w*|errors?|oom\w*|runs? out|ran out|out of|not enough)\b)`
	predicts = `\b(?:predict\w*|infer(?:ence)?\b|imput\w*|embed\w*|encod(?:e|ing)\b|latent\w*|` +
		`get_\w+|(?:get|obtain|comput\w*|extract\w*) (?:the |my |all )?(?:\w+ )?(?:predictions?|expressions?|outputs?|results|features|representations?|scores))\b`
)

// trains are words of which one is in nearly each text about training a language model.
var trains = lazily(`(?i)\b(?:train\w*|fine[- ]?tun\w*|q?lora|peft|sft|dpo|grpo|ppo|trl|rlhf|unsloth|axolotl|llama-?factory|backward|optimizer|epochs?)\b|训练|微调`)

// writes is the class of transformers for models that write, which stands in code.
var writes = lazily(`\bAuto\w*ForCausalLM\b`)

// quantizes is a call that brings a model to fewer bits with samples, below the one that loads it.
var quantizes = lazily(`(?s)from_pretrained\(.*\n[^#\n]*\.quantize\(`)

// asksLowVRAM asks for an option that programs have which run a model, and none that trains one.
var asksLowVRAM = lazily(`(?i)\b(?:(?:is|are) there|any (?:way|option|chance|plans?)|can I|how (?:to|can I|do I)|possible)\b[^.?\n]{0,40}(?:--|\b)(?:low|med)[-_ ]?vram\b[^.\n]{0,40}\?`)

// ofPainters are models of the same publishers that make pictures or videos.
var ofPainters = lazily(`(?i)\b(?:thudm|zai-org)/cogv(?:ideo|iew)\S*|\bdeepseek-ai/janus\S*|\bqwen/qwen-image\S*`)

// ofText are the names of publishers and their models that write, as commands have them.
var ofText = lazily(`(?i)\b(?:bigscience|eleutherai|meta-llama|mistralai|tiiuae|databricks|mosaicml|lmsys|thudm|huggyllama|deepseek-ai|google/(?:gemma|flan)|facebook/opt|qwen/qwen)[-/]\w`)

// trainsInCode is a step of a training, or what begins one, as code has it.
var trainsInCode = lazily(`\bloss(?:es|_dict)?\s*=\s*(?:self\.)?\w*(?:model|net|criterion)\w*\(|\w\.backward\(\)|\boptimi[sz]er\w*\.(?:step|zero_grad)\(|` +
	`\btrainer\.(?:train|fit)\(|\bSOLVER\.\w+\s*[=,]|\bBATCH_SIZE_PER_IMAGE\b|\btrain_(?:model|epoch|one_epoch|loop)\(|` +
	`(?m:^\s*["']?(?:num_train_epochs|per_device_train_batch_size|do_train|finetuning_type|lr_scheduler_type|learning_rate|weight_decay|` +
	`warmup_(?:ratio|steps)|max_train_steps)["']?\s*[:=]\s*["']?[\w.-]+["']?,?\s*$)`)

// speaks names a model that reads and writes, though it be shown pictures.
var speaks = lazily(`(?i)\b(?:[1-9]\d{0,2}B model|L?VLMs?|LLMs?|vision[- ]language|\w+-VL\b|clone-voice|text[- ]to[- ](?:speech|voice|sound))|文字 ?(?:->|→|转) ?(?:声音|语音)`)

// paints is code that makes pictures.
var paints = lazily(`\bfrom diffusers\b|\bStable\w*Pipeline\b|/stable-diffusion-|\bDiffusionPipeline\b`)

// speaksOfText are words of language models.
var speaksOfText = lazily(`(?i)\b\w*llms?\b|\blanguage models?\b|\d{1,3}B\b|\bllama|\bqwen|\bchatglm|\bmi[sx]tral|\bgemma|\bdeepseek|\bgpt|大模型|大语言`)

// makesVideos is a model that makes them.
var makesVideos = lazily(`(?is)` + videoModel)

// onCPU is code that reads a checkpoint to host memory.
var onCPU = lazily(`\bmap_location\s*=\s*(?:torch\.device\()?["']cpu`)

// asCure is what is told as the cure, of others' code or of a trial, so that it was not in force when it failed; toCPU is such a cure in words.
var (
	asCure = lazily(`(?i)\b(?:should|would|could|might|may|must|is|was|seems to) be (?:the|an?|your|one) (?:\w+ )?(?:solution|fix|remedy|answer|workaround)\b|` +
		`\b(?:if|when|after|by|once|with)\b[^.]{0,60}\b(?:goes? away|went away|disappear(?:s|ed)?|(?:is|was) gone|works?|worked|no longer|(?:am|was|is) able)\b`)
	toCPU = lazily(`(?i)\bload(?:s|ed|ing)?\b[^.]{0,40}\b(?:in|on|to|into|onto) (?:the )?cpu\b`)
)

// billions is the size of a model in its name; fewBits says that its weights take less than 16 bits.
var (
	billions = lazily(`(?i)(?:^|[-_/ ("'\x60])(?:\d{1,2}x)?(\d{1,3}(?:\.\d)?)b(?:[-_/ ).,"'?!]|$)`)
	fewBits  = lazily(`(?i)\b(?:int)?[48][- _]?bits?\b|\bint[48]\b|gptq|awq|gguf|ggml|\bfp8\b|load_in_|bitsandbytes|quantiz`)
)

// weights is the size of the largest model that sentences name, as ToldWeights and the billions; "" where none is, or it takes few bits.
func weights(text string, all []sentence) string {
	if fewBits.MatchString(text) {
		return ""
	}
	most, name := 0.0, ""
	for _, s := range all {
		for _, at := range billions.FindAllStringSubmatch(s.text, 8) {
			if n, err := strconv.ParseFloat(at[1], 64); err == nil && n > most {
				most, name = n, at[1]
			}
		}
	}
	if most < 1 || most > 700 {
		return ""
	}
	return sampler.ToldWeights + name
}

// meant is the GPU that a setting names, changed by whoever writes.
var meant = lazily(`(?i)\b(?:chang|modif|set|switch)\w*\b[^\n]{0,60}\bto\W{1,4}(?:device\W{1,3})?cuda:([1-9])\b|` +
	`\bI (?:have |had |just |also )*(?:set|put|chose|use|pass(?:ed)?|select(?:ed)?)\b[^\n.]{0,20}\bdevice\W{1,3}(?:=\s*)?["'\x60]?cuda:([1-9])\b`)

// unlike is PyTorch's warning before DataParallel on GPUs of different sizes.
var unlike = lazily(`There is an imbalance between your GPUs\.\s+You may want to exclude GPU (\d{1,2})\b`)

// inria are names of the program that was published first for it and of those made from it, whose script and options
// are the same; otherSplats is another.
var (
	inria       = lazily(`(?i)\bgaussian[-_ ]splatting\b|\b[23]dgs\b|\bgaussian_renderer\b`)
	otherSplats = lazily(`(?i)\bns-train\b|\bsplatfacto\b|\bnerfstudio\b|\bgsplat\b`)
)

// setByHand is a size that whoever writes says he set, by its name in a configuration.
// It may be what was increased, too, in words.
var setByHand = lazily(`(?i)\b(?:when|if|as|after|once|because) (?:I|we) (?:increas|rais|` +
	`enlarg)\w* (?:the )?((?:numbers?|amounts?|counts?) of (?:\w+ ){1,3}?(?:samples|negatives?|positives?|points|frames|views|rays|tokens|neighbors|` +
	`queries|objects|classes|anchors|boxes|proposals|candidates|pairs))\b|\b(?:set|chang\w+|increas\w+|rais\w+|using|use) (?:the |` +
	`my )?["'\x60]?([a-z]\w*_(?:dims?|size|res|resolution|frames|points|rays|samples|len|length|num|tokens|chunks?|nodes|views|width|height|neighbors|` +
	`pairs|beams|proposals))["'\x60]? (?:to|as|=|of|at) ?["'\x60]?\(?\d`)

// notInput are parts of names of sizes that are no part of what is processed at once.
var notInput = lazily(`(?i)batch|split|cache|buffer|page|swap|shm|vocab|world|step`)

// ofValidating are names of functions and parts of a program that validate. In the plural, or with a number behind them, they are settings.
const ofValidating = `(?:val|valid|validation|validate|eval|evaluation)[-_ ](?:one[-_ ])?(?:epoch|step|loop|phase|stage)`

var partOfTraining = lazily(`(?i)\b(?:` + ofValidating + `)\b`)

// passed is what had no failure.
var passed = lazily(`(?i)\b(?:the )?(?:train(?:ings?)?|fine-?tuning|inference|prediction|validation|loading|sampling)(?: itself| step| part)? (?:is|was|works?|worked|` +
	`ha(?:s|ve) (?:\w+ )?(?:worked|run|gone|passed|finished)|runs?|ran|goes|went|passes|passed|completes|completed|finishes|` +
	`finished)\b(?: (?:fine|ok|okay|well|through|completely|smoothly|without))*|\b(?:was|am|were|are) able to train\b|` +
	`\bafter (?:running|finishing|completing|having run) (?:the )?\S*train\S*`)

// denied: a phase is named as the one in which it does not come, as what a key is for, or as the name of some data.
var denied = lazily(`(?i)\b(?:does|do|did|never)(?:n['’]?t| not)? (?:even )?(?:get|got|come|comes|make it|reach) (?:to|as far as)? ?(?:the |any )?(?:load\w*|train\w*|` +
	`inference|sampling|validation)\b[^.,]{0,24}|\b(?:validation|evaluation) sets? (?:is|are|was|were|has|have|of|from)\b|\bpress\b[^.]{0,20}\bto\b[^.]*|` +
	`\b(?:before|until|prior to|never (?:reach\w*|comes? to|got to)) (?:the |it |any )?(?:\w+ ){0,2}?(?:inference|prediction|validation|evaluation|loading|` +
	`saving|sampling|` + ofValidating + `)\b[^.,]{0,24}|` +
	`\b(?:maye? ?be|perhaps|can I|could|should I)\b[^.]{0,30}\b(?:turn\w* ?off|skip\w*|disabl\w*|remov\w*) (?:the )?(?:validation|evaluation|saving)\b|` +
	`\b(?:not|rather than|instead of) (?:in |during |at |from )?(?:the )?(?:inference|prediction|validation|evaluation|loading|saving|sampling|` + ofValidating + `)\b`)

// loaded: that loading was over is said.
var loaded = lazily(`(?i)\bload(?:s|ing|ed)?\b[^.,]{0,20}\b(?:fine|ok|okay|well|through|without|successful\w*|done|works?)\b`)

// loadsOnGPU: a checkpoint is read straight to the GPU.
var loadsOnGPU = lazily(`(?i)\btorch\.load\b[^.]{0,200}\b(?:GPU|VRAM)\b`)

// loadsData: what is loaded is no model.
var loadsData = lazily(`(?i)数据(?:集|的)?加载|加载(?:[^。，,\s]{0,6})?(?:数据|图[像片]|文件|特征|样本)|\bload(?:ing|s|ed)? (?:in )?(?:the |my |all |a |up )*(?:\w+ )?(?:data\w*|features?|images?|files?|csv|tsv|json|hdf5)\b`)

type reportedPhase struct {
	phase  string
	words  *lazy
	alone  bool // says it without a word for the error
	beside bool // only beside a training
}

// reportedPhases are the phases in the words of a person, and for which of them the error must be spoken of.
var reportedPhases = []reportedPhase{
	{sampler.PhaseLoading, loadsOnGPU, true, false},
	{sampler.PhaseSaving, lazily(`(?i)\b(?:oom|out of memory)\b[^.]{0,16}\b(?:when|while|on|upon|trying to|attempting to)(?: trying to)? sav(?:e|ing)\b|` +
		`\b(?:sav(?:e|es|ed|ing)\b[^.]{0,30}\b(?:checkpoints?|models?|states?|weights)|(?:model|checkpoint|weights?) sav(?:e|ing)\b|` +
		`(?:when|while|as|once|until) (?:the |my )?(?:model|checkpoint|weights|state) (?:is|are|gets|was) (?:being )?saved\b|` +
		`checkpoints?\b[^.]{0,20}\b(?:saved|saving|writing|written)|model checkpointing|\bcheckpoint save|(?:at|on|during) (?:the )?save\b|` +
		`(?:while|when|during|in) (?:the )?(?:model |checkpoint )?saving)\b|[\s.\x60(](?:consolidate_|sharded_|full_)?state_dict\(\)`), false, false},
	{sampler.PhaseValidation, lazily(`(?i)(?:evaluat\w*|eval|评估|验证|测试)时|` +
		`\b(?:vali?da(?:t?ion|iton|ting)|evalu?a?tion|(?:during|in) (?:the )?eval|eval (?:in the middle|during|while)|(?:to|when (?:I|it|we)) validate|` +
		`(?:when|while|as) (?:it |the script )?(?:is )?(?:comput|calculat)\w* (?:the )?(?:metrics?|scores?|mAP|fid|wer|bleu|accuracy))\b|` +
		`(?-i:\b(?:\w*Val(?:id\w*)?|\w*Eval\w*|val(?:id\w*)?_\w+|\w+_val|eval\w*|validate\w*)\b)\W{0,4} (?:method|function|step|loop|phase)\b|\b(?:` + ofValidating + `)(?:\(\))?(?:[.,;!?)"'\x60\]]|\s+[a-z(]|\s*$)|验证|(?:进行|做|跑|开始|到|在)(?:了)? ?(?:val|eval)(?:uation|idation)?(?:[^\w.]|$)`), false, false},
	// What comes at the end of an epoch is the validation, or what saves.
	{sampler.PhaseValidation, lazily(`(?i)\b(?:at|by|near|reach\w*|in) (?:the )?(?:very )?end of (?:an?|the|each|every|one|first|last)?\W?(?:\d+(?:st|nd|rd|th) |first |last |` +
		`same )?epochs?\b|` +
		`\b(?:after|when|once) (?:I |it |we )?(?:have |has |had |having )?(?:trained|finished|completed|run|ran) (?:for )?(?:an?|one|the first|1) epoch\b|` +
		`\b(?:after|when) (?:each|every|an?|one|the first|the) epoch (?:is (?:done|over|finished|complete)|ends|finishes|completes)\b|` +
		`\bbetween (?:the )?epochs\b|\bfrom epoch (?:0 to (?:epoch )?1|1 to (?:epoch )?2|2 to (?:epoch )?3|3 to (?:epoch )?4|4 to (?:epoch )?5)\b|` +
		`\b(?:mid|at|on|during|in) (?:the |an? |each |every )?epoch[ -]?(?:change|switch|transition|boundary)\b|` +
		`\bafter (?:the first|each|every|an?) epoch\b,? [^.]{0,30}\b(?:memory|vram|usage)\b[^.]{0,20}\b(?:bloats?|jumps?|doubles?|explodes?|spikes?|shoots up|` +
		`balloons?)\b`), false, true},
	{sampler.PhaseValidation, lazily(`(?i)\btest (?:function|method|loop|step|phase)\b|` +
		`\b(?:when|if|once|as soon as|with|using)\b[^.]{0,20}\b(?:test|val|eval)\w*[-_ ]?(?:data|set|loader)(?:set)?\b|` +
		`\b(?:sampl|generat|sav)\w+ (?:(?:the|some|of) )*(?:sample|preview|test|validation) (?:images?|pictures?|outputs?)\b`), false, true},
	{sampler.PhaseLoading, lazily(`(?i)\b(?:does|do|did|will|wo)(?:n['’]t| not| even not) (?:even )?load\b|\bloading (?:then )?fails\b|` +
		`\b(?:oom|out of memory)(?: errors?)? (?:while|when|during|on|trying to|attempting to) load(?:ing)?\b|` +
		`\b(?:loading|load(?:s|ed)?) (?:the |an? |my )?(?:\w+ )?(?:model|checkpoint|weights|pipeline)\b|` +
		`\b(?:during|while|in) (?:the )?(?:model |weight )?load(?:ing)?\b|` +
		`\b(?:when|while|as) (?:the |my |its )?(?:model|weights|checkpoint|pipeline) (?:is|are|gets?) (?:being )?loaded\b|` +
		`\bresum(?:e|es|ed|ing)\b[^.]{0,40}\b(?:checkpoint|model|training)\b|加载`), false, false},
}

// movesModel is the line of a traceback in which a whole model goes to the GPU.
var movesModel = lazily(`File "[^"\n]+", line \d+[^\n]*\n\s*(?:self\.)?(\w*(?:model|net)\w*) *= *(?:self\.)?(\w*(?:model|net)\w*)\.(?:cuda|to)\(`)

// readsWeights is a line of code that reads the weights of a model, where it is said to fail or stands right above the error.
var readsWeights = lazily(`(?i)\b(?:out of memory|oom|errors?|fails?|failed|crash\w*|stops?|dies)\b[^.\n]{0,30}\b(?:on|at|in|by|when|with|running) (?:the |this |my )*(?:step|line|call|cell|statement|function)[:\s\x60]*` + weightsRead + `|(?m:^\W*` + weightsRead + `[^\n]*\n\W*(?:\w+\.)*(?:\w+Error: )?RESOURCE_EXHAUSTED:)|\bLoading checkpoint shards: +\d{1,2}%\|[^\n]{0,400}\bKill(?:ing subprocess|ed)\b`)

const weightsRead = `(?:\w+ *= *)?(?:\w+\.)*\w*load\w*_(?:\w+_)?(?:models?|params|weights|checkpoint|ckpt)\w*\(`

// shardFails is what a server of Hugging Face prints where one of its parts ended before its model was read.
var shardFails = lazily(`\bShardCannotStart\b|\bShard \d{1,3} failed to start\b`)

// period is a time at which work is judged by people.
var period = lazily(`(?i)` + periods)

const periods = `\b(?:validation|evaluation) (?:period|deadline|server|committee)s?\b`

// drives are functions that call all others of a training: where a traceback ends in them it was cut, and that it saves is what somebody says.
var drives = lazily(`^(?:<module>|main|train|fit|run|launch|worker|wrapper|__call__)$`)

// testFails: a training went through, and what is run after it does not.
var testFails = lazily(`(?i)\b(?:train\w*|fit(?:ting)?)\b[^.\n]{0,24}\b(?:ok|okay|fine|works?|worked|well|normal\w*|success\w*|smooth\w*|no (?:problem|error|issue)s?|` +
	`finish\w*|complet\w*)\b[^\n]{0,20}\n?[^\n]{0,30}\b(?:test\w*|eval\w*|validat\w*)\b[^.\n]{0,24}\b(?:errors?|fail\w*|oom|out of memory|crash\w*|stops?|` +
	`dies|killed|does(?:n['’]t| not))\b|` +
	`训练[^。\n]{0,8}(?:正常|没(?:有)?问题|可以|成功|没事|完)[^\n]{0,12}\n?[^。\n]{0,8}(?:测试|验证|评估)[^。\n]{0,12}(?:报错|爆|溢出|OOM|不足|不行|不够|失败)`)

// validates: it is done beside a training.
var validates = lazily(`(?i)\bvalid(?:at\w*)?\b|验证`)

// skipped: the validation was left out, and it comes all the same.
var skipped = lazily(`(?i)\b(?:comment\w* out|without|skip\w*|remov\w*|disabl\w*|turn\w* off|leav\w* out|switch\w* off) (?:the |any |my )?(?:validation|evaluation|eval|testing|test step|` + ofValidating + `)\b`)

// skipCures: without it there is no failure.
var skipCures = lazily(`(?i)\b(?:works?|worked|runs|ran|fine|ok|okay|solve[sd]?|fix(?:es|ed)|help(?:s|ed)|gone|disappear\w*|no (?:more )?(?:errors?|oom|problems?)|no longer|how|should|could|can I|\?)\b`)

// both: it comes in training as well, so it is no matter of the validation.
var both = lazily(`(?i)\b(?:evaluat|valid|test)\w* (?:or|and|&) train\w*|\btrain\w* (?:or|and|&) (?:evaluat|valid|test)`)

// reportsError: somebody writes of the error itself, or of the memory that it takes.
var reportsError = lazily(`(?i)\b(?:errors?|oom|memory|vram|crash\w*|fail\w*|stops?|dies|happens?|(?:it|this|that) (?:only |always |also |just )?(?:comes|came|occurs|appears))\b|显存|报错`)

var (
	// mergesWeights is the step that puts adapters into the weights of a model; trainsBeside is the other, of which they come.
	mergesWeights = lazily(`(?i)\bmerg(?:e|es|ed|ing)\b[^.\n]{0,30}\b(?:q?loras?|adapters?)\b|\b(?:q?loras?|adapters?)\b[^.\n]{0,20}\bmerg(?:e|es|ing)\b|合并[^。\n]{0,12}(?i:lora|适配器)|(?i:lora)[^。\n]{0,8}合并`)
	trainsBeside  = lazily(`(?i)\b(?:train(?:s|ing)|fine[- ]?tun(?:e|es|ing)|backward|optimizer|epochs?|batch)\b|训练|微调`)
)

// findsObjects are names of networks and data sets for objects in pictures, of which one picture has many times as many as another;
// stepByStep is growth that follows the steps, not the pictures.
var (
	findsObjects = lazily(`(?i)\b(?:\w*r-?cnn\w*|yolo\w*|retina-?net|\w*detr|object[- ]detect\w*|mm(?:det\w*|rotate)|dota(?:-?[v\d]\S*)?|instance segmentation|bounding[- ]box\w*)\b`)
	stepByStep   = lazily(`(?i)\bleak|\b(?:each|every|per) (?:\w+ )?(?:step|iter\w*|epoch|batch|image|picture)s?\b|\b(?:linear|constant|stead)\w*|memory_allocated`)
)

// add puts into a context what the sentences say and what the text names.
func add(c *sampler.LogContext, text string, all []sentence, lines []codeLine) {
	for _, row := range tells {
		if slices.ContainsFunc(all, func(s sentence) bool {
			if row.what == sampler.ToldCheckpoint && !ranOut.MatchString(s.text) && !reportsError.MatchString(s.text) && !loadsOnGPU.MatchString(s.text) {
				return false // it runs with one, and dies of something else
			}
			words := s.text
			if row.what == sampler.ToldGrowth {
				words = withoutGiven(words)
			}
			return row.words.MatchString(words) && (row.except == nil || !row.except.MatchString(words))
		}) {
			c.Told = append(c.Told, row.what)
		}
	}
	heardPhase := hear(c, all)
	if onCPU.MatchString(text) && !slices.ContainsFunc(all, loadsOnCPU) {
		c.Told = slices.DeleteFunc(c.Told, func(what string) bool { return what == sampler.ToldCheckpoint || what == sampler.ToldResume })
	}
	if !slices.Contains(c.Told, sampler.ToldCheckpoint) && slices.ContainsFunc(all, func(s sentence) bool {
		return loadsOnCPU(s) && solves.MatchString(s.text) && !unsolved.MatchString(s.text)
	}) {
		c.Told = append(c.Told, sampler.ToldCheckpoint) // whatever else is said of when it comes
	}
	if !slices.Contains(c.Told, sampler.ToldText) && (writes.MatchString(text) || ofText.MatchString(ofPainters.ReplaceAllString(text, " ")) && !trains.MatchString(text)) {
		c.Told = append(c.Told, sampler.ToldText)
	}
	if mergesWeights.MatchString(text) && !trainsBeside.MatchString(text) {
		c.Told = append(c.Told, sampler.ToldMerges)
	}
	if !slices.Contains(c.Told, sampler.ToldUpdate) && otherRelease(all) {
		c.Told = append(c.Told, sampler.ToldUpdate)
	}
	if smallerFails(all) {
		c.Told = append(c.Told, sampler.ToldSmaller)
	}
	if side := sideOf(all); side != "" {
		c.Told = append(c.Told, sampler.ToldSide+side)
	}
	if epochEnd.MatchString(text) && (slices.Contains(c.Told, sampler.ToldGrowth) || slices.Contains(c.Told, sampler.ToldLate) || slices.ContainsFunc(all, func(s sentence) bool { return hooks.MatchString(s.text) })) {
		c.Told = append(c.Told, sampler.ToldEpochEnd)
	}
	if findsObjects.MatchString(text) && !slices.ContainsFunc(all, func(s sentence) bool { return stepByStep.MatchString(s.text) }) {
		c.Told = append(c.Told, sampler.ToldObjects)
	}
	for _, row := range marks {
		if row.words.MatchString(text) {
			c.Told = append(c.Told, row.what)
		}
	}
	if onlyFrees.MatchString(text) && !withoutGraph.MatchString(onlyFrees.ReplaceAllString(text, "\n")) {
		c.Told = slices.DeleteFunc(c.Told, func(what string) bool { return what == sampler.ToldGraphOff })
	}
	addDomain(c, text)
	addWork(c, text)
	if at := meant.FindAllStringSubmatch(text, 8); len(at) > 0 {
		c.Told = append(c.Told, sampler.ToldDevice+at[len(at)-1][1]+at[len(at)-1][2])
	}
	if at := unlike.FindStringSubmatch(text); at != nil {
		c.Told = append(c.Told, sampler.ToldUnlike+at[1])
	}
	if inria.MatchString(text) && !otherSplats.MatchString(text) {
		c.Told = append(c.Told, sampler.ToldInria)
	}
	for _, s := range all {
		if at := setByHand.FindStringSubmatch(s.text); at != nil && !notInput.MatchString(at[1]+at[2]) && !inVain.MatchString(s.text) && !cured.MatchString(s.text) {
			c.Told = append(c.Told, sampler.ToldSet+at[1]+at[2])
			break
		}
	}
	if !slices.Contains(c.Told, sampler.ToldGrowth) && leakTitle.MatchString(text) {
		c.Told = append(c.Told, sampler.ToldGrowth)
	}
	if lasts(text) && !slices.Contains(c.Told, sampler.ToldGrowth) {
		c.Told = append(c.Told, sampler.ToldGrowth)
	}
	c.Told = append(c.Told, tried(text, all)...)
	c.Told = append(c.Told, cures(all)...)
	if share := sampler.ToldTried + "share"; raised.MatchString(text) && !slices.Contains(c.Told, share) {
		c.Told = append(c.Told, share)
	}
	if w := weights(text, all); w != "" {
		c.Told = append(c.Told, w)
	}
	video := c.Command == "" && len(c.Functions) == 0 && makesVideos.MatchString(text)
	if video {
		c.Told = slices.DeleteFunc(c.Told, func(what string) bool { return what == sampler.ToldText }) // said for the size of its name
		if !trains.MatchString(text) && !slices.Contains(c.Told, sampler.ToldLargePainter) {
			c.Told = append(c.Told, sampler.ToldLargePainter)
		}
	}
	if slices.Contains(c.Told, sampler.ToldCalibrates) && !speaksOfText.MatchString(text) {
		c.Told = slices.DeleteFunc(c.Told, func(what string) bool { return what == sampler.ToldText }) // any network is quantized
	}
	kind := kindIn(all)
	if kind != sampler.ToldTraining && video && !trains.MatchString(text) {
		kind = sampler.ToldImages
	}
	if kind == "" && (slices.Contains(c.Told, sampler.ToldText) || slices.ContainsFunc(all, func(s sentence) bool { return speaks.MatchString(s.text) })) && !trains.MatchString(text) {
		kind = sampler.ToldInference
	}
	if kind == "" && (slices.Contains(c.Told, sampler.ToldDomain+sampler.DomainSound) || slices.Contains(c.Told, sampler.ToldDomain+sampler.DomainSpeech)) {
		kind = sampler.ToldInference // no word of a training stands there
	}
	if kind == "" && asksLowVRAM.MatchString(text) && !trains.MatchString(text) {
		c.Told, kind = append(c.Told, sampler.ToldAsksLow), sampler.ToldInference
	}
	if kind == "" && paints.MatchString(text) && !trains.MatchString(text) {
		kind = sampler.ToldImages
	}
	if kind == "" && trainsInCode.MatchString(text) {
		kind = sampler.ToldTraining
	}
	ownEval := false
	switch {
	case len(c.Functions) > 0 || c.Epoch.Known() || c.Step.Known():
	case slices.ContainsFunc(all, func(s sentence) bool { return trainsThen.MatchString(s.text) }):
		c.Told, kind = append(c.Told, sampler.ToldPredicts), sampler.ToldInference
	case ownEvaluation.MatchString(text) && !slices.ContainsFunc(all, func(s sentence) bool { return ofTraining.MatchString(s.text) }):
		kind, ownEval = sampler.ToldInference, true
	}
	// An evaluation without a training only runs a model, and what comes in training too is no matter of the evaluation.
	if kind == "" && c.Phase == sampler.PhaseTraining && len(c.Functions) == 0 && !c.Epoch.Known() && !c.Step.Known() && slices.ContainsFunc(all, func(s sentence) bool {
		return slices.ContainsFunc(kinds, func(row kindRow) bool { return row.what == sampler.ToldInference && row.words.MatchString(s.text) })
	}) {
		c.Phase = "" // it may as well run what others trained
	}
	skips := slices.ContainsFunc(all, func(s sentence) bool { return skipped.MatchString(s.text) && !skipCures.MatchString(s.text) })
	if skips && kind == "" {
		kind = sampler.ToldTraining // of which the validation is a part
	}
	if skips && c.Phase == sampler.PhaseValidation && len(c.Functions) == 0 {
		c.Phase = ""
	}
	only := kind == sampler.ToldInference && !trains.MatchString(merelyNames.ReplaceAllString(text, " ")) && !validates.MatchString(text) || skips || slices.ContainsFunc(all, func(s sentence) bool { return both.MatchString(s.text) })
	if kind != "" {
		c.Told = append(c.Told, kind)
		if (kind != sampler.ToldTraining && c.Phase == sampler.PhaseTraining || only && c.Phase == sampler.PhaseValidation) && len(c.Functions) == 0 && !c.Epoch.Known() && !c.Step.Known() {
			c.Phase = "" // read from the same words, line by line
		}
	}
	if c.Phase != "" && len(c.Functions) == 0 && slices.ContainsFunc(all, func(s sentence) bool {
		return slices.ContainsFunc(reportedPhases, func(row reportedPhase) bool {
			return row.phase == c.Phase && row.words.MatchString(denied.FindString(s.text))
		})
	}) {
		c.Phase = ""
	}
	if len(c.Functions) == 0 && (movesModel.MatchString(text) || readsWeights.MatchString(text) || shardFails.MatchString(text)) {
		c.Phase = sampler.PhaseLoading
	}
	if len(c.Functions) == 0 && testFails.MatchString(text) {
		c.Phase = sampler.PhaseValidation
	}
	if c.Phase == sampler.PhaseLoading && len(c.Functions) == 0 && slices.ContainsFunc(all, func(s sentence) bool { return loaded.MatchString(s.text) }) {
		c.Phase = ""
	}
	if len(c.Functions) > 0 && !slices.ContainsFunc(c.Functions, func(name string) bool { return !drives.MatchString(name) }) && phaseIn(text, all) == sampler.PhaseSaving {
		c.Phase = sampler.PhaseSaving
	}
	if len(c.Functions) == 0 {
		if phase := phaseIn(text, all); phase != "" && !(only && phase == sampler.PhaseValidation) && (c.Phase == "" || c.Phase == sampler.PhaseTraining && phase != sampler.PhaseLoading || slices.ContainsFunc(all, func(s sentence) bool { return loadsOnGPU.MatchString(s.text) })) {
			c.Phase = phase
		} else if heardPhase != "" && !only && (c.Phase == "" || c.Phase == sampler.PhaseTraining && heardPhase != sampler.PhaseLoading) {
			c.Phase = heardPhase
		}
	}
	if kind != sampler.ToldTraining && c.Phase == sampler.PhaseValidation && trains.MatchString(text) && partOfTraining.MatchString(text) {
		c.Told = append(slices.DeleteFunc(c.Told, func(what string) bool { return what == kind }), sampler.ToldTraining) // whatever file the function that it calls stands in
	}
	name(c, text, all, lines)
	if c.Phase == sampler.PhaseLoading && len(c.Functions) == 0 && quantizes.MatchString(text) {
		c.Phase = "" // it goes on with more than the weights
	}
	if ownEval { // made after a script that trains, which does not run
		c.Scripts = slices.DeleteFunc(c.Scripts, func(s string) bool { return strings.Contains(s, "train") })
	}
	unset(c, all)
}

// merelyNames are tasks that a network is trained for, and settings by the part of a configuration that has them: neither says what runs.
var merelyNames = lazily(`(?i)\b(?:link|node|edge|property|(?:protein )?structure|depth|trajectory|next[- ](?:frame|sentence|token)|time[- ]series|traffic) predict(?:ions?|` +
	`ors?)\b|--training\b|\btraining (?:flag|switch)\b|\b(?:train|test|val|eval|infer)(?:\.[a-z]\w*)+`)

// atTraining is when it fails: in a training, or in a script of that name.
var atTraining = lazily(`(?i)\b(?:when|while|during|once|if|as soon as|whenever) (?:(?:I|we|it|the|my|a|am|are|is|was|were|try|tried|trying|want|start|started|starting|begin|to) )*` +
	`(?:train(?:ing)?|(?:fine[- ]?|re-?)(?:train|tun)ing)\b|\b(?:run|running|ran|start|starting|started|launch\w*|execut\w+) (?:(?:the|my|your|their|this|a|own) )?(?:\w+ )?train(?:ing)? (?:script|code|process|job|loop)\b`)

// saysItTrains: the clause that tells of the failure says that it comes when it trains, whatever else is spoken of beside it.
func saysItTrains(all []sentence) bool {
	return slices.ContainsFunc(all, func(s sentence) bool {
		return slices.ContainsFunc(clausesOf(s.text), func(c clause) bool { return c.outcome == failed && atTraining.MatchString(c.text) })
	})
}

// leakTitle is one that calls what happens a leak, and says no more.
var leakTitle = lazily(`(?i)\A[\s#*]*(?:(?:an?|possible|potential|severe|serious|huge|big|gpu|cuda|cpu|ram|host|video) )*memory leak(?:s|age|ing)?(?: (?:in|during|while|when) (?:the )?train\w*)?[ \t!.]*(?:\r?\n|$)`)

// kindIn is what the program does: as the sentences on the failure say, or else the others. One of several
// is none.
func kindIn(all []sentence) string {
	about := slices.DeleteFunc(slices.Clone(all), func(s sentence) bool { return !ranOut.MatchString(s.text) && !reportsError.MatchString(s.text) })
	for _, list := range [][]sentence{about, all} {
		found := ""
		for _, row := range kinds {
			if !slices.ContainsFunc(list, func(s sentence) bool {
				return row.words.MatchString(merelyNames.ReplaceAllString(passed.ReplaceAllString(s.text, ""), " "))
			}) {
				continue
			}
			if found == sampler.ToldTraining && row.what == sampler.ToldInference {
				if saysItTrains(list) {
					return found
				}
				return "" // one of the two, and nothing says which
			}
			if found == "" {
				found = row.what
			}
		}
		if found != "" {
			return found
		}
	}
	return ""
}

// goesOn is a sentence whose begin is the error that stands above it.
var goesOn = lazily(`^(?:for|in|at|during|on|while|when) (?:the |my |an? )?\w+`)

// phaseIn is when it comes, as a sentence on the failure says.
func phaseIn(text string, all []sentence) string {
	beside := trains.MatchString(text)
	for _, row := range reportedPhases {
		if row.beside && !beside {
			continue
		}
		for _, s := range all {
			if row.phase == sampler.PhaseLoading && !row.alone && loadsData.MatchString(s.text) || strings.Contains(s.text, "wgpu error") { // of its validation of arguments
				continue
			}
			text := period.ReplaceAllString(denied.ReplaceAllString(passed.ReplaceAllString(s.text, ""), ""), "")
			if row.words.MatchString(text) && (row.alone || reportsError.MatchString(text) || ranOut.MatchString(text) || goesOn.MatchString(s.text)) {
				return row.phase
			}
		}
	}
	return ""
}
