package post

import (
	"slices"
	"strconv"
)

var (
	// cpuOption is an option by which a program computes on the CPU, whatever GPU stands beside it.
	cpuOption = lazily(`(?m)^[^\n]*\.py[^\n]*\s(?:--?device[ =]["']?cpu["']?|--(?:no|disable)[-_](?:cuda|gpu))(?:\s|["'\x60]|$)`)
	// littleRAM and besideVRAM are the two memories of a machine whose RAM is called little.
	littleRAM  = lazily(`(?i)\bonly (?:have |has |had |got |about )*(\d{1,3}) ?G(?:i?B)? (?:of )?(?:system |host |cpu |main )?(?:ram|system memory|main memory)\b`)
	besideVRAM = lazily(`(?i)\b(\d{1,3}) ?G(?:i?B)? (?:of )?(?:vram|(?:gpu|video|graphics) (?:memory|ram))\b`)
	// ofCUDA is the failure of a GPU by its name.
	ofCUDA = lazily(`(?i)\bcuda (?:error|out)|\bcuda oom\b`)
)

// byOptionOnCPU: a command of the text has an option by which it computes on the CPU, and nobody says that it goes through there.
func byOptionOnCPU(text string) bool {
	return cpuOption.MatchString(text) && !cpuWorks.MatchString(text)
}

// shortOfRAM: whoever writes calls his RAM little and it is no more than the GPU has. What a program reads from a disk passes through RAM, so that ends first.
func shortOfRAM(text string, all []sentence) bool {
	return !ofCUDA.MatchString(text) && slices.ContainsFunc(all, func(s sentence) bool {
		return !talk.MatchString(expected(s.text)) && noMore(amountIn(littleRAM, s.text), amountIn(besideVRAM, s.text))
	})
}

// noMore: both are known, and the first is no more than the second.
func noMore(a, b int) bool { return a > 0 && a <= b }

// amountIn is the number that words have of a sentence; 0: none.
func amountIn(words *lazy, text string) int {
	at := words.FindStringSubmatch(text)
	if at == nil {
		return 0
	}
	n, _ := strconv.Atoi(at[1])
	return n
}
