package post

import (
	"slices"

	"nvpeak/sampler"
)

// workKinds are programs that have not all that a model has which is trained or run by code of one's own, by their names and what
// only they say. The first that a text names is meant. Where elsewhere matches, the name is that of a format or of a data set;
// beside: such a text may speak of a training.
var workKinds = []struct {
	name      string
	words     *lazy
	elsewhere *lazy
	beside    bool
}{
	{sampler.WorkMining, lazily(`(?i)\b(?:eth\w*miner|phoenixminer|nbminer|lolminer|gminer|bminer|nanominer|ccminer|teamredminer|claymore\w*|xmrig|xmr-?stak|nicehash\w*|t-rex miner|` +
		`(?:mine|mining|mines|mined) (?:with|on) (?:my )?\d|(?:mine|mining|mines) (?:eth\w*|rvn|monero|xmr|zec|zcash|bitcoin|conflux|cfx|ergo|kaspa|ravencoin|alephium|coins?)|` +
		`mining (?:rig|pool|software)s?|(?:cards|gpus|rigs?) (?:mine|mining)|miner error|ethash\w*|daggerhashimoto|hash ?rates?|[MG]H/s|crypto ?mining|` +
		`generat(?:e|ing) (?-i:DAG)|can['’]?t find nonce|epoch \d+ requires \d[\d.]* ?[GM]i?B|(?-i:DAG) (?:epoch #?\d+|- building)|(?:insufficient|not enough) memory for (?-i:DAG)|to create (?-i:DAG)|` +
		`(?:allocat(?:e|ing) (?:memory for )?(?:the )?|memory or building (?:\w+ )?|big buffer for |memory to (?:hold|place) (?:the )?(?:full )?)(?-i:DAG))\b|` +
		`\bstratum\d?(?:\+\w+)?://`), lazily(`(?i)metric[-_ ]learning|\btriplets?\b|\bhard[- ](?:negative|positive|example)|\b(?:data|text|bitext|pattern|negative|positive|example|sample|pair|hard)[- ]mining\b`), true},
	{sampler.WorkHashes, lazily(`(?i)\bhashcat\w*|\bjohn the ripper\b`), nil, true},
	{sampler.WorkBoosting, lazily(`(?i)\bcatboost\w*|\bNCudaLib\b|\blightgbm\b`), lazily(`(?i)\bxgboost\b|\bxgb\w*\b`), true},
	{sampler.WorkReads, lazily(`(?i)\bdorado\b|\bguppy\w*|\bbonito basecaller\b|\bbasecall(?:er|ing|s|ed)?\b`), nil, false},
	{sampler.WorkSpikes, lazily(`(?i)\bkilosort\d?\b|\bnspks:`), nil, false},
	{sampler.WorkQueries, lazily(`(?i)\bspark[-.]rapids\b|\bcom\.nvidia\.spark\b|\bai\.rapids\.cudf\b|\bblazing ?sql\b|\bBLAZING_\w+|\bheavydb\b|\bomnisci\w*|\bTPC-?(?:DS|H|xBB)\b`), nil, false},
	{sampler.WorkRows, lazily(`(?i)\bcuml[./]|\bcuml\b[^\n]{0,60}\b(?:umap|hdbscan|dbscan|t-?sne|k-?means|pca|knn|nearest)|\b(?:umap|hdbscan|dbscan)\b[^\n]{0,80}\bcuml\b`), nil, true},
	{sampler.WorkVectors, lazily(`\bfaiss::gpu\b|\bStandardGpuResources(?:Impl)?\b|(?i:\bfaiss assertion\b|\bfaiss[- ]gpu\b)`), nil, true},
	{sampler.WorkQubits, lazily(`(?i)\bqiskit\w*|\bcu(?:quantum|statevec)\b|\bstatevector\w*|\bstate vector simulat\w*|\bqubits?\b`), nil, false},
	{sampler.WorkMolecule, lazily(`(?i)\b(?:gpu4)?pyscf\b|\bterachem\b|\bquantum espresso\b|\bcp2k\b|\bvasp\b|\bdef2-\w+`), nil, false},
	{sampler.WorkPotentials, lazily(`(?is)\b` + potentials + `\b.*` + movesAtoms + `|` + movesAtoms + `.*\b` + potentials + `\b|\bpair_style\s+(?:mace|nequip|allegro|deepmd|e3gnn|chgnet|m3gnet|sevenn?et\w*)\b`), lazily(`(?i)\bmace_run_train\b|\b(?:nequip-|dp )train\b|(?:^|[^-\w])train(?:s|ing)?\b|\bfine[- ]?tun`), true},
	// LAMMPS trains none of them, whatever is said of a training. Its log beside an error of PyTorch is enough.
	{sampler.WorkPotentials, lazily(`(?is)\ballocated by PyTorch\b.*\bMPI processor grid\b|\bMPI processor grid\b.*\ballocated by PyTorch\b|\b` + potentials + `\b.*\blammps\b|\blammps\b.*\b` + potentials + `\b`), lazily(`(?i)\bmace_run_train\b|\b(?:nequip-|dp )train\b`), true},
	{sampler.WorkAtoms, lazily(`(?i)\blammps\b|\bgromacs\b|\bgmx mdrun\b|\bopenmm(?:exception|tools)?\b|\breplica[- ]exchange\b|\bnamd\d?\b|\bpmemd\w*|\bgpumd\b|\bgpu_vector\.cuh\b|` +
		`\bmean[- ]squared?[- ]displacements?\b|\bhoomd\b|\bacemd\d?\b|\bpair_style\b|\bInsufficient memory on accelerator\b|\bmolecular dynamics\b`), nil, false},
	{sampler.WorkParticles, lazily(`(?i)\brelion\w*|\bcryosparc\w*|\bcistem\b|\bmotioncor\d?\b|\bgctf\b|_rln\w+`), nil, false},
	{sampler.WorkScan, lazily(`(?i)\bastra(?:[-_ ]toolbox)?\b|\btigre\b|\btomopy\b|\bsinograms?\b|\b(?:cone|fan)[- ]beam\b|\bcbct\b`), nil, false},
	{sampler.WorkPhotos, lazily(`(?i)\bmeshroom\b|\balicevision\w*|\bopenmvs\b|\bopendronemap\b|\bmetashape\b|\bphotoscan\b|\breality ?capture\b|\bpix4d\b|\bcolmap\b|\bpatch_?match_?stereo\b`), lazily(`(?i)\w*nerf\w*|\bgaussians?\b|\bsplat\w*|\binstant-?ngp\b|\btransforms\.json\b`), false},
	{sampler.WorkGrid, lazily(`(?i)\bopenfoam\b|\bamgx\b|\bpetsc\b|\bhypre\b|\bspecfem\w*|CUDA error !!!!!|\bamrex\b|\bwarpx\b|\bamrex::|\bpicongpu\b|\bfluidx3d\b|\bansys\b|` +
		`\bcomsol\b|\babaqus\b|\bnek(?:5000|rs)\b|\bdevito\b|\boceananigans\b|\bclima\w*\.jl\b|\btaichi\b|\blattice[- ]boltzmann\b|` +
		`\bfinite[- ](?:element|volume)s?\b|\bs_initialize_rhs_module\b`), nil, false},
	{sampler.WorkStreams, lazily(`(?i)\b(?:h26[45]_|hevc_|av1_)?nvenc\w*|\bOpenEncodeSession\w*|\bCreate(?:Bitstream|Input)Buffer\b|\bcuvid\w*|\bnvdec\b|\btranscod\w*|-hwaccel\b`), nil, false},
	{sampler.WorkScene, lazily(`(?i)\bblender\b|\bsystem is out of gpu (?:and shared host )?memory\b|\brendered view(?:port)?\b|\bpyrender\b|\bOpenGL\.(?:error|GL)\b|\bmitsuba ?\d?\b|\bdr\.?jit\b|\bcycles (?:render\w*|engine|kernel)\b|\bv-ray\b|\bvray\b|` +
		`\boctane ?render\w*|\bredshift (?:render\w*|\d)|\barnold (?:gpu|render\w*)\b|\bluxcore\w*|\bkeyshot\b|\bdaz ?studio\b|\blumion\b|\btwinmotion\b`), lazily(`(?i)\w*nerf\w*|\bgaussians?\b|\bsplat\w*|\binstant-?ngp\b|\btransforms\.json\b`), false},
	{sampler.WorkGame, lazily(`(?i)\b(?:my|the|this|a) game\b|\bgames? (?:crash\w*|exits?|at any)\b|\bemulators?\b|\bryujinx\b|\byuzu\b|\brpcs3\b|\bcemu\b|\bproton\b|\bsteam\b|` +
		`\bunreal(?: ?engine\w*)?\b|\b(?:vertex|index) buffers?\b|\bswap ?chain\b|\bout of video memory trying to allocate a rendering resource\b|\bD3D1[12]\b|` +
		`\bdxvk\w*|\bvkd3d\b|\bwined3d\b|\bminecraft\b|\bat (?:ultra|high|medium|low) (?:graphics )?settings\b`), lazily(`(?i)\bggml\w*|\bllama\w*|\bgym\b|\brewards?\b`), false},
	{sampler.WorkArrays, lazily(`\bgpuArray\b|\bgpuDevice\(|\bCuArrays?\b|\bCUDA\.jl\b|\bCUDAdrv\b|\bCUFFT_ALLOC_FAILED\b|\bCuFftError\b|\bCUFFTError\b`), nil, false},
	{sampler.WorkLayers, lazily(`(?i:\bsyncedmem\.cpp\b|\w\.(?:caffemodel|prototxt)\b)|\bcaffe::|\bCudaNdarray\w*|(?i:\btheano\b|\blasagne\b)`), nil, true},
	// https://anomalib.readthedocs.io/en/latest/markdown/guides/reference/models/image/patchcore.html
	{sampler.WorkBank, lazily(`(?i)\b(?:patch[-_]?core|padim)\b`), nil, true},
	{sampler.WorkDream, lazily(`(?i)\bsingan\b|\bdeep[-_ ]image[-_ ]prior\b|\bdeep[-_ ]?daze\b|\bbig[-_ ]sleep\b|\baphantasia\b|\bvqgan ?(?:[-+_&/]|and|with)? ?clip\b|\bclip[-_ ]guided[-_ ]diffusion\b|\s-(?:zvid|zse|zsc|cutm)\b|` +
		`\b(?:null[-_ ]?text|gan|ddim|latent|pivotal(?:[-_ ]tuning)?) (?:inversion|optimi[sz]ation)\b|\bdeep[-_ ]?dream\b`), nil, true},
	{sampler.WorkDream, lazily(`(?i)` + followsGradients), nil, false},
	{sampler.WorkStyle, lazily(`(?i)\bneural[-_]?style\w*|\bdeep[-_ ]?photo[-_ ]?style\w*|\bstyle_(?:image|weight)\b|\bcompute_content_loss\b`), lazily(`(?i)\bbatch[-_ ]?(?:size|es)\b|\bcoco\b|\bdatasets?\b|\bepochs?\b|\w*(?:cycle|style)gan\w*`), true},
	{sampler.WorkStyle, lazily(`(?i)\bstyle[-_ ]transfer\b`), lazily(`(?i)\bbatch[-_ ]?(?:size|es)\b`), false},
	{sampler.WorkKernels, lazily(`(?i)\bgpytorch\b|\bbotorch\b|\bgpflow\b|\bgaussian process(?:es)?\b|\bExactGP\b`), nil, true},
	{sampler.WorkResiduals, lazily(`(?i)\bpinns?\b|\bphysics[- ]informed\b|\bdeepxde\b|\bcollocation points?\b`), nil, true},
	{sampler.WorkWorlds, lazily(`(?i)\bisaac ?(?:gym|sim|lab)\w*|\bphysx\b|\bPxg\w+|\bmujoco_warp\b|\bmjwarp\b|\bnum_envs\b`), nil, true},
	{sampler.WorkGrid, lazily(`(?is)\bsimulations?\b.*` + ofGrids + `|` + ofGrids + `.*\bsimulations?\b`), lazily(`(?i)\benv(?:ironment)?s?\b|\brewards?\b|\bagents?\b|\bpolic(?:y|ies)\b|\bgym\w*|\brobot\w*|\bneural\b|\bnetworks?\b|\w*torch\b|\btensor\w*|\bjax\b|\bbatch\w*|\binference\b|\bdiffusion\b|\bmodels?\b`), false},
	{sampler.WorkFolds, lazily(`(?i)\bboltz(?:-?[12]x?)?\b|\bchai-?1\b|\brfdiffusion\d?\b|\besmfold\b|\bprotenix\b`), nil, false},
}

