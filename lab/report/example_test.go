package report_test

import (
	"fmt"

	"github.com/wpm-go/wpm/lab/report"
)

func Example() {
	files, err := report.Encode(report.Report{
		Title: "Two mechanisms",
		Tables: []report.Table{{
			Name: "error", Title: "Error by mechanism",
			Columns: []report.Column{{Name: "mechanism"}, {Name: "w1", Unit: "cell widths"}},
			Rows:    [][]any{{"wpm", 0.5}, {"kpm", 1.5}},
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range files {
		fmt.Println(f.Name)
	}
	fmt.Print(string(files[1].Data))
	// Output:
	// index.html
	// table.csv
	// table.json
	// mechanism,w1
	// wpm,0.5
	// kpm,1.5
}
