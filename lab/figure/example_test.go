package figure_test

import (
	"bytes"
	"fmt"
	"image/png"

	"github.com/wpm-go/wpm/lab/figure"
)

func Example() {
	img, err := figure.Render(figure.Line{
		Title:  "The error halves with each step of ε",
		XLabel: "ε", YLabel: "error (cell widths)", YZero: true,
		Series: []figure.Series{{Name: "measured", X: []float64{1, 2, 3}, Y: []float64{4, 2, 1},
			Err: []float64{0.4, 0.2, 0.1}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	pic, err := png.DecodeConfig(bytes.NewReader(img.PNG))
	fmt.Println(pic.Width, "x", pic.Height, err)
	fmt.Println(bytes.HasPrefix(img.SVG, []byte("<?xml")))
	// Output:
	// 720 x 571 <nil>
	// true
}
