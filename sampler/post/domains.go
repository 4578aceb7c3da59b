package post

import (
	"slices"

	"nvpeak/sampler"
)

// domains are what programs work on, by words that sentences, paths and code have. Where two are named as
// often, the one that stands first is the narrower one.
var domains = []struct {
	name  string
	words *lazy
}{
	{sampler.DomainRays, lazily(`(?i)(?:\b|_)\w{0,8}nerf(?:\d*\b|_)|(?:^|[^\w-])(?:instant-?)?ngp\b|(?:^|[^\w-])(?:rays|radiance|netchunk|n_rand)\b|` +
		`(?:^|[^\w-])ray[ _](?:batch|bundle|cast|chunk|dir|march|origin|sampl|trac)\w*|\w+_rays\b|\bnovel views?\b`)},
	{sampler.DomainPoints, lazily(`(?i)\bpoint[-_ ]?clouds?\b|\bpoint(?:net|cept|former|rcnn|lstm)\w*|\bli?dar\b|\bopen3d\b|\bopenpcdet\b|\bpcds?\b|\.(?:ply|pcd|las)\b|` +
		`\b(?:number of|many|fewer) points\b|\bvoxel(?:[-_ ]?size)? ?[=:] ?0?\.\d|点云`)},
	{sampler.DomainProteins, lazily(`(?i)\b(?:alphafold|colabfold|openfold|esmfold|rosettafold|rfdiffusion)\w*|\besm(?:[-_]?[12]\w*)?\b|\bproteins?\b|\bresidues\b|\bamino acids?\b|` +
		`\bmsas?\b|\.(?:pdb|fasta|a3m)\b|\b\d{1,2}[- ]chain\b|\b(?:hetero|homo)?(?:monomers?|multimers?|oligomers?)\b`)},
	{sampler.DomainGraph, lazily(`(?i)\b(?:gnns?|gcns?|gats?|pygat|graph ?sage|dgl|pyg|graphstorm)\b|\w*gcns?\b|\bWh_repeated_\w+|\ball_combinations_matrix\b|\b(?:py)?torch[-_ ](?:geometric|sparse|scatter)\b|\bedges\b|\bogbn?\b|` +
		`\bgraph (?:neural|attention|convolution\w*|data|transformer)\b|` +
		`\b(?:adjacency|message[- ]passing|\w*edge_index|(?:big|large|huge|whole) graph|node (?:classification|features?)|` +
		`data\w* (?:has|have|contains?) \d[\d,]{3,} nodes)\b`)},
	{sampler.DomainAudio, lazily(`(?i)\b(?:max_duration|audios?|wavs?|mp3|flac|speech|voices?|vocals?|vocoders?|songs?|music|spectrograms?|mels?|mel[-_]spec\w*|\d+(?:\.\d+)? ?khz|tts|` +
		`\w*asr|\w+_conformer|rnn-?t|vad|utterances?|recordings|(?:an?|the|my|each|this|one|long|whole) (?:\w+ )?recording|recording (?:of|is|was)|silences?|` +
		`\d+[- ]?(?:sec|seconds?|min|minutes?) (?:file|clip|track)s?|(?:so[-_ ])?[rs]vc|ddsp\w*|demucs\w*|mdx[-_]?net\w*|spleeter|tacotron\d?|n_mel_channels|mel_f(?:min|max)|n_frames_per_step|prenet_dim|max_decoder_steps|gate_threshold|waveglow|wavenet|whisper\w*|\w+speech|aishell\d?|voxceleb\d?|vctk|espnet\d?|icefall|speechbrain)\b|语音|` +
		`音频|무음|음성`)},
	{sampler.DomainSeries, lazily(`(?i)\btime[- ]?(?:series|steps?|stamps?)\b|\bforecast\w*|\b(?:pred|label|prediction|encoder|decoder)_len(?:gth)?\b|\b(?:uni|multi)variate\b`)},
	{sampler.DomainVolumes, lazily(`(?i)\b(?:voxels?|volumes?|(?:sub-?)?tomograms?|ct|mri|3d|nii|nnu-?net\w*|monai|sliding_window_inference)\b`)},
	{sampler.DomainVideo, lazily(`(?i)(?:\b|_)videos?(?:\b|_)|\b(?:frames|fps|footage|mp4|cogvideo\w*|optical flow)\b|视频`)},
	{sampler.DomainVision, lazily(`(?i)\b(?:[a-z]+[\d.]*-?)vl(?:[-_ ]|\b)|\b(?:internvl|llava|minicpm-v|paligemma|idefics)[\w.-]*|\b(?:vlms?|vision[- ]language)\b`)},
	{sampler.DomainText, lazily(`(?i)\b(?:dpo|orpo|grpo|rlhf|sft|tokens?|tokenizers?|vocabular(?:y|ies)|sentences?|texts?|paragraphs?|documents?|corpus|corpora|n(?:er|lp|mt)|` +
		`translat\w*|bert\w*|\w*bert|t5|bart|gpt\w*|llama\w*|vicuna\w*|llms?|language models?|max_(?:seq_)?len\w*|seq_len\w*|cutoff_len|context (?:windows?|lengths?|sizes?))\b|文本|句子`)},
	{sampler.DomainPictures, lazily(`(?i)\b(?:images?|pictures?|photos?|pngs?|jpe?gs?|pixels?|resolution|coco|yolo\S*|[ru]?cnn|u-?net\w*|resnet\w*|vgg\w*|gans?|stylegan\S*|segmentation|` +
		`object detection|faces?|mask[ -_]rcnn|dreambooth|sdxl|stable[- ]?diffusion)\b|图[像片]|照片`)},
}

