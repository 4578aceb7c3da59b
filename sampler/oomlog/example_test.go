package oomlog

import (
	"strings"
	"testing"
)

// A message that somebody met stays one, whatever leads to it, follows it or stands around it.
func TestNoExample(t *testing.T) {
	const (
		figures = "CUDA out of memory. Tried to allocate 512.00 MiB (GPU 0; 8.00 GiB total capacity; 6.50 GiB already allocated; 256.00 MiB free; 6.70 GiB reserved in total by PyTorch)"
		printed = "RuntimeError: " + figures
		killed  = "[12345.678901] Out of memory: Killed process 1234 (python) total-vm:4194304kB, anon-rss:2097152kB, file-rss:0kB, shmem-rss:0kB"
		slurm   = "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=938.batch cgroup."
	)
	for _, text := range []string{
		"When running train.py on two GPUs an error like the following appears:\n\n```\n" + printed + "\n```\n",
		"Run train.py with a batch of 64. You will see:\n\n" + printed,
		"I get errors like this:\n\n" + printed + "\n\nThis means that the batch is too large, right?",
		"## Error message\n```\n" + printed + "\n```\n\n## Root cause\nThe cache is never released.",
		"## Typical error\nI see it each time:\n" + printed,
		printed + "\nPossible causes:\n - the batch is too large\nHow to fix:\n - reduce it",
		"{\"errors\": [\n  \"" + figures + "\",\n  \"stopped\"\n]}",
		"     \"text\": [\n      \"Traceback (most recent call last):\\n\",\n      \"" + printed + "\\n\"\n     ]",
		"error = \"" + figures + "\"\nstatus = \"failed\"",
		"level=error msg=\"" + figures + "\" pid=3",
		"RuntimeError(\n    '" + figures + "'\n)",
		"ERROR run_step(3, loss): RuntimeError('" + figures + "')",
		"[RuntimeError('" + figures + "'), None]",
		"  File \"train.py\", line 9, in main\n    out = model(x, \"cuda\")\n" + printed,
		"print(\"step\", 3)\n" + printed,
		"| Model | Version | Status |\n|---|---|---|\n| llm | 1 | " + figures + " |",
		"My job ended with a message like this:\n\n" + slurm + "\n\nOur admins say this means that it used too much memory.",
		"> failed (exitcode: -9)\n\nThis happens on my machine each time.",
		"I looked for oom lines in dmesg and found:\n" + killed,
		"Last message of the kernel (dmesg | grep -i kill):\n" + killed,
	} {
		events, err := Scan(strings.NewReader(text))
		if err != nil || len(events) != 1 {
			t.Errorf("%d events, %v: %s", len(events), err, text)
		}
	}
}

// Whoever stops a service ends it with the same signal.
func TestStoppedService(t *testing.T) {
	const text = "box systemd[1]: train.service: State 'stop-sigterm' timed out. Killing.\n" +
		"box systemd[1]: train.service: Main process exited, code=killed, status=9/KILL\nbox systemd[1]: train.service: Failed with result 'timeout'.\n"
	if events, _ := Scan(strings.NewReader(text)); len(events) != 0 {
		t.Errorf("%+v", events)
	}
}

// A bar tells that the program went on where it stands on the line of the failure and counts on after it.
func TestCounts(t *testing.T) {
	const oom = "WARNING:root:CUDA out of memory. Tried to allocate 2.00 GiB"
	for text, want := range map[string]bool{
		oom + " | 3/90 [00:01<00:53, 1.2it/s]\n" + oom + " | 4/90 [00:02<00:53, 1.2it/s]":  true,
		oom + " | 3/90 [00:01<00:53, 1.2it/s]\n" + oom + " | 3/90 [00:02<00:53, 1.2it/s]":  false,
		oom + " | 3/90 [00:01<00:53, 1.2it/s]\n" + oom + " | 4/100 [00:02<00:53, 1.2it/s]": false,
		oom + "\nx | 4/90 [00:02<00:53, 1.2it/s]":                                          false,
	} {
		events, _ := Scan(strings.NewReader(text))
		if len(events) != 1 || events[0].Recovered != want {
			t.Errorf("%q: %+v", text, events)
		}
	}
}

// The rank stands anywhere among the words before a message.
func TestRankBefore(t *testing.T) {
	for before, want := range map[string]int{
		"[E] [RANK 2] x: ": 2, "job - ERROR - [Rank 7] ": 7, "global rank 12: ": 12, `{"level":"error","rank":6,"msg":"`: 6, "rank 3/8: ": 3,
		"": -1, "ranking 3: ": -1, "local_rank 3: ": -1, "rank: ": -1, "rank 12345: ": -1, "frank 3: ": -1,
	} {
		f := &findings{}
		f.fillRank(before)
		if got, known := f.Rank.Value(); known != (want >= 0) || known && got != want {
			t.Errorf("%q: %v", before, f.Rank)
		}
	}
}
