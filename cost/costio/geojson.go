package costio

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/wpmerr"
)

// ReadGeoJSON reads points from a FeatureCollection of GeoJSON (RFC 7946): a point for each feature. A Point or a
// MultiPoint of one position is where it says; a Polygon or MultiPolygon is at the centroid of its largest polygon, and
// keeps its rings in Shapes. The label is the property of the given name, a text or a number; without a name it is the
// first that there is of label, name and id, or the id of the feature. A name may be in any case. Columns are lat and
// lon. The file may be gzipped. Errors: an *Error, which names the feature, from 1, as a line.
func ReadGeoJSON(r io.Reader, name, property string) (*Points, error) {
	src, err := newSource(r, name, MaxBytes, false)
	if err != nil {
		return nil, err
	}
	return readGeoJSON(src, property)
}

// geoFeature is what is read of a feature.
type geoFeature struct {
	Type       string                     `json:"type"`
	ID         json.RawMessage            `json:"id"`
	Properties map[string]json.RawMessage `json:"properties"`
	Geometry   *struct {
		Type        string          `json:"type"`
		Coordinates json.RawMessage `json:"coordinates"`
	} `json:"geometry"`
}

func readGeoJSON(src *source, property string) (*Points, error) {
	p := &Points{Columns: latLon}
	seen := map[string]int{}
	some := false
	n := 0
	fail := func(err error, format string, args ...any) error {
		return &Error{File: src.name, Line: n, Msg: fmt.Sprintf("feature %d: ", n) + fmt.Sprintf(format, args...), Err: err}
	}
	each := func(f geoFeature) error {
		n++
		if n > cost.MaxPoints {
			return fail(wpmerr.ErrTooLarge, "more points than allowed")
		}
		label, ok := f.label(property)
		if !ok {
			return fail(ErrLabel, "%s", f.noLabel(property))
		}
		if why := labelFault(label); why != "" {
			return fail(ErrLabel, "label %s %s", quote(label), why)
		}
		if first, twice := seen[label]; twice {
			return fail(ErrDuplicate, "label %s is that of feature %d already", quote(label), first)
		}
		seen[label] = n
		at, shape, err := f.place()
		if err != nil {
			return fail(err, "%s", err)
		}
		some = some || shape != nil
		p.Labels, p.X, p.Shapes = append(p.Labels, label), append(p.X, []float64{at[1], at[0]}), append(p.Shapes, shape)
		return nil
	}
	if err := features(json.NewDecoder(src), each); err != nil {
		var e *Error
		if errors.As(err, &e) {
			return nil, e
		}
		if errors.Is(err, errNoCollection) || !isJSON(err) {
			return nil, &Error{File: src.name, Msg: err.Error(), Err: errors.Join(ErrFormat, err)}
		}
		return nil, fail(ErrFormat, "not GeoJSON: %v", err)
	}
	if len(p.X) == 0 {
		return nil, &Error{File: src.name, Msg: "no features", Err: ErrFormat}
	}
	if !some {
		p.Shapes = nil
	}
	return p, nil
}

func isJSON(err error) bool {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	return errors.As(err, &syntax) || errors.As(err, &kind) || errors.Is(err, io.ErrUnexpectedEOF)
}

var errNoCollection = errors.New("no FeatureCollection of GeoJSON")

// features calls each for every feature of a collection, of which one at a time is in memory.
func features(d *json.Decoder, each func(geoFeature) error) error {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(errNoCollection, err)
	}
	collection, there := false, false
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		switch key {
		case "type":
			var kind string
			if err := d.Decode(&kind); err != nil {
				return err
			}
			if collection = kind == "FeatureCollection"; !collection {
				return fmt.Errorf("%w: the type is %s", errNoCollection, quote(kind))
			}
		case "features":
			if t, err := d.Token(); err != nil || t != json.Delim('[') {
				return errors.Join(errNoCollection, err)
			}
			for there = true; d.More(); {
				var f geoFeature
				if err := d.Decode(&f); err != nil {
					return err
				}
				if err := each(f); err != nil {
					return err
				}
			}
			if _, err := d.Token(); err != nil {
				return err
			}
		default:
			var skip json.RawMessage
			if err := d.Decode(&skip); err != nil {
				return err
			}
		}
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if !collection || !there {
		return errNoCollection
	}
	return nil
}

func (f geoFeature) label(property string) (string, bool) {
	if property != "" {
		return f.property(property)
	}
	for _, name := range labelNames {
		if s, ok := f.property(name); ok {
			return s, true
		}
	}
	return plainText(f.ID)
}

// property is a text or a number, of a name in any case if there is none in this one.
func (f geoFeature) property(name string) (string, bool) {
	if s, ok := plainText(f.Properties[name]); ok {
		return s, true
	}
	for _, key := range slices.Sorted(maps.Keys(f.Properties)) {
		if strings.EqualFold(key, name) {
			if s, ok := plainText(f.Properties[key]); ok {
				return s, true
			}
		}
	}
	return "", false
}

