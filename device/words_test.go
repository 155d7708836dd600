package device

import (
	"math"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/ldp"
)

// TestInWords holds that the printed numbers bound e^eps and e^eps / (1 + e^eps) from above, and by less than 1 %.
func TestInWords(t *testing.T) {
	for text, want := range map[string]string{
		"0.01": "factor 1.02; a guess that starts even ends at most 50.25 % sure",
		"1":    "factor 2.72; a guess that starts even ends at most 73.11 % sure",
		"2":    "factor 7.39; a guess that starts even ends at most 88.08 % sure",
		"9":    "factor 8110; a guess that starts even ends at most 99.99 % sure",
		"64":   "factor 6.24e+27; a guess that starts even can end more than 99.99 % sure",
	} {
		eps, err := ldp.ParseEpsilon(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := InWords(eps); !strings.HasSuffix(got, want) {
			t.Errorf("eps %s: %s, want %s", text, got, want)
		}
	}
	if math.Exp(9) > 8110 || math.Exp(2) > 7.39 {
		t.Error("the table is not of upper bounds")
	}
}
