package grid

// to returns what the column holds, seen from (dx, dy) away.
func (c column) to(dx, dy float64) column {
	return column{c.mass, c.x - c.mass*dx, c.y - c.mass*dy, c.square - 2*(c.x*dx+c.y*dy) + c.mass*(dx*dx+dy*dy)}
}

// times returns a share of the column.
func (c column) times(share float64) column {
	return column{share * c.mass, share * c.x, share * c.y, share * c.square}
}

// mix is what Flow.Mix says.
func (l *level) mix(p []column, q []float64) {
	dx, dy := l.spacing()
	for side := 2; side < 2*max(l.rows, l.cols); side *= 2 {
		for top := 0; top < l.rows; top += side {
			for left := 0; left < l.cols; left += side {
				l.block(p, q, side, top, left, dx, dy)
			}
		}
	}
}

// block is mix for one block.
func (l *level) block(p []column, q []float64, side, top, left int, dx, dy float64) {
	each := func(f func(i int, x, y float64)) {
		for r := top; r < min(top+side, l.rows); r++ {
			for c := left; c < min(left+side, l.cols); c++ {
				f(r*l.cols+c, float64(c-left)*dx, float64(r-top)*dy)
			}
		}
	}
	var excess, deficit float64
	each(func(i int, _, _ float64) {
		excess += max(0, p[i].mass-q[i])
		deficit += max(0, q[i]-p[i].mass)
	})
	if excess == 0 || deficit == 0 {
		return
	}
	give, fill := min(1, deficit/excess), min(1, excess/deficit)
	var pool column
	each(func(i int, x, y float64) {
		if e := p[i].mass - q[i]; e > 0 {
			part := p[i].times(give * e / p[i].mass)
			pool.add(part.to(-x, -y))
			p[i].add(part.times(-1))
		}
	})
	total := fill * deficit
	each(func(i int, x, y float64) {
		if d := q[i] - p[i].mass; d > 0 {
			p[i].add(pool.times(min(1, fill*d/total)).to(x, y))
		}
	})
}
