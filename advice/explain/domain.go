package explain

import (
	"strings"

	"nvpeak/sampler"
)

// domain is what the program works on, as sampler.DomainAudio …, or what it does, as sampler.WorkScene …; "" where nothing tells.
func (f *facts) domain() string {
	if w, is := f.work(); is && !w.shared {
		return w.name
	}
	for _, what := range f.context.Told {
		if name, is := strings.CutPrefix(what, sampler.ToldDomain); is {
			if f.program.is(imageTool) && (name == sampler.DomainText || name == sampler.DomainSeries) {
				return sampler.DomainPictures // the words are those of its prompts
			}
			return name
		}
	}
	if f.convolvesPictures() {
		return sampler.DomainPictures
	}
	return ""
}

// convolvesPictures: the traceback ends in a two-dimensional convolution or a resize.
func (f *facts) convolvesPictures() bool {
	return f.inCode("conv2d", "interpolate(", "upsample", "grid_sample")
}

// lessInput says how less is processed at once, in the words of what it works on.
func (f *failure) lessInput() []string {
	name := f.domain()
	if !f.words.Has("do.less." + name) {
		name = "any"
	}
	if name == sampler.DomainRays && f.told(sampler.ToldTried+"chunks") {
		name = "rays.views"
	}
	first, second := "do.less."+name, "do.parts."+name
	if name == sampler.WorkAtoms && f.told(sampler.ToldInForce+"precision mixed") {
		second += ".mixed"
	}
	switch {
	case f.makesVideo(): // nothing is read that could come in parts
		lines := []string{f.comment(first)}
		if !f.ownPipe() {
			lines = append(lines, f.comment("do.say.decode_frames"))
		}
		return lines
	case f.fixedBuffer():
		return []string{f.comment("do.buffers"), f.comment("do.or_that", "what", f.words.Say("do.less.worlds.one"))}
	case f.oneWorld():
		return []string{f.comment("do.less.worlds.one"), f.comment("do.or_that", "what", f.words.Say("do.parts.worlds"))}
	case name == sampler.WorkStreams && indexOf(f.event.Text, "BitstreamBuffer") >= 0: // a session was granted: https://github.com/FFmpeg/FFmpeg/blob/master/libavcodec/nvenc_h264.c
		return []string{f.comment("do.surfaces"), f.comment("do.or_that", "what", f.words.Say(first))}
	case f.told(sampler.ToldTiles):
		return []string{f.comment("do.smaller_tiles")}
	case f.told(sampler.ToldClones) && !f.inTraining():
		return []string{f.comment("do.reference_audio")}
	case f.setByHand() != "":
		return []string{f.comment("do.set_lower", "name", f.setByHand()), f.comment(first)}
	case !f.words.Has(second) || f.onHost() && (name == sampler.DomainGraph || name == sampler.DomainVideo):
		return []string{f.comment(first)}
	case f.triedSize():
		return []string{f.comment(second)}
	case f.told(sampler.ToldLarger) && name == sampler.DomainPictures: // smaller ones run, and these may have to stay as they are
		return []string{f.comment(second), f.comment("do.or_that", "what", f.words.Say(first))}
	}
	return []string{f.comment(first), f.comment("do.or_that", "what", f.words.Say(second))}
}

// setByHand is the size that whoever writes says he has set himself; "" for none.
func (f *facts) setByHand() string {
	for _, what := range f.context.Told {
		if name, is := strings.CutPrefix(what, sampler.ToldSet); is {
			return sampler.Clean(name)
		}
	}
	return ""
}

// eachSample is how a sample that is trained on is made smaller; "" where nothing tells what it is.
func (f *failure) eachSample() string {
	id := "do.each_sample." + f.domain()
	if f.domain() == sampler.DomainRays && f.told(sampler.ToldTried+"chunks") {
		id += ".views"
	}
	if f.words.Has(id) {
		return f.words.Say(id)
	}
	return ""
}

// smallerSample says that beside another way; where it was tried, what else there is.
func (f *failure) smallerSample() string {
	if f.triedSize() {
		return f.comment("do.or_smaller_model")
	}
	if what := f.eachSample(); what != "" {
		return f.comment("do.or_that", "what", what)
	}
	return f.comment("do.sample_unknown")
}

// sampleAlone says it as the only way.
func (f *failure) sampleAlone() string {
	if name := f.setByHand(); name != "" {
		return f.comment("do.set_lower", "name", name)
	}
	if what := f.eachSample(); what != "" {
		return "# " + what
	}
	return f.comment("do.sample")
}

// lastResort is what is left where a model that runs as it is given fills most of the GPU (own threshold: three
// fifths), and the CPU where it works there, as is said.
func (f *failure) lastResort() []string {
	if f.onHost() {
		return nil
	}
	full := f.total.Known() && f.allocated.Or(0) > partOf(f.total.Or(0), 0.6)
	switch {
	case f.told(sampler.ToldCPU):
		return []string{f.comment("do.or_cpu")}
	case f.program.is(inference|imageTool) && full && f.history == nil && !f.othersMatter():
		return []string{f.comment("do.or_larger_gpu")}
	}
	return nil
}

// doDemucs names the options of demucs; the CPU first where the GPU is smaller than its models are made for.
func doDemucs(f *failure) []string {
	cpu, ok := f.command.WithOption("-d", "cpu")
	if !ok {
		cpu = "demucs -d cpu FILE"
	}
	lines := []string{"demucs --segment 7 FILE  " + f.comment("do.demucs_segment"), cpu + "  " + f.comment("do.demucs_cpu")}
	if f.command.HasPlain("dl") || f.shows(sampler.ShowsCached) { // of the first versions, which have no other option for it
		lines = lines[1:]
	}
	return append(lines, f.lessInput()[0])
}

// decodesLess makes of latents less of a picture at once, or fewer frames of a video: https://huggingface.co/docs/diffusers/using-diffusers/svd
func (f *failure) decodesLess() string {
	if f.domain() == sampler.DomainVideo && !f.ownPipe() {
		return f.comment("do.say.decode_frames")
	}
	return "pipe.enable_vae_tiling()"
}
