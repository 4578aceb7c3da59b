package post

import "testing"

// A text that names one kind of GPU in its sentences has that one; a number that is a width, and two kinds, tell none.
func TestGPUNamed(t *testing.T) {
	for text, want := range map[string]string{
		"I have a GTX1070 and 32G of RAM.":                  "GTX 1070",
		"My GPU is Nvidia GTX 1060 with 6 GB.":              "GTX 1060",
		"OOM on 2x3090":                                     "RTX 3090",
		"I use two 3090 with 24 GB, each 3090 GPU is free.": "RTX 3090",
		"on a 2080 Ti":                                      "RTX 2080 Ti",
		"on 4xV100":                                         "V100",
		"8卡V100 32G":                                        "V100",
		"NVidia driver: Quadro P2000 5GB":                   "Quadro P2000",
		"a Tesla P40":                                       "P40",
		"an RTX A6000":                                      "RTX A6000",
		"an A6000 here":                                     "RTX A6000",
		"the Titan Xp":                                      "TITAN XP",
		"I tried a 4090 and an L40.":                        "",
		"my GTX 1070 and a GTX 1080":                        "",
		"a 1080 x 1920 video":                               "",
		"a 1080p video":                                     "",
		"after a 2070 images it stops, and at step 3090":    "",
		"the model of 3060 rows":                            "",
		"":                                                  "",
		"a GTX 1080 and a GTX 1080 Ti":                      "",
		"one GPU (1080 Ti) of mine is a GTX 1080 Ti, a good 1080Ti": "GTX 1080 Ti",
	} {
		if got := gpuNamed(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}

// What the log says of the GPU stands.
func TestGPUOfTheLogStands(t *testing.T) {
	events := read(t, "I train with torch on a GTX 1070.\nUsing device 0: Tesla T4\nCUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 14.76 GiB total capacity; 12.00 GiB already allocated; 1.00 GiB free; 12.50 GiB reserved in total by PyTorch)\n")
	if len(events) != 1 || events[0].Context.GPUName != "Tesla T4" {
		t.Errorf("%+v", events)
	}
}
