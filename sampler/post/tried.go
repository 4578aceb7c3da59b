package post

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// settingRow is something that people change against a failure.
type settingRow struct {
	name  string
	words *lazy
}

// settings are what people change against a failure, by their words. What they say did not help is
// ToldTried and the name.
var settings = []settingRow{
	{"batch", lazily(`(?i)\b(?:mini[-_ ]?)?batch(?:[-_ ]?sizes?)?\b|\b\w+_batch(?:_\w+)?\b|\bbatch_\w+|\bbath sizes?\b|\bn_samples\b|\bmax[-_]tokens\b|` +
		`(?i:\b(?:max_sentences|samples_per_gpu|ims_per_batch|ima?ge?s_per_gpu|bsz?)\b)|批(?:量|次|处理)|배치|バッチ|(?i:\bba[ntchs]{2,5}[-_ ]?sizes?\b)`)},
	{"segments", lazily(`(?i)\bexpandable[-_ ]segments?\b|\bmax_split_size\w*|\bPYTORCH_(?:CUDA_)?ALLOC_CONF\b`)},
	{"share", lazily(`(?i)\bgpu[-_ ]memory[-_ ]utili[sz]ation\b|\bmem[-_]fraction\w*`)},
	{"precision", lazily(`(?i)\b(?:fp16|bf16|half|mixed)(?:[- ]precision)?\b|\bprecision\b`)},
	{"checkpointing", lazily(`(?i)\bgradient[-_ ]checkpoint\w*`)},
	{"accumulation", lazily(`(?i)\b(?:gradient|grad)[-_ ](?:accum\w*|acc(?:u\w*)?steps)\b|\baccumulat\w+ (?:of )?gradients?\b`)},
	{"context", lazily(`(?i)\b(?:maximum |max )?prompt (?:size|length)\b|\bmax[-_]new[-_]tokens\b|\b(?:num|n)_ctx\b|--ctx[-_]size\b|\bprompts? of any length\b|\bmax[-_ ]model[-_ ]len\w*|\bcontext (?:length|size|window)\b`)},
	{"chunks", lazily(`(?i)(?:\b|_)(?:net)?chunk(?:s|[-_ ]?sizes?)?\b`)},
	{"gpu", lazily(`(?i)\b(?:chang\w*|switch\w*|upgrad\w*)\b[^.;]{0,24}\b(?:GPUs|(?:graphics |video )?cards)\b|` +
		`\b(?:chang\w*|switch\w*|tr(?:y|ied)|mov(?:e|ed|ing)|upgrad\w*)\b[^.;]{0,24}\b(?:(?:a |an |\d+ ?Gi?B )(?:GPU|card)|computers?|machines?|[VAHP]100s?|` +
		`A6000|titan|[1-5]0[5-9]0(?: ?ti)?)(?:\b|_)|` +
		`\b(?:different|another|other|bigger|larger|more powerful)(?: (?:nvidia|geforce|rtx|gtx|tesla|new|local|remote|cloud|\d+ ?Gi?B))* (?:GPUs?|` +
		`(?:graphics |video )?cards?|computers|machines)\b|\b(?:both|two|several) (?:\w+ )?(?:computers|machines)\b|` +
		`\bboth (?:on )?(?:my |an? |the )?(?:(?:nvidia|geforce|rtx|gtx|tesla) )*(?:[VAHP]100|[ATP]\d{1,2}|titan|[1-5]0[5-9]0)\w*(?: ti)? and\b|` +
		`换[^。，]{0,8}(?:显卡|GPU|卡)`)},
	{"workers", lazily(`(?i)(?:\b|_)num[-_ ]workers\b`)},
	{"offload", lazily(`(?i)(?:\b|--)(?:lowvram|novram|(?:model_|sequential_)?cpu[-_ ]offload\w*)\b`)},
	{"bits", lazily(`(?i)\bquantize\(4\)|\bload_in_4bit\b|\bint4\b|\b4[- ]?bits?\b`)},
	{"size", lazily(`(?i)\b(?:resiz|downsampl|down-?scal|rescal)\w*|\b(?:image|input|picture|crop|patch)[-_ ]?sizes?\b|\bresolutions?\b|` +
		`\b(?:everything|all) (?:is |set )?(?:on|at|to) (?:the )?(?:lowest|minimum) (?:graphics )?settings\b|` +
		`\b\w*(?:frames?|images?|img|inputs?|crop|patch|tile|window|load|fine|max|min|voxel|grid|samples?|segment|clip)_?size\b|\b\w+_(?:frames|resolution|width|height|len(?:gth)?)\b|` +
		`\b(?:load|fine|image|input|crop|patch|tile|window|frame|picture|photo|video|output|canvas|latent|roi|sample|voxel|grid|clip|mesh|texture|` +
		`render)(?:/\w+)?[-_ ]?sizes?\b|\b(?:max|num|n)[-_ ]?(?:points|voxels|gaussians)\w*|\b(?:number|amount) of (?:points|voxels|gaussians)\b|` +
		`\b(?:short|shorter|shortest|long|longer|longest|max|min|image|img|input|render|target)[-_ ]?(?:side|edge|width|height|res|dims?|dimensions?)\b|` +
		`\b(?:bucket )?reso\b|\b(?:widths? ?(?:and|or|/|&) ?heights?|heights? ?(?:and|or|/|&) ?widths?)\b|` +
		`\b(?:smaller|shorter|tiny|tiniest|smallest|shortest|downsized|low[- ]res\w*) (?:\w+ )?(?:images?|pictures?|photos?|inputs?|videos?|clips?|frames?|` +
		`texts?|sequences?|sentences?|prompts?|audios?|files?|samples?)\b|(?:图[像片]|输入)(?:尺寸|大小|分辨率)|分辨率`)},
	{"bits8", lazily(`(?i)\bload_in_8bit\b|\bint8\b|\b8[- ]?bits?\b`)},
	{"parts", lazily(`(?i)\btil(?:l?ed|es?|ing)\b|\btile[-_ ]?(?:size|batch)\w*`)},
	{"inputs", lazily(`(?i)\b(?:different|other|another|several|many|two|three|four|five|\d+) (?:\w+ )?(?:images?|pictures?|photos?|videos?|clips?|files?|samples?|inputs?|sentences|recordings|scenes?)\b`)},
	{"length", lazily(`(?i)\b\w*max[-_ ]?(?:seq(?:uence)?[-_ ]?)?len(?:gth)?s?\b|\bseq(?:uence)?s?[-_ ]?len(?:gth)?s?\b|\bcutoff_len\b|\bblock_size\b|长度`)},
	{"model", lazily(`(?i)\b(?:smaller|smallest|tiny) (?:\w+ )?(?:models?|variants?|backbones?|networks?)\b`)},
	{"page_file", lazily(`(?i)\bvirtual mem(?:ory)?\b|\bpag(?:e|ing) ?files?\b|虚拟内存|页面文件`)},
	{"item", lazily(`\bloss\.item\(\)|\.detach\(\)`)},
	{"no_grad", lazily(`(?i)\bno_grad\b|\binference_mode\b`)},
	{"shards", lazily(`(?i)\b(?:max_)?shard[-_ ]?sizes?\b|\b(?:smaller|more) shards\b|\bshards of \d`)},
}

