package nvml

import (
	"os"
	"path/filepath"
	"strings"
)

// Asleep returns the PCI addresses of NVIDIA GPUs that are powered down now, such as the
// second GPU of a laptop; Open would wake them and keep them awake
// (https://github.com/Syllo/nvtop/issues/267). It asks the kernel only, never the driver.
func Asleep() []string { return asleep("/sys/bus/pci/devices") }

const (
	vendorNVIDIA = "0x10de"
	classDisplay = "0x03" // the first byte of the class: VGA 0x0300, 3D 0x0302
)

func asleep(root string) []string {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil
	}
	var found []string
	for _, e := range entries {
		dir := filepath.Join(root, e.Name())
		if line(dir, "vendor") == vendorNVIDIA && strings.HasPrefix(line(dir, "class"), classDisplay) &&
			line(dir, "power/runtime_status") == "suspended" {
			found = append(found, e.Name())
		}
	}
	return found
}

func line(dir, name string) string {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
