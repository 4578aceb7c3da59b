package watch

import (
	"math"

	"nvpeak/sampler"
)

// stoppedPatterns are processes that were refused memory and ended by a signal from outside.
var stoppedPatterns = []pattern{
	{"oom", "fires_driver_stopped", deadly, func(d *driven) { // a launcher ends the rank that hangs
		j := trained(d, 30)
		j.torch(12*gib, 3)
		d.wait(2)
		j.exits(143)
	}},
	{"oom", "fires_driver_stopped_at_once", deadly, func(d *driven) {
		j := trained(d, 30)
		j.torch(12*gib, 0)
		d.wait(0.05)
		j.exits(137)
	}},
	{"oom", "fires_driver_stopped_later", deadly, func(d *driven) { // it had been told to end before
		j := trained(d, 30)
		j.torch(12*gib, 3)
		d.wait(8)
		j.exits(137)
	}},
	{"oom", "fires_driver_stopped_once", deadly, func(d *driven) { // it asked once
		j := trained(d, 30)
		j.ask(12 * gib)
		d.wait(2)
		j.exits(143)
	}},
	{"oom", "fires_driver_stopped_other_size", deadly, func(d *driven) { // it asked for more at once, and was granted nothing between
		j := trained(d, 30)
		j.ask(12 * gib)
		d.wait(0.05)
		j.ask(14 * gib)
		d.wait(0.3)
		j.exits(143)
	}},
	{"oom", "fires_driver_stopped_after_probe", deadly, func(d *driven) { // a library had found that a large workspace does not fit
		j := trained(d, 30)
		j.ask(12 * gib)
		j.ask(64 * mib)
		d.wait(7)
		j.torch(14*gib, 3)
		d.wait(0.3)
		j.exits(137)
	}},
	{"oom", "fires_driver_stopped_layers", deadly, func(d *driven) { // a layer after another, all of one size
		j := d.job(4242, "python serve.py")
		d.wait(2)
		j.ask(8 * gib)
		d.wait(1)
		for j.ask(480 * mib) {
			d.wait(0.02)
		}
		d.wait(0.5)
		j.exits(143)
	}},
	{"oom", "fires_driver_stopped_typed", deadly, func(d *driven) { // somebody sees that it hangs
		j := trained(d, 30)
		j.torch(12*gib, 3)
		d.wait(3)
		j.exits(130)
	}},
	{"oom", "fires_driver_stopped_midlife", deadly, func(d *driven) { // all that it holds, it held before anybody looked
		j := d.job(4242, "python train.py")
		j.start, j.older = -3600, true
		d.used += 30 * gib
		j.note(30 * 1024)
		d.wait(4)
		j.torch(12*gib, 0)
		d.wait(0.5)
		j.exits(137)
	}},
	{"oom", "quiet_driver_stopped_typed_later", nil, func(d *driven) { // or has looked at what is on the screen
		j := trained(d, 30)
		j.torch(12*gib, 3)
		d.wait(8)
		j.exits(130)
	}},
	{"oom", "quiet_driver_stopped_later", nil, func(d *driven) { // it does without
		j := trained(d, 30)
		j.torch(12*gib, 3)
		d.wait(20)
		j.exits(143)
	}},
	{"oom", "quiet_driver_stopped_once_later", nil, func(d *driven) {
		j := trained(d, 30)
		j.ask(12 * gib)
		d.wait(8)
		j.exits(137)
	}},
	{"oom", "quiet_driver_stopped_coped", nil, func(d *driven) { // a server that catches it, each time
		j := trained(d, 30)
		for range 4 {
			j.torch(12*gib, 0)
			d.wait(0.2)
			j.ask(gib)
			d.wait(0.8)
			j.give()
		}
		j.torch(12*gib, 0)
		d.wait(0.1)
		j.exits(143)
	}},
	{"oom", "quiet_driver_stopped_worked_on", nil, func(d *driven) { // it caught it, and worked on with a little
		j := trained(d, 30)
		d.now = math.Ceil(d.now) + 0.8
		j.ask(12 * gib)
		d.wait(0.3)
		j.ask(8 * mib)
		d.wait(0.3)
		j.ask(8 * mib)
		d.wait(3)
		j.exits(143)
	}},
	{"oom", "quiet_driver_stopped_recycled", nil, func(d *driven) { // a server that catches it, 4 s apart, with a small request after each
		j := trained(d, 30)
		for i := range 3 {
			j.ask(sampler.Bytes(12+i) * gib)
			j.ask(20 * mib)
			d.wait(0.2)
			j.give()
			if i < 2 {
				d.wait(4)
			}
		}
		d.wait(2)
		j.exits(143)
	}},
	{"oom", "quiet_driver_stopped_small_before", nil, func(d *driven) { // the same, and what it was granted is the way out's for all that is known
		j := trained(d, 30)
		for range 2 {
			j.ask(12 * gib)
			j.ask(mib)
			d.wait(4)
			j.give()
		}
		j.ask(12 * gib)
		d.wait(2)
		j.exits(143)
	}},
	{"oom", "fires_driver_stopped_small", deadly, func(d *driven) { // what writes the message takes a little, at once
		j := trained(d, 30)
		j.torch(12*gib, 3)
		j.ask(2 * mib)
		d.wait(1)
		j.exits(137)
	}},
	{"oom", "quiet_driver_stopped_server", nil, func(d *driven) { // the same, with nothing granted
		j := trained(d, 30)
		for range 2 {
			j.torch(12*gib, 0)
			d.wait(15)
		}
		j.torch(12*gib, 0)
		d.wait(2)
		j.exits(143)
	}},
	{"oom", "quiet_driver_stopped_asks_on", nil, func(d *driven) { // a server without a free moment: each of its requests fails
		j := trained(d, 30)
		for range 4 {
			j.ask(12 * gib)
			d.wait(2.6)
		}
		j.exits(143)
	}},
	{"oom", "quiet_driver_stopped_waits", nil, func(d *driven) { // for room, with its model loaded
		o := d.job(5000, "python other.py")
		d.wait(2)
		o.ask(30 * gib)
		j := d.job(4242, "python queue.py")
		d.wait(2)
		j.ask(gib)
		for range 8 {
			j.ask(20 * gib)
			d.wait(1)
		}
		j.exits(143)
	}},
	{"oom", "quiet_driver_stopped_waits_empty", nil, func(d *driven) { // for room, and holds nothing
		o := d.job(5000, "python other.py")
		d.wait(2)
		o.ask(30 * gib)
		j := d.job(4242, "python queue.py")
		d.wait(2)
		for range 8 {
			j.ask(20 * gib)
			d.wait(0.4)
		}
		j.exits(143)
	}},
	{"oom", "fires_driver_stopped_first_at_once", deadly, func(d *driven) { // the weights in one piece, by an allocator that has nothing to empty
		j := d.job(4242, "python load.py")
		d.wait(2)
		j.ask(50 * gib)
		j.ask(50 * gib)
		d.wait(1.2)
		j.exits(143)
	}},
	{"oom", "quiet_driver_stopped_asks_twice", nil, func(d *driven) { // whether there is room by now
		j := d.job(4242, "python queue.py")
		d.wait(2)
		j.ask(50 * gib)
		d.wait(1)
		j.ask(50 * gib)
		d.wait(1.2)
		j.exits(143)
	}},
	{"oom", "quiet_driver_stopped_gives_up", nil, func(d *driven) { // its plan, and goes to the CPU
		j := trained(d, 30)
		j.torch(12*gib, 3)
		j.giveAll()
		d.wait(3)
		j.exits(143)
	}},
	{"oom", "quiet_driver_stopped_plan", nil, func(d *driven) { // less was enough
		j := trained(d, 30)
		j.torch(12*gib, 0)
		j.ask(3 * gib)
		d.wait(1)
		j.exits(143)
	}},
	{"oom", "quiet_driver_stopped_plan_filled", nil, func(d *driven) { // it tried what there is, took that in blocks, and serves
		j := d.job(4242, "python serve.py")
		d.wait(2)
		j.ask(6 * gib)
		j.ask(35 * gib)
		for j.ask(256 * mib) {
		}
		j.give()
		j.give()
		d.wait(8)
		j.exits(137)
	}},
	{"oom", "quiet_driver_stopped_filled", nil, func(d *driven) { // a tester is full, and tests
		j := d.job(4242, "memtest")
		d.wait(2)
		for j.ask(gib) {
		}
		d.wait(6)
		j.exits(143)
	}},
}

