package cost

import (
	"context"
	"fmt"
	"math"
)

// EarthRadius is the mean radius of the Earth in kilometres, (2a+b)/3 of WGS 84.
const EarthRadius = 6371.0088

// GreatCircle is the cost d^p between places on the sphere of radius EarthRadius, d in kilometres
// along the great circle. Against the real Earth, which is not a sphere, d is off by up to 0.6 %.
//
// d = 2R·atan2(√h, √g) with the haversine h and the haversine g = 1 - h of the antipode, each from its own formula. So
// d is accurate both near 0 and near the antipode (absolute error about 1e-11 km). Longitudes that differ by 360
// degrees, and all longitudes of a pole, are the same place, at distance exactly 0.
type GreatCircle struct {
	x, v []place // v is x when one set serves both sides
	same bool
	p    power
}

type place struct {
	lat, lon float64 // degrees, as given
	cos      float64 // of the latitude
}

// NewGreatCircle returns the cost between the places x (rows) and v (columns), each a latitude in
// [-90, 90] and a longitude in [-180, 360], in degrees; a nil v means x. The error is ErrShape,
// ErrTooLarge, ErrExponent, ErrPoint (which names the place), or ErrNotFinite when the power
// overflows.
func NewGreatCircle(x, v [][2]float64, p float64) (*GreatCircle, error) {
	w, err := newPower(p)
	if err != nil {
		return nil, err
	}
	c := &GreatCircle{p: w}
	if c.x, err = newPlaces("x", x); err != nil {
		return nil, err
	}
	if v == nil {
		c.v, c.same = c.x, true
	} else if c.v, err = newPlaces("v", v); err != nil {
		return nil, err
	}
	if err := c.checkRange(); err != nil {
		return nil, err
	}
	return c, nil
}

// checkRange refuses places whose costs overflow. It reads entries only for a power at which one might.
func (c *GreatCircle) checkRange() error {
	if !c.p.safe(math.Pi * EarthRadius) {
		if err := scan(context.Background(), c); err != nil {
			return fmt.Errorf("cost: places too far apart for p = %v: %w", c.p.p, err)
		}
	}
	return nil
}

func newPlaces(name string, at [][2]float64) ([]place, error) {
	if err := checkCount("number of points "+name, len(at)); err != nil {
		return nil, err
	}
	places := make([]place, len(at))
	for i, a := range at {
		lat, lon := a[0], a[1]
		if !(lat >= -90 && lat <= 90) {
			return nil, fmt.Errorf("%w: latitude %s[%d][0] = %v is not in [-90, 90]", ErrPoint, name, i, lat)
		}
		if !(lon >= -180 && lon <= 360) {
			return nil, fmt.Errorf("%w: longitude %s[%d][1] = %v is not in [-180, 360]", ErrPoint, name, i, lon)
		}
		// The sine of the colatitude: exactly 0 at a pole, where the cosine would not be.
		places[i] = place{lat, lon, math.Sin((90 - math.Abs(lat)) * (math.Pi / 180))}
	}
	return places, nil
}

// P returns the exponent.
func (c *GreatCircle) P() float64 { return c.p.p }

// Dims returns the numbers of places x and v.
func (c *GreatCircle) Dims() (k, kv int) {
	if c == nil {
		return 0, 0
	}
	return len(c.x), len(c.v)
}

// Row computes row i in buf; see Matrix.
func (c *GreatCircle) Row(i int, buf []float64) []float64 {
	a := c.x[i]
	buf = buffer(buf, len(c.v))
	for j := range buf {
		buf[j] = c.p.of(kilometres(a, c.v[j]))
	}
	return buf
}

// kilometres is exactly symmetric: only |difference|, sum and product of the two places enter.
func kilometres(a, b place) float64 {
	const half = math.Pi / 360 // degrees to half the angle in radians
	lon := math.Abs(a.lon - b.lon)
	if lon > 180 {
		lon = 360 - lon // exact, in [-180, 180); only its square enters
	}
	sd := math.Sin((a.lat - b.lat) * half)
	ss := math.Sin((a.lat + b.lat) * half)
	so, co := math.Sincos(lon * half)
	w := a.cos * b.cos
	h := float64(sd*sd) + float64(w*float64(so*so))
	g := float64(ss*ss) + float64(w*float64(co*co))
	return 2 * EarthRadius * math.Atan2(math.Sqrt(h), math.Sqrt(g))
}
