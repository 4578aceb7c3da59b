package post

import "slices"

// How a text is laid out says what it is where its words do not: a table that compares, markup that only documentation has, headings
// that its readers say.

// failedCell is a cell that holds nothing but the failure, figure one with nothing but a figure, in whatever form tables have:
// Markdown, LaTeX, HTML or columns. ruled is a line between parts of a table.
var (
	failedCell = lazily(cellBegins + `[*_\x60~(❌✗]*\s*(?i:(?:cuda |gpu )?(?:oom|o\.o\.m\.?|out[- ]of[- ]memory)|[显顯]存(?:不足|溢出)|内存不足|メモリー?不足|메모리 ?부족|нехватка памяти|sin memoria|sem memória)\s*[*_\x60~)†‡]*` + cellEnds)
	figure     = lazily(cellBegins + `[*~≈<>]*\d[\d.,]*\s*(?i:[×x%]|[kmgt]i?b?|m?s|min|tok\w*/s|it/s)?[*]*` + cellEnds)
	ruled      = lazily(`^[\s|:+=-]*-{3,}[\s|:+=-]*$`)
)

// oneself are words of one person, who compares nothing for others.
var oneself = lazily(`\bI\b|\b(?i:my)\b`)

const (
	cellBegins = `(?:[|&\t]|<td[^>]*>|\S {2,})[ \t]*`
	cellEnds   = `[ \t]*(?:[|&\t]|\\\\|</td>| {2,}|\r?$)`
)

// comparisons counts tables with figures beside the failure, as programs and settings are compared in. Who says that he had it made his
// table of what he tried.
func comparisons(r *reading, _ int) (n int) {
	if slices.ContainsFunc(r.own, func(s sentence) bool { return oneself.MatchString(s.text) && ranOut.MatchString(s.text) }) {
		return 0
	}
	failed, figures := false, false
	for _, line := range append(slices.Clip(r.lines), "") {
		switch fails, has := failedCell.MatchString(line), figure.MatchString(line); {
		case fails || has:
			failed, figures = failed || fails, figures || has
		case !ruled.MatchString(line):
			if failed && figures {
				n++
			}
			failed, figures = false, false
		}
	}
	return n
}

var (
	// askedBy is a heading that is a question, and its words; heads is any below the title.
	askedBy = lazily(`^\s*(?:#{2,6}\s+|\*\*\s*)(\S.*[?？])\W*$`)
	heads   = lazily(`^\s*#{2,6}\s+(\S.*)$`)
	// ofHimself begins what somebody says of himself.
	ofHimself = lazily(`(?i)^\W*(?:(?:I|I['’]m|I['’]ve|my|ich|mein|je|j['’]ai|mon|ma|tengo|mi|me|tenho|estou|meu|minha|ho|il mio|la mia|ik|mijn)(?:[^\w\p{L}]|$)|(?:у меня|мой|моя|я) |我|私|제가|저는|내 )`)
	// askedByForm is a question of a form for bug reports, whose reader is who reports.
	askedByForm = lazily(`(?i)\b(?:your?|existing|happened|did|which|version|expect\w*|reproduc\w*|what is the (?:bug|problem|issue)|additional|anything else)\b`)
)

// readersSay are the lines of headings that readers say or ask, one of which names the failure: those of an FAQ. One alone is that of a post.
func readersSay(lines []string) (at []int) {
	named := false
	for i, line := range lines {
		found := askedBy.FindStringSubmatch(line)
		if found == nil {
			if found = heads.FindStringSubmatch(line); found == nil || !ofHimself.MatchString(found[1]) {
				continue
			}
		}
		if !askedByForm.MatchString(found[1]) {
			at, named = append(at, i+1), named || ranOut.MatchString(found[1])
		}
	}
	if len(at) < 2 || !named {
		return nil
	}
	return at
}

// noted is the markup of documentation, which trackers of bugs show as it stands: of Sphinx, MkDocs, Hugging Face, AsciiDoc and what
// stands above functions.
const noted = `(?m)^\s*\.\. (?:code-block|code|note|warning|attention|caution|danger|seealso|tip|hint|important|versionadded|versionchanged|deprecated|auto\w+|` +
	`toctree|image|figure|list-table|csv-table|admonition|tabs?|py:\w+|function|class|method|option|envvar|currentmodule|module|math|include|` +
	`literalinclude|rubric)::` +
	`|:(?:class|meth|func|ref|doc|mod|attr|exc|data|term|option|envvar|py:\w+|c:\w+|cpp:\w+):\x60[^\x60\n]+\x60` +
	`|^\s*(?:!!!|\?\?\?\+?) \w+|^=== "|^:{3,} ?[\w{]|^\x60{3,}\{[\w-]+\}|^> ?\[!(?:NOTE|TIP|WARNING|IMPORTANT|CAUTION)\]|^\{%-? (?:hint|tip|note)|` +
	`^\[\[(?:autodoc|open-in-colab)\]\]|^<(?:Tip|Note|Warning|Callout|Info|Admonition)\b` +
	`|^\[(?:source|NOTE|TIP|WARNING|IMPORTANT|CAUTION)[^\]\n]*\]\s*\n(?:-{4}|={4})` +
	`|^\s*:(?:param|type|returns?|rtype|raises?)\b[^:\n]*:|^\s*\*?\s*[@\\](?:param|brief|throws?|returns?|retval)\b|` +
	`^\s*(?:Parameters|Returns|Raises|Yields)\n\s*-{4,}|^\s*Args:\n\s*\w+(?: \([^)\n]*\))?: |^\s*[•*-] +\*{0,2}\w+\*{0,2} \([^)\n]{1,40}\)\)? [–—-]`

// captions are those of tables and figures, which have numbers where somebody writes for others.
const captions = `(?im)^\W*(?:table|figure|fig\.|listing|tabelle|abbildung|abb\.|tabla|figura|tabela|tableau|tabella|tabel|таблица|рис\.|рисунок|表|图|図|표|그림) ?\d{1,2}(?:\.\d{1,2})?(?:[.:：] |\W*$)`
