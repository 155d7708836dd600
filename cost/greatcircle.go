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
// Longitudes that differ by 360 degrees, and all longitudes of a pole, are the same place, at distance exactly 0. The
// absolute error is about 1e-11 km, near 0 and near the antipode, too.
//
// Two formulas are known, and the bits of d are part of what a certificate claims. That of the kind greatcircle-2, which
// NewGreatCircle makes, takes the difference of two vectors, and a polynomial for the arcsine. That of the kind
// greatcircle, which policies of before state, is d = 2R·atan2(√h, √g) with the haversine h and the haversine g = 1 - h of
// the antipode; it takes six times as long.
type GreatCircle struct {
	x, v      []place // v is x when one set serves both sides
	same      bool
	haversine bool // the kind greatcircle
	p         power
}

type place struct {
	lat, lon float64    // degrees, as given
	cos      float64    // of the latitude
	at       [3]float64 // half the unit vector
}

// NewGreatCircle returns the cost between the places x (rows) and v (columns), each a latitude in
// [-90, 90] and a longitude in [-180, 360], in degrees; a nil v means x. The error is ErrShape,
// ErrTooLarge, ErrExponent, ErrPoint (which names the place), or ErrNotFinite when the power
// overflows.
func NewGreatCircle(x, v [][2]float64, p float64) (*GreatCircle, error) {
	return newGreatCircle(x, v, p, false)
}

func newGreatCircle(x, v [][2]float64, p float64, haversine bool) (*GreatCircle, error) {
	w, err := newPower(p)
	if err != nil {
		return nil, err
	}
	c := &GreatCircle{p: w, haversine: haversine}
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
		cos := math.Sin((90 - math.Abs(lat)) * (math.Pi / 180))
		east := lon
		if lon >= 180 {
			east -= 360 // exact
		}
		sin, along := math.Sincos(east * (math.Pi / 180))
		places[i] = place{lat, lon, cos,
			[3]float64{0.5 * float64(cos*along), 0.5 * float64(cos*sin), 0.5 * math.Sin(lat*(math.Pi/180))}}
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
	buf = buffer(buf, len(c.v))
	if c.haversine {
		for j := range buf {
			buf[j] = c.p.of(haversine(c.x[i], c.v[j]))
		}
		return buf
	}
	a := &c.x[i].at
	for j := range buf {
		b := &c.v[j].at
		x, y, z := a[0]-b[0], a[1]-b[1], a[2]-b[2]
		t := float64(x*x) + float64(y*y) + float64(z*z)
		if t <= 0.25 {
			s := math.Sqrt(t)
			buf[j] = 2 * EarthRadius * (s + float64(arcsine(s, t)))
		} else {
			buf[j] = 2 * EarthRadius * wide(a, b, t)
		}
	}
	if c.p.p != 1 {
		for j, d := range buf {
			buf[j] = c.p.of(d)
		}
	}
	return buf
}

// kilometres is the distance of two places, by the formula of the kind.
func (c *GreatCircle) kilometres(a, b place) float64 {
	if c.haversine {
		return haversine(a, b)
	}
	return 2 * EarthRadius * angle(&a.at, &b.at)
}

// angle is half the angle between two unit vectors, given half of each. It is exactly symmetric: only squares of
// differences and of sums enter. Products are rounded by themselves, so that no machine fuses them with a sum.
func angle(a, b *[3]float64) float64 {
	x, y, z := a[0]-b[0], a[1]-b[1], a[2]-b[2]
	t := float64(x*x) + float64(y*y) + float64(z*z)
	if t <= 0.25 {
		s := math.Sqrt(t)
		return s + float64(arcsine(s, t))
	}
	return wide(a, b, t)
}

// wide is angle where it is above 30 degrees, t its squared sine. Up to 60 degrees it is 45 degrees and half of
// arcsin(2t-1), beyond that a right angle less that of the antipode.
func wide(a, b *[3]float64, t float64) float64 {
	if t < 0.75 {
		s := 2*t - 1
		return math.Pi/4 + 0.5*(s+float64(arcsine(s, float64(s*s))))
	}
	x, y, z := a[0]+b[0], a[1]+b[1], a[2]+b[2]
	t = float64(x*x) + float64(y*y) + float64(z*z)
	s := math.Sqrt(t)
	return math.Pi/2 - (s + float64(arcsine(s, t)))
}

// arcsine is what that of s is above s, where t = s² is at most 1/4: s·t·Q(t). Q has the least relative error of the
// arcsine, 1.5e-17, among polynomials of its degree, found by the exchange algorithm of Remez in 60 digits.
func arcsine(s, t float64) float64 {
	tt := t * t
	even := 0.16666666666665408 + float64(tt*(0.04464285682833275+float64(tt*(0.022371758049501533+
		float64(tt*(0.0138852350464575+float64(tt*(0.0065279616922958965+float64(tt*-0.016224311970882213)))))))))
	odd := 0.07500000000337004 + float64(tt*(0.030381959136918907+float64(tt*(0.017359704796032164+
		float64(tt*(0.01216921467597711+float64(tt*(0.019528302761593307+float64(tt*0.03191231054462165)))))))))
	return s * t * (even + float64(t*odd))
}

// haversine is exactly symmetric: only |difference|, sum and product of the two places enter.
func haversine(a, b place) float64 {
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
