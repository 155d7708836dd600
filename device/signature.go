package device

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// A signature of a policy is one line, "wpm-signature-1 KEY SIGNATURE": the public key and the Ed25519 signature (RFC
// 8032) of SignedText, in lower-case hexadecimal.
const (
	signatureMagic = "wpm-signature-1"
	// SignatureEnd is the end of the name of a signature, after that of its policy.
	SignatureEnd = ".sig"
	maxSignature = 1 << 10 // bytes; a right one has 210
)

// SignedText is what the publisher of a policy signs: a name of the format, and the SHA-256 of the policy's file.
func SignedText(id [32]byte) []byte { return fmt.Appendf(nil, "%s %x", signatureMagic, id) }

// Sign returns the signature of a policy, as it stands in a file.
func Sign(key ed25519.PrivateKey, id [32]byte) []byte {
	return fmt.Appendf(nil, "%s %x %x\n", signatureMagic, key.Public(), ed25519.Sign(key, SignedText(id)))
}

// VerifySignature checks the file of a signature: of this policy, and by this key. The error says what is wrong: no
// signature, another key, or another text.
func VerifySignature(key ed25519.PublicKey, id [32]byte, file []byte) error {
	word := strings.Split(strings.TrimSuffix(string(file), "\n"), " ")
	if len(word) != 3 || word[0] != signatureMagic || !strings.HasSuffix(string(file), "\n") {
		return fmt.Errorf("no signature: want one line, %s KEY SIGNATURE", signatureMagic)
	}
	signer, ok := plainHex(word[1], ed25519.PublicKeySize)
	signature, good := plainHex(word[2], ed25519.SignatureSize)
	switch {
	case !ok || !good:
		return fmt.Errorf("no signature: want %d and %d digits of lower-case hexadecimal", 2*ed25519.PublicKeySize,
			2*ed25519.SignatureSize)
	case !key.Equal(ed25519.PublicKey(signer)):
		return fmt.Errorf("signed by the key %s, not by %x", word[1], []byte(key))
	case !ed25519.Verify(key, SignedText(id), signature):
		return fmt.Errorf("the signature is not one of this policy")
	}
	return nil
}

func plainHex(s string, size int) ([]byte, bool) {
	b, err := hex.DecodeString(s)
	return b, err == nil && len(b) == size && hex.EncodeToString(b) == s
}

// ParseKey reads a public key: 64 hexadecimal digits. The error quotes what is no key.
func ParseKey(s string) (ed25519.PublicKey, error) {
	b, ok := plainHex(strings.ToLower(s), ed25519.PublicKeySize)
	if !ok {
		return nil, fmt.Errorf("%.80q is not a public key, 64 hexadecimal digits", s)
	}
	return b, nil
}

// signatureOf returns the file of the signature of a policy, or - if none is in a file.
func (want conditions) signatureOf(path string) string {
	switch {
	case want.key == nil, want.signature == "" && path == "-":
		return "-"
	case want.signature == "":
		return path + SignatureEnd
	}
	return want.signature
}

// signed refuses a policy that the key has not signed. The signature is beside the policy, unless another file is named.
func (e *Env) signed(want conditions, m Mechanism, path string) error {
	if want.key == nil {
		if want.signature != "" {
			return fmt.Errorf("-signature without -key")
		}
		return nil
	}
	file := want.signatureOf(path)
	if file == "-" && want.signature == "" {
		return fmt.Errorf("-key with a policy from standard input needs -signature FILE")
	}
	f, err := Open(file, e.In)
	if err != nil {
		return fmt.Errorf("%s is not known to be signed: %w", path, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSignature))
	if err != nil {
		return err
	}
	if err := VerifySignature(want.key, m.ID(), text); err != nil {
		return fmt.Errorf("%s: %w: %w", file, err, ErrNo)
	}
	return nil
}
