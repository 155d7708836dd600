package num

// Running is a compensated sum of numbers >= 0 that is read while it grows (Neumaier 1974): its relative error is
// about 2^-53, however many terms there are. The zero value is 0.
type Running struct{ sum, low float64 }

// Add adds x.
func (r *Running) Add(x float64) {
	t := r.sum + x
	d := t - r.sum
	r.low += (r.sum - (t - d)) + (x - d)
	r.sum = t
}

// Value returns the sum.
func (r *Running) Value() float64 { return r.sum + r.low }

// LessFrom returns x minus the sum, without rounding the sum first.
func (r *Running) LessFrom(x float64) float64 { return (x - r.sum) - r.low }
