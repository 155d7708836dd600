package policy_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
)

// A publisher makes a policy of a box and one row for each input; a device reads the file, and releases.
func Example() {
	// The publisher. Two places, three bits: the probabilities are eighths.
	eps, err := ldp.ParseEpsilon("1.1")
	if err != nil {
		log.Fatal(err)
	}
	box, err := ldp.NewPolytopeFromBounds(eps, []uint64{2, 2}, []uint64{6, 6}, 3)
	if err != nil {
		log.Fatal(err)
	}
	var rows []policy.Row
	for _, n := range [][]uint64{{6, 2}, {2, 6}} {
		w, err := box.Weights(n)
		if err != nil {
			log.Fatal(err)
		}
		row, err := policy.NewRow(box, w)
		if err != nil {
			log.Fatal(err)
		}
		rows = append(rows, row)
	}
	published, err := policy.New(policy.Config{
		Polytope:    box,
		Rows:        rows,
		InputLabels: []string{"home", "away"},
		Provenance:  policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
	})
	if err != nil {
		log.Fatal(err)
	}
	file, err := policy.Encode(published)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(file))

	// The device. Its ledger allows epsilons of 3 in all, ever.
	p, err := policy.Decode(file)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "wpm")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	books, err := ledger.Open(filepath.Join(dir, "ledger"), ledger.Options{Epoch: "week-1", Budget: "3"})
	if err != nil {
		log.Fatal(err)
	}
	defer books.Close()
	report, err := policy.Release(context.Background(), p, books, []byte("home,12\naway,3\n"), nil)
	if err != nil {
		log.Fatal(err)
	}
	again, err := policy.Release(context.Background(), p, books, []byte("away,1\n"), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("a possible report:", p.Belongs(report) == nil)
	fmt.Println("the same again:", again == report)
	fmt.Println("spent", books.Spent().FloatString(1), "of", books.Budget().FloatString(1))

	// Output:
	// {
	// "format":"wpm-policy-1",
	// "epsilon":"1.1",
	// "bits":3,
	// "mode":"mixture",
	// "work_limit_ms":0,
	// "inputs":2,
	// "outputs":2,
	// "provenance":{"geometry":"public","geometry_epsilon":null,"base_measure":"data-independent","base_measure_epsilon":null,"note":""},
	// "metadata":{},
	// "certificate":null,
	// "cost":null,
	// "input_labels":["home","away"],
	// "output_labels":null,
	// "lo":["2","2"],
	// "hi":["6","6"],
	// "fallback":{"full":[],"extra":[[0,"2"],[1,"2"]]},
	// "rows":[
	// {"full":[0],"extra":[]},
	// {"full":[1],"extra":[]}
	// ]
	// }
	// a possible report: true
	// the same again: true
	// spent 1.1 of 3.0
}

// A tampered file says where it departs from the canonical form.
func ExampleDecode() {
	_, err := policy.Decode([]byte("{\n\"format\":\"wpm-policy-1\",\n\"Epsilon\":\"1\""))
	fmt.Println(err)
	// Output:
	// policy: not a canonical policy file: line 3, offset 27, in "epsilon": "\"Epsilon\":\"1\"", want member "epsilon"
}

// published is a policy of two places at eps 1.1, in eighths.
func published() policy.Policy {
	eps, err := ldp.ParseEpsilon("1.1")
	if err != nil {
		log.Fatal(err)
	}
	box, err := ldp.NewPolytopeFromBounds(eps, []uint64{2, 2}, []uint64{6, 6}, 3)
	if err != nil {
		log.Fatal(err)
	}
	var rows []policy.Row
	for _, n := range [][]uint64{{6, 2}, {2, 6}} {
		w, err := box.Weights(n)
		if err != nil {
			log.Fatal(err)
		}
		row, err := policy.NewRow(box, w)
		if err != nil {
			log.Fatal(err)
		}
		rows = append(rows, row)
	}
	p, err := policy.New(policy.Config{
		Polytope:    box,
		Rows:        rows,
		InputLabels: []string{"home", "away"},
		Provenance:  policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
	})
	if err != nil {
		log.Fatal(err)
	}
	return p
}

// What a device asks of a policy before it accepts it.
func ExampleVerify() {
	p := published()
	fmt.Println(policy.Verify(p))
	fmt.Println("eps", p.Epsilon(), p.Inputs(), "inputs", p.Outputs(), "outputs", p.Mode())
	fmt.Println(p.InputLabel(1))
	// Output:
	// <nil>
	// eps 1.1 2 inputs 2 outputs mixture
	// away
}

// Are these counts usable? The answer is private, too.
func ExampleParsePrivate() {
	p := published()
	for _, counts := range []string{"home,12\naway,3\n", "home,12\nwork,3\n", ""} {
		_, err := policy.ParsePrivate(p, []byte(counts))
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// private: unusable data: line 2: not a label of the policy
	// private: unusable data: no counts above 0
}

// What a ledger has spent, from its file.
func Example_ledger() {
	dir, err := os.MkdirTemp("", "wpm")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "ledger")
	books, err := ledger.Open(file, ledger.Options{Epoch: "week-1", Budget: "3"})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := policy.Release(context.Background(), published(), books, []byte("home,12\n"), nil); err != nil {
		log.Fatal(err)
	}
	if err := books.Close(); err != nil {
		log.Fatal(err)
	}

	text, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	statement, err := ledger.Read(text)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(statement.Spent.FloatString(1), "of", statement.Budget.FloatString(1), "in", statement.Entries[0].Epoch)
	// Output:
	// 1.1 of 3.0 in week-1
}

// A report as it is sent, and as a server reads it.
func ExampleReport_MarshalText() {
	p := published()
	report, err := policy.Release(context.Background(), p, ledger.UnaccountedForTesting(), []byte("home,12\n"), nil)
	if err != nil {
		log.Fatal(err)
	}
	line, err := report.MarshalText()
	if err != nil {
		log.Fatal(err)
	}
	var received policy.Report
	if err := received.UnmarshalText(line); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(line), "characters;", p.Belongs(received), received == report)
	// Output:
	// 80 characters; <nil> true
}
