package tape

import "strings"

// maxCells bounds the cells of a row that are looked at; nvidia-smi has some 200 columns.
const maxCells = 1024

// splitCSV cuts a line at its commas. nvidia-smi quotes nothing; other tools that write
// such logs do.
func splitCSV(line string) []string { return splitAt(line, ",") }

// separator is what stands between the cells of a line of names: a semicolon where a spreadsheet wrote it in
// a country with decimal commas.
func separator(names string) string {
	if strings.Count(names, ";") > strings.Count(names, ",") {
		return ";"
	}
	return ","
}

func splitAt(line, separator string) (cells []string) {
	for more := true; more && len(cells) < maxCells; {
		var text string
		text, line, more = nextCell(strings.TrimLeft(line, " \t"), separator)
		cells = append(cells, strings.TrimSpace(text))
	}
	return cells
}

// nextCell cuts off the first cell. A quote within quotes is written twice; quotes that do not
// end are text.
func nextCell(line, separator string) (text, rest string, more bool) {
	if !strings.HasPrefix(line, `"`) {
		return strings.Cut(line, separator)
	}
	for i := 1; i < len(line); i++ {
		if line[i] != '"' {
			continue
		}
		if strings.HasPrefix(line[i+1:], `"`) {
			i++
			continue
		}
		_, rest, more = strings.Cut(line[i+1:], separator)
		return strings.ReplaceAll(line[1:i], `""`, `"`), rest, more
	}
	return strings.Cut(line, separator)
}
