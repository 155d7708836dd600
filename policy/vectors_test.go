package policy

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/wpm-go/wpm/policy/ledger"
	"github.com/wpm-go/wpm/vectors"
)

// TestVectors draws the release vectors with their random bytes, through the reader that only tests have. Those with a
// text that is no policy are refused; those with too few random bytes fail after the debit.
func TestVectors(t *testing.T) {
	file, err := vectors.Read("release")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Cases {
		var in struct {
			Policy    string          `json:"policy"`
			PolicyHex string          `json:"policy_hex"`
			Private   string          `json:"private"`
			Random    string          `json:"random"`
			Projected []vectors.Float `json:"projected"`
		}
		var out struct {
			ID     string `json:"id"`
			Usable bool   `json:"usable"`
			Index  int    `json:"index"`
			Input  int    `json:"input"`
			Report string `json:"report"`
		}
		if err := c.Decode(&in, &out); err != nil {
			t.Fatal(err)
		}
		p, err := Decode(append([]byte(in.Policy), unhex(t, in.PolicyHex)...)) // one of the two
		if c.Error == "policy" {
			if err == nil {
				t.Errorf("%s: accepted:\n%s", c.ID, in.Policy)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		private, random := unhex(t, in.Private), unhex(t, in.Random)
		var solver ProjectFunc = func(context.Context, []float64) ([]float64, error) {
			if in.Projected == nil {
				return nil, errors.New("no solver")
			}
			return vectors.Floats(in.Projected), nil
		}
		r, err := release(t.Context(), p, ledger.UnaccountedForTesting(), private, solver, bytes.NewReader(random))
		if c.Error == "random" {
			if !errors.Is(err, ErrRandom) {
				t.Errorf("%s: %v, want %v", c.ID, err, ErrRandom)
			}
			continue
		}
		if err != nil || r.Index() != out.Index || r.String() != out.Report {
			t.Errorf("%s: %v, %v, want output %d, report %s", c.ID, r, err, out.Index, out.Report)
		}
		if id := p.ID(); hex.EncodeToString(id[:]) != out.ID {
			t.Errorf("%s: ID %x, want %s", c.ID, id, out.ID)
		}
		pr, err := ParsePrivate(p, private)
		if (err == nil) != out.Usable {
			t.Errorf("%s: private data: %v, want usable %t", c.ID, err, out.Usable)
		}
		if out.Input < 0 || err != nil {
			continue
		}
		if i := pr.Pick(binary.LittleEndian.Uint64(random)); i != out.Input {
			t.Errorf("%s: input %d, want %d", c.ID, i, out.Input)
		}
	}
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
