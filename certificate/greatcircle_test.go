package certificate_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/policy"
)

// TestOldGreatCircle verifies a policy that was designed when there was one formula for distances on the globe. Its file
// states that formula; under the name of the other it is another problem, and the certificate does not hold.
func TestOldGreatCircle(t *testing.T) {
	text, err := os.ReadFile("testdata/greatcircle.policy")
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := certificate.CheckPolicy(t.Context(), p); err != nil {
		t.Errorf("the policy of before does not verify: %v", err)
	}
	old := []byte(`"kind":"greatcircle"`)
	if bytes.Count(text, old) != 1 {
		t.Fatalf("%d costs of kind greatcircle in the file, want 1", bytes.Count(text, old))
	}
	p, err = policy.Decode(bytes.Replace(text, old, []byte(`"kind":"greatcircle-2"`), 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := certificate.CheckPolicy(t.Context(), p); err == nil {
		t.Error("the certificate of one formula holds for the other")
	}
}