// made are what comes out of a program that makes sound of words: what is read is a line of text, and no recording.
var made = []struct {
	name  string
	words *lazy
}{
	{sampler.DomainSound, lazily(`(?i)\btext[- ]?(?:to|2)[- ]?(?:audio|music|sound|song)s?\b|\b(?:musicgen|audiogen|audiocraft|audioldm\d?|stable[- _]audio|riffusion|mustango|diffrhythm|ace[- ]step)\w*|` +
		`\b(?:generat|mak|creat|compos)(?:e|es|ed|ing) (?:some |the |my |a |an |new )?(?:music|songs?|sound effects?|melod(?:y|ies))\b|\bmusic generation\b`)},
	{sampler.DomainSpeech, lazily(`(?i)\btext[- ]?(?:to|2)[- ]?speech\b|\b(?:[a-z]\w{1,8}-)?tts\b|\b(?:x|chat|melo|style|fast)tts\w*|\b(?:tortoise|suno|cosyvoice\d?|fish-?speech|kokoro)\b`)},
}

// heardSound is sound that is read: it is written down, or taken apart.
var heardSound = lazily(`(?i)\b(?:whisper\w*|\w*asr|transcri\w+|speech[- ]?(?:to|2)[- ]?text|diari[sz]\w+|separat\w+|denois\w+|[rs]vc|voice (?:conversion|changer)|demucs|spleeter|(?:my|the|this|an?) recordings?)\b`)

// ofNothing are pictures that somebody puts into a text, templates' words for them, and what is only the name of a GPU's memory.
var ofNothing = lazily(`(?i)\bhttps?://[^\s)]+\.(?:png|jpe?g|gif|webp)\b|!\[[^\]\n]*\]\([^)\n]*\)|<img\b[^>\n]*>|\bscreen ?shots?\b|\btext[- _]?encoders?\b|\b(?:docker|container|base) images?\b|\b(?:video|graphics?) ?-?(?:memory|ram|cards?|adapters?)\b|` +
	`\b(?:original|main|full|body|above|following|error|log|this) text\b|\bin (?:the |your )?text\b`)

// domain is what the program works on, as a text names it most often; "" where it names none.
func domain(text string) string {
	best, most := "", 0
	text = ofNothing.ReplaceAllString(text, " ")
	for _, row := range domains {
		if n := len(row.words.FindAllStringSubmatch(text, 64)); n > most {
			best, most = row.name, n
		}
	}
	return best
}

// addDomain puts that into a context.
func addDomain(c *sampler.LogContext, text string) {
	name := domain(text)
	if name == sampler.DomainAudio && !trains.MatchString(text) && !heardSound.MatchString(text) {
		for _, row := range made {
			if row.words.MatchString(text) {
				name = row.name
				break
			}
		}
	}
	if name != "" && !slices.Contains(c.Told, sampler.ToldDomain+name) {
		c.Told = append(c.Told, sampler.ToldDomain+name)
	}
}