// noLabel says which properties a feature has in place of a label.
func (f geoFeature) noLabel(property string) string {
	const most = 12
	var there []string
	for _, key := range slices.Sorted(maps.Keys(f.Properties)) {
		if _, ok := plainText(f.Properties[key]); ok && len(there) < most {
			there = append(there, quote(key))
		}
	}
	text := "no label: no property " + strings.Join(labelNames[:len(labelNames)-1], ", ") + " or " + labelNames[len(labelNames)-1]
	if property != "" {
		text = "no label: no property " + quote(property)
	}
	text += " that is a text or a number; there "
	switch len(there) {
	case 0:
		return text + "is none of any name"
	case 1:
		text += "is " + there[0]
	default:
		text += "are " + strings.Join(there, ", ")
	}
	return text + ": -label names the one to take"
}

// plainText is a JSON text, or a number as it is written.
func plainText(v json.RawMessage) (string, bool) {
	s := strings.TrimSpace(string(v))
	if s == "" {
		return "", false
	}
	if s[0] == '"' {
		var text string
		err := json.Unmarshal(v, &text)
		return text, err == nil
	}
	_, err := strconv.ParseFloat(s, 64)
	return s, err == nil
}

// place is where a feature is, longitude and latitude, and its polygons.
func (f geoFeature) place() (at [2]float64, shape Shape, err error) {
	if f.Geometry == nil {
		return at, nil, refuse(ErrFormat, "no geometry")
	}
	raw := f.Geometry.Coordinates
	switch f.Geometry.Type {
	case "Point":
		at, err = position(raw)
		return at, nil, err
	case "MultiPoint":
		var all []json.RawMessage
		if err := json.Unmarshal(raw, &all); err != nil || len(all) != 1 {
			return at, nil, refuse(ErrFormat, "a MultiPoint of %d positions, want one", len(all))
		}
		at, err = position(all[0])
		return at, nil, err
	case "Polygon":
		var rings [][]json.RawMessage
		if err := json.Unmarshal(raw, &rings); err != nil {
			return at, nil, refuse(ErrFormat, "coordinates of a Polygon that are no rings: %v", err)
		}
		shape, err = shapeOf([][][]json.RawMessage{rings})
	case "MultiPolygon":
		var polygons [][][]json.RawMessage
		if err := json.Unmarshal(raw, &polygons); err != nil {
			return at, nil, refuse(ErrFormat, "coordinates of a MultiPolygon that are no rings: %v", err)
		}
		shape, err = shapeOf(polygons)
	default:
		return at, nil, refuse(ErrFormat, "a geometry of type %s, want Point or Polygon", quote(f.Geometry.Type))
	}
	if err != nil {
		return at, nil, err
	}
	return centroid(shape), shape, nil
}

func shapeOf(polygons [][][]json.RawMessage) (shape Shape, err error) {
	for _, rings := range polygons {
		var polygon [][][2]float64
		for _, ring := range rings {
			if len(ring) < 4 {
				return nil, refuse(ErrFormat, "a ring of %d positions, want four or more", len(ring))
			}
			around := make([][2]float64, len(ring))
			for i, raw := range ring {
				if around[i], err = position(raw); err != nil {
					return nil, err
				}
			}
			polygon = append(polygon, around)
		}
		if polygon != nil {
			shape = append(shape, polygon)
		}
	}
	if shape == nil {
		return nil, refuse(ErrFormat, "a polygon without rings")
	}
	return shape, nil
}

// position reads longitude, latitude and whatever else.
func position(raw json.RawMessage) (at [2]float64, err error) {
	var x []float64
	if err := json.Unmarshal(raw, &x); err != nil || len(x) < 2 {
		return at, refuse(ErrFormat, "a position that is not longitude and latitude")
	}
	if !(math.Abs(x[1]) <= 90) || !(x[0] >= -180 && x[0] <= 360) {
		return at, refuse(cost.ErrPoint, "longitude %v and latitude %v are not in degrees", x[0], x[1])
	}
	return [2]float64{x[0], x[1]}, nil
}

// refuse is an error of a feature, without its place in a file.
func refuse(err error, format string, args ...any) error {
	return &Error{Msg: fmt.Sprintf(format, args...), Err: err}
}

// centroid is that of the largest polygon's outer ring, in the plane of degrees. A ring without area has its mean.
func centroid(shape Shape) (at [2]float64) {
	most := -1.0
	for _, polygon := range shape {
		ring := polygon[0]
		var area, x, y, mx, my float64
		o := ring[0] // from here, so that small rings lose no digits
		for i, a := range ring {
			b := ring[(i+1)%len(ring)]
			ax, ay, bx, by := a[0]-o[0], a[1]-o[1], b[0]-o[0], b[1]-o[1]
			cross := float64(ax*by) - float64(bx*ay)
			area += cross
			x += cross * (ax + bx)
			y += cross * (ay + by)
			mx, my = mx+ax/float64(len(ring)), my+ay/float64(len(ring))
		}
		if math.Abs(area) > most {
			if most = math.Abs(area); area != 0 {
				mx, my = x/(3*area), y/(3*area)
			}
			at = [2]float64{o[0] + mx, math.Max(-90, math.Min(90, o[1]+my))}
		}
	}
	return at
}
