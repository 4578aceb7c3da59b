package sampler

import "testing"

// What was measured of fragmentation, at its bounds, and never from less than is needed.
func TestMeasuredFragmentation(t *testing.T) {
	none := Opt[Bytes]{}
	for name, row := range map[string]struct {
		r    RefusedTensor
		want string
	}{
		"nothing known":      {RefusedTensor{Requested: 100}, ""},
		"nothing asked":      {RefusedTensor{LargestFree: Some(Bytes(10)), Allocated: Some(Bytes(0)), Reserved: Some(Bytes(10))}, ""},
		"broken up":          {RefusedTensor{Requested: 100, LargestFree: Some(Bytes(99)), Allocated: Some(Bytes(0)), Reserved: Some(Bytes(100))}, MeasuredBroken},
		"by its blocks":      {RefusedTensor{Requested: 100, LargestFree: Some(Bytes(99)), InactiveSplit: Some(Bytes(99)), FreeSegments: Some(Bytes(1))}, MeasuredBroken},
		"a block holds it":   {RefusedTensor{Requested: 100, LargestFree: Some(Bytes(100)), Allocated: Some(Bytes(0)), Reserved: Some(Bytes(100))}, MeasuredWhole},
		"too little":         {RefusedTensor{Requested: 100, LargestFree: Some(Bytes(9)), Allocated: Some(Bytes(0)), Reserved: Some(Bytes(80)), GPUFree: Some(Bytes(19))}, MeasuredLittle},
		"enough with free":   {RefusedTensor{Requested: 100, LargestFree: Some(Bytes(9)), Allocated: Some(Bytes(0)), Reserved: Some(Bytes(80)), GPUFree: Some(Bytes(20))}, MeasuredPieces},
		"free not known":     {RefusedTensor{Requested: 100, LargestFree: Some(Bytes(9)), Allocated: Some(Bytes(0)), Reserved: Some(Bytes(80))}, ""},
		"largest not known":  {RefusedTensor{Requested: 100, Allocated: Some(Bytes(0)), Reserved: Some(Bytes(800)), GPUFree: Some(Bytes(20))}, ""},
		"half of the blocks": {RefusedTensor{Requested: 100, LargestFree: Some(Bytes(9)), InactiveSplit: Some(Bytes(200)), FreeSegments: none}, ""},
	} {
		if got := row.r.Fragmentation(); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}