// one is a batch of one, which cannot be made smaller. What stands behind another option is none.
var one = lazily(`(?i)\bbatch(?:[-_ ]?sizes?)?\b[^.;!?]{0,20}?\b\d{1,4}(?:\s*(?:,|->|→|/|to|and|then|or|even|down)\s*|\d{1,4})+\b1\b|` +
	`\b(?:(?:mini[-_ ]?)?batch[-_ ]?size|max_sentences|samples_per_gpu|ims_per_batch|ima?ge?s_per_gpu|batch_num|bsz?)(?:[^.,;?!-]|-[^-]){0,24}(?:\b|` +
	`\bto)(?:1|one)(?:[^\d.\w-]|\.\D|\.?$)|\bsize of (?:the |each |my |a )?(?:mini[-_ ]?)?batch\b[^.,;?!\d]{0,24}(?:\b|\bto)(?:1|one)(?:[^\d.\w-]|\.\D|\.?$)|(?:batch|bs|批)[^。，；,;]{0,12}(?:到|成|为|至|是) ?[1一](?:[^\d.\w]|$)|(?:배치|バッチ)[^.。,]{0,12}\b1(?:[^\d.\w]|$)`)

// single is a batch of one in any other words.
var single = lazily(`(?i)\b(?:ima?ge?s_per_gpu|samples_per_gpu|ims_per_batch)\b[^.;\n]{0,16}?\b(?:1|one)\b(?:[^.\d]|\.\D|\.?$)|(?:배치|バッチ)[^.。]{0,12}\b1(?:\D|$)|` +
	`(?:batch|\bbath|\bbs|批)[^.;]{0,40}(?:(?:\b|\bto)(?:1|one|single)\b|[到成为至是] ?[1一])|\b(?:one|single|1) (?:sample|image|picture)s? per (?:batch|GPU)|` +
	`(?:调|改|设|降|减)\S{0,4}[到成为至] ?1(?:\D|$)`)

// evenSingle is a failure with no more than one input, so that no smaller batch is left.
var evenSingle = lazily(`(?i)\beven (?:(?:with|for|on|when|if|while|I|we|it|just|only|to|by|processing|running|predicting|translating|encoding|embedding|parsing|give|giving) ){0,4}(?:a single|(?:just |only )one) ` +
	`(?:\w+ )?(?:documents?|images?|pictures?|sentences?|texts?|files?|samples?|sequences?|inputs?|articles?|pages?|frames?|clips?|proteins?)\b`)

