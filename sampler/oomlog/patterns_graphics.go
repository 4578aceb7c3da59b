package oomlog

import "nvpeak/sampler"

// graphicsRows are what encoders and decoders of video, and the interfaces to the GPU that games and renderers use, print.
// Their names and numbers are the same in every program and every language.
var graphicsRows = []row{
	// NVENC and NVDEC: FFmpeg (libavcodec/nvenc.c, nvdec.c), OBS, NVEncC. The limit of sessions reads as this error, too.
	{name: "nvenc", framework: "nvenc", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"failed: out of memory", "_nvenc @"},
		start: `(?:OpenEncodeSessionEx|InitializeEncoder|Create(?:Input|Bitstream)Buffer|(?:Register|Map)\w*Resource) ?failed: out of memory\b|_nvenc @ \w+\] [^\n]{1,60}: out of memory \(10\)`},
	{name: "nvenc call", framework: "nvenc", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"nvenc"},
		start: `(?-i)\b[Nn]vEnc[A-Z]\w+ ?(?:\([^\n]{0,160}?\))?(?: failed| returned| error)?:? ?(?:10 ?\((?:NV_ENC_ERR_OUT_OF_MEMORY|NVENC indicates that)|NV_ENC_ERR_OUT_OF_MEMORY)`},
	{name: "nvenc constant", framework: "nvenc", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"nv_enc_err_out_of_memory"}, loose: true, start: `NV_ENC_ERR_OUT_OF_MEMORY`},
	{name: "nvdec", framework: "nvdec", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"cuvid"}, start: `\bcuvid\w+[^\n]{0,200}?\bCUDA_ERROR_OUT_OF_MEMORY`},
	// OpenGL: the name of the error, or its number 1285 (0x0505).
	{name: "opengl", framework: "opengl", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"gl_out_of_memory", "gl error", "gl api error", "opengl error", "1285: out of memory"},
		start: `\bGL_OUT_OF_MEMORY(?: in (?:gl[A-Z]\w+|\(null\))|: Failed to)|` +
			`\b(?:Open)?GL(?:ES)?(?: API)? error\b[^\n\w]{0,16}(?:\(?(?:code )?(?:1285|0x0?505)\b|(?:GL_)?OUT_?OF_?MEMORY\b)|gl\w+:\d+>: GL_OUT_OF_MEMORY|` +
			`^1285: Out of memory|\bOpenGL error: out of memory \[GLerror\]`},
	{name: "opengl in Python", framework: "opengl", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"glerror("}, lines: 24,
		start: `\bGLError\( ?err = 1285\b|\bGLError\( ?$`, near: `description = b?['"]out of memory`, fields: []string{`\bGL_TEXTURE_2D, ?0, ?\w+, ?<texture_width:int>, ?<texture_height:int>, ?0, ?<texture_format:word>, ?<texture_type:word>`}},
	{name: "opengl constant", framework: "opengl", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"gl_out_of_memory"}, loose: true, start: `\bGL_OUT_OF_MEMORY\b`},
	// Vulkan: -2 is VK_ERROR_OUT_OF_DEVICE_MEMORY; each binding spells that in its way.
	{name: "vulkan", framework: "vulkan", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"error_out_of_device_memory"}, loose: true, start: `(?:VK_)?ERROR_OUT_OF_DEVICE_MEMORY`},
	{name: "vulkan under Direct3D", framework: "vulkan", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"error_out_of_device_memory"}, start: `\b(?:vkd3d|dxvk)\S*[^\n]{0,60}?\bVK_ERROR_OUT_OF_DEVICE_MEMORY`},
	{name: "vulkan code", framework: "vulkan", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"erroroutofdevicememory"}, start: `\bErrorOutOfDeviceMemory\b`},
	{name: "vulkan number", framework: "vulkan", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"vkallocatememory", "vkcreate", "vmacreate", "device memory, vr"},
		start: `\b(?:vkAllocateMemory|v(?:k|ma)Create(?:Image|Buffer)) ?(?:\([^()\n]{0,80}\) ?)?(?:failed|returned|` +
			`error)(?: with)?(?: (?:error|code|result|VkResult))* ?[:=(]* ?-2\b|Failed to allocate device memory, vr -2\b`},
	{name: "vulkano", framework: "vulkan", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"(outofdevicememory)"}, start: `\b\w*(?:Oom|Alloc\w*|Vulkan)Error\(OutOfDeviceMemory\)`},
	{name: "vulkan exception", framework: "vulkan", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"out of device memory", "vk::outofdevicememoryerror"},
		start: `(?:error|exception)\((?:vk::)?\W?Out of device memory\b|after throwing an instance of 'vk::OutOfDeviceMemoryError'`},
	{name: "dxvk", framework: "vulkan", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"dxvkmemoryallocator"}, lines: 2, start: `DxvkMemoryAllocator: Memory allocation failed`, fields: []string{`Size: <req:bytes>`}},
	// The drivers of AMD: Mesa (radeon_drm_bo.c, amdgpu_bo.c, radv_amdgpu_bo.c) and the kernel (amdgpu_cs.c).
	{name: "mesa", framework: "mesa", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"failed to allocate a buffer"}, lines: 2,
		start: `(?:radeon|amdgpu): Failed to allocate a buffer:`, fields: []string{`size : <req:bytes>`}},
	{name: "zink", framework: "mesa", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"zink: couldn't allocate"}, start: `zink: couldn't allocate memory: heap=\d+ size=<req:bytes>`},
	{name: "rocr", framework: "hip", kind: sampler.KindHIP, memory: sampler.MemoryGPU, words: []string{"hsa_status_error_out_of_res"}, // it is printed for threads that cannot be made, too, but without this figure
		start: `HSA_STATUS_ERROR_OUT_OF_RESOURCES\b[^\n]{0,300}?Available Free mem : <free:mib> MB`},
	{name: "amdgpu", framework: "mesa", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"memory for command submission"}, start: `Not enough memory for command submission`},
	// Direct3D: E_OUTOFMEMORY is 0x8007000E.
	{name: "direct3d", framework: "directx", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"8007000e", "e_outofmemory"}, loose: true,
		start: `(?:\bI?D3D1[012]\w*|\bDXGI\w*|\bd3d error|\bCreate(?:Texture|Buffer|CommittedResource|Heap|SwapChain)\w*)\b[^\n]{0,120}?\b(?:error|failed|was|` +
			`returned)\b[^\n]{0,40}?(?:(?:0x)?8007000E\b|E_OUTOFMEMORY\b)`},
	{name: "direct3d resource", framework: "directx", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"8007000e"}, start: `\bCreate\w*Resource\d? ?\([^\n]{0,400}?\) return(?:ed)? HRESULT ?[=:] ?(?:0x)?8007000E\b`},
	{name: "directml by its number", framework: "onnxruntime", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"8007000e"}, near: `Dml|DirectML|onnxruntime`, start: `\bException\(\d+\)[^\n]{0,40}? 8007000E\b`},
	{name: "video memory", framework: "unreal", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"out of video memory trying"}, start: `Out of video memory trying to allocate a (?:rendering resource|texture)`},
	{name: "webgpu", framework: "wgpu", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"wgpu error: out of memory"}, start: `wgpu error: Out of Memory`},
	{name: "resolve", framework: "resolve", kind: sampler.KindOtherGPU, memory: sampler.MemoryGPU, words: []string{"gpu memory is full"}, start: `Your GPU memory is full\.? Try reducing the timeline resolution`},
}