// followsGradients is a command that makes a picture, or edits or inverts one, with an optimizer, or says so: it changes the picture by gradients, and without
// these does nothing. A script that trains has another name.
const followsGradients = `\b(?:generate|sample|styli[sz]e|dream|invert|inversion|edit|projector|project)\w*\.py\b[^\n]*\s--?(?:opt|optimi[sz]er|lr|learning[-_]rate|step[-_]size)[ =]\S|` +
	`\boptimi[sz](?:e|es|ed|ing|ation of) (?:(?:the|a|an|my|its|input|initial|noise|w|z) )*(?:latents?(?: codes?| vectors?)?|noise|pixels)\b|` +
	`\b(?:latents?(?: codes?| vectors?)?|noise|pixels) (?:is|are|gets?) optimi[sz]ed\b|(?:^|[\s/])projector\.py\b`

// ofGrids are what a simulation of matter is made of, whatever its program is called.
const ofGrids = `\b(?:(?:macro)?particles|mesh(?:es)?|grid (?:cells|points|size)|cells|solver|time ?steps?|mpi ranks?|domain decomposition)\b`

// potentials are networks that give the forces between atoms; movesAtoms is a run with them.
const (
	potentials = `(?:mace(?:-(?:mp|off)\S*)?|nequip|allegro|chgnet|m3gnet|matgl|deepmd(?:-kit)?|mattersim|sevennet|orb-v\d|fairchem\w*|uma-[sm]-\S+)`
	movesAtoms = `\b(?:md (?:simulation|run)s?|(?:nvt|npt|nve)\b.{0,40}|molecular dynamics|lammps|ase\b.{0,40}\b(?:md|calculator|dynamics)|md of|supercells?|pair styles?|geometry optimi[sz]ation|relaxation)\b`
)

// addWork puts into a context what such a program does.
func addWork(c *sampler.LogContext, text string) {
	learns := trains.MatchString(text)
	for _, row := range workKinds {
		if learns && !row.beside || !row.words.MatchString(text) || row.elsewhere != nil && row.elsewhere.MatchString(text) {
			continue
		}
		if told := sampler.ToldWork + row.name; !slices.Contains(c.Told, told) {
			c.Told = append(c.Told, told)
		}
		return
	}
}