// oneInCode is that in a line of a configuration.
var oneInCode = lazily(`(?im)^\s*(?:\w+\.)*["']?(?:(?:(?:per_(?:device|gpu)_)?(?:train_)?|micro_|mini_|train_micro_)batch[_ ]?size(?:_per_gpu|_per_device|` +
	` per (?:device|gpu))?|micro_batch|ims_per_batch|samples_per_gpu|ima?ge?s_per_gpu)["']?\s*[=:]\s*1\s*,?\s*$`)

// changedBatch is a setting that was changed to another value, with what goes on all the same: who writes in a foreign language leaves out the words between.
const changedBatch = `\b(?:reduc|lower|decreas|chang|cut|sett?|` +
	`drop)\w*\b[^.?]{0,60}(?:\b(?:it|this|that|they|error) (?:always |still )?keeps? (?:on )?(?:say|giv|gett|show|fail|crash|report|rais|throw|tell|dy|` +
	`complain|happen|occur|running out)\w*|` +
	`(?:\b(?:but|and|yet)|,) (?:it(?: is|['’]s)? |this is )?(?:still|always|again) (?:(?:the|exactly|very) )*same(?: (?:thing|result|story))?(?:[.,;!?]|$)|` +
	`\bto \d{1,4}\b(?: and| but|,)*(?: it(?: is|['’]s)?)? (?:always|again|still) (?:(?:is|gives?|says?|gets?|got|runs?|goes|an?|cuda|gpu) )*(?:oom|out of|errors?|fails?|crash\w*))`

// inVain: it was changed, and that did not help.
var inVain = lazily(`(?i)\b(?:everything|all(?: settings)?|settings) (?:is |are |set )?(?:on|at|to) (?:the )?(?:lowest|minimum|min)\b|` +
	`\beven (?:lower|smaller|fewer|less) (?:\w+ )?(?:gives?|gave|fails?|failed|leads?|results?|runs?|ends?|is|are|has|have|had|do|does|did)\b|` +
	`\bdespite (?:my |also |having )*(?:tr(?:y|ied)|sett?|us|chang|lower|reduc|decreas|adjust|experiment)(?:ing|ed)?\b|` +
	`\b(?:makes? no difference|made no difference|to no effect|just the same|the same result|(?:the|with the) same outcome)\b|` +
	`(?:无论|不管)[^。\n]{0,24}(?:都|均|也|还是|仍)[^。\n]{0,8}(?:显示|报|爆|out|OOM|oom|不足|溢出|一样|不行)|` +
	`(?:全部?|都|均|统统)[^。，,]{0,6}(?:报|不行|爆|失败|OOM|oom|溢出|不够|不足)|[,，](?:也|照样)(?:炸|爆)|` +
	`\b(?:regardless of|no matter|whatever|even (?:though|with|when|after|for|at|if (?:I|we|it|the|my|an?|batch\w*|\w+ing))\b|independent(?:ly)? of)\b|` +
	`\b(?:did|do|does|has|have|could|is|was|wo|will)(?:nt|n['’]?t| not) (?:\w+ )?(?:help\w*|work\w*|solv\w*|matter|make|change\w*|resolve|improve|fix)|` +
	`\b(?:to |of )?no (?:avail|help|effect|difference|use)\b|\bwithout (?:any |much |real )?(?:success|luck|effect|improvement)\b|` +
	`\bnothing (?:really )?(?:works?|worked|helps?|helped|changes?|changed)\b|` +
	`\b(?:none|neither) of (?:these|them|those|that|it|the)\b[^.]{0,24}\b(?:help|work|solv|fix)\w*|` +
	`\b(?:already |is |are )+(?:at|on|down to) (?:the|its|their) (?:minimum|lowest|smallest|least)\b|` +
	`\b(?:already|at) (?:the )?(?:minimum|lowest|smallest)\b|(?:最小值|最小了|已(?:经)?(?:是)?最小|不能再(?:小|降|减))|` +
	`\b(?:no|without) (?:lower|smaller)\b[^.]{0,20}\b(?:possible|allowed|available)\b|` +
	`\b(?:same|still) (?:\w+ ){0,3}(?:error|problem|issue|oom|out of memory)\b|\b(?:message|error|problem|issue|oom)s?\b(?: is| was)? still\b|` +
	`\b(?:other than|apart from|besides|rather than|instead of) (?:just |only |by )?(?:reduc|lower|decreas|shrink|resiz|chang|us)\w*|` +
	`\bneither\b[^.]{0,60}\bhelps?\b|\b(?:can['’]?t|cannot|can not) (?:use|go|reduce|lower|decrease)\b[^.]{0,24}\b(?:below|under|less|smaller|further)\b|` +
	`\bfail\w*\b[^.;\n]{0,40}(?:,|,? even) (?:too|as well)\b|\balso (?:\w+ )?fail\w*|\bfail\w* (?:too|as well|again)\b|\bnot help\w*|\bstill no (?:solution|luck|success|help|change)\b|` +
	`\bwithout (?:(?:my |the |further )*(?:reduc|lower|decreas|chang|shrink)\w*|having to \w+)\b|` +
	`(?:还是|仍然|仍|依然|依旧|也|照样)[^。，]{0,8}(?:报错|错误|出错|不行|爆|OOM|显存|内存|不够|溢出|不能|无法|没用)|(?:没有?用|无效|没效果|解决不了)|` +
	`\b(?:still|yet) (?:(?:I|we|it) )?(?:cann?ot|can not|could(?:n['’]?t| not)|cann?['’]?t) \w+|` +
	`\b(?:still|yet) (?:\w+ )?(?:not|fail\w*|get\w*|happen\w*|occur\w*|crash\w*|exist\w*|persist\w*|remain\w*|runs? out|ooms?)\b|` +
	`\beven (?:I|we)(?: ?['’]ve| have| had| already| just)* (?:chang|reduc|lower|decreas|set|us)\w*|` +
	`\b(?:reduc|lower|decreas|small|chang|cut)\w*\b[^.]*\bit (?:also )?stills?\b|` + changedBatch + `|\b(?:reduc|lower|declin|decreas|shrink|chang|cutt|sett)\w*\b[^.;?\n]{0,60}\bcan(?:not|n?['’]?t| not) (?:really |even |also )?(?:help|solv|fix|resolv|` +
	`avoid|prevent)\w*|\bcan(?:not|n?['’]?t| not) help\b|\b(?:did|do|does)(?:n['’]?t| not) (?:really )?seem to\b|` +
	`\b(?:reduc|lower|decreas|small|cut)\w*\b[^.]{0,60}\bbatch[^.]{0,120}\b(?:get|gives?|raises?|throws?|got|have|encounter)\w* (?:me )?(?:this|another|` +
	`the following|a different|other|an?) (?:\w+ )?(?:errors?|problem)|\b(?:ca|wo|does|do)(?:n['’]?t|nnot) (?:still )?run\b`)

