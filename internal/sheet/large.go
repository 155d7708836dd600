package sheet

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wpm-go/wpm/internal/plane"
)

// The measures of the large panel. A page of 390 pixels shows a line of letters at least 11 pixels high.
const (
	lineOf  = 28  // letters that are as wide as high, in a line
	margin  = 1.5 // letters, around the places: a number fits there
	narrow  = 0.6 // how wide a letter is, on average
	spacing = 1.3 // of lines
)

// font is how high the letters of the large panel are.
func (f frame) font() float64 { return max(f.width, f.height) / (lineOf - 2*margin) }

// enlarge adds what only the large panel has: outlines, numbers with a key, a scale bar, and lines below.
func (d *drawing) enlarge(p Panel, f frame, marks []mark, order []int, at []plane.Point) {
	d.Large = true
	font := f.font()
	width := lineOf * font
	d.Line, d.Rim, d.Font = number(font/12), number(font/4), number(font)
	for _, places := range p.Outlines {
		d.Outlines = append(d.Outlines, outline(marks, places))
	}
	if marks != nil {
		d.number(p, rasterOf(f, width, font, marks, order), at)
	}
	left, y := (f.width-width)/2, f.height+(margin+0.8)*font
	if p.Unit != "" && p.PerUnit > 0 {
		one := p.PerUnit // page units for one of the unit, which are cells of a grid
		if f.side > 0 {
			one *= pageUnits / f.side
		}
		length := math.Pow10(int(math.Floor(math.Log10(width / 3 / one))))
		for _, more := range []float64{5, 2} {
			if more*length*one <= width/3 {
				length *= more
				break
			}
		}
		d.Bar = fmt.Sprintf("M%s %sv%sh%sv-%s", number(left+font/2), number(y-font/3), number(font/3), number(length*one), number(font/3))
		d.Names = append(d.Names, text{number(left + font + length*one), number(y + font/4), "scale",
			strconv.FormatFloat(length, 'g', -1, 64) + " " + p.Unit})
		y += 1.5 * font
	}
	box := func(bottom float64) string {
		return fmt.Sprintf("%s %s %s %s", number(left), number(-margin*font), number(width), number(bottom+margin*font))
	}
	d.Box = box(y - font/2)
	below := func(class string, x float64, words string) {
		for _, line := range wrap(words, int((width-x-font)/(narrow*font))) {
			d.Foot = append(d.Foot, text{number(left + x), number(y + font/4), class, line})
			class = ""
			y += spacing * font
		}
	}
	for n, name := range p.Names {
		d.Named = append(d.Named, strings.ReplaceAll(name.Text, " %", "\u00a0%"))
		d.Foot = append(d.Foot, text{number(left + font/2), number(y + font/4), "strong", strconv.Itoa(n + 1)})
		below("", 1.7*font, name.Text)
	}
	if len(p.Names) > 0 {
		y += font / 2
	}
	for _, words := range p.Foot {
		below("", font/2, words)
	}
	d.All = box(y)
}

