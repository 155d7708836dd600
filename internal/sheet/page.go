package sheet

import (
	"bytes"
	_ "embed"
	"html/template"
)

//go:embed panel.html
var panelText string

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.Must(template.New("page").Parse(pageText)).Parse(panelText))

// Page is pictures and tables as HTML that needs no other file and no script.
type Page struct {
	Title    string
	Headline string // the answer, in a sentence or two
	Pictures []Picture
	Tables   []Table // below the pictures
	Notes    []string
	Files    []File // beside the page, to be linked
}

// File is a file beside a page.
type File struct {
	Name, Text string
}

// HTML writes the page.
func (p Page) HTML() ([]byte, error) {
	view := struct {
		Page
		colours
		Pictures []drawn
	}{Page: p, colours: theColours()}
	for _, picture := range p.Pictures {
		view.Pictures = append(view.Pictures, picture.draw())
	}
	var b bytes.Buffer
	err := pageTemplate.Execute(&b, view)
	return b.Bytes(), err
}

// page is the sheet as a page: one picture, if the places are flat.
func (s Sheet) page() ([]byte, error) {
	p := Page{Title: s.Title, Headline: s.Headline, Tables: s.Tables, Notes: s.Notes}
	if s.Places.Flat() {
		picture := Picture{Places: s.Places, Text: s.Coarse}
		for _, panel := range []Panel{
			{Title: "truth", Shares: s.Truth}, {Title: "guess, without a report", Shares: s.Guess},
			{Title: "raw: the reports as they are", Shares: s.Raw, Outputs: true}, {Title: "map", Shares: s.Map},
		} {
			if panel.Shares != nil {
				picture.Panels = append(picture.Panels, panel)
			}
		}
		p.Pictures = append(p.Pictures, picture)
	}
	return p.HTML()
}