// unwilling is what somebody does not want to do, in words that else tell of what did not help: "if I don't change my data".
var unwilling = lazily(`(?i)(?:^|[^n] )if (?:I|we) (?:do|can|could|would)(?:n['’]?t| not)\b[^,.?]*`)

// allTheSame: it fails with that, too. With a batch of two or more that says what is in force, not that a smaller one was tried.
var (
	allTheSame    = lazily(`(?i)\ball the same\b|\beven so\b`)
	largerThanOne = lazily(`(?i)\bbatch[-_ ]?(?:size)?\b[^.,;\d]{0,16}\b(?:[2-9]|\d\d+)\b`)
)

func vain(s string) bool {
	if allTheSame.MatchString(s) && !largerThanOne.MatchString(s) {
		return true
	}
	return inVain.MatchString(unwilling.ReplaceAllString(s, " ")) || mustStay.MatchString(s) && !unsure.MatchString(s)
}

// mustStay is a setting that has to stay as it is. Who does not find one does not say that there is none.
var (
	mustStay = lazily(`(?i)不能再(?:缩|减|降|小|少|短|低)|(?:无法|不可以?)再(?:缩短|减小|减少|降低)|` +
		`\bif (?:I|we) (?:try (?:to |and )?)?(?:go|make it|set it|use) (?:any(?:thing)? )?(?:smaller|lower|less)\b[^.\n]{0,60}\b(?:errors?|fails?|crash(?:es)?|` +
		`complains?|breaks?)\b|\bcan(?:not|['’]?t| not) (?:go|take|follow|choose|afford|accept)\b[^.?\n]{0,24}\b(?:path|way|route|road)\b|` +
		`\bcan(?:not|['’]?t| not) (?:go with|accept|afford|switch to|use) (?:an? )?(?:smaller|lower|fewer|shorter)|` +
		`\b(?:is|are)(?:n['’]t| not) (?:possible|acceptable|viable|feasible)\b|\b(?:is|are) (?:no option|out of (?:the )?question)\b|` +
		`\b(?:is|are) not (?:an option|supported|adjustable|changeable)\b|\b(?:is|are)n['’]t (?:an option|supported|adjustable|changeable)\b|` +
		`\b(?:can['’]?t|can ?not) (?:be )?(?:chang|alter|adjust|touch|reduc|lower|decreas)\w* (?:the|my|our)\b|` +
		`\b(?:has|have|needs?|must) (?:to )?(?:stay|remain|be kept|keep) (?:as|the same|at|this|that|fixed)\b|` +
		`\b(?:I|we) (?:really )?(?:need|want|require|must have|have to keep|must keep|want to keep|would like to keep) (?:the |my )?(?:full|original|native|` +
		`same|this|current|high(?:er)?)\b|\b(?:way|method|solution|fix|trick)\b[^.?]{0,20}\b(?:keeps?|keeping|preserv\w*|maintain\w*) (?:the|my)\b|` +
		`\b(?:do|does)(?:n['’]t| not) want to (?:chang|reduc|lower|decreas|resiz|shrink|us(?:e|ing)\b|enabl|turn on\b)\w*`)
	unsure = lazily(`(?i)\b(?:know|find|found|see|figure|where|understand)\b`)
)

