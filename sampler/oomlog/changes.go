package oomlog

import (
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// changeForms are announcements of a setting that changes within a run and takes more memory
// from then on: weights that are unfrozen or copied, activations that are not recomputed any
// more, larger images, batches and sequences. Only the lines just before a failure are asked.
var changeForms = []*lazy{
	pattern(`(?i)\b(?:un-?fr(?:ee|o)z\w+|thaw\w*)\b`),
	pattern(`(?i)\b(?:start\w*|enabl\w*|begin\w*|creat\w*|initiali[sz]\w*|switch\w*)\b.{0,40}\b(?:ema|swa|moving average)\b|\b(?:ema|swa)\b.{0,30}\b(?:start\w*|enabled|begins|from now|on)\b`),
	pattern(`(?i)checkpointing_disable|\b(?:disabl\w*|turn\w* off|switch\w* off|no|without)\b.{0,40}checkpointing|checkpointing\b.{0,30}\b(?:disabled|off)\b`),
	pattern(`(?i)(?:size|length|\blen|_len|resolution|batch|crop|frames|patch|tokens|\bres)\b[^\d]{0,25}(\d+)[x\d]*(?: ?px)? *(?:->|→|=>|to) *(\d+)`),
	pattern(`(?i)\b(?:curriculum|progressive\w*|schedul\w*|stage|phase)\b.{0,60}\b(?:size|length|resolution|frames|tokens|crop|batch)\b[^\d]{0,20}\d`),
	pattern(`(?i)^\W*(?:start\w*|begin\w*|enter\w*|switch\w* to|now in)? *(?:training )?(?:stage|phase)[ :#]*(?:[2-9]|two|three|four|ii+)\b`),
	pattern(`(?i)^\W*(?:start\w*|enabl\w*|activat\w*|add\w*|switch\w*|begin\w*|turn\w* on)\b[^\d]{0,80}\b(?:adversarial|discriminator|gan|perceptual|lpips|vgg\d*|` +
		`distill\w*|teacher|auxiliary|mixup|mosaic|fine-?tun\w*)\b`),
	pattern(`(?i)\b(?:increas\w+|enlarg\w+|grow\w*)\b.{0,40}\b(?:size|length|resolution|frames|tokens|crop|batch)\b`),
}

// sizeLine is a line that names one size and nothing else; where the same was smaller before, a stage with larger steps has begun.
var sizeLine = pattern(`(?i)^\W*([a-z][a-z _-]{0,40}\b(?:size|length|len|resolution|res|crop|patch|frames|window))\b[ :=#]*(\d{1,9})(?:[ x*]*\d{1,9})?(?: ?px)?\W*$`)

// enlarged says whether a line names a size that an earlier one had by a fifth smaller, at least.
func enlarged(lines []*keptLine, i int) bool {
	now := sizeLine.findIn(lines[i].part.trimmed())
	for j := i - 1; now != nil && j >= 0; j-- {
		if was := sizeLine.findIn(lines[j].part.trimmed()); was != nil && strings.EqualFold(was[1], now[1]) {
			from, _ := strconv.ParseFloat(was[2], 64) //nolint:errcheck // digits
			to, _ := strconv.ParseFloat(now[2], 64)   //nolint:errcheck // digits
			return to >= sizesRise*from
		}
	}
	return false
}

// settings are those of one training of several, as a search prints them, and sizeSetting is one of them by which the steps get larger.
var (
	settings    = pattern(`(?i)\b(?:trial|sweep|hparams|hyper-?param\w*|params|config\w*|settings|run)\b|\b(?:lr|learning_rate|weight_decay|dropout)["']?\s*[:=]`)
	sizeSetting = pattern(`(?i)["']?\b((?:(?:per_device_)?train_)?batch(?:[_ ]?size)?|bs|image[_ ]?size|img[_ ]?size|imgsz|resolution|crop[_ ]?size|patch[_ ]?size|` +
		`hidden(?:[_ ](?:size|dim))?|width|depth|n?[_ ]?layers)["']?\s*[:=]\s*(\d{1,7})\b`)
)

// largest says whether a line names settings of which a size is larger, by a fifth at least, than in all of those before it.
func largest(lines []*keptLine, i int) bool {
	now := settingOf(lines[i])
	if now == nil {
		return false
	}
	to, _ := strconv.ParseFloat(now[2], 64) //nolint:errcheck // digits
	before := 0.0
	for _, l := range lines[:i] {
		if was := settingOf(l); was != nil && strings.EqualFold(was[1], now[1]) {
			from, _ := strconv.ParseFloat(was[2], 64) //nolint:errcheck // digits
			before = max(before, from)
		}
	}
	return before > 0 && to >= sizesRise*before
}

func settingOf(l *keptLine) []string {
	if !settings.in(l.part) {
		return nil
	}
	return sizeSetting.findIn(l.part)
}

var lossFigure = pattern(`(?i)\bloss\w*['"]?\s*[:= ]\s*\d`)

// changeWithin is how many lines before a failure, or before its traceback, are asked.
const changeWithin = 3

// roomier is a size of what a job may use, which makes none larger.
var roomier = pattern(`(?i)\b(?:shm|shared memory|swap\w*|page ?file|ram|disk|/dev/shm)[ _-]?size\b`)

// change is the announcement just before a failure; "" for none. The lines before the one at
// begins are asked.
func change(lines []*keptLine, begins int) string {
	asked := 0
	for i := begins - 1; i >= 0 && asked < changeWithin; i-- {
		text := strings.TrimSpace(lines[i].text)
		if text == "" || lines[i].read().traceback || strings.HasPrefix(text, "$") {
			continue
		}
		asked++
		if len(text) > 300 || lossFigure.MatchString(text) {
			continue // a step that was done announces nothing
		}
		if enlarged(lines, i) || largest(lines, i) {
			return sampler.Clean(text)
		}
		for _, form := range changeForms {
			if at := form.findIn(lines[i].part.trimmed()); at != nil && grows(at) && !roomier.MatchString(text) {
				return sampler.Clean(text)
			}
		}
	}
	return ""
}

// grows: what goes from one number to another gets larger.
func grows(at []string) bool {
	if len(at) < 3 {
		return true
	}
	from, _ := strconv.ParseFloat(at[1], 64) //nolint:errcheck // digits
	to, _ := strconv.ParseFloat(at[2], 64)   //nolint:errcheck // digits
	return to > from
}