// contextPatterns are programs for whose context the driver has no memory.
var contextPatterns = []pattern{
	{"oom", "fires_driver_context", deadly, func(d *driven) {
		full(d).context()
		d.wait(0.3)
		d.jobs[1].exits(1)
	}},
	{"oom", "quiet_driver_context_exit_0", nil, func(d *driven) { // it takes the CPU
		full(d).context()
		d.wait(0.3)
		d.jobs[1].exits(0)
	}},
	{"oom", "quiet_driver_context_other", nil, func(d *driven) { // others make room
		j := full(d)
		j.context()
		d.jobs[0].giveAll()
		j.ask(gib)
		d.wait(0.3)
		j.exits(1)
	}},
	{"oom", "quiet_driver_context_gone", nil, func(d *driven) { // nobody saw how it ended
		full(d).context()
		d.wait(3)
		d.jobs[1].exit()
	}},
	{"oom", "quiet_driver_context_later", nil, func(d *driven) { // it works on the CPU, and fails of something else
		full(d).context()
		d.wait(12)
		d.jobs[1].exits(1)
	}},
	{"oom", "quiet_driver_context_child", nil, func(d *driven) { // what it has begun since works on another GPU
		j := full(d)
		j.context()
		d.wait(0.5)
		c := d.beside(4300, "python worker.py")
		c.up = []sampler.Parent{{PID: j.pid, Name: "python"}}
		c.ask(2 * gib)
		d.wait(4)
		c.exits(0)
		d.wait(1.5)
		j.exits(1)
	}},
	{"oom", "fires_driver_context_elsewhere", deadly, func(d *driven) { // what it has on another GPU writes its last lines
		j := fullBeside(d)
		j.context()
		j.ask(mib)
		d.wait(0.2)
		j.exits(1)
	}},
	{"oom", "fires_driver_context_thread", deadly, func(d *driven) { // another thread takes its pieces until the last moment
		j := fullBeside(d)
		j.context()
		j.thread = 1
		for range 6 {
			j.with("cuMemAllocFromPoolAsync", 40*mib)
			d.wait(0.02)
		}
		j.exits(134)
	}},
	{"oom", "quiet_driver_context_at_once", nil, func(d *driven) { // it goes on where it was, and fails of something else
		j := fullBeside(d)
		j.context()
		j.ask(3 * gib)
		d.wait(6)
		j.exits(1)
	}},
}

// full is a program that begins on a GPU that another one has filled.
func full(d *driven) *drivenJob {
	d.wait(2)
	d.job(5000, "python other.py").ask(39 * gib)
	d.wait(2)
	return d.job(4242, "python train.py")
}

// fullBeside is a program on the second GPU, beside one that another one has filled.
func fullBeside(d *driven) *drivenJob {
	d.wait(2)
	d.job(5000, "python other.py").ask(39 * gib)
	j := d.beside(4242, "python train.py")
	d.wait(1)
	j.ask(2 * gib)
	d.wait(1)
	return j
}

// context asks for one on the first GPU, in vain.
func (j *drivenJob) context() { j.callOn(0, "cuDevicePrimaryCtxRetain", 0, 0, 2) }
