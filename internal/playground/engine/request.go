package engine

import "errors"

// Limits of what a request may ask for.
const (
	MaxPlaces = 2000
	MaxBytes  = 5 << 20 // of points and counts together
	MaxPeople = 20_000  // as in the demo
	MaxVisits = 1 << 20 // of one person to one place
	MaxEps    = 20

	maxLine = 64 << 20 // of a request: escapes may make six bytes of one
)

// ErrRequest reports a request that is none, or is out of range.
var ErrRequest = errors.New("playground: bad request")

// ErrPoints and ErrCounts report files that can be read, by packages costio and places, and cannot be shown.
var (
	ErrPoints = errors.New("points")
	ErrCounts = errors.New("counts")
)

// What a request asks for.
const (
	World    = "world"    // use the city of 20 x 20 cells, or Points and Counts
	Person   = "person"   // the places of a person: number Person
	Design   = "design"   // the cloud of Me, the worst case and the lower bound
	Truth    = "truth"    // the mean of the people
	Raw      = "raw"      // one release of each, as they come
	Estimate = "estimate" // the map from the raw releases
	OUE      = "oue"      // the map of a rival with the same eps, read as package rival does
	Sum      = "sum"      // what is known of one person if all releases are only summed
	Prove    = "prove"    // the certificate, made and checked
	Break    = "break"    // what the check says of a box in which one integer is one too large
	Draw     = "draw"     // one simulated release of Me: number Person
)

// Request is one line.
type Request struct {
	ID     uint64 `json:"id"`
	Do     string `json:"do"`
	Eps    string `json:"eps,omitempty"`
	People int    `json:"people,omitempty"`
	Seed   uint64 `json:"seed,omitempty"`
	Person uint64 `json:"person,omitempty"`
	Me     []Stay `json:"me,omitempty"`
	Points string `json:"points,omitempty"` // CSV, or empty for the city
	Counts string `json:"counts,omitempty"` // CSV, or empty for made-up people
}

// Stay is a place and how often somebody was there.
type Stay struct {
	Place int `json:"place"`
	Count int `json:"count"`
}
