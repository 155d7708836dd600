package ledger

import (
	"crypto/ed25519"
	_ "embed"
	"encoding/hex"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/wpm-go/wpm/lab/vectors/internal/cases"
	"github.com/wpm-go/wpm/lab/vectors/internal/values"
)

//go:embed rfc8032.txt
var rfc8032 string

// A signer has what stands in RFC 8032 of one of its keys, in hexadecimal.
type signer struct{ secret, key, message, signature string }

// signers are those of RFC 8032, section 7.1.
var signers = func() (list []signer) {
	lines := strings.Split(strings.TrimSpace(rfc8032), "\n")[1:]
	for four := range slices.Chunk(lines, 4) {
		s := signer{four[0], four[1], four[2], four[3]}
		values.Must(s.sign(string(unhex(s.message))) == s.signature, "the signature of RFC 8032")
		list = append(list, s)
	}
	values.Must(len(list) == 5, "five vectors of RFC 8032")
	return list
}()

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	values.Must(err == nil, "hexadecimal")
	return b
}

// sign returns the signature of a text.
func (s signer) sign(text string) string {
	private := ed25519.NewKeyFromSeed(unhex(s.secret))
	values.Must(hex.EncodeToString(private.Public().(ed25519.PublicKey)) == s.key, "the key of RFC 8032")
	return hex.EncodeToString(ed25519.Sign(private, []byte(text)))
}

// of returns the file of the signature of a policy.
func (s signer) of(id string) string {
	return "wpm-signature-1 " + s.key + " " + s.sign("wpm-signature-1 "+id) + "\n"
}

var signatureForm = regexp.MustCompile(`^wpm-signature-1 ([0-9a-f]{64}) ([0-9a-f]{128})\n$`)

// isSignature reports whether the file of a signature is one of a policy by a key.
func isSignature(id, key, file string) bool {
	m := signatureForm.FindStringSubmatch(file)
	return m != nil && m[1] == key && ed25519.Verify(unhex(key), []byte("wpm-signature-1 "+id), unhex(m[2]))
}

type signatureIn struct {
	Op        string `json:"op"`
	Policy    string `json:"policy"`
	Key       string `json:"key"`
	Signature string `json:"signature"`
}

type ed25519In struct {
	Op        string `json:"op"`
	Key       string `json:"key"`
	Message   string `json:"message"`
	Signature string `json:"signature"`
}

type verified struct {
	Verified bool `json:"verified"`
}

// order is that of the base point of Ed25519.
var order, _ = new(big.Int).SetString("1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed", 16)

// plusOrder returns a signature whose S is more by so many orders: the same point, in another number.
func plusOrder(signature string, times int64) string {
	b := unhex(signature)
	s := slices.Clone(b[32:])
	slices.Reverse(s)
	sum := new(big.Int).Add(new(big.Int).SetBytes(s), new(big.Int).Mul(order, big.NewInt(times)))
	sum.FillBytes(s)
	slices.Reverse(s)
	return hex.EncodeToString(append(b[:32], s...))
}

// signatures adds the cases of signatures: of RFC 8032, of policies, and what is none.
func signatures(s *cases.Set) {
	raw := func(key, message, signature string, flags ...string) {
		k, sig, reason := unhex(key), unhex(signature), ""
		if len(k) != ed25519.PublicKeySize || len(sig) != ed25519.SignatureSize || !ed25519.Verify(k, unhex(message), sig) {
			reason = "signature"
		}
		s.Add(reason, ed25519In{"ed25519", key, message, signature}, verified{true}, flags...)
	}
	for n, w := range signers {
		raw(w.key, w.message, w.signature, "rfc-8032")
		for _, at := range []int{0, 31, 32, 62}[:min(4, 2000/(1+len(w.message)))] { // a bit of R, and of S
			b := unhex(w.signature)
			b[at] ^= 1 << n
			raw(w.key, w.message, hex.EncodeToString(b))
		}
		raw(w.key, w.message+"00", w.signature)
		raw(w.key, w.message, plusOrder(w.signature, 1), "limit")
		raw(signers[(n+1)%5].key, w.message, w.signature)
		if w.message != "" {
			raw(w.key, w.message[2:], w.signature)
		}
	}
	first := signers[0]
	raw("02"+strings.Repeat("00", 31), first.message, first.signature) // no point has this y
	raw(first.key[2:], first.message, first.signature, "short")
	raw(first.key, first.message, first.signature[2:], "short")
	raw(first.key, first.message, first.signature+"00", "long")
	raw(first.key, first.message, first.signature[64:]+first.signature[:64], "wrong-order")
	raw(first.key, first.message, strings.Repeat("00", 64))
	for range 12 {
		w, message := values.Pick(&s.RNG, signers...), hex.EncodeToString(s.RNG.Bytes(s.RNG.Intn(150)))
		raw(w.key, message, w.sign(string(unhex(message))))
	}

	file := func(id, key, text string, flags ...string) {
		reason := "signature"
		if isSignature(id, key, text) {
			reason = ""
		}
		s.Add(reason, signatureIn{"signature", id, key, text}, verified{true}, flags...)
	}
	for n, w := range signers {
		id := strings.Repeat([]string{"0a", "0b", "00", "ff", "5c"}[n], 32)
		good, other := w.of(id), signers[(n+1)%5]
		file(id, w.key, good)
		file(id, other.key, good)
		file(strings.Repeat("1d", 32), w.key, good)
		file(id, w.key, strings.Replace(good, w.key, other.key, 1))
		file(id, other.key, strings.Replace(good, w.key, other.key, 1))
		file(id, w.key, other.of(id))
		sign := func(text string) string {
			return "wpm-signature-1 " + w.key + " " + w.sign(text) + "\n"
		}
		file(id, w.key, sign(id))
		file(id, w.key, sign("wpm-signature-1 "+id+"\n"))
		file(id, w.key, sign("wpm-signature-1 "+string(unhex(id))))
	}
	id, w := strings.Repeat("0a", 32), signers[0]
	good := w.of(id)
	sig := strings.Fields(good)[2]
	for _, text := range []string{
		"", "\n", strings.TrimSuffix(good, "\n"), good + "\n", good + good, " " + good, "\n" + good,
		strings.TrimSuffix(good, "\n") + "\r\n", strings.TrimSuffix(good, "\n") + " \n", strings.ReplaceAll(good, " ", "  "),
		strings.ReplaceAll(good, " ", "\t"), strings.ToUpper(good), strings.Replace(good, sig, strings.ToUpper(sig), 1),
		strings.Replace(good, w.key, strings.ToUpper(w.key), 1), strings.Replace(good, "-1 ", "-2 ", 1),
		strings.Replace(good, "wpm", "Wpm", 1), "wpm-signature-1 " + w.key + "\n", "wpm-signature-1 " + sig + "\n",
		strings.Replace(good, sig, sig[2:], 1), strings.Replace(good, sig, sig+"00", 1), strings.Replace(good, sig, sig[1:], 1),
		strings.Replace(good, sig, sig[:127]+"g", 1), "\xef\xbb\xbf" + good, strings.TrimSuffix(good, "\n") + " x\n",
		strings.Replace(good, sig, plusOrder(sig, 1), 1), sig + "\n",
	} {
		file(id, w.key, text, "spelling")
	}
	for _, key := range []string{"", w.key[2:], w.key + "00", w.key[1:], strings.Repeat("g", 64)} {
		file(id, key, good, "spelling")
	}
}
