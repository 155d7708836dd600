package cost

// Part returns some rows and columns of a cost between points, or between places on a sphere: those with the given
// numbers, in that order, with the bits that they have in m. It takes O(rows + cols). For any other cost it is nil: whole
// rows of those are as quick.
func Part(m Matrix, rows, cols []int) Matrix {
	switch c := m.(type) {
	case *Points:
		d := &Points{k: len(rows), kv: len(cols), dim: c.dim, p: c.p}
		for _, i := range rows {
			d.x = append(d.x, c.x[i*c.dim:][:c.dim]...)
		}
		d.v = make([]float64, 0, len(cols)*c.dim)
		for _, j := range cols {
			d.v = append(d.v, c.v[j*c.dim:][:c.dim]...)
		}
		return d
	case *GreatCircle:
		d := &GreatCircle{x: make([]place, len(rows)), v: make([]place, len(cols)), p: c.p, haversine: c.haversine}
		for n, i := range rows {
			d.x[n] = c.x[i]
		}
		for n, j := range cols {
			d.v[n] = c.v[j]
		}
		return d
	}
	return nil
}

// Among returns the entries between some inputs and the outputs of the same numbers.
func Among(m Matrix, list []int) *Dense {
	n := len(list)
	d := &Dense{K: n, Kv: n, Data: make([]float64, n*n)}
	part := Part(m, list, list)
	_, kv := m.Dims()
	buf := make([]float64, kv)
	for a, i := range list {
		if out := d.Row(a, nil); part != nil {
			copy(out, part.Row(a, out))
		} else {
			for b, row := 0, m.Row(i, buf); b < n; b++ {
				out[b] = row[list[b]]
			}
		}
	}
	return d
}
