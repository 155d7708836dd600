package publisher

import (
	"strings"
	"testing"
)

// TestCardLarge: no flag is offered that would be refused.
func TestCardLarge(t *testing.T) {
	for inputs, want := range map[int]bool{11585: true, 11586: false} {
		card, err := DesignCard{Head: Head{Inputs: inputs, Outputs: inputs}, noMenu: true, noTable: true}.render(false)
		for _, flag := range []string{"-menu yes", "-table EPS"} {
			if got := strings.Contains(string(card), flag); err != nil || got != want {
				t.Errorf("%d places: %v, %s", inputs, err, card)
			}
		}
	}
}
