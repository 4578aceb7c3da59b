package post

import "strings"

// cards are GPUs of NVIDIA as people write them, with the number of one whose family is left out.
var cards = lazily(`(?i)\b(?:(?:nvidia|geforce|quadro|tesla) )*(?:[GR]TX ?-?A?\d{3,4}(?: ?ti\b)?|titan (?:xp?|v|rtx)\b|quadro (?:RTX )?[A-Z]?\d{3,4}\b|tesla [A-Z]\d{1,3}\b|(?:nvidia|geforce) ([1-5]0[5-9]0|16[56]0)(?: ?ti\b)?|\b([12]080) ?ti\b)`)

// cardIn is the only GPU that a text names; "" where it names none, or several.
func cardIn(text string) (name string) {
	for _, at := range cards.FindAllStringSubmatch(text, 64) {
		card := strings.ToUpper(strings.ReplaceAll(at[0], "-", " "))
		if number := at[1] + at[2]; number != "" {
			card = family(number) + number
		}
		if name != "" && name != card {
			return ""
		}
		name = card
	}
	return name
}

// family is that of a number that stands alone.
func family(number string) string {
	if number[0] == '1' {
		return "GTX "
	}
	return "RTX "
}
