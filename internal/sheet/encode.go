package sheet

// Encode writes the sheet in the format of a file name. The errors are ErrFormat and ErrNowhere.
func (s Sheet) Encode(name string) ([]byte, error) {
	if err := Check(s.Places, name); err != nil {
		return nil, err
	}
	switch format(name) {
	case ".csv":
		return s.csv()
	case ".geojson":
		return s.geoJSON()
	}
	return s.page()
}
