package oomlog

// A recovery is a wording that says that the program went on after a failure.
type recovery struct {
	words   []string
	pattern string
}

type compiledRecovery struct {
	recovery
	mask wordMask
	re   *lazy
}

// recoverWithin is how many lines after a failure a recovery may be printed: a traceback may stand between.
const recoverWithin = 60

// spoken is a line of somebody who writes of what he did or could do: no program went on there.
var spoken = pattern(`(?i)(?:^|\s)[il](?:['’](?:m|ve|d)| (?:am|have|had|tr[iy]\w*|reduc\w*|set|use\w*|chang\w*|lower\w*|decreas\w*))\b|\bwould have\b|` +
	`\btried to (?:chang|reduc|lower|decreas|set|us)\w*\b|\bbut (?:it |that )?(?:still|also)\b|\bseems? to\b|\bwe (?:can|could|have|are)\b`)

// recoveries are the wordings known. Sources stand beside the testdata that use them.
var recoveries = []recovery{
	{[]string{"skipping", "skipped", "skip "}, `\b(?:skipping|skipped|skip) (?:this |the |current |bad |over |to next |oom |that )*(?:batch|sample|step|iteration|example|update|image|video|clip|` +
		`frame|item|file|request|chunk|page|size|config|trial|minibatch)`},
	{[]string{"reducing to batch", "reducing batch", "reduce batch size", "reducing the batch", "decreasing batch"}, `\b(?:reducing|decreasing) (?:to|the )? ?(?:micro[- ])?batch(?:[ _-]?size)?(?:\s*[=:]?\s*(?:\d|$|\.\.\.|[,;!…])|\s+(?:to|from|by|and|then)\b)|\breduce batch size (?:to|from) \d`},
	{[]string{"retry", "trying again", "try again with", "trying with"}, `\bretrying\b|\bwill retry\b|\btrying again\b|\bretry (?:with|using|in|attempt)|\btrying with (?:a )?(?:smaller|lower|batch)|\btry again with (?:a )?(?:smaller|lower)`},
	{[]string{"attempting to recover"}, `attempting to recover from OOM`},
	{[]string{"not a failure"}, `not a failure, but may mean`},
	{[]string{"fall back", "falling back", "fallback", "falls back", "fell back"}, `\bfall(?:ing|s|en)? ?back(?: to|,| on)|\bfell back to`},
	{[]string{"tiled"}, `\b(?:retrying|switching|trying|using|now)\b.{0,40}\btiled\b`},
	{[]string{"using batch-size"}, `AutoBatch: .{0,20}using batch-size \d`},
	{[]string{"continuing"}, `\bcontinuing\b(?: with| training| without|\.\.\.|$)`},
	{[]string{"batch size to", "batch size is now", "batch size reduced", "batch_size to", "auto_scale_batch_size", "batch size from"}, `(?:lower|reduc|decreas|halv|adjust|chang|set)\w* (?:the )?(?:micro[- ])?(?:train(?:ing)? )?batch[ _]size (?:from \S+ )?to \d|batch size (?:is now|reduced)`},
	{[]string{"failed, trying batch size"}, `failed, trying batch size \d`},
	{[]string{"got prompt"}, `\bgot prompt\s*$`}, // the server takes the next
	{[]string{"batch skipped", "sample skipped", "skipped due to", "ignoring batch", "ignoring this batch"}, `\b(?:batch|sample|step|image) (?:(?:was|is|will be) )?skipped\b|\bskipped due to (?:\w+ )?(?:OOM|out of memory)\b|\bignoring (?:this )?batch\b`},
	{[]string{"requeue", "rescheduling"}, `\brequeu(?:e|ing)d?\b.{0,30}\bsmaller\b`},
	{[]string{"moving model to cpu", "offloading to cpu", "switching to cpu", "using cpu instead", "use cpu instead"}, `(?:moving model|offloading|switching) to cpu|us(?:e|ing) cpu instead`},
	{[]string{"model_is_split", "splitting the batch", "split the batch", "splitting batch"}, `\bsplit(?:ting)? (?:the )?batch`},
	{[]string{"low vram mode", "lowvram mode"}, `(?:switching|falling|trying|retry\w*) .{0,20}low ?vram mode`},
}
