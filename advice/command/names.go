package command

// deviceBatchNames are the options that set the training batch of one device, best known first.
var deviceBatchNames = []string{"per_device_train_batch_size", "per_gpu_train_batch_size", "per_gpu_batch_size", "per_device_batch_size", "train_micro_batch_size_per_gpu",
	"micro_batch_size", "micro_batch_size_per_gpu", "device_batch_size", "batch_size_per_gpu", "batch_size_per_device",
	"per_gpu_batch", "per_device_batch", "batch_per_gpu", "batch_per_device", "local_batch_size", "micro_batch", "micro_bsz", "micro_bs", "mbs", "mini_batch_size", "minibatch_size",
	"tokens_per_batch"} // which XLM and what is made from it take instead of the sentences of a batch, where both are set

// batchNames are those that set the training batch, of one device or of all: each trainer has its own meaning.
var batchNames = []string{"train_batch_size", "batch_size_train", "train_bs", "batch_size", "batchsize", "batch", "bs", "samples_per_gpu", "samples_per_batch", "img_per_batch", "imgs_per_batch", "images_per_batch", "img_per_gpu", "imgs_per_gpu", "images_per_gpu",
	"ims_per_batch", "max_sentences", "max_tokens", "bsz", "train_bsz", "batch_sz", "batchsz", "bsize", "train_batch"}

// wholeBatchNames are the options that set the batch of all devices and steps, beside that of one device.
var wholeBatchNames = []string{"train_batch_size", "global_batch_size", "total_batch_size", "gbs", "ppo_mini_batch_size"}

// textNames are parts of the names of options whose value is anybody's words.
var textNames = []string{"comment", "note", "name", "tag", "desc", "message", "title", "prompt", "label"}

// evalBatchNames are the options that set the batch of validation.
var evalBatchNames = []string{"per_device_eval_batch_size", "per_gpu_eval_batch_size", "eval_batch_size", "val_batch_size",
	"validation_batch_size", "valid_batch_size", "test_batch_size", "batch_size_valid", "batch_size_val", "val_batch", "eval_batch", "eval_bs", "val_bs", "eval_bsz", "val_bsz",
	"eval_per_device_batch_size", "val_per_device_batch_size", "eval_batch_size_per_device", "max_tokens_valid",
	"bench_batch", "bench_batch_size", "benchmark_batch_size"}

// accumulationNames are the options that set gradient accumulation.
var accumulationNames = []string{"gradient_accumulation_steps", "gradient_accumulate_steps", "grad_accum_steps",
	"gradient_accumulation", "grad_accumulation_steps", "accumulation_steps", "accumulate_grad_batches", "accum_iter",
	"accum_steps", "grad_accum", "update_freq", "iter_size", "accumulate", "accum", "accum_freq", "accum_count", "accum_grad", "acc_steps", "gas"}
