package projection

import "github.com/wpm-go/wpm/cost"

// Instance is a validated problem: the dimensions of the cost, the rows with mass, and the box. The cost itself is
// checked where it is read, by CheckRow. The slices of Source are reused by the next problem.
type Instance struct {
	K, Kv int // rows and columns of the cost
	Source
	Box
}

// Set validates p. It keeps the slices of p and does not change them. Errors: those of Dims, Source.Set and Box.Set.
func (in *Instance) Set(p Problem) error {
	if err := in.SetCost(p.Cost); err != nil {
		return err
	}
	if err := in.Source.Set(in.K, p.Source, p.Support); err != nil {
		return err
	}
	return in.Box.Set(in.Kv, p.Lo, p.Hi)
}

// SetCost takes the dimensions of c. Errors: those of Dims.
func (in *Instance) SetCost(c cost.Matrix) (err error) {
	in.K, in.Kv, err = Dims(c)
	return err
}
