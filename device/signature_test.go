package device

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// A key of RFC 8032, section 7.1, test 1.
const (
	secretKey = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
	publicKey = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
)

func signer(t testing.TB) ed25519.PrivateKey {
	t.Helper()
	seed, err := hex.DecodeString(secretKey)
	if err != nil {
		t.Fatal(err)
	}
	key := ed25519.NewKeyFromSeed(seed)
	if got := hex.EncodeToString(key.Public().(ed25519.PublicKey)); got != publicKey {
		t.Fatalf("public key %s, RFC 8032 has %s", got, publicKey)
	}
	return key
}

// Every change of a byte of a signature is refused, and so are those of another policy and of another key.
func TestVerifySignature(t *testing.T) {
	key, err := ParseKey(publicKey)
	if err != nil {
		t.Fatal(err)
	}
	id := sha256.Sum256([]byte("a policy"))
	good := Sign(signer(t), id)
	if err := VerifySignature(key, id, good); err != nil {
		t.Fatal(err)
	}
	for i := range good {
		for _, bit := range []byte{1, 2, 32} {
			bad := bytes.Clone(good)
			bad[i] ^= bit
			if VerifySignature(key, id, bad) == nil {
				t.Errorf("byte %d made %q: accepted", i, bad[i])
			}
		}
		if VerifySignature(key, id, good[:i]) == nil {
			t.Errorf("%d bytes: accepted", i)
		}
	}
	if VerifySignature(key, sha256.Sum256([]byte("another")), good) == nil {
		t.Error("a signature of another policy: accepted")
	}
	other := ed25519.NewKeyFromSeed(make([]byte, 32))
	if VerifySignature(key, id, Sign(other, id)) == nil {
		t.Error("a signature by another key: accepted")
	}
	short := strings.Replace(string(good), " ", " 0", 1)
	if err := VerifySignature(key, id, []byte(short)); err == nil || !strings.Contains(err.Error(), "want 64 and 128 digits") {
		t.Errorf("a key of 65 digits: %v", err)
	}
	for _, bad := range []string{"", "00", strings.Repeat("0", 63), strings.Repeat("x", 64), strings.Repeat("0", 66)} {
		if _, err := ParseKey(bad); err == nil {
			t.Errorf("key %q: accepted", bad)
		}
	}
}

// The signature of docs/spec/policy.md is what Sign writes for the example of that page.
func TestSpecSignature(t *testing.T) {
	blocks := numtest.Blocks(t, filepath.Join("..", "docs", "spec", "policy.md"))
	id := sha256.Sum256([]byte(blocks["policy-1"]))
	if got, want := string(Sign(signer(t), id)), blocks["signature"]; got != want {
		t.Errorf("the page has %q, want %q", want, got)
	}
}

// verify and release accept only what the key has signed, and a ledger that has paid under a key pays under no other.
func TestSignedPolicies(t *testing.T) {
	dir := folder(t)
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "p"))
	if err != nil {
		t.Fatal(err)
	}
	id := sha256.Sum256(text)
	other := ed25519.NewKeyFromSeed(make([]byte, 32))
	otherKey := hex.EncodeToString(other.Public().(ed25519.PublicKey))
	pay := []string{"release", "-ledger", "new", "-budget", "9", "p"}
	run := func(want int, text string, args ...string) {
		t.Helper()
		if status, out, errs := try(t, dir, "home,1\n", args...); status != want || !strings.Contains(out+errs, text) {
			t.Errorf("%q: status %d, %q, %q, want %d, %q", args, status, out, errs, want, text)
		}
	}
	run(Bad, "not known to be signed", "verify", "-key", publicKey, "p")
	run(Bad, "not known to be signed", append(pay, "-epoch", "a", "-key", publicKey)...)
	if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
		t.Error("a refusal made a ledger")
	}
	write("p.sig", Sign(other, id))
	run(No, "not by "+publicKey, "verify", "-key", publicKey, "p")
	write("p.sig", Sign(signer(t), id))
	run(Yes, "verified", "verify", "-key", publicKey, "p")
	run(Yes, "verified", "verify", "-key", strings.ToUpper(publicKey), "-signature", filepath.Join(dir, "p.sig"), "p")
	run(Bad, "64 hexadecimal digits", "verify", "-key", "x", "p")
	if status, _, errs := try(t, dir, string(text), "verify", "-key", publicKey, "-"); status != Bad ||
		!strings.Contains(errs, "-key with a policy from standard input needs -signature FILE") {
		t.Errorf("from standard input: status %d, %q", status, errs)
	}
	for signature, want := range map[string]int{"p.sig": Yes, "counts": No} {
		if status, out, errs := try(t, dir, string(text), "verify", "-key", publicKey, "-signature",
			filepath.Join(dir, signature), "-"); status != want {
			t.Errorf("from standard input, signed in %s: status %d, %q, %q", signature, status, out, errs)
		}
	}
	stdin := filepath.Join(dir, "p.sig")
	if got := (conditions{key: signer(t).Public().(ed25519.PublicKey), signature: stdin}).signatureOf("-"); got != stdin {
		t.Errorf("the signature of standard input is in %s, want %s", got, stdin)
	}
	run(Bad, "-signature without -key", "verify", "-signature", "p.sig", "p")
	run(Yes, "77706d31", append(pay, "-epoch", "a", "-key", publicKey)...)
	run(Yes, "the ledger takes policies signed by "+publicKey, "ledger", "new")
	before, err := os.ReadFile(filepath.Join(dir, "new"))
	if err != nil || !strings.Contains(string(before), "\nkey "+publicKey+" ") {
		t.Errorf("%v\n%s", err, before)
	}
	sig := filepath.Join(dir, "p.sig")
	run(Bad, "would be written over", append(pay, "-epoch", "a", "-key", publicKey, "-o", sig)...)
	run(Bad, "would be written over", append(pay, "-epoch", "a", "-key", publicKey, "-signature", sig, "-o", sig)...)
	run(No, "signed by "+publicKey, append(pay, "-epoch", "b")...)
	write("p.sig", Sign(other, id))
	run(No, "signed by "+publicKey, append(pay, "-epoch", "b", "-key", otherKey)...)
	if after, err := os.ReadFile(filepath.Join(dir, "new")); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the ledger has changed: %v\n%s", err, after)
	}
}
