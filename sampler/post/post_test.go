package post

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler"
	"nvpeak/sampler/oomlog"
)

func read(t *testing.T, text string) []sampler.OOMEvent {
	t.Helper()
	var head Head
	head.Write([]byte(text)) //nolint:errcheck // never fails
	events, err := oomlog.Scan(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return head.Read(events, oomlog.Scan)
}

// Each text tells of a failure in its own words: the kind, the phase and what else is told.
func TestReported(t *testing.T) {
	for _, one := range []struct {
		text, kind, phase string
		told              []string
	}{
		{"My fine-tuning stops with \"CUDA out of memory\" on a 6GB card, whatever batch size I take.", sampler.KindCUDA, "", []string{sampler.ToldTraining}},
		{"kaldi asr CUDA out of memory", sampler.KindCUDA, "", nil},
		{"Segmenter training out of memory, batch 12", sampler.KindOtherGPU, "", []string{sampler.ToldTraining}},
		{"Latent diffusion CUDA out of memory on 6GB", sampler.KindCUDA, "", nil},
		{"TreeBooster 2.0 device=cuda out of memory, 8M rows", sampler.KindCUDA, "", nil},
		{"diarizer CUDA out of memory, pipe.embedding_batch = 32", sampler.KindCUDA, "", nil},
		{"Minecraft shaders: GL_OUT_OF_MEMORY on my GTX 1050", sampler.KindOtherGPU, "", []string{sampler.ToldWork + sampler.WorkGame}},
		{"Out of memory error on 4 x RTX 3090\n\nIt ends at the first step.", sampler.KindOtherGPU, "", nil},
		{"请问为什么会out memory？\n\n![image](https://a.example/b.png)", sampler.KindOtherGPU, "", nil},
		{"My two cards\n\nBoth scripts return \"Cuda out of memory error\" with torch.", sampler.KindCUDA, "", nil},
		{"Long sound\n\nMore than a minute of it gives \"killed\" in the terminal.", sampler.KindKilled, "", nil},
		{"Long sound\n\nThe memory limit is 512 MB. With an hour of it the service breaks due to lack of memory.", sampler.KindHostAlloc, "", nil},
		{"Long sound\n\nWith torch it crashes for lack of GPU memory.", sampler.KindCUDA, "", nil},
		{"My torch process is killed in epoch 60 because of its CUDA memory.", sampler.KindCUDA, "", nil},
		{"My torch process gets killed as the VRAM fills up.", sampler.KindCUDA, "", nil},
		{"My torch process gets killed since the RAM fills up.", sampler.KindKilled, "", nil},
		{"With torch my GPU memory increases every epoch and the training dies at epoch 60.", sampler.KindCUDA, "", []string{sampler.ToldGrowth}},
		{"Voxels\n\nWhen I use Scatter(size, area,\n (mode !='max')) in net.py, there is a CUDA error: out of memory.", sampler.KindOtherGPU, "", nil},
		{"Larger runs\n\nSince the update (as described in PR#412) our torch job can no longer run because it exceeds GPU memory.", sampler.KindCUDA, "", nil},
		{"Sixteen gigabytes should do for that, but PyTorch stops with CUDA out of memory.", sampler.KindCUDA, "", nil},
		{"A P40 should be able to hold this network, yet torch dies with CUDA OOM.", sampler.KindCUDA, "", nil},
		{"I expected torch to swap, however I get CUDA out of memory.", sampler.KindCUDA, "", nil},
		{"We could fit twice as much once, but now torch runs out of GPU memory.", sampler.KindCUDA, "", nil},
		{"Although two of my cards should have room, torch gives CUDA out of memory.", sampler.KindCUDA, "", nil},
		{"torch shouldn't run out of memory here, but it does.", sampler.KindCUDA, "", nil},
		{"My 64 GB should suffice, but the loader runs out of system RAM.", sampler.KindHostAlloc, "", nil},
		{"GPU 1 out of memory even if each worker has a card of its own", sampler.KindOtherGPU, "", nil},
		{"CUDA OOM even with one sample", sampler.KindCUDA, "", nil},
		{"I am getting a CUDA out of memory error for the epochVal method.", sampler.KindCUDA, sampler.PhaseValidation, nil},
		{"# [Bug]: CUDA out of memory when training a LoRA\n\n### Describe the bug\n\nIt fails on 24 GB.", sampler.KindCUDA, "", []string{sampler.ToldTraining}},
		{"# OOM during saving step\n\nI train with deepspeed and torch. During the saving step I get OOM.", sampler.KindCUDA, sampler.PhaseSaving, []string{sampler.ToldSharded, sampler.ToldTraining}},
		{"# OOM after 15K iterations\n\nWith PyTorch, as I thought, this comes from the increasing GPU-memory.", sampler.KindCUDA, "", []string{sampler.ToldGrowth}},
		{"I train with torch. It crashes after some steps because the VRAM is exhausted.", sampler.KindCUDA, "", []string{sampler.ToldTraining}},
		{"I get CUDA out of memory with torch. With expandable segments the code runs without errors.", sampler.KindCUDA, "", []string{sampler.ToldSegments}},
		{"# Long samples exceeding max_seq_len are resulting in CUDA OOM\n\nMy training failed with CUDA out of memory.\n\n  --evaluation_strategy=\"no\"", sampler.KindCUDA, "", []string{sampler.ToldLarger, sampler.ToldTraining}},
		{"With PyTorch I get CUDA out of memory when I resume from some model checkpoint.", sampler.KindCUDA, sampler.PhaseLoading, nil},
		{"With PyTorch I get OOM when I call model.module.state_dict() and the memory runs out.", sampler.KindCUDA, sampler.PhaseSaving, nil},
		{"# OOM when computing the score\n\n- PyTorch version: 1.4\n- Using GPU in script?: NO\n\nIt was killed, out of memory.", sampler.KindHostAlloc, "", nil},
		{"Crashed pycaffe leaves orphaned memory on the GPU, and then I get out of memory.", sampler.KindOtherGPU, "", []string{sampler.ToldHeld}},
		{"I get CUDA out of memory in training regardless of batch size or precision.", sampler.KindCUDA, "", []string{sampler.ToldTried + "batch", sampler.ToldTried + "precision", sampler.ToldTraining}},
		{"Since the update I run out of memory with PyTorch, with the same settings.", sampler.KindCUDA, "", []string{sampler.ToldUpdate}},
		{"CUDA out of memory?\n\nRelease 3.1 was good, now torch errors out with that message on any input?", sampler.KindCUDA, "", nil},
		{"Out of GPU memory?\n\nIt stops with this error since the weekend.", sampler.KindOtherGPU, "", nil},
		{"CUDA out of memory?\n\nIt ran fine until yesterday, what has happened?", sampler.KindCUDA, "", nil},
		{"My torch model trains fine, but in val_epoch it runs out of memory.", sampler.KindCUDA, sampler.PhaseValidation, nil},
		{"There is no problem in training, but when torch comes to the val loop there is a memory explosion, CUDA OOM.", sampler.KindCUDA, sampler.PhaseValidation, nil},
		{"CUDA OOM comes with torch in `valid_step` and nowhere else.", sampler.KindCUDA, sampler.PhaseValidation, nil},
		{"With torch I get CUDA out of memory.\nThe line is loss = model(image, text)", sampler.KindCUDA, "", []string{sampler.ToldTraining}},
		{"MemoryError                               Traceback (most recent call last)\n<ipython-input-6> in <module>\n     28     training_steps=10,", sampler.KindHostAlloc, "", nil},
		{"PyTorch 2.1, one A100. The first epoch is done, then validation dies with OOM every time.", sampler.KindCUDA, sampler.PhaseValidation, nil},
		{"The loss goes down nicely with PyTorch, but GPU memory keeps growing and I get OOM after 4000 steps.", sampler.KindCUDA, "", []string{sampler.ToldGrowth, sampler.ToldLate}},
		{"FSDP on 4 GPUs works. CUDA OOM comes when the model is saved: saving the full checkpoint fails.", sampler.KindCUDA, sampler.PhaseSaving, []string{sampler.ToldSharded}},
		{"Sampling finishes. Then OOM in the VAE decode, on 12 GB.", sampler.KindOtherGPU, "", []string{sampler.ToldDecoding, sampler.ToldImages}},
		{"With PyTorch I run one job per card, and every process also takes 600 MB on GPU 0 until it is out of memory.", sampler.KindCUDA, "", []string{sampler.ToldFirstGPU}},
		{"The notebook crashed: it was out of RAM before the model had loaded.", sampler.KindHostAlloc, "", nil},
		{"ollama run bigmodel worked yesterday. Today it says out of memory.", sampler.KindGGML, "", nil},
		{"demo.py of this PyTorch repo is out of memory on the second image, is there a leak?", sampler.KindCUDA, "", []string{sampler.ToldGrowth, sampler.ToldInference}},
		{"用 PyTorch 训练,显存一直涨,最后爆显存。", sampler.KindCUDA, "", []string{sampler.ToldGrowth, sampler.ToldTraining}},
		{"After some epochs the terminal only displays \"killed\" and nothing else.", sampler.KindKilled, "", nil},
		{"#### Bug 4: host OOM during checkpoint save\n- **Seen**: RAM rose from 200 GB to the limit of the pod", sampler.KindHostAlloc, sampler.PhaseSaving, nil},
		{"## Bug 9: rank 1 OOM during eval\nThe loss of the big vocabulary asked for 2 GiB.", sampler.KindOtherGPU, sampler.PhaseValidation, nil},
		{"- the second stage with torch still OOMed in the chunked loss;\n\nThe chunks retained the autograd graph, so nothing was won.", sampler.KindCUDA, "", []string{sampler.ToldGraph}},
		{"My card has 6 GB. Is there a fix for \"CUDA out of memory\" on it? I use torch.", sampler.KindCUDA, "", nil},
		{"I train a PyTorch model, and used memory rises until it exceeds the available RAM.", sampler.KindHostAlloc, "", []string{sampler.ToldTraining}},
		{"Both runs with PyTorch failed with the same CUDA OOM at iter 1240.", sampler.KindCUDA, "", []string{sampler.ToldSame}},
		{"I get CUDA out of memory with torch when training is resumed from a checkpoint.", sampler.KindCUDA, "", []string{sampler.ToldCheckpoint}},
		{"On Colab I get CUDA out of memory from torch in the third cell.", sampler.KindCUDA, "", []string{sampler.ToldNotebook}},
		{"GPU usage: CUDA out of memory problems\n\nThe pipeline takes all of it. I tried a smaller one.", sampler.KindCUDA, "", nil},
		{"# OOM on one 4090 with 24 GB\n\nWhat helps?", sampler.KindOtherGPU, "", nil},
		{"With torch the training stops with \"CUDA out of memeory\" after some minutes.", sampler.KindCUDA, "", []string{sampler.ToldTraining}},
		{"My torch script on the free tier fails: not enough CUDA memory.", sampler.KindCUDA, "", nil},
		{"The evaluation code is out of memory with torch in inference on larger frames, I can only take 180p.", sampler.KindCUDA, "", []string{sampler.ToldInference, sampler.ToldLarger, sampler.ToldPixels}},
		{"I am already running in lowvram mode, and torch is out of memory.", sampler.KindCUDA, "", []string{sampler.ToldTried + "offload"}},
		{"Evaluation or training, both stop with \"RuntimeError: CUDA error: out of memory\" here.", sampler.KindCUDAError, "", []string{sampler.ToldTraining}},
		{"Is there any way to solve CUDA out of memory when my input of 1240x650 pixels is used?", sampler.KindCUDA, "", []string{sampler.ToldPixels, sampler.ToldSized}},
		{"The script runs with deepspeed, and it reported OOM even with a batch size of 1 for the 13B model.", sampler.KindCUDA, "", []string{sampler.ToldBillions, sampler.ToldTried + "batch"}},
		{"With torch I get OOM in the second iteration: the large segment is fragmented.", sampler.KindCUDA, "", []string{sampler.ToldUnallocated}},
		{"I train with torch, and another program runs on the same GPU; then I get out of memory.", sampler.KindCUDA, "", []string{sampler.ToldShared}},
		{"The 7B model goes out of memory in transformers with one short video.", sampler.KindCUDA, "", []string{sampler.ToldInference}},
		{"I have tried torch on a GTX 970 and run out of all 4GB memory.", sampler.KindCUDA, "", nil},
		{"When I start it I get the Killed error, and nothing else.", sampler.KindKilled, "", nil},
		{"I fail with torch while loading features from a file: it runs out of RAM.", sampler.KindHostAlloc, "", nil},
		{"I get CUDA_ERROR_OUT_OF_MEMORY here:\n  17     at jcuda.driver.JCudaDriver.cuCtxCreate(JCudaDriver.java:1514)", sampler.KindOtherGPU, "", []string{sampler.ToldContext}},
		{"With torch I get OOM while the pipeline goes on to decoding the latents.", sampler.KindCUDA, "", []string{sampler.ToldDecoding, sampler.ToldImages}},
		{"I try to test a trained network of PyTorch and get out of memory.", sampler.KindCUDA, "", []string{sampler.ToldInference}},
		{"4090 显卡，代码添加了 int8 量化，还是爆显存。", sampler.KindOtherGPU, "", []string{sampler.ToldText, sampler.ToldInference}},
		{"I started torch with --no-half on my card and it ran out of memory.", sampler.KindCUDA, "", []string{sampler.ToldOption + "--no-half"}},
		{"I get CUDA out of memory here:\nmodel = AutoModelForCausalLM.from_pretrained(name, device_map=\"cuda\")", sampler.KindCUDA, sampler.PhaseLoading, []string{sampler.ToldText, sampler.ToldInference}},
		{"The training has ended, but its memory remains occupied, and my next torch run is out of memory.", sampler.KindCUDA, "", []string{sampler.ToldHeld}},
		{"With some photos my torch demo ends with out of memory.", sampler.KindCUDA, "", []string{sampler.ToldLarger, sampler.ToldPixels}},
		{"# Cuda out of memory\nAn RTX 2060 of 6 GB cannot run the code. Is there any way to reduce what it takes?", sampler.KindCUDA, "", nil},
		{"I run the demo, and CUDA complains about insufficient VRAM.", sampler.KindOtherGPU, "", []string{sampler.ToldInference}},
		{"I get CUDA out of memory when testing this:\nwith torch.no_grad():\n  model(x)", sampler.KindCUDA, "", []string{sampler.ToldGraphOff}},
		{"# Validation out of memory\n", sampler.KindOtherGPU, sampler.PhaseValidation, nil},
		{"# go.py: RuntimeError: Resource exhausted: Out of memory while it allocates.", sampler.KindOtherGPU, "", nil},
		{"# keras.errors.ResourceExhaustedError: OOM\nversion 1.6", sampler.KindTensorFlow, "", nil},
		{"My torch model trains, but the GPU RAM explodes in the validation loop.", sampler.KindCUDA, sampler.PhaseValidation, nil},
		{"I would like to train it with torch, but I am stuck at cuda out of memory.", sampler.KindCUDA, "", []string{sampler.ToldTraining}},
		{"On my GTX 970 I get the resource exhausted error of tensorflow.", sampler.KindTensorFlow, "", nil},
		{"With torch I got the OUT OF MEMORY ERROR on the first card.", sampler.KindCUDA, "", nil},
		{"Nice torch project but out of memory for larger pictures.\nThank you very much in advance", sampler.KindCUDA, "", []string{sampler.ToldPixels}},
		{"My batch_size is 1 and torch will still not run: CUDA out of memory.", sampler.KindCUDA, "", []string{sampler.ToldTried + "batch"}},
		{"I get CUDA out of memory with torch on my colmap data.", sampler.KindCUDA, "", []string{sampler.ToldSplats}},
		{"My torch model is out of memory at test time. I was able to train it.", sampler.KindCUDA, "", []string{sampler.ToldInference}},
		{"I get CUDA out of memory with torch. How do I change the batch size?", sampler.KindCUDA, "", []string{sampler.ToldAsksBatch}},
		{"The CUDA is out of memeries with my torch code.", sampler.KindCUDA, "", nil},
		{"I tried it with torch, and it stopped due to memory issue.", sampler.KindCUDA, "", nil},
		{"# How to solve cuda out of memory of train.py?\nplease any help on this torch code", sampler.KindCUDA, "", nil},
		{"跑不通这个 torch 代码，一直报 CUDA out of memory 怎么办", sampler.KindCUDA, "", nil},
		{"I get CUDA out of memory with xgboost.", sampler.KindCUDA, "", []string{sampler.ToldTrees}},
		{"I try to infer with torch and get CUDA out of memory.", sampler.KindCUDA, "", []string{sampler.ToldInference}},
		{"I would like to ask if you had it too: I get CUDA out of memory with torch.", sampler.KindCUDA, "", nil},
		{"My large picture overloads the memory of the GPU in torch.", sampler.KindCUDA, "", []string{sampler.ToldPixels}},
		{"I use torch and run out of system ram.", sampler.KindHostAlloc, "", nil},
		{"My images are large, and torch stops:\n> Could not allocate the array: out of memory", sampler.KindCUDA, "", nil},
		{"Changing bath size to one ends with the same error: my torch training is out of memory.", sampler.KindCUDA, "", []string{sampler.ToldTried + "batch"}},
		{"The torch predictor is out of memory on our own video.", sampler.KindCUDA, "", []string{sampler.ToldInference}},
		{"My training with torch fails with CUDA OOM. It was not a CPU OOM.", sampler.KindCUDA, "", []string{sampler.ToldTraining}},
		{"I get CUDA OOM with torch. Another ticket moved it to the GPU due to CPU OOM for the PR author.", sampler.KindCUDA, "", nil},
		{"My training with torch fails with a CPU OOM.", sampler.KindHostAlloc, "", nil},
		{"There is a leak during inference on a CPU in our web app, which ends in OOM after some time.", sampler.KindHostAlloc, "", []string{sampler.ToldInference}},
		{"My torch model leaks during inference on a GPU, which ends in OOM; on a CPU it is fine.", sampler.KindCUDA, "", []string{sampler.ToldInference}},
		{"Whenever I get from epoch 0 to 1 of the training with torch, there is a cuda out of memory error.", sampler.KindCUDA, sampler.PhaseValidation, []string{sampler.ToldTraining}},
		{"I train with torch and get out of memory. After the first epoch the usage of vram bloats.", sampler.KindCUDA, sampler.PhaseValidation, nil},
		{"I train with torch and get out of memory. It comes mid epoch change, when the memory is nearly used up.", sampler.KindCUDA, sampler.PhaseValidation, nil},
		{"I train with torch, and from epoch 1 to 30 memory rises slowly until I get out of memory.", sampler.KindCUDA, "", []string{sampler.ToldGrowth}},
		{"When I resume with torch I get a CUDA out of memory error. Your helper.py has loaded it in cpu, it should be the solution: `torch.load(path, map_location='cpu')`", sampler.KindCUDA, "", []string{sampler.ToldCheckpoint}},
		{"When I resume with torch I get a CUDA out of memory error. If I hard-code `map_location ='cpu'`, the OOM goes away.", sampler.KindCUDA, "", []string{sampler.ToldCheckpoint}},
		{"I get CUDA out of memory with torch. It works when I close Steam.", sampler.KindCUDA, "", []string{sampler.ToldShared}},
		{"Keras regression: it gives me CUBLAS_STATUS_ALLOC_FAILED on each second start.", sampler.KindCuBLAS, "", nil},
		{"# One GPU\nI would like to ask if you have run it with torch on one GPU. You used eight, and I meet the error of 'out of memory' with my batch_size = 4.", sampler.KindCUDA, "", nil},
		{"# With device_map\nI share my torch script below.\nThis throws an OOM error, even if the other GPUs are free.", sampler.KindCUDA, "", nil},
		{"# out of memory?\nis it that torch takes the whole picture? but why did the tiles not work?", sampler.KindCUDA, "", nil},
		{"# CUDA out of memory.help\n![screen](https://example.com/a.png)", sampler.KindCUDA, "", nil},
		{"I wonder about my torch test: what if the GPU memory is not enough there.", sampler.KindCUDA, "", nil},
		{"# keras.errors_impl.ResourceExhaustedError: 2 root error(s) found.", sampler.KindTensorFlow, "", nil},
		{"微调时如果输出很长，torch 就会报 CUDA out of memory，请问如何解决？", sampler.KindCUDA, "", []string{sampler.ToldTraining}},
		{"I train with torch. My 0 GPU gets more memories than the others and runs out of memory.", sampler.KindCUDA, "", []string{sampler.ToldFirstGPU}},
		{"I get CUDA out of memory with torch, and I see a constant incremental of its memory.", sampler.KindCUDA, "", []string{sampler.ToldGrowth}},
		{"# It ends\nHint: If you want to see a list of allocated tensors when OOM happens, add report_tensor_allocations_upon_oom to RunOptions\n\nWhat now?", sampler.KindTensorFlow, "", nil},
		{"# A bug\nWhen I use your torch code it seems always to occur the problem of OOM.\nYou can use the script below.", sampler.KindCUDA, "", nil},
		{"# After train.py\nHi, OOM happens when I run inference.py of the torch code, how to solve it?", sampler.KindCUDA, "", nil},
		{"用 torch 训练的时候，显卡内存一直上涨，最终内存溢出。", sampler.KindCUDA, "", []string{sampler.ToldGrowth}},
		{"# CUDA out of memory\nDid anyone meet this problem, how do", sampler.KindCUDA, "", nil},
		{"# The use of memory rises: cuda out for memory in torch\nThanks for the code. How did you solve it?", sampler.KindCUDA, "", nil},
		{"求助：推理的时候换一段参考音频，GPU 就爆掉了。", sampler.KindOtherGPU, "", nil},
		{"推理时，长一点的录音会导致 GPU 使用暴增，任务失败，请问怎么解决？", sampler.KindOtherGPU, "", nil},
		{"请教一下，训练到一半显存一直飙升，最后程序崩溃，显存不够用了。", sampler.KindOtherGPU, "", []string{sampler.ToldGrowth, sampler.ToldTraining}},
		{"学習を始めるとすぐにGPUのメモリが足りなくなって止まります。", sampler.KindOtherGPU, "", nil},
		{"학습을 시작하면 바로 GPU 메모리가 부족하다는 오류가 납니다.", sampler.KindOtherGPU, "", nil},
		{"Помогите, при обучении на моей карте не хватает видеопамяти.", sampler.KindOtherGPU, "", nil},
		{"Hola, tengo una tarjeta de 8 GB y al entrenar la GPU se queda sin memoria.", sampler.KindOtherGPU, "", nil},
		{"Bonjour, j'ai une carte de 8 Go et la mémoire de la carte graphique est saturée.", sampler.KindOtherGPU, "", nil},
		{"Ich trainiere auf meiner Karte, und nach dem Start ist zu wenig Grafikspeicher da.", sampler.KindOtherGPU, "", nil},
		{"Estou treinando na minha placa e a GPU fica sem memória logo no início.", sampler.KindOtherGPU, "", nil},
		{"I run four models one after another with my script. The GPU memory is not released when one is done, and the next is starved of memory.\nIs there a way around that?", sampler.KindOtherGPU, "", nil},
		{"My memory usage is high when it begins and then drops.\nI can not take a larger input as memory usage will blow up at first. How can I solve it?", sampler.KindOtherGPU, "", nil},
		{"My torch server gets CUDA out of memory after some period of time.", sampler.KindCUDA, "", []string{sampler.ToldLate}},
		{"The same CUDA out of memory of torch still existed even I changed the minibatch_size to 1.", sampler.KindCUDA, "", []string{sampler.ToldTried + "batch"}},
		{"My torch script with gradient accumulation gets CUDA out of memory.", sampler.KindCUDA, "", []string{sampler.ToldTraining}},
		{"I get CUDA out of memory with torch on my four 3090 cards.", sampler.KindCUDA, "", []string{sampler.ToldGPUs}},
		{"**Describe the bug**\nMy evaluation with torch runns ot of memory as soon as the volumes are larger.", sampler.KindCUDA, "", nil},
		{"# Stitching needs to much gpu memory\n\n**Describe the bug**\nWith torch and a window of 32 the required gpu memory exceeds 10gb, which my card does not have.", sampler.KindCUDA, "", nil},
		{"Since an hour my torch program only shows a no vram error, whatever I do.", sampler.KindCUDA, "", nil},
		{"CUDA out of memory while loading long prompts\n\nWith torch and a large context the last layers find no place.", sampler.KindCUDA, "", nil},
		{"With the latest update I run out of memory with PyTorch, the previous version had no problem.", sampler.KindCUDA, "", []string{sampler.ToldUpdate}},
		{"My card runs with torch, but the VRAM is full after the first step and the script dies.", sampler.KindCUDA, "", nil},
		{"With torch it eats all of my VRAM and crashes.", sampler.KindCUDA, "", nil},
		{"I start the torch demo and get a memory error on the GPU.", sampler.KindCUDA, "", nil},
		{"The torch model needs more VRAM than I have, so it stops at the start.", sampler.KindCUDA, "", nil},
		{"I run torch and always see that my gpu does not have enough memory.", sampler.KindCUDA, "", nil},
		{"I get CUDA out of memory with torch. It worked in version 0.3, with 0.4 it stops.", sampler.KindCUDA, "", []string{sampler.ToldUpdate}},
		{"I get CUDA out of memory with torch. This looks like a regression.", sampler.KindCUDA, "", []string{sampler.ToldUpdate}},
		{"I get CUDA out of memory with torch. There is a memory regression in 2.3.", sampler.KindCUDA, "", []string{sampler.ToldUpdate}},
		{"I get CUDA out of memory with torch. Downgrading to 1.7 solves it.", sampler.KindCUDA, "", []string{sampler.ToldUpdate}},
		{"I get CUDA out of memory with torch. The latest version still working is 1.1.10.", sampler.KindCUDA, "", []string{sampler.ToldUpdate}},
		{"After a git pull I get CUDA out of memory with torch.", sampler.KindCUDA, "", []string{sampler.ToldUpdate}},
		{"With torch I get CUDA out of memory. The old build could do it.", sampler.KindCUDA, "", []string{sampler.ToldUpdate}},
		{"用 PyTorch，更新之后就爆显存了，之前的版本没问题。", sampler.KindCUDA, "", []string{sampler.ToldUpdate}},
		{"I get CUDA out of memory with torch. How to revert to the previous version?", sampler.KindCUDA, "", []string{sampler.ToldUpdate}},
		{"I train with a torch.DataLoader and see that the CPU memory keeps increeasing. Then my machine collapsed after two days, where the CPU memory usage was 900G.", sampler.KindHostAlloc, "", []string{sampler.ToldGrowth, sampler.ToldLoader}},
		{"With torch my cpu ram grows in training until it is out of my 128G ram.", sampler.KindHostAlloc, "", []string{sampler.ToldGrowth, sampler.ToldTraining}},
		{"CUDA out of memory\n\nI set CUDA_VISIBLE_DEVICES=3 in my torch script. However, there is always a small part of the memory in gpu 0, and when gpu 0 has not enough memory it stops. In the picture you can see it, and I want to use only my own.", sampler.KindCUDA, "", []string{sampler.ToldFirstGPU}},
		{"I get CUDA out of memory with torch.\n\nUpdate from 2.3.11 to 2.4.10 (reverting back to 2.3.11 fixed)", sampler.KindCUDA, "", []string{sampler.ToldUpdate}},
		{"With torch I do not see why small max tokens cause CUDA out of memory but large max tokens work fine.", sampler.KindCUDA, "", []string{sampler.ToldLargerRuns}},
		{"I want to train the full parameters of a 32b-chat model with torch on 8*A800, and it is out of memory.", sampler.KindCUDA, "", []string{sampler.ToldFull, sampler.ToldGPUCount + "8"}},
		{"I get CUDA out of memory with torch in the marching cubes step.", sampler.KindCUDA, "", []string{sampler.ToldMesh}},
		{"I get an OOM with ColabFold: RET_CHECK failure (gpu_compiler.cc:700) dnn != nullptr", sampler.KindXLA, "", []string{sampler.ToldNoCuDNN}},
		{"With torch I get CUDA out of memory though one instance has been started successfully.", sampler.KindCUDA, "", []string{sampler.ToldServers}},
		{"CUDA out of memory. My desktop has 8GB RAM and an RTX 2060 with 6GB VRAM.", sampler.KindCUDA, "", []string{sampler.ToldRAM + "8"}},
		{"I clone my voice with a reference audio, and torch gives CUDA out of memory.", sampler.KindCUDA, "", []string{sampler.ToldClones}},
		{"I train with FSDP and torch. Calling `model.save_pretrained(config.output_dir)` to save checkpoints ends in CUDA out-of-memory.", sampler.KindCUDA, sampler.PhaseSaving, []string{sampler.ToldSharded}},
		{"My 12 GB of VRAM are not enough, the renderer crashes at the second scene.", sampler.KindOtherGPU, "", nil},
		{"It eats up all of my 16 GB of VRAM and dies.", sampler.KindOtherGPU, "", nil},
		{"The refinement wants 20 GB of GPU RAM but my card has 12 GB, so it stops.", sampler.KindOtherGPU, "", nil},
		{"The job needs more memory than my GPU has and aborts.", sampler.KindOtherGPU, "", nil},
		{"The engine dies at its start because no memory is left for the KV cache.", sampler.KindOtherGPU, "", nil},
		{"I get CUDAMemAlloc errors as soon as I refine.", sampler.KindOtherGPU, "", nil},
		{"It crashes with E_OUTOFMEMORY at the menu on my RTX 2060.", sampler.KindOtherGPU, "", nil},
		{"I resume with torch and have to take a much smaller batch to avoid the out of memory error.", sampler.KindCUDA, "", nil},
		{"With continuous CUDA OOM the rebuild produced no index.", sampler.KindCUDA, "", nil},
		{"显卡的内存不够，程序就崩溃了。", sampler.KindOtherGPU, "", nil},
		{"La memoria de la GPU no es suficiente y el juego se cierra.", sampler.KindOtherGPU, "", nil},
		{"La mémoire de la carte est saturée et le rendu plante.", sampler.KindOtherGPU, "", nil},
		{"Der Grafikspeicher reicht nicht, das Spiel stürzt ab.", sampler.KindOtherGPU, "", nil},
		{"A memória da placa acabou e o jogo fecha.", sampler.KindOtherGPU, "", nil},
		{"Zabrakło pamięci GPU i trening padł.", sampler.KindOtherGPU, "", nil},
		{"Ekran kartı belleği yetmiyor, oyun kapanıyor.", sampler.KindOtherGPU, "", nil},
		{"Bộ nhớ GPU không đủ, trò chơi bị dừng.", sampler.KindOtherGPU, "", nil},
	} {
		events := read(t, one.text)
		if len(events) != 1 {
			t.Errorf("%q: %d events", one.text, len(events))
			continue
		}
		e := events[0]
		if e.Kind != one.kind || one.phase != "" && e.Context.Phase != one.phase {
			t.Errorf("%q: %s in %q", one.text, e.Kind, e.Context.Phase)
		}
		for _, what := range one.told {
			if !slices.Contains(e.Context.Told, what) {
				t.Errorf("%q: told %v, not %s", one.text, e.Context.Told, what)
			}
		}
		if e.Requested.Known() || e.GPUTotal.Known() || e.Line == 0 || e.Text == "" {
			t.Errorf("%q: %+v", one.text, e)
		}
	}
}

// What is updated in each step, or to have more of something, is no new version of a program.
func TestUpdatesOfProgramsOnly(t *testing.T) {
	for _, text := range []string{
		"I get CUDA out of memory with torch after each update of the weights.",
		"I get CUDA out of memory with torch after updating the parameters twice.",
		"I get CUDA out of memory with torch, also after upgrading to more RAM.",
		"I get CUDA out of memory with torch after upgrading my GPU.",
		"I use an old version of Qwen and fine-tune it with torch, where whole files give CUDA out of memory.",
		"在使用老版本Qwen时用 torch 微调，会报显存不足。",
		"I get CUDA out of memory with torch when I train a linear regression network.",
		"I get CUDA out of memory with torch. My model is for bounding box regression.",
		"I get CUDA out of memory with torch. The logistic regression in my head has 10 outputs.",
	} {
		for _, e := range read(t, text) {
			if slices.Contains(e.Context.Told, sampler.ToldUpdate) {
				t.Errorf("%q: %v", text, e.Context.Told)
			}
		}
	}
}

// Two versions that are set against each other tell of an update; two values of a setting do not, nor do two that fail.
func TestVersionsCompared(t *testing.T) {
	for text, told := range map[string]bool{
		"With torch 2.0.1 it trains, but with torch 2.1.0 I get CUDA out of memory.":               true,
		"Using v0.4 I could load 30 layers, while using 0.5 I can't load 2, CUDA out of memory.":   true,
		"In 3.1.4 I get CUDA out of memory, but with 3.1.2 it runs.":                               true,
		"With 0.5 of the card it runs, but with 0.9 I get CUDA out of memory.":                     false,
		"With a learning rate of 0.1 it runs, but with a dropout of 0.2 I get CUDA out of memory.": false,
		"With torch 2.0.1 I get CUDA out of memory, and with torch 2.1.0 it can also not run.":     false,
		"I get CUDA out of memory with torch 2.0.1 on Ubuntu 22.04 and can not say why.":           false,
	} {
		e := read(t, text)
		if len(e) != 1 || slices.Contains(e[0].Context.Told, sampler.ToldUpdate) != told {
			t.Errorf("%q: %+v", text, e)
		}
	}
}

// That no number of layers fits is said of any number, or of one.
// A version or a commit that is named as the one with which it began, in any order and language.
func TestVersionBlamed(t *testing.T) {
	for text, told := range map[string]bool{
		"torch goes CUDA out of memory. After reverting to 2.4.1 it runs.":               true,
		"CUDA out of memory. 1.8.2 and earlier works fine.":                              true,
		"CUDA out of memory: v1.9.0 needs more GPU memory than v1.8.2.":                  true,
		"vLLM says CUDA out of memory. Release 0.5.2 ran with these settings.":           true,
		"A recent commit causes CUDA out of memory in my torch job.":                     true,
		"CUDA out of memory in my job. I did a git bisect, and abc1234 it is.":           true,
		"CUDA out of memory with torch. Earlier releases do not have this problem.":      true,
		"升级到最新版后就 CUDA out of memory，旧版本没有这个问题。":                                         true,
		"アップデートした後、CUDA out of memoryになります。":                                             true,
		"Seit dem letzten Update kommt CUDA out of memory.":                              true,
		"torch goes CUDA out of memory. After reverting to 2.4.1 it has the same error.": false,
		"torch 2.4.1 goes CUDA out of memory, it needs more memory than 12.5 GB.":        false,
	} {
		e := read(t, text)
		if len(e) != 1 || slices.Contains(e[0].Context.Told, sampler.ToldUpdate) != told {
			t.Errorf("%q: %+v", text, e)
		}
	}
}

func TestAnyLayers(t *testing.T) {
	for text, told := range map[string]bool{
		"llama.cpp gives CUDA out of memory with any number of layers.":                               true,
		"I get CUDA out of memory with llama.cpp and can't even offload a single layer.":              true,
		"I get CUDA out of memory with llama.cpp and 40 layers. Any number of layers below 20 works.": false,
		"I get CUDA out of memory with llama.cpp at 40 layers.":                                       false,
	} {
		e := read(t, text)
		if len(e) != 1 || slices.Contains(e[0].Context.Told, sampler.ToldTried+"layers") != told {
			t.Errorf("%q: %+v", text, e)
		}
	}
}

// How memory went, and what comparisons say of it, beside wordings that say something else.
func TestCourses(t *testing.T) {
	for _, one := range []struct {
		text, what string
		told       bool
	}{
		{"With torch the memory rises quickly until the GPU overflows.", sampler.ToldGrowth, true},
		{"VRAM climbs fast and eventually I get CUDA out of memory.", sampler.ToldGrowth, true},
		{"With the batch size memory grows rapidly and finally I get CUDA out of memory with torch.", sampler.ToldGrowth, false},
		{"While loading, memory grows rapidly and finally I get CUDA out of memory with torch.", sampler.ToldGrowth, false},
		{"I get CUDA out of memory. Memory usage has irregular spikes.", sampler.ToldSpikes, true},
		{"I get CUDA out of memory. From time to time the memory shoots up.", sampler.ToldSpikes, true},
		{"I get CUDA out of memory. The memory has a sudden spike at the first step.", sampler.ToldSpikes, false},
		{"I get CUDA out of memory. Memory has a sudden jump in validation.", sampler.ToldSpikes, false},
		{"I get CUDA out of memory with torch after 100s or 1000s of steps.", sampler.ToldLate, true},
		{"I get CUDA out of memory when I am well into the training.", sampler.ToldLate, true},
		{"I get CUDA out of memory once the evaluation is over.", sampler.ToldAfterwards, true},
		{"I get CUDA out of memory during the evaluation.", sampler.ToldAfterwards, false},
		{"I get CUDA out of memory after the validation set was loaded.", sampler.ToldAfterwards, false},
		{"The 32B model worked with this length, but the 14B model gives CUDA out of memory.", sampler.ToldSmaller, true},
		{"I get CUDA out of memory with llama-8b, while qwen-14b runs fine.", sampler.ToldSmaller, true},
		{"以前微调 yi34b 是正常的，但是现在 yi6b 显存溢出。", sampler.ToldSmaller, true},
		{"The 7B model works, but the 13B model gives CUDA out of memory.", sampler.ToldSmaller, false},
		{"The 8B model works, but with the 7B model I get CUDA out of memory.", sampler.ToldSmaller, false},
		{"A 70B model runs on an A100, but a 7B model gives CUDA out of memory.", sampler.ToldSmaller, false},
		{"I get CUDA out of memory with an image size of 640.", sampler.ToldSide + "640", true},
		{"I get CUDA out of memory with images of 640 pixels and a crop size of 512x768.", sampler.ToldSide + "768", true},
		{"I get CUDA out of memory with 640 images.", sampler.ToldSide + "640", false},
		{"I set the device to cuda:2 and get CUDA out of memory.", sampler.ToldDevice + "2", true},
		{"I set device: cuda:2 and get CUDA out of memory.", sampler.ToldDevice + "2", true},
		{"I get CUDA out of memory on device cuda:2.", sampler.ToldDevice + "2", false},
	} {
		e := read(t, one.text)
		if len(e) != 1 || slices.Contains(e[0].Context.Told, one.what) != one.told {
			t.Errorf("%q: %s in %+v", one.text, one.what, e)
		}
	}
}

// The RAM of a GPU is not that of the machine.
func TestWhoseRAM(t *testing.T) {
	for text, kind := range map[string]string{
		"My loader hogs all the RAM and gets killed.":                                          sampler.MemoryHost,
		"The converter saturates nearly all of the system RAM and then crashes.":               sampler.MemoryHost,
		"I load the weights into host memory, then my script crashes with CUDA out of memory.": sampler.MemoryGPU,
		"The GPU RAM of my training increases until it crashes, CUDA OOM.":                     sampler.MemoryGPU,
		"Each of the 8 ranks loads the 65B checkpoint into host memory until it is killed.":    sampler.MemoryHost,
		"训练时出现内存溢出,GTX 1080 显卡。":                                                               sampler.MemoryGPU,
		"My network takes all the RAM of my GPU and torch runs out of memory.":                 sampler.MemoryGPU,
		"I get CUDA out of memory as it takes all the RAM on the graphics card.":               sampler.MemoryGPU,
	} {
		e := read(t, text)
		if len(e) != 1 || e[0].MemoryKind != kind {
			t.Errorf("%q: %+v", text, e)
		}
	}
}

// Who asks whether there is a leak has seen none.
func TestAskedIsNotTold(t *testing.T) {
	for _, text := range []string{
		"I get CUDA out of memory with torch on one image. Is there a memory leak somewhere?",
		"I get CUDA out of memory with torch, and I do not know whether it is a leak.",
	} {
		e := read(t, text)
		if len(e) != 1 || slices.Contains(e[0].Context.Told, sampler.ToldGrowth) {
			t.Errorf("%q: %+v", text, e)
		}
	}
}

// What solved it was not tried in vain.
func TestCuredIsNotTried(t *testing.T) {
	for _, text := range []string{
		"I get CUDA out of memory with torch. I reduced the batch size to 4 (8 is not working) and it worked.",
		"I get CUDA out of memory with torch. A batch size like 16 or 32 doesn't work and only the batch size 8 and lower works.",
	} {
		e := read(t, text)
		if len(e) != 1 || slices.Contains(e[0].Context.Told, sampler.ToldTried+"batch") {
			t.Errorf("%q: %+v", text, e)
		}
	}
}

// Who gives a tactic that was skipped as the error that he got wants what it stood for, unless the engine was built.
func TestSkippedIsAnError(t *testing.T) {
	const skipped = "[W] Skipping tactic 0x0000000000000000 due to insufficient memory on requested size of 9663676416 detected for tactic 0x0000000000000000.\n"
	for text, recovered := range map[string]bool{
		"I want to make a plan for 6 pictures at once. My call results in the following error:\n" + skipped:          false,
		"I make a plan for 6 pictures with my card. I can see 15 of 16 GB in use when the error occurs.\n" + skipped: false,
		"I make a plan for 6 pictures. I get this error, and with 5 the engine is built.\n" + skipped:                false,
		"I make a plan for 6 pictures. I get this error message, yet the engine is built and I use it.\n" + skipped:  true,
		"I make a plan for 6 pictures and the log has this line.\n" + skipped:                                        true,
		"I get this error. It is saved, and somebody said that these are just warnings. Shall I care?\n" + skipped:   true,
	} {
		e := read(t, text)
		if len(e) != 1 || e[0].Recovered != recovered {
			t.Errorf("%q: %+v", text, e)
		}
	}
}

// Documentation, lists of changes and hints tell of no failure.
func TestNotReported(t *testing.T) {
	for _, text := range []string{
		"How to debug CUDA out of memory",
		"GPU out of memory, what now",
		"v1.2.3: out of memory on start is gone",
		"RuntimeError: CUDA out of memory with a batch of 8: how to fix it",
		"cudaMalloc returns an out of memory error code which the wrapper turns into an exception.",
		"The service breaks for lack of memory when the limit is too low, so set it higher.",
		"Our allocator keeps a cache. Its VRAM usage grows with the batch and the training crashes only when it is full.",
		"CUDA out of memory guide",
		"OOMKilled is the reason that Kubernetes gives for a container above its limit.",
		"We added the OOMKilled state to our exporter.",
		"How do I alert on OOMKilled with our Prometheus?",
		"OOM in 2024",
		"If the RAM grows until the kernel kills the process, lower the number of workers.",
		"When there is insufficient system memory, the installer warns.",
		"# Notes\n\nLast week we worked on the allocator, so that runs on small cards no longer end in out of memory.",
		"Handling of out of memory now part of the trainer.",
		"CUDA out of memory troubleshooting",
		"CUDA out of memory errors: causes and fixes",
		"Out of memory handling in the trainer",
		"Understanding out of memory errors on small cards",
		"PyTorch CUDA out of memory error handling",
		"vLLM OOM protection for long prompts",
		"Test OOM on large batches",
		"Memory: 12 GB, OOM: 0",
		"Training ran for a week without out of memory",
		"RuntimeError: CUDA out of memory when the batch is too large means that the GPU is full",
		"RuntimeError: CUDA out of memory when training? Lower the batch.",
		"The service is limited by a lack of memory in our budget.",
		"The VRAM usage grows with the batch, which is expected.",
		"I never had an OOM. I use batch size 64 and the loss is fine.",
		"The weights could be split, but then small cards would run out of memory.",
		"Two streams would be faster, but the card runs out of memory.",
		"The larger one might be better, however it may run out of memory.",
		"The pool should give its blocks back, but if it fails, an out of memory error is raised.",
		"It works, although larger batches could run out of memory.",
		"My friend got a CUDA out of memory error on his 3060, so I bought a 3090. Which driver should I install?",
		"Thank you for the update. I can train at 1024 now without any memory problem.",
		"I wrote this guide for our team. When the GPU runs out of memory, the loader retries with half a batch.",
		"We test what happens when the server runs out of memory.",
		"We added a flag so that if the GPU runs out of memory the job is restarted.",
		"The process exits with status 'killed' when we press stop.",
		"# CUDA out of memory\nDid you meet this error? Lower the batch size or use gradient checkpointing.",
		"If you run out of memory, lower the batch size or use gradient checkpointing.",
		"- Added `handle_oom` to recover from errors. It is still possible to get an OOM during validation.",
		"### Failure: CUDA out of memory\n\nYou can lower the batch size.",
		"Watch memory.events: out-of-memory events are counted there.",
		"An overview of OOM events is also shown at the end.",
		"如果显存不足，可以降低 batch size 或者开启梯度检查点。",
		"显存不足时如何避免训练中断：降低分辨率，或者减少批量。",
		"VRAMが不足する場合は、バッチサイズを小さくしてください。",
		"메모리가 부족한 경우 배치 크기를 줄이면 됩니다.",
		"Если не хватает видеопамяти, уменьшите размер пакета.",
		"Si la GPU se queda sin memoria, puede bajar el tamaño del lote.",
		"Wenn der Grafikspeicher voll ist, hilft eine kleinere Batchgröße.",
		"The memory of the GPU is not released between epochs, which is how the caching allocator works.",
		"How much GPU memory does your model use? Mine is at 60 % all the time.",
		"显存 24G 够不够跑这个模型？",
		"GPU显存占用很低，怎么提高利用率？",
		"The GPU memory usage blew up our budget for the cloud, so we moved to smaller instances.",
		"显存不足的解决方法：1. 减小 batch size 2. 使用梯度累积。",
		"Is there a way to avoid an OOM with long prompts?",
		"Reduce --img-size to avoid CUDA out of memory errors on small cards.",
		"A CUDA out of memory error means that the card is full.",
		"Fixed an OOM in validation and improved the loading of checkpoints.",
		"Out of memory\n\nYou can lower the batch size when your GPU is full.",
		"# Out of memory\n\nYou can lower the batch size when your GPU is full.",
		"# Out of memory on cards with 8 GB\n\nYou can lower the batch size when your GPU is full.",
		"- **Init OOM** (large model, KV cache allocation fails): increase mem_fraction_static",
		"The fraction limits the allocator of PyTorch. It will raise an OOM error when more is asked for.",
		"The new sampler may run out of memory on cards with less than 8 GB.",
		"This change skips graphs that would likely OOM.",
		"Large images could cause out of memory; tile them instead.",
		"How to debug CUDA OOM in long trainings",
		"The job ran for three days without any OOM and the loss is fine.",
		"With batch size 4 it never goes out of memory on my card.",
		"With this change a batch of 8 doesn't run out of memory on 24 GB.",
		"Saves 3 GB; previously it was out of memory on small cards.",
		"Better message for batches that run out of memory",
		"Set the share lower where the cache is out of memory.",
		"The OOM killer chooses the process with the highest score.",
		"Out of memory happens when the cache is larger than the pool.",
		"Consider a smaller context, as the server is out of memory at 128k.",
		"The trainer detects OOM errors and halves the batch size.",
		"For example, a 7B model in fp32 is out of memory on 24 GB.",
		"INFO worker.py: out of memory errors so far: 0 of 1000 requests",
		"# How to fix CUDA out of memory\n\nThe batch decides what is needed.",
		"# OOM handling\n\nThe trainer halves the batch and goes on.",
		"Thanks to the new pool the server runs without any OOM.",
		"Training finished after 30 epochs. Peak memory was 20.1 GB of 24 GB.",
		"CUDA out of memory when using long prompts\n\nYou can lower num_ctx, or use fewer layers on the GPU.",
		"The cache fills all VRAM on purpose, which is no problem.",
		"You need more VRAM than 8 GB for the large variant.",
		"The required GPU memory may exceed that of your card for large volumes.",
		"## Troubleshooting\n\n`CUDA out of memory`\n\nLower the batch size, or use gradient checkpointing.",
		"The loader raises \"CUDA out of memory\" for batches that are too large.\n\n| message | meaning |\n|---|---|\n| \"CUDA out of memory\" | the batch is too large |",
	} {
		if events := read(t, text); len(events) != 0 {
			t.Errorf("%q: %s", text, events[0].Text)
		}
	}
}

// A validation that is not what failed, settings of how often there is one, and lines of code that train nothing.
func TestQuietNames(t *testing.T) {
	for text, trains := range map[string]bool{
		"With torch I get CUDA out of memory before val_epoch begins.":              false,
		"With torch I get CUDA out of memory, val_step = 100 and batch 8.":          false,
		"With torch I get CUDA out of memory. I use eval steps of 500.":             false,
		"I get CUDA out of memory with torch, and also without the val loop.":       true,
		"With torch I get CUDA out of memory.\nThe line is out = model(image)":      false,
		"With torch I get CUDA out of memory.\nThe line is val_loss = model(image)": false,
	} {
		events := read(t, text)
		if len(events) != 1 {
			t.Errorf("%q: %d events", text, len(events))
			continue
		}
		if c := events[0].Context; c.Phase == sampler.PhaseValidation || slices.Contains(c.Told, sampler.ToldTraining) != trains {
			t.Errorf("%q: in %q, told %v", text, c.Phase, c.Told)
		}
	}
}

// A document names failures of others, or of nobody, in sentences that a report has too.
func TestDocumentsReportNothing(t *testing.T) {
	for kind, texts := range map[string][]string{
		"release notes":         {"Fixes\n\nThis release has two fixes for common problems:\n\n  • 1a2b3c4 addresses OOM crashes\n  • 5d6e7f8 addresses slow starts", "What's Changed\n\n  • fix(cache): keep OOM paths bounded by @somebody in #12\n\nFull Changelog: v1.1...v1.2"},
		"changes":               {"The worker dies with OOM in large batches.\n\nThis PR adds a limit to the batches.", "# Stop on OutOfMemoryError\n\nMotivation:\n\nThe build hangs.\n\nModifications:\n\n- flags"},
		"manual":                {"NAME memoryd - a killer for want of memory\nDESCRIPTION memoryd takes action before an OOM occurs in the kernel."},
		"alerts":                {"- alert: PodKilled\n  expr: reason{reason=\"OOMKilled\"} > 0\n  annotations:\n    summary: \"The pod {{ $labels.pod }} was OOMKilled\""},
		"scenarios":             {"Feature: Reporting OOMs\n\nScenario: out of memory is caught\n    When I run the app"},
		"declarations":          {"\"\"\"\nThis script takes larger batches until it hits OOM (out of memory).\n\"\"\"\nimport sys", "pub enum State { Pending, Running, Failed, OutOfMemory, }\nThe states that a job or a step of it can be in."},
		"front matter":          {"---\nid: exit-137\ntitle: Container Killed, Exit Code 137 (OOM)\n---\n\nThe process got killed by the kernel."},
		"questions and answers": {"Frequently Asked Questions\n\nMy model reports \"out of memory\"\n\nYour GPU is full. Take smaller batches."},
		"guide":                 {"We are going to discuss the error CUDA out of memory. So let us start this short article.", "This guide explains how memory is used.\n\nA process that asks for too much gets killed, out of memory."},
		"error page":            {"What this error means\n\nThe GPU is full.\n\nStack trace\n\n" + refused + "\nWhy it happens\n\nThe batch is too large."},
		"definition":            {"OOMs\nOOMs is the plural of words for want of memory. The process is killed, out of memory, by the kernel."},
	} {
		for _, text := range texts {
			if events := read(t, text); len(events) != 0 {
				t.Errorf("%s %q: %s", kind, text, events[0].Text)
			}
		}
	}
	for _, text := range []string{
		"# Give more detail in OutOfMemoryError",
		"CUDA out of memory?\n\nIf a job stops with this message, lower the batch.",
		"Out of memory?\n\nYou see this message when the GPU is full. It stops with this message in large batches.",
		"CUDA out of memory?\n\nThe process may fail with that error when batches are large.",
		"Out of memory?\n\nA page on the reasons for it, and what helps.",
		"# Back off by 50% on OOM error",
		"Find the jobs of oom-killed arrays. It reads the output and starts them again.",
		"The summary of the OOM summary's header is skewed in narrow windows.",
		"Once an OOM situation occurs, the kernel looks for a process.",
		"import torch\n\ntorch.cuda.empty_cache()\n# " + refused + "main()\n",
	} {
		if events := read(t, text); len(events) != 0 {
			t.Errorf("%q: %s", text, events[0].Text)
		}
	}
	for _, text := range []string{
		"# OOM since this PR\n\nI followed this guide and my training gets OOM killed in the first epoch.",
		"What's Changed\n\n" + refused,
		"FAQ did not help\n\nI get out of memory when training on my 3090.",
	} {
		if len(read(t, text)) == 0 {
			t.Errorf("%q: nothing found", text)
		}
	}
}

// The texts in which the parser must find nothing tell of nothing either.
func TestNegativesStayClean(t *testing.T) {
	files, err := filepath.Glob("../../testdata/oom/negative/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		if slices.Contains([]string{"lines-prose.txt", "lines-exit-codes-in-text.txt"}, filepath.Base(file)) {
			continue // lists of lines, some of which are what people report
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if events := read(t, string(text)); len(events) != 0 {
			t.Errorf("%s: %s", file, events[0].Text)
		}
	}
}

const refused = "RuntimeError: CUDA out of memory. Tried to allocate 1.50 GiB (GPU 0; 10.92 GiB total capacity; 8.62 GiB already allocated; 1.39 GiB free; 8.81 GiB reserved in total by PyTorch)\n"

// What stands around an error: scripts, commands and tools in any place, and words on what was being done.
func TestNames(t *testing.T) {
	for _, one := range []struct {
		text                    string
		command, server, script string
		told                    string
	}{
		{"I run `python.exe -m demucs.separate song.mp3` and get\n" + refused, "python.exe -m demucs.separate song.mp3", "demucs", "", ""},
		{refused + "\nGTX 1080 Ti, python scripts/txt2img.py, no options", "python scripts/txt2img.py", "", "txt2img.py", ""},
		{"I ran `python tools/test.py --cfg a.yaml` and got\n" + refused, "python tools/test.py --cfg a.yaml", "", "test.py", ""},
		{refused + "```yaml\nmem-fraction-static: 0.9\n```", "", "sglang", "", ""},
		{refused + ">> Usage stats:\n>>   0 image(s) generated in 21.55s", "", "invokeai", "", ""},
		{"Using VLLM0.7.2 on eight cards:\n" + refused, "", "vllm", "", ""},
		{"train.py runs through, but only evaluate.py fails:\n" + refused, "", "", "evaluate.py", ""},
		{"I run bash demo_clip.sh and get\n" + refused, "", "", "demo_clip.sh", ""},
		{"I ran quick_demo.ipynb and got\n" + refused, "", "", "quick_demo.ipynb", ""},
		{"Only the test script fails, training is fine:\n" + refused, "", "", "", sampler.ToldInference},
		{"torchrun --nproc_per_node 1 example.py --ckpt_dir w/7B --tokenizer_path w/t.model\n" + refused, "torchrun --nproc_per_node 1 example.py --ckpt_dir w/7B --tokenizer_path w/t.model", "llama-reference", "example.py", ""},
	} {
		events := read(t, one.text)
		if len(events) != 1 {
			t.Fatalf("%q: %d events", one.text, len(events))
		}
		c := events[0].Context
		if one.command != "" && c.Command != one.command || c.Server != one.server ||
			one.script != "" && (len(c.Scripts) == 0 || c.Scripts[0] != one.script) || one.told != "" && !slices.Contains(c.Told, one.told) {
			t.Errorf("%q: command %q, server %q, scripts %v, told %v", one.text, c.Command, c.Server, c.Scripts, c.Told)
		}
		if one.told == sampler.ToldInference && c.Phase == sampler.PhaseTraining {
			t.Errorf("%q: in training", one.text)
		}
	}
}

// A long text is a log: nobody wrote it.
func TestLongIsNoPost(t *testing.T) {
	text := "My training stops with CUDA out of memory.\n" + strings.Repeat("step of the run\n", maxBytes/8)
	if events := read(t, text); len(events) != 0 {
		t.Errorf("%d events", len(events))
	}
}

// That one GPU of several holds all is said of GPUs, not of memory, users or a choice.
func TestOneGPUHoldsAll(t *testing.T) {
	for text, want := range map[string]bool{
		"Several GPUs do not work: torch still loads the model only in one gpu and gives me OOM.":          true,
		"The model is loaded on one GPU only though I have 4, and torch gives CUDA out of memory.":         true,
		"The chat with --num-gpus 2 only uses the first GPU, torch gives OOM.":                             true,
		"device_map=auto of torch puts everything on GPU 0 and I get CUDA out of memory.":                  true,
		"It only uses one of my two 3090, and torch runs out of memory.":                                   true,
		"I only use one of my GPUs, and torch runs out of memory.":                                         false,
		"I have loaded the data on one machine and get CUDA out of memory with torch.":                     false,
		"My model is loaded only on cuda:0, and torch gives CUDA out of memory.":                           true,
		"I run out of memory with torch. The other three GPUs are idle.":                                   true,
		"With torch I get CUDA out of memory. Only GPU 0 is used, the other cards are empty.":              true,
		"用 torch 推理报显存不足,模型全放在第一张卡,其他卡是空的。":                                                                true,
		"With torch I get CUDA out of memory, and 3 GB are allocated while the rest is unused.":            false,
		"I run with CUDA_VISIBLE_DEVICES=0 only and get CUDA out of memory with torch.":                    false,
		"I want everything to be loaded only on cuda:1, and I get CUDA out of memory with torch.":          false,
		"Only GPU 0 is free, the others are taken by colleagues, and I get CUDA out of memory with torch.": false,
		"I only have one GPU, all the model is on one GPU, and I get CUDA out of memory with torch.":       false,
	} {
		events := Read(text, nil, oomlog.Scan)
		if len(events) != 1 {
			t.Errorf("%d events of %q", len(events), text)
			continue
		}
		if got := slices.Contains(events[0].Context.Told, sampler.ToldOneGPU); got != want {
			t.Errorf("%v of %q", got, text)
		}
	}
}

// What XLA's compiler warns of is a failure only where somebody says that it fails.
func TestUnreducedProgram(t *testing.T) {
	const line = "Can't reduce memory use below 11.20GiB (12025908428 bytes) by rematerialization; only reduced to 37.40GiB (40157944217 bytes), down from 37.40GiB (40157944217 bytes) originally"
	for text, fails := range map[string]bool{
		"I train with jax and my run fails with this:\n" + line:                                                      true,
		"My jax program crashes after this warning.\n" + line + "\nThanks for any help!":                             true,
		"I train with jax and get this warning, and it runs well.\n" + line:                                          false,
		"My training runs without errors, but what does this mean?\n" + line:                                         false,
		line + "\nstep 1 loss 3.2\nstep 2 loss 3.1":                                                                  false,
		"The compiler prints the following where a program stays larger than a device; no run fails of it.\n" + line: false,
	} {
		events := Read(text, nil, oomlog.Scan)
		if (len(events) == 1) != fails {
			t.Errorf("%d events of %q", len(events), text)
			continue
		}
		if fails && (events[0].Kind != sampler.KindXLA || events[0].Requested.Or(0) != 40157944217) {
			t.Errorf("%s of %d bytes in %q", events[0].Kind, events[0].Requested.Or(0), text)
		}
	}
}