// attempted: it was tried, and the failure is still what is asked about.
var attempted = lazily(`(?i)(?:^\W*|\b(?:I|we)(?:['’]ve| have| had)? )(?:also |already |even |just )*tried\b|(?:试|尝试)(?:过|了)`)

// asGiven are settings as they come with a program, which nobody has changed.
var asGiven = lazily(`(?i)\b(?:default|original|provided|recommended|suggested) (?:\w+ )?(?:settings?|config\w*|(?:hyper-?)?parameters?|options|values?)\b`)

// solved is an entry in a list of attempts that was none in vain.
var solved = lazily(`(?i)\b(?:works?|worked|solved|fixed|helped|success\w*)\b|[✓✔✅]`)

// cured: it is what helped, whatever else the sentence says.
var cured = lazily(`(?i)\b(?:solves|fixes|resolves|(?:this|that|which|it) (?:solved|fixed|resolved)) (?:this|the|it|my|that)\b|\band (?:then )?it (?:works|worked)\b|` +
	`\b(?:lower|less|smaller|below)\b[^.,]{0,12}\b(?:works?|runs?|(?:is|are|was|were) (?:fine|ok|okay))\b|` +
	`\b(?:works?|worked|runs|ran|fine|okay?|passes|succeeds?) (?:\w+ )?(?:with|on|for|at|if|when)\b[^.,;]{0,20}\b(?:smaller|shorter|lower|tiny|small|short|` +
	`low)\b`)

// works: with that it runs, or it is a way that somebody thinks of.
var works = lazily(`(?i)\b(?:works?|worked|runs|ran|fine|ok|okay|possible|able|should|could|would|only if|unless)\b|\?`)

// inForce: it is set already. What is asked for or thought about is not.
var (
	inForce = lazily(`(?i)\b(?:checkpointing|offload\w*) (?:on|enabled)\b|` +
		`\b(?:already|is|are|was|were|has been|have) (?:\w+ )?(?:on|enabled|set|used?|using|running|active|activated|applied|turned on)\b|=\s*True\b|` +
		`\b(?:I|we)(?: am|['’]m| are|['’]re)? (?:also )?(?:use|using|enabled?|set|turned on)\b`)
	doubted = lazily(`(?i)\b(?:not|n['’]t|never|no|without|should|could|would|can|try|tried|how|whether|if|un\w+)\b|\?`)
)

// switches are the settings that have no degree: once on, there is no more of them.
var switches = []string{"checkpointing", "segments", "no_grad", "offload", "bits"}

// leavesOut: whether a setting can be left out is asked, which says nothing of its value.
var leavesOut = lazily(`(?i)\b(?:remov|omit|drop|leav|skip)\w*\b`)

// askedAbout is a size of which it is asked whether it is too large: it was not changed yet.
var askedAbout = lazily(`(?i)\b(?:is|are|was)\b[^.?!]{0,30}\b(?:batch\w*|bs)\b[^.?!]{0,20}\btoo (?:large|big|high)\b|(?:是|是不是|是否)[^。？?]{0,8}(?:batch\S*|批)[^。？?]{0,12}(?:太大|过大|大了)`)

// again is a setting that the sentence before names, and what it was changed to.
var again = lazily(`(?i)\b(?:reduc|lower|decreas|chang|sett|set|drop)\w* (?:it|that|this|them) to (?:1|one)\b|(?:调|改|设|降|减)\S{0,4}[到成为至] ?\d`)

// changes is how somebody tells of a setting that he changed; outcome is a sentence of nothing but how that ended.
var (
	changes = lazily(`(?i)\b(?:chang|reduc|lower|declin|decreas|shrink|shrank|shrunk|switch|tried|set|sett|drop|cut|upgrad|mov)\w*\b|换|改|调|降|减`)
	outcome = lazily(`(?i)^(?:(?:but|and|yet|however|unfortunately|sadly|still|then|now|also)[, ]+)*(?:(?:the|it|this|that|there|i|we|they|all|always|exact|exactly|very|is|` +
		`was|gives?|gave|get|got|had|have|has|did|does)[, ]+)*(?:same|still|error|problem|issue|nothing|no|not|didn['’]?t|doesn['’]?t)\b`)
)

