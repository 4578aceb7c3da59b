package post

import "strings"

// Whoever keeps a program or a table writes what came over him beside it, where no sentence is looked for. A comment explains the
// program as a rule, so that only who says of himself what has been counts.

var (
	// remarks are words of one to whom something happened, in the past.
	remarks = lazily(`(?i)\b(?:I|we)(?: ?['’]ve| have| had)? (?:\w+ )??(?:got|ran into|met|encountered|received|had|saw|tried)\b|\b(?:my|our) (?:gpu|card)s? (?:ran|went) out\b|(?:했|봤|돌렸|하였)는데|(?:跑|试|运行|训练)了`)
	// ranHere is such a happening with the failure that it was.
	ranHere = lazily(`(?i)\b(?:I|we)(?: ?['’]ve| have| had)? (?:\w+ )??(?:got|ran into|met|encountered|received|had|saw|ran out)\b[^.;!?]{0,40}(?:\boom\b|\bout[ -]of[ -](?:gpu |cuda |video )?memory\b)|` + myGPU + `|(?:했|봤|돌렸|하였)는데[^.。]{0,20}(?:OOM|메모리 ?(?:부족|초과|에러|오류))|(?:跑|试|运行|训练)了[^。；]{0,12}(?:显存(?:爆|炸|溢出|不足)|OOM)`)
	// remark is a comment of a program; cell divides a row of a table.
	remark = lazily(`^\s*(?:#|//|\*|--|;|%|"{3})+\s*(\S[^\n]*)$`)
	// announces is who had an error that stands below.
	announces = lazily(`(?i)\b(?:I|we)\b[^.;!?]{0,80}\b(?:had|got|get|getting|received?|encountered|saw|see|met)\b[^.;!?]{0,12}\b(?:following|this|below|the) (?:\w+ )?(?:error|message|exception)s?\W*$`)
)

// myGPU is a GPU of one's own that ran out, at the begin of what is said.
const myGPU = `(?:^\W*|[,;.:] |\b(?:and|but|because|since|as|then) )(?:unfortunately|sadly|then)?,? ?(?:my|our) (?:gpu|card|graphics card)s? (?:ran|went) out of (?:gpu |video )?(?:memory|vram)`

// remarked is a failure told of in a comment or in a cell of a table, or printed below a sentence that announces it.
func remarked(text string, all []sentence) (sentence, bool) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if at := remark.FindStringSubmatch(line); at != nil && ranOut.MatchString(at[1]) && happened(at[1], ranHere) && !conditional.MatchString(at[1]) {
			return sentence{text: strings.TrimSpace(at[1]), line: i + 1}, true
		}
		if row := strings.TrimSpace(line); strings.HasPrefix(row, "|") {
			for cell := range strings.SplitSeq(row, "|") {
				if len(strings.Fields(cell)) >= 6 && ranOut.MatchString(cell) && recalls.MatchString(cell) && !talk.MatchString(cell) {
					return sentence{text: strings.TrimSpace(cell), line: i + 1}, true
				}
			}
		}
	}
	for _, s := range all {
		if s.note || !announces.MatchString(s.text) {
			continue
		}
		for i := s.line; i < min(len(lines), s.line+2); i++ {
			if ranOut.MatchString(lines[i]) {
				return sentence{text: strings.Trim(strings.TrimSpace(lines[i]), "\"'\x60?"), line: i + 1}, true
			}
		}
	}
	return sentence{}, false
}

// recalls are words of what was, in any language.
var recalls = lazily(was + pastIn())
