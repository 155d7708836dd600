package sheet

import (
	"fmt"
	"math"
	"strconv"

	"github.com/wpm-go/wpm/internal/plane"
)

// frame is the part of the plane that is drawn, the longer side in pageUnits.
type frame struct {
	least         plane.Point
	side          float64 // of the plane that pageUnits are
	width, height float64
	dot           float64
}

const pageUnits = 300

func frameOf(at []plane.Point, p plane.Places) frame {
	if p.Kind == "grid" {
		return frame{width: float64(p.Cols), height: float64(p.Rows)}
	}
	least, most := plane.Bounds(at)
	_, unit := plane.Spread(at)
	w, h := most.X-least.X, most.Y-least.Y
	f := frame{least: least, side: max(w, h)}
	if f.side == 0 {
		f.side = 1
	}
	f.dot = min(max(unit/f.side*pageUnits, 4), 36)
	f.width, f.height = w/f.side*pageUnits+f.dot, h/f.side*pageUnits+f.dot
	return f
}

func (f frame) box() string {
	return fmt.Sprintf("0 0 %s %s", number(f.width), number(f.height))
}

// at returns where a point is drawn: y grows downwards there.
func (f frame) at(a plane.Point) (x, y float64) {
	return (a.X-f.least.X)/f.side*pageUnits + f.dot/2, f.height - (a.Y-f.least.Y)/f.side*pageUnits - f.dot/2
}

func number(x float64) string { return strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64) }

// all returns where points are drawn.
func (f frame) all(at []plane.Point) (on []plane.Point) {
	for _, a := range at {
		x, y := f.at(a)
		on = append(on, plane.Point{X: x, Y: y})
	}
	return on
}