// sizes are the sizes of a batch that a sentence names.
var sizes = lazily(`\b\d{1,4}\b`)

// ofValidation is the batch of a validation, which is not that of the training.
var ofValidation = lazily(`(?i)\b(?:\w*(?:val|valid|eval|test)\w*[-_ ]batch(?:[-_ ]?size)?|batch(?:[-_ ]?size)?[-_](?:val|valid|eval|test)\w*)\b`)

// largeBatch is a batch that can be halved more than once (own threshold).
const largeBatch = 8

// attempt is how somebody tells of sizes that he tried.
var attempt = lazily(`(?i)\btr(?:y|ied|ying)\b`)

// exhausted: no smaller batch is left of those that a sentence names. One that names large ones only tells of a way
// that was not gone to its end.
func exhausted(text string) bool {
	if !attempt.MatchString(text) {
		return true // who complains of a size knows that there are smaller ones
	}
	found := sizes.FindAllStringSubmatch(text, 16)
	return len(found) == 0 || slices.ContainsFunc(found, func(n []string) bool { size, err := strconv.Atoi(n[0]); return err != nil || size < largeBatch })
}

// maxOutcome is the length of a sentence that says no more than how it ended, in bytes (own threshold).
const maxOutcome = 90

// alike: on another GPU, or with another input, it ends the same way. That a text goes on to ask about it says nothing.
var alike = lazily(`(?i)\b(?:same|still|always|regardless|no matter|all fail\w*|both fail\w*)\b|还是|仍|依然|依旧|也|一样`)

// batchOption is the batch as a command sets it.
var batchOption = lazily(`(?i)(?:^|\s)--?(?:train[-_]?)?(?:batch[-_]?size|batch|bs|b)[ =](\d{1,5})(?:\s|$)`)

// unset takes back that the batch is one, where that is only said and the command that is shown sets a larger one.
func unset(c *sampler.LogContext, all []sentence) {
	at := batchOption.FindStringSubmatch(c.Command)
	if at == nil || at[1] == "0" || at[1] == "1" || slices.ContainsFunc(all, func(s sentence) bool {
		return settings[0].words.MatchString(s.text) && (vain(s.text) || attempted.MatchString(s.text) && !one.MatchString(s.text))
	}) {
		return
	}
	c.Told = slices.DeleteFunc(c.Told, func(what string) bool { return what == sampler.ToldOne || what == sampler.ToldTried+"batch" })
}

// bothWays: a setting was changed in one direction and in the other.
var bothWays = lazily(`(?i)\b(?:rais|increas|higher|larger|bigger|more)\w* (?:or|and) (?:lower|reduc|decreas|smaller|fewer|less)\w*|` +
	`\b(?:lower|reduc|decreas|smaller|fewer|less)\w* (?:or|and) (?:rais|increas|higher|larger|bigger|more)\w*|` +
	`\b(?:up or down|no matter what|whatever|any)\b|不管|无论`)

// batches are the sizes of a batch that a sentence names.
var batches = lazily(`(?i)(?:\bbatch[-_ ]?(?:sizes?)?|\bbs|(?:^|\s)-b|ima?ge?s_per_gpu|samples_per_gpu|` +
	`批(?:量|次)?(?:大小)?)["'\x60]?[^\d.;,，。\n]{0,12}?(\d{1,4}(?:\s*(?:[、,/~]|->|→|or|and|to|then|和|或|到)\s*\d{1,4}\b)*)(?:[^.\d%]|\.\D|\.?$)`)

// leastTried is the smallest batch with which somebody says that it fails, too; 0: none is told.
func leastTried(all []sentence) int {
	least := 0
	for _, s := range all {
		if at := atMost.FindStringSubmatch(s.text); at != nil && !s.note {
			if n, err := strconv.Atoi(at[1] + at[2]); err == nil && n > 0 && (least == 0 || n+1 < least) {
				least = n + 1
			}
			continue
		}
		if !s.tried && !vain(s.text) && !ranOut.MatchString(s.text) && !attempted.MatchString(s.text) || works.MatchString(s.text) || cured.MatchString(s.text) {
			continue
		}
		for _, at := range batches.FindAllStringSubmatch(ofValidation.ReplaceAllString(s.text, " "), 4) {
			for _, n := range sizes.FindAllStringSubmatch(at[1], 8) {
				if size, err := strconv.Atoi(n[0]); err == nil && size > 0 && (least == 0 || size < least) {
					least = size
				}
			}
		}
	}
	return least
}

// triedList is an option with several values, which are those that somebody tried.
var triedList = lazily(`(?i)(?:^|[\s(\x60"'])(--?[a-z][\w-]*?|[a-z]+(?:[_-][a-z]+)+)["'\x60]?[ :=]*[{\[(]?(\d{1,7}(?:\s*(?:[,/、]|->|→|\b(?:or|and|to|then)\b|[或和])+\s*\d{1,7}\b)+)`)

