package audit

import (
	"bufio"
	"encoding/csv"
	"io"
	"strconv"
)

// WriteCSV writes the draws for outside tools: a header and a line input,output,count for every pair, zeros
// included, or with raw a header and a line input,output for every single draw (their order is not kept: draws
// are independent). Inputs and outputs are the names of the report and the labels of the policy. Errors: those of w.
func (st Statistics) WriteCSV(w io.Writer, raw bool) error {
	buf := bufio.NewWriter(w)
	out := csv.NewWriter(buf)
	head := []string{"input", "output", "count"}
	if raw {
		head = head[:2]
	}
	if err := out.Write(head); err != nil {
		return err
	}
	for i, name := range st.Inputs {
		for j, n := range st.Counts[i] {
			line, times := []string{name, st.table.output(j), strconv.FormatUint(n, 10)}, uint64(1)
			if raw {
				line, times = line[:2], n
			}
			for range times {
				if err := out.Write(line); err != nil {
					return err
				}
			}
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return err
	}
	return buf.Flush()
}
