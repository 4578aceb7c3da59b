package post

// runsThen is a run that fails no more.
const runsThen = `(?:can |could |will |then )*(?:works?|worked|runs?|ran|proceeds?|goes (?:on|through)|went through|finish(?:es|ed)?|fits?|starts?|succeeds?|(?:is|was|are) (?:fine|ok|okay))\b`

// withoutOption is an option of which somebody says that it runs without it. One that chooses a device is another matter: without it the CPU may run.
var withoutOption = []*lazy{
	lazily(`(?i)\b(?:when|if|once|as soon as)\b[^.,\n]{0,16}?(--[a-z][\w-]+)(?: (?:flag|option|argument|parameter|switch))?["'\x60]? (?:is|was) (?:not|` +
		`n['’]t) (?:included|given|set|passed|used|there|present|specified|added)\b[^.\n]{0,40}?\b` + runsThen),
	lazily(`(?i)\b(?:without|after (?:removing|dropping)|(?:when|if|once) (?:I|we) (?:remove|drop|omit|leave out|take out)d?) (?:the |` +
		`that )?(?:(?:flag|option|argument) )?["'\x60]?(--[a-z][\w-]+)(?: (?:flag|option|argument|parameter|switch))?["'\x60]?[^.\n]{0,30}?\b` + runsThen),
	lazily(`(?i)\b(?:it|this|everything|the (?:run|same|job|script|command|program|prediction|training)) (?:\w+ )?` + runsThen + `[^.,\n]{0,20} without (?:the |that )?(?:(?:flag|option|argument) )?["'\x60]?(--[a-z][\w-]+)`),
}

var ofDevice = lazily(`(?i)gpu|cuda|device|nv\b`)

// runsWithout is the option without which it is said to run; "" for none.
func runsWithout(all []sentence) string {
	for _, s := range all {
		for _, words := range withoutOption {
			if at := words.FindStringSubmatch(s.text); at != nil && !ofDevice.MatchString(at[1]) {
				return at[1]
			}
		}
	}
	return ""
}