// eachNumber is one of them.
var eachNumber = lazily(`\d+`)

// triedValues are options with each value that somebody says he tried, none of which helped.
func triedValues(all []sentence) (set []string) {
	for _, s := range all {
		if !s.tried && !vain(s.text) && !attempted.MatchString(s.text) || works.MatchString(s.text) || cured.MatchString(s.text) {
			continue
		}
		for _, at := range triedList.FindAllStringSubmatch(s.text, 4) {
			name := strings.ReplaceAll(strings.ToLower(strings.TrimLeft(at[1], "-")), "-", "_")
			for _, n := range eachNumber.FindAllStringSubmatch(at[2], 8) {
				set = append(set, name+" "+n[0])
			}
		}
	}
	return set
}

// atMost is a batch of which it is said that larger ones fail, or that it is the largest that runs.
var atMost = lazily(`(?i)\bbatch[-_ ]?(?:sizes?)?\b[^.;,\n\d]{0,12}\b(?:greater|larger|bigger|higher|more) than (\d{1,4})\b|` +
	`\b(?:maximum|max|largest|biggest|highest) batch[-_ ]?(?:size)?\b[^.;\n\d]{0,30}\b(?:is|of|to|was) (?:only )?(\d{1,4})\b`)

// lasting is a batch and how far it came with it, as lists of attempts have them: "batch-size 64: 10000 batches".
var lasting = lazily(`(?i)\b(?:batch[-_ ]?size|batch|bs)\W{0,3}(\d{1,4})\b[^\d\n]{1,24}(\d{1,7})[^\d\n]{0,12}?(?:batch|step|iter|epoch|轮|步)\w*[^\n]{0,24}(?:oom|out of memory|fail|crash|dies|died|stop|爆|溢出|报错|$)`)

// lasts: each smaller batch only came further, so that what fills the GPU is kept from step to step.
func lasts(text string) bool {
	found := lasting.FindAllStringSubmatch(text, 8)
	for i, at := range found {
		size, _ := strconv.Atoi(at[1])
		steps, _ := strconv.Atoi(at[2])
		if i == 0 {
			continue
		}
		before, _ := strconv.Atoi(found[i-1][1])
		came, _ := strconv.Atoi(found[i-1][2])
		if (size < before) != (steps > came) || size == before {
			return false
		}
	}
	return len(found) > 1
}

// variant is a kind of weights, and how it is told that it runs with them; barred are words beside which it does not.
var (
	variant = lazily(`(?i)\b(fp8|gguf|nf4|int8|int4|awq|gptq|q[2-8]_\w+|[2-8](?:\.\d+)?[- ]?(?:bits?|bpw))\b[^.,;\n]{0,40}?\b(?:does work|works?|worked|runs?|ran|loads fine|is (?:fine|ok|okay)|no problem)\b`)
	barred  = lazily(`(?i)\b(?:not|never|no|how|if|would|should|could|can|will|may|only|hop(?:e|ed)|out of|oom|fails?|crash\w*|errors?|slower|cpu)\b|n['’]t\b|\?`)
)

// runsWith is the kind of weights with which somebody says that it runs; "" for none.
func runsWith(all []sentence) string {
	for _, s := range all {
		if at := variant.FindStringSubmatch(s.text); at != nil && !barred.MatchString(at[0]) {
			return strings.ToUpper(at[1][:1]) + at[1][1:]
		}
	}
	return ""
}

// anyLayers: whatever number of a model's layers is put on the GPU, it fails.
var anyLayers = lazily(`(?i)\b(?:any|whatever|whichever|no matter (?:the|what|which|how many)|regardless of(?: the)?|irrespective of(?: the)?)\b (?:number |amount |` +
	`count )?(?:of )?(?:the |gpu[-_ ]?|n_?gpu_?)*layers\b|` +
	`\b(?:ca(?:n['’]?t|n ?not)|could(?:n['’]?t| not)|fails? (?:with|at)|not) (?:even )?(?:offload|load|put|fit|use|with)?\b ?(?:even )?(?:a |just |` +
	`only )?(?:0|zero|1|one|single) (?:gpu )?layers?\b`)

