package post

import (
	"slices"
	"strings"

	"nvpeak/sampler"
)

// document is a kind of text that names failures of others, or of nobody.
type document struct {
	name    string
	marks   *lazy
	plain   bool // only where nobody speaks of himself
	samples bool // shows errors with amounts that nobody met
}

// documents are told by what their authors never leave out and nobody writes who reports a failure.
var documents = []document{
	{name: "release notes", marks: lazily(`(?im)\breleased this \d{1,2} \w{3}\b|^\W*full changelog\b|^\W*what['’]s changed\W*$|\A\W*(?:changelog|release notes|changes by version)\W*$|^## \[?v?\d+\.\d+[\w.]*\]? ?[-–(]+ ?\d{4}-\d\d-\d\d|^\s*[•*+-]\s+(?-i:[0-9a-f]*\d[0-9a-f]*)\s+(?:addresses|fixes|adds|removes|prevents|improves|avoids|reduces)\b|^\W*(?:bug ?fix|maintenance|hotfix) release\b|^this release (?:has|contains|includes|fixes|adds|does|is)\b|\bno new features this release\b`)},
	{name: "changes", marks: lazily(`(?im)\bthis (?:PR|pull request|patch|commit) (?:\w+ly )?(?:adds?|makes?|fix(?:es)?|targets|aims|introduces|implements|changes|removes|improves|mitigates|prevents|updates|refactors|allows|enables|ensures|addresses|reduces)\b|^\W*(?:closes|fixes|resolves|fix|reverts):? (?:[\w.-]+/[\w.-]+)?#\d+|^\W*what changes were proposed\b|^\W*pull request (?:outline|checklist|type)\b|^\W*acceptance criteria\W*$|^motivation:\s*\n(?s:.*)^modifications:|^\W*what is the new behaviou?r\b`)},
	{name: "manual", marks: lazily(`(?m)\A\W*NAME\b(?s:.{0,400})\bDESCRIPTION\b|^NAME\s*$(?s:.*)^DESCRIPTION\s*$|\.SH "?NAME\b`)},
	{name: "alerts", marks: lazily(`(?m)\$labels\.\w|^\s*-? ?alert: \w+\s*$|^kind: PrometheusRule`)},
	{name: "scenarios", marks: lazily(`(?m)\AFeature: [^\n]*\n(?s:.*)^\s*Scenario\b`)},
	{name: "declarations", marks: lazily(`(?m)\A\s*(?:#![^\n]*\n\s*)?(?:"""|\x27\x27\x27)|\bpub enum \w|\benum (?:class )?\w+ ?\{|^Variants§?\s*$|^Defined in:\s*$|^exception [\w.]+#?\s*$`)},
	{name: "front matter", marks: lazily(`\A---\r?\n(?:[\w-]+:[^\n]*\r?\n){2,}---`)},
	{name: "questions and answers", marks: lazily(`(?i)\A\W*(?:FAQs?|frequently asked questions|troubleshooting(?: guide)?)\W*\n`)},
	{name: "guide", plain: true, samples: true, marks: lazily(`(?i)\bthis (?:guide|article|tutorial|document|page|post) (?:explains|covers|describes|will|lists|addresses|walks|shows)\b|\b(?:in|start) this (?:\w+ )?(?:guide|article|tutorial)\b|\bwe are going to (?:discuss|see|look)\b|\bdiagnose and fix\b|\bone of the most common\b[^.]{0,40}\b(?:failures|errors|problems|issues)\b|\bhere are (?:a few|some|the) (?:of the )?(?:most )?common (?:causes|reasons|things)\b|(?m:^(?:了解|诊断|排查) ?OOM)|如果您的|您可以`)},
	{name: "error page", plain: true, samples: true, marks: lazily(`(?im)^\W*(?:what (?:this|the) error means|why (?:it|this) happens|causes & fixes|what (?:oom ?killed|out of memory) (?:means|is))\W*$|^\W*(?:common |possible )?causes\W*$(?s:.*)^\W*(?:solutions?|steps)\W*$|^this error behaves\b|^\W*(?:suggested fixes|log signals)\W*$`)},
	{name: "definition", plain: true, marks: lazily(`(?im)^\W*(?:(?:an?|the) )?(?:linux )?\W*(?:ooms?|oom ?-?killed|oom[- ]?killer|out[- ]of[- ]memory)\W*(?:\([^)\n]*\)\W*|oom\W+)?(?:(?:events?|errors?|conditions?|killer)\W*)?(?:(?:is|are) (?:an?|one of the|the (?:\w+ )?(?:moment|plural|state|condition|name|kernel|mechanism))|automatically|occurs? (?:in computer|when an? \W*(?:container|process|program|system|pod)))\b|\bexit\w*(?: with)? code 137\b[^.\n]{0,24}\bmeans\b|\bthis exit code is\b`)},
}

// myself are words of who speaks of himself alone.
var myself = lazily(`\b(?:I|I['’](?:m|ve|d)|[Mm]y|[Mm]e)\b|我`)

// documented is the kind of document that a text is, or nil.
func documented(text string) *document {
	at := slices.IndexFunc(documents, func(d document) bool { return d.marks.MatchString(text) && !(d.plain && myself.MatchString(text)) })
	if at < 0 {
		return nil
	}
	return &documents[at]
}

// described: the failure is none of whoever wrote the document, for neither a run nor, but in samples, an amount of it is shown.
func described(e sampler.OOMEvent, text string) bool {
	if c := e.Context; c != nil && (len(c.Functions) > 0 || c.Command != "") {
		return false
	}
	d := documented(text)
	return d != nil && (d.samples || !e.Requested.Known() && !e.GPUTotal.Known())
}

// program begins a text that is a program, and note is a comment in one.
var (
	program = lazily(`\A\s*(?:(?:#|//)[^\n]*\n\s*)*(?:import [\w.]+|from [\w.]+ import\b|#include\b|package \w+\s*$|def \w+\(|class \w+)`)
	note    = lazily(`^\s*(?:#|//|\*)\s`)
)

// commented: the error is kept in a comment of a program, and there is nothing else.
func commented(e sampler.OOMEvent, text string, all []sentence) bool {
	if e.Line < 1 || slices.ContainsFunc(all, func(s sentence) bool { return !s.title }) || e.Context != nil && len(e.Context.Functions) > 0 || !program.MatchString(text) {
		return false
	}
	lines := strings.SplitN(text, "\n", e.Line+1)
	return len(lines) >= e.Line && note.MatchString(lines[e.Line-1])
}

// about are words with which a sentence speaks of such failures in general, or of what a program makes of them.
const about = `\bstands for out\b|\b(?:of|for|to|detect\w*|list\w*|find\w*) (?:\w+ )?oom[- ]killed\b|\b(?:oom|out[- ]of[- ]memory)(?: error)? (?:memory )?(?:summary|header|retryable|suggests?|situations?|conditions?)\b|^\W*(?:give (?:more|better)|back off|drop \w+|abort on|exit on|halve|explain)\b|\boomkiller\b|\bwhen (?:the |an? )?(?:linux )?(?:kernel|linux|operating system|system|container|process) (?:runs?|is|exceeds?)\b|\b(?:typical|common) (?:error )?messages?\b|\b(?:entries|lines|messages) that (?:begin|start|contain)\b|\bcheck (?:whether|if) there (?:are|is)\b|\braises? this (?:class|error|exception)\b|`