// wrap breaks words into lines of so many letters; a number stays with its %.
func wrap(words string, letters int) (lines []string) {
	const apart = "\u2007" // a space that does not break
	line := ""
	for _, word := range strings.Split(strings.ReplaceAll(words, " %", apart+"%"), " ") {
		word = strings.ReplaceAll(word, apart, " ")
		for {
			if n := utf8.RuneCountInString(line); n == 0 {
				line = word
			} else if n+1+utf8.RuneCountInString(word) <= letters {
				line += " " + word
			} else {
				lines, line = append(lines, line), word
			}
			if utf8.RuneCountInString(line) <= letters {
				break
			}
			long := []rune(line) // a word by itself
			lines, line, word = append(lines, string(long[:letters])), "", string(long[letters:])
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// raster says which place is seen at each point of a panel, in steps of an eighth of a letter.
type raster struct {
	least      plane.Point
	step, font float64
	cols, rows int
	place      []int // or -1
	taken      []bool
}

func rasterOf(f frame, width, font float64, marks []mark, order []int) *raster {
	r := &raster{least: plane.Point{X: (f.width - width) / 2, Y: -margin * font}, step: font / 8, font: font}
	r.cols, r.rows = int(width/r.step), int((f.height+2*margin*font)/r.step)
	r.taken = make([]bool, r.cols*r.rows)
	for range r.taken {
		r.place = append(r.place, -1)
	}
	for _, i := range order {
		for row := range r.rows {
			y := r.at(0, row).Y
			var across []float64 // where the sides are
			for _, ring := range marks[i].rings {
				for n, s := range ring {
					a, b := s.from, ring[(n+1)%len(ring)].from
					if (a.Y > y) != (b.Y > y) {
						across = append(across, a.X+(y-a.Y)/(b.Y-a.Y)*(b.X-a.X))
					}
				}
			}
			r.fill(i, row, across)
		}
	}
	return r
}

// fill sets the points of a row that are between sides.
func (r *raster) fill(place, row int, across []float64) {
	if across == nil {
		return
	}
	low, high := across[0], across[0]
	for _, x := range across {
		low, high = min(low, x), max(high, x)
	}
	for col := max(r.col(low), 0); col < min(r.col(high)+2, r.cols); col++ {
		x, left := r.at(col, row).X, 0
		for _, a := range across {
			if a < x {
				left++
			}
		}
		if left%2 == 1 {
			r.place[row*r.cols+col] = place
		}
	}
}

// at is the point in the middle of a square of the raster, and col the column of a point.
func (r *raster) at(col, row int) plane.Point {
	return plane.Point{X: r.least.X + (float64(col)+0.5)*r.step, Y: r.least.Y + (float64(row)+0.5)*r.step}
}

func (r *raster) col(x float64) int { return int((x - r.least.X) / r.step) }

func (r *raster) index(a plane.Point) int { return int((a.Y-r.least.Y)/r.step)*r.cols + r.col(a.X) }

// The half of a number with its rim, in steps.
const halfWidth, halfHeight = 4, 5

// nearest returns where a number may be that is nearest to a point, within a reach: where its box has only places that
// are allowed, and nothing that is taken; if it has a line, that crosses nothing, either.
func (r *raster) nearest(to plane.Point, reach float64, line bool, allowed func(place int) bool) (best plane.Point, ok bool) {
	for row := halfHeight; row < r.rows-halfHeight; row++ {
		for col := halfWidth; col < r.cols-halfWidth; col++ {
			a := r.at(col, row)
			if d := math.Hypot(a.X-to.X, a.Y-to.Y); d < reach && r.fits(col, row, allowed) && !(line && r.crosses(to, a)) {
				best, reach, ok = a, d, true
			}
		}
	}
	return best, ok
}

// crosses reports whether a line from a place crosses what is taken elsewhere.
func (r *raster) crosses(from, to plane.Point) bool {
	steps := math.Ceil(math.Hypot(to.X-from.X, to.Y-from.Y) / r.step)
	for n := 0.0; n < steps; n++ {
		i := r.index(plane.Point{X: from.X + (to.X-from.X)*n/steps, Y: from.Y + (to.Y-from.Y)*n/steps})
		if r.taken[i] && r.place[i] != r.place[r.index(from)] {
			return true
		}
	}
	return false
}

func (r *raster) fits(col, row int, allowed func(place int) bool) bool {
	for y := row - halfHeight; y <= row+halfHeight; y++ {
		for x := col - halfWidth; x <= col+halfWidth; x++ {
			if n := y*r.cols + x; r.taken[n] || !allowed(r.place[n]) {
				return false
			}
		}
	}
	return true
}

// take marks the box of a number at a point, or the point alone.
func (r *raster) take(a plane.Point, box bool) {
	row, col := r.index(a)/r.cols, r.index(a)%r.cols
	w, h := 0, 0
	if box { // and so much beside it that two numbers are not read as one
		w, h = 2*halfWidth, halfHeight
	}
	for y := max(row-h, 0); y <= min(row+h, r.rows-1); y++ {
		for x := max(col-w, 0); x <= min(col+w, r.cols-1); x++ {
			r.taken[y*r.cols+x] = true
		}
	}
}

// number puts a number at each name: within its places if that is near; else, with a line to it, near by where no place
// is; else where no outline is; else anywhere in or outside. Other pieces of an outline have its number if it fits there.
func (d *drawing) number(p Panel, r *raster, at []plane.Point) {
	of := map[int]int{-1: 0} // the outlines, from 1
	for n, places := range p.Outlines {
		for _, i := range places {
			of[i] = n + 1
		}
	}
	piece := r.pieces(of)
	put := func(a plane.Point, n int) {
		r.take(a, true)
		d.Names = append(d.Names, text{number(a.X), number(a.Y + 0.35*r.font), "name", strconv.Itoa(n + 1)})
	}
	for n, name := range p.Names {
		own := func(place int) bool { return place >= 0 && piece(place) == piece(name.Place) }
		from := r.seen(name.Place, at[name.Place])
		near := 5 * r.font
		outside := func(place int) bool { return place < 0 }
		free := func(place int) bool { return outside(place) || own(place) }
		var a plane.Point
		ok := false
		for _, try := range []struct {
			reach   float64
			line    bool
			allowed func(place int) bool
		}{{near / 2, false, own}, {near, true, outside}, {near, true, func(place int) bool { return of[place] == 0 || own(place) }},
			{math.Inf(1), true, free}, {math.Inf(1), false, free}} {
			if !ok {
				a, ok = r.nearest(from, try.reach, try.line, try.allowed)
			}
		}
		if !ok { // the numbers fill what is outside
			continue
		}
		if put(a, n); !own(r.place[r.index(a)]) {
			d.Leaders = append(d.Leaders, r.leader(r.seen(name.Place, a), a)) // to its edge, so that its colour is seen
		}
	}
	for n, name := range p.Names { // on the other pieces, where there is room
		seen := map[int]bool{piece(name.Place): true}
		for i := range at {
			if of[i] == 0 || of[i] != of[name.Place] || seen[piece(i)] {
				continue
			}
			seen[piece(i)] = true
			own := func(place int) bool { return place >= 0 && piece(place) == piece(i) }
			if a, ok := r.nearest(at[i], 5*r.font, false, own); ok {
				put(a, n)
			}
		}
	}
}

// pieces returns what names the piece that a place is of: the places of an outline that are seen side by side.
func (r *raster) pieces(of map[int]int) func(place int) int {
	to := map[int]int{}
	piece := func(place int) int {
		for next, ok := to[place]; ok; next, ok = to[place] {
			place = next
		}
		return place
	}
	for n, a := range r.place {
		for _, m := range []int{n + 1, n + r.cols} {
			if m >= len(r.place) || of[a] == 0 || of[a] != of[r.place[m]] {
				continue
			}
			if a, b := piece(a), piece(r.place[m]); a != b {
				to[max(a, b)] = min(a, b)
			}
		}
	}
	return piece
}

// seen returns the point nearest to another where a place is seen.
func (r *raster) seen(place int, at plane.Point) plane.Point {
	best, least := at, math.Inf(1)
	for n, i := range r.place {
		if a := r.at(n%r.cols, n/r.cols); i == place && math.Hypot(a.X-at.X, a.Y-at.Y) < least {
			best, least = a, math.Hypot(a.X-at.X, a.Y-at.Y)
		}
	}
	return best
}

// leader is a line from a place to the edge of its number, which no later number covers.
func (r *raster) leader(from, to plane.Point) string {
	dx, dy := to.X-from.X, to.Y-from.Y
	length := math.Hypot(dx, dy)
	end := max(1-0.55*r.font/length, 0)
	for way := 0.0; way < length*end; way += r.step / 2 {
		r.take(plane.Point{X: from.X + dx*way/length, Y: from.Y + dy*way/length}, false)
	}
	return fmt.Sprintf("M%s %sL%s %s", number(from.X), number(from.Y), number(from.X+dx*end), number(from.Y+dy*end))
}
