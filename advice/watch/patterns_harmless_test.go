package watch

import "nvpeak/sampler"

// harmlessPatterns are refusals by which nothing is lost: none of them is alerted.
var harmlessPatterns = []pattern{
	{"oom", "quiet_driver_backoff", nil, func(d *driven) { // JAX takes what there is beside another, 0.9 by 0.9
		o := d.job(5000, "python other.py")
		d.wait(2)
		o.ask(18 * gib)
		j := d.job(4242, "python jaxtrain.py")
		d.wait(2)
		for n := 30 * gib; !j.ask(n); n = n / 10 * 9 {
			d.wait(0.01)
		}
		d.wait(60)
	}},
	{"oom", "quiet_driver_backoff_ends", nil, func(d *driven) { // and is done soon after
		o := d.job(5000, "python other.py")
		d.wait(2)
		o.ask(18 * gib)
		j := d.job(4242, "python jaxtrain.py")
		d.wait(2)
		for n := 30 * gib; !j.ask(n); n = n / 10 * 9 {
			d.wait(0.01)
		}
		d.wait(10)
		j.exit()
	}},
	{"oom", "quiet_driver_smaller_plan", nil, func(d *driven) { // fewer layers on the GPU
		j := d.job(4242, "ollama runner")
		d.wait(2)
		if !j.ask(44 * gib) {
			j.ask(20 * gib)
		}
		d.wait(60)
	}},
	{"oom", "quiet_driver_cpu", nil, func(d *driven) { // all of it on the CPU
		j := d.job(4242, "ollama runner")
		d.wait(2)
		j.ask(gib)
		j.ask(44 * gib)
		j.giveAll()
		d.wait(60)
	}},
	{"oom", "quiet_driver_runner", nil, func(d *driven) { // the next process has the smaller plan
		j := d.job(4242, "/usr/bin/ollama runner --model x")
		d.wait(2)
		j.ask(20 * gib)
		j.ask(30 * gib)
		d.wait(1)
		j.exit()
		d.wait(2)
		j = d.job(4243, "/usr/bin/ollama runner --model x")
		j.ask(20 * gib)
		d.wait(50)
	}},
	{"oom", "quiet_driver_tester", nil, func(d *driven) { // takes all there is, tests it, ends
		j := d.job(4242, "memtest")
		d.wait(2)
		for j.ask(gib) {
		}
		d.wait(50)
		j.exit()
	}},
	{"oom", "quiet_driver_tester_ends", nil, func(d *driven) { // and at once
		j := d.job(4242, "memtest")
		d.wait(2)
		for j.ask(gib) {
		}
		j.giveAll()
		d.wait(1)
		j.exit()
	}},
	{"oom", "quiet_driver_tester_steps", nil, func(d *driven) { // smaller and smaller pieces, to the last MiB
		j := d.job(4242, "memtest")
		d.wait(2)
		for n := 4 * gib; n >= mib; n /= 4 {
			for j.ask(n) {
			}
		}
		d.wait(3)
		j.exit()
	}},
	{"oom", "quiet_driver_torch_tester", nil, func(d *driven) { // an allocator asks again, and all is given back
		j := d.job(4242, "python fill.py")
		d.wait(2)
		for j.torch(gib, 0) {
		}
		j.giveAll()
		d.wait(5)
		j.exit()
	}},
	{"oom", "quiet_driver_cpu_ends", nil, func(d *driven) { // the CPU, and done after a while
		j := trained(d, 20)
		j.ask(30 * gib)
		j.giveAll()
		d.wait(14)
		j.exit()
	}},
	{"oom", "quiet_driver_sampler", nil, func(d *driven) { // every half minute again
		j := d.job(4242, "memsampler")
		d.wait(2)
		for range 6 {
			for j.ask(gib) {
			}
			j.giveAll()
			d.wait(33)
		}
	}},
	{"oom", "quiet_driver_bisect", nil, func(d *driven) { // how much is free, to 64 MiB
		j := d.job(4242, "howmuch")
		d.wait(2)
		low, high := sampler.Bytes(0), 64*gib
		for high-low > 64*mib {
			if n := (low + high) / 2; j.ask(n) {
				low = n
				j.give()
			} else {
				high = n
			}
		}
		d.wait(1)
		j.exit()
	}},
	{"oom", "quiet_driver_question", nil, func(d *driven) { // one that asks for too much, holds nothing and ends
		j := d.job(4242, "probe")
		d.wait(2)
		j.ask(60 * gib)
		d.wait(1)
		j.exit()
	}},
	{"oom", "quiet_driver_workspace", nil, func(d *driven) { // cuDNN finds another algorithm
		j := trained(d, 39)
		for range 3 {
			j.ask(8 * gib)
			d.wait(0.2)
			j.ask(40 * mib)
			j.give()
		}
		d.wait(60)
	}},
	{"oom", "quiet_driver_small_workspace", nil, func(d *driven) { // cuBLAS does without
		j := trained(d, 38)
		for j.ask(100 * mib) {
		}
		j.ask(32 * mib)
		d.wait(60)
	}},
	{"oom", "quiet_driver_caught", nil, func(d *driven) { // the program catches it once and trains on
		j := trained(d, 30)
		j.torch(16*gib, 2)
		d.wait(1)
		j.ask(gib)
		d.wait(15)
		j.exit()
	}},
	{"oom", "quiet_driver_batch_finder", nil, func(d *driven) { // doubles until it does not fit, halves
		j := trained(d, 8)
		for n := gib; n <= 16*gib; n *= 2 {
			if j.torch(2*n, 0) {
				d.wait(2)
				j.give()
			}
		}
		j.torch(12*gib, 0)
		d.wait(70)
	}},
	{"oom", "quiet_driver_managed", nil, func(d *driven) { // more than there is, on purpose
		j := trained(d, 10)
		for range 5 {
			j.with("cuMemAllocManaged", 12*gib)
			d.wait(3)
		}
		d.wait(20)
		j.exit()
	}},
	{"flush", "quiet_driver_managed", nil, func(d *driven) { // what was refused is taken as managed memory
		j := trained(d, 36)
		j.ask(4 * gib)
		for range 4 {
			j.give()
		}
		j.with("cuMemAllocManaged", 4*gib)
		d.wait(40)
	}},
	{"oom", "quiet_driver_pinned", nil, func(d *driven) { // memory of the host
		j := trained(d, 10)
		for range 5 {
			j.with("cuMemHostAlloc", 60*gib)
		}
		d.wait(20)
		j.exit()
	}},
	{"oom", "quiet_driver_waits", nil, func(d *driven) { // asks until another has given it back
		o := d.job(5000, "python other.py")
		d.wait(2)
		o.ask(30 * gib)
		j := d.job(4242, "python queue.py")
		d.wait(2)
		j.ask(gib)
		for range 20 {
			j.ask(20 * gib)
			d.wait(1)
		}
		o.exit()
		j.ask(20 * gib)
		d.wait(40)
	}},
	{"oom", "quiet_driver_long_after", nil, func(d *driven) { // its end has nothing to do with it
		j := trained(d, 30)
		j.torch(16*gib, 0)
		d.wait(40)
		j.exit()
	}},
	{"oom", "quiet_driver_serving", nil, func(d *driven) { // vLLM: weights, one region for the cache, small ones
		j := d.job(4242, "vllm serve model")
		d.wait(2)
		for range 14 {
			j.ask(gib + 30*mib)
			d.wait(0.5)
		}
		j.ask(20 * gib)
		for range 20 {
			j.ask(64 * mib)
			j.give()
			d.wait(3)
		}
	}},
	{"oom", "quiet_driver_ends_well", nil, func(d *driven) { // full, never refused
		j := trained(d, 39)
		d.wait(30)
		j.exit()
	}},
	{"oom", "quiet_driver_pool", nil, func(d *driven) { // cudaMallocAsync asks for everything again and again
		j := trained(d, 20)
		for range 40 {
			j.with("cuMemAllocAsync", 8*gib)
			d.wait(0.1)
			j.give()
			d.wait(1.4)
		}
		d.job(5000, "python other.py").ask(15 * gib)
		d.wait(30)
	}},
	{"oom", "quiet_driver_twice", nil, func(d *driven) { // two requests of a server fail within minutes
		j := trained(d, 30)
		for range 2 {
			j.torch(12*gib, 0)
			d.wait(40)
		}
	}},
	{"oom", "quiet_driver_pieces_exit_0", nil, func(d *driven) { // by pieces, and done with them
		j := d.job(4242, "memtest")
		d.wait(2)
		for j.with("cuMemCreate", gib) {
		}
		d.wait(3)
		j.exits(0)
	}},
	{"oom", "quiet_driver_twice_exit_0", nil, func(d *driven) { // asks once more to be sure
		j := d.job(4242, "memtest")
		d.wait(2)
		for j.ask(512 * mib) {
		}
		j.ask(512 * mib)
		d.wait(2)
		j.exits(0)
	}},
	{"oom", "quiet_driver_once_exit_0", nil, func(d *driven) { // does without
		j := trained(d, 30)
		j.ask(12 * gib)
		d.wait(7)
		j.exits(0)
	}},
	{"oom", "quiet_driver_torch_exit_0", nil, func(d *driven) { // a traceback that somebody caught
		j := trained(d, 30)
		j.torch(12*gib, 3)
		j.giveAll()
		d.wait(1)
		j.exits(0)
	}},
	{"oom", "quiet_driver_tester_keeps_exit_3", nil, func(d *driven) { // it ends with what it has, and says that it found errors
		j := d.job(4242, "memtest")
		d.wait(2)
		for j.ask(gib) {
			d.wait(0.02)
		}
		d.wait(6)
		j.exits(3)
	}},
	{"oom", "quiet_driver_other_gpu_at_once", nil, func(d *driven) { // the same thread goes to another GPU, and fails of something else
		j := replicated(d)
		j.ask(12 * gib)
		j.callOn(1, "cuMemAlloc_v2", 12*gib, 1<<50, 0)
		d.wait(0.3)
		j.exits(1)
	}},
	{"oom", "quiet_driver_pinned_exit_1", nil, func(d *driven) { // the host has it instead
		j := trained(d, 30)
		j.ask(12 * gib)
		for range 3 {
			j.with("cuMemHostAlloc", 2*gib)
		}
		d.wait(0.4)
		j.exits(1)
	}},
	{"oom", "quiet_driver_pinned_goes_on", nil, func(d *driven) { // a part of it there is enough to go on with
		j := trained(d, 30)
		j.ask(12 * gib)
		j.with("cuMemHostAlloc", 2*gib)
		d.wait(4)
		j.exits(1)
	}},
	{"oom", "quiet_driver_managed_exit_1", nil, func(d *driven) { // what was refused was not the GPU's
		j := trained(d, 30)
		j.call("cuMemAllocManaged", 90*gib, 0, 2)
		d.wait(1)
		j.exits(1)
	}},
	{"oom", "quiet_driver_stopped", nil, func(d *driven) { // by somebody, while it tests
		j := d.job(4242, "memtest")
		d.wait(2)
		for j.ask(gib) {
		}
		d.wait(5)
		j.exits(130)
	}},
	{"oom", "quiet_driver_exit_1_late", nil, func(d *driven) { // of another reason
		j := trained(d, 30)
		j.ask(12 * gib)
		d.wait(40)
		j.exits(1)
	}},
	{"oom", "quiet_driver_once_exit_1", nil, func(d *driven) { // it asked once, and fails of something else
		j := trained(d, 30)
		j.ask(12 * gib)
		d.wait(12)
		j.exits(1)
	}},
	{"oom", "quiet_driver_tester_exit_1", nil, func(d *driven) { // it has found errors
		j := d.job(4242, "memtest")
		d.wait(2)
		for j.ask(gib) {
		}
		d.wait(4)
		j.giveAll()
		d.wait(0.5)
		j.exits(1)
	}},
	{"oom", "quiet_driver_tester_steps_exit_1", nil, func(d *driven) { // smaller and smaller pieces, to the last MiB, and it has found errors
		j := d.job(4242, "memtest")
		d.wait(2)
		for n := 4 * gib; n >= 2*mib; n /= 2 {
			for j.ask(n) {
			}
		}
		d.wait(3)
		j.exits(1)
	}},
	{"oom", "quiet_driver_tester_few_exit_1", nil, func(d *driven) { // a few large pieces
		j := d.job(4242, "memtest")
		d.wait(2)
		for j.ask(12 * gib) {
		}
		d.wait(4)
		j.giveAll()
		d.wait(0.2)
		j.exits(1)
	}},
	{"oom", "quiet_driver_bisects_exit_1", nil, func(d *driven) { // how much is there? And it ends for another reason
		j := d.job(4242, "./probe")
		d.wait(2)
		for least, most := sampler.Bytes(0), 64*gib; most-least > 256*mib; {
			if n := (least + most) / 2; j.ask(n) {
				least = n
				j.give()
			} else {
				most = n
			}
		}
		d.wait(0.3)
		j.exits(1)
	}},
	{"oom", "quiet_driver_tester_at_once_exit_1", nil, func(d *driven) {
		j := d.job(4242, "memtest")
		d.wait(2)
		for j.ask(gib) {
		}
		j.giveAll()
		d.wait(0.3)
		j.exits(1)
	}},
	{"oom", "quiet_driver_little_killed", nil, func(d *driven) { // it does with little, until somebody ends it
		j := trained(d, 39)
		j.ask(512 * mib)
		d.wait(3)
		j.ask(4 * mib)
		d.wait(2)
		j.exits(137)
	}},
	{"oom", "quiet_driver_little_at_once_killed", nil, func(d *driven) {
		j := trained(d, 39)
		j.torch(512*mib, 0)
		j.ask(4 * mib)
		d.wait(6)
		j.exits(143)
	}},
	{"oom", "quiet_driver_little_gone", nil, func(d *driven) { // how it ended was not seen
		j := trained(d, 39)
		j.torch(512*mib, 0)
		d.wait(3)
		j.ask(4 * mib)
		d.wait(4)
		j.exit()
	}},
	{"oom", "quiet_driver_little_at_once_exit_3", nil, func(d *driven) { // of something else
		j := trained(d, 39)
		j.ask(512 * mib)
		j.ask(4 * mib)
		d.wait(9)
		j.exits(3)
	}},
	{"oom", "quiet_driver_little_exit_3", nil, func(d *driven) {
		j := trained(d, 39)
		j.torch(512*mib, 0)
		d.wait(4)
		j.ask(4 * mib)
		d.wait(6)
		j.exits(3)
	}},
	{"oom", "quiet_driver_minutes_later", nil, func(d *driven) { // nor has what is later
		j := trained(d, 39)
		j.torch(512*mib, 0)
		d.wait(300)
		j.exits(1)
	}},
	{"oom", "quiet_driver_exec", nil, func(d *driven) { // what comes after it has nothing to do with it
		j := trained(d, 30)
		j.torch(12*gib, 3)
		d.wait(0.5)
		j.execs()
	}},
}
