package trainlog

import (
	"strconv"
	"strings"
)

// stepForms are the ways in which logs count the steps of a training: by their name, and by a progress bar that has none or
// one that says so. Bars of data sets, downloads and validations count something else.
var stepForms = compiled(
	`(?i)\b(?:(?:global|acc|cur|train)[_ ]?)?(?:step|iter|iteration)\b["']?[\s:=#\[(]{0,4}(\d+)`,
	`(?i)^batch (\d+), .*\bloss\b`,
	`(?i)(?:^|\|)\s*(\d+)\s*/\s*\d+ batches\b`,
	`^\s*(\d+)/\d+ (?:━|─|\[[=>.])`, // Keras
	`(?i)^(?:[^%|]*\b(?:epochs?|train\w*|steps?)\b[^%|]*)?\s*\d+%\|[^|]*\|\s*(\d+)/\d+ \[`,
)

// maxStep is more than a run counts to.
const maxStep = 1_000_000_000

// stepOf is the step that a line says is done.
func stepOf(line string) (n int, ok bool) {
	line = line[:min(len(line), markBytes)]
	low := lower(line)
	if !strings.Contains(low, "step") && !strings.Contains(low, "iter") && !strings.Contains(low, "%|") && !strings.HasPrefix(low, "batch ") && !strings.Contains(low, " batches") {
		return 0, false
	}
	for _, re := range stepForms() {
		if m := re.FindStringSubmatch(line); m != nil {
			n, err := strconv.Atoi(m[1])
			return n, err == nil && n <= maxStep
		}
	}
	return 0, false
}