// anyWorkers: without workers it fails as well, or whatever their number is. What PyTorch's own message says of it is advice.
var anyWorkers = lazily(`(?i)\b(?:tried|used|us(?:e|ing)|sett?(?:ing)?|with|have|had|even|also|at|to)\b[^.,;\n]{0,30}` + noWorkers + `[^.;\n]{0,50}(?:\b(?:same|still|also|too|as well|all the same|no difference|no effect)\b|` + notHelp + `)|^\W*` + noWorkers + `[^.;\n]{0,30}(?:\b(?:same|still|also|too|as well|no difference|no effect)\b|` + notHelp + `)|` +
	`\b(?:same|still|also|does(?:n['’]?t| not) (?:help|change|matter))\b[^.;\n]{0,30}\b(?:with|at|for|when)\b[^.;\n]{0,16}` + noWorkers + `|\b(?:no matter|whatever|regardless of|independent(?:ly)? of|for any|any)\b[^.,;\n]{0,30}\b(?:num[-_ ]?workers|` +
	`(?:number|count) of (?:the |data ?loader )*workers)\b|(?:无论|不管)[^。，\n]{0,12}(?:num_?workers?|worker)[^。\n]{0,20}(?:都|也|均)|` +
	`(?:num_?workers?|worker)[^。，\n]{0,8}(?:设|改|调|=|为|成)[^。，\n]{0,4}0[^。\n]{0,8}(?:也|还是|仍|依然|都)`)

// notHelp is what did not help.
const notHelp = `\b(?:do|does|did|is|was|wo)(?:n['’]?t| not) (?:help|work|solve|fix|change|matter)`

// raised is JAX's share of the GPU where it was set to nearly all of it or, with unified memory, to more.
var raised = lazily(`\bXLA_PYTHON_CLIENT_MEM_FRACTION=["']?(?:[1-9]|0?\.9)`)

// orLess is a batch of which it is said that no smaller one runs either.
var orLess = lazily(`(?i)\bbatch[-_ ]?(?:sizes?)?\b[^.,;\n\d]{0,8}\d{1,4} or (?:less|lower|smaller|below|fewer)\b`)

// tried are the settings that were changed in vain, or that are in force and were not enough.
func tried(text string, all []sentence) (told []string) {
	for _, row := range settings {
		named, changed := false, false // by the sentence before
		if slices.ContainsFunc(all, func(s sentence) bool {
			if s.tried && row.words.MatchString(s.text) && !cured.MatchString(s.text) && !solved.MatchString(s.text) {
				return true
			}
			s.text = ofValidation.ReplaceAllString(s.text, " ")
			before, told := named, changed
			named, changed = row.words.MatchString(s.text), row.words.MatchString(s.text) && changes.MatchString(s.text)
			if told && !named && len(s.text) <= maxOutcome && outcome.MatchString(s.text) && vain(s.text) && !cured.MatchString(s.text) {
				return true
			}
			if row.name == "batch" && orLess.MatchString(s.text) && ranOut.MatchString(s.text) && !works.MatchString(s.text) && outcomeOf(s.text, untold) == failed {
				return true
			}
			if !named && !(before && again.MatchString(s.text)) || cured.MatchString(s.text) || row.name == "batch" && (!exhausted(s.text) || askedAbout.MatchString(s.text)) {
				return false
			}
			if yesOrNo.MatchString(s.text) && leavesOut.MatchString(s.text) {
				return false
			}
			if (row.name == "gpu" || row.name == "inputs") && !alike.MatchString(s.text) {
				return false
			}
			on := slices.Contains(switches, row.name) && inForce.MatchString(s.text) && !doubted.MatchString(s.text)
			return on || vain(s.text) || attempted.MatchString(s.text) && !works.MatchString(s.text) && !asGiven.MatchString(s.text) || row.name == "batch" && one.MatchString(s.text) && !works.MatchString(s.text)
		}) {
			told = append(told, sampler.ToldTried+row.name)
		}
	}
	if slices.ContainsFunc(all, func(s sentence) bool { return single.MatchString(ofValidation.ReplaceAllString(s.text, " ")) }) || oneInCode.MatchString(text) {
		told = append(told, sampler.ToldOne)
	}
	if !slices.Contains(told, sampler.ToldOne) && slices.ContainsFunc(all, func(s sentence) bool { return evenSingle.MatchString(s.text) && ranOut.MatchString(s.text) }) {
		told = append(told, sampler.ToldOne)
		if batch := sampler.ToldTried + "batch"; !slices.Contains(told, batch) {
			told = append(told, batch)
		}
	}
	if slices.ContainsFunc(all, func(s sentence) bool {
		return settings[0].words.MatchString(s.text) && bothWays.MatchString(s.text) && vain(s.text)
	}) {
		told = append(told, sampler.ToldAnyBatch)
	}
	if slices.ContainsFunc(all, func(s sentence) bool {
		return anyWorkers.MatchString(s.text) && !works.MatchString(s.text) && !cured.MatchString(s.text)
	}) {
		told = append(told, sampler.ToldAnyWorkers)
	}
	if slices.ContainsFunc(all, func(s sentence) bool {
		return anyLayers.MatchString(s.text) && !works.MatchString(s.text) && !cured.MatchString(s.text)
	}) {
		told = append(told, sampler.ToldTried+"layers")
	}
	if batch := sampler.ToldTried + "batch"; oneInCode.MatchString(text) && !slices.Contains(told, batch) {
		told = append(told, batch)
	}
	return told
}
