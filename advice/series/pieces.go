package series

// Pieces tell how large the pieces are by which a holder rises. PyTorch's allocator takes 2 MiB from the GPU for
// tensors of up to a MiB and at least 20 MiB for larger ones, and puts neither into what the other has free:
// https://docs.pytorch.org/docs/stable/notes/cuda.html
type Pieces struct {
	small float64 // share of small pieces in what it rose of late
	risen float64 // MiB, up to piecesMemory
}

const (
	// pieceSmall is less than what is taken for large tensors. A leak of more than that from one sample to
	// the next looks like one of large tensors.
	pieceSmall = 20
	// piecesMemory, in MiB, is how much of the rise is remembered, and piecesLeast what it takes to tell.
	piecesMemory = 512
	piecesLeast  = 128
	// piecesMostly small ones: now and then a large one comes.
	piecesMostly = 0.8
)

// add takes the rise from one sample to the next, in MiB.
func (p *Pieces) add(rise float64) {
	if !(rise > 0) {
		return
	}
	p.risen = min(piecesMemory, p.risen+rise)
	is := 0.0
	if rise < pieceSmall {
		is = 1
	}
	p.small += (is - p.small) * min(1, rise/p.risen)
}

// Small says whether what it rose of late came nearly all by small pieces.
func (p *Pieces) Small() bool { return p.risen >= piecesLeast && p.small >= piecesMostly }
