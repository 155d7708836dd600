package codebook

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"math"
)

// source makes the candidates of one seed: see "Candidates" in the package comment.
type source struct {
	block   cipher.Block
	coords  int // d + 1
	counter [aes.BlockSize]byte
	buf     []byte // the key stream of one candidate, whole blocks
}

func newSource(seed Seed, dim int) *source {
	block, err := aes.NewCipher(seed[:])
	if err != nil {
		panic("codebook: internal error: " + err.Error()) // only for a key that is not 16, 24 or 32 bytes long
	}
	return &source{block: block, coords: dim + 1, buf: make([]byte, (dim+4)/4*aes.BlockSize)}
}

// point writes candidate j to dst, of length d + 1.
func (s *source) point(j int, dst []float64) {
	first := uint64(j) * uint64(len(s.buf)/aes.BlockSize) // below 2^20 * 2^22
	for at := 0; at < len(s.buf); at += aes.BlockSize {   // cipher.NewCTR would allocate for each candidate
		binary.BigEndian.PutUint64(s.counter[8:], first+uint64(at/aes.BlockSize))
		s.block.Encrypt(s.buf[at:], s.counter[:])
	}
	sum := 0.0
	for i := 0; i < s.coords; i += 2 {
		word := s.buf[4*i:]
		v := (float64(binary.LittleEndian.Uint32(word)) + 0.5) * 0x1p-32
		angle := float64(binary.LittleEndian.Uint32(word[4:])) * (2 * math.Pi * 0x1p-32)
		r := math.Sqrt(-2 * math.Log(v)) // v < 1, so r > 0
		sin, cos := math.Sincos(angle)
		dst[i] = r * cos
		sum += dst[i] * dst[i]
		if i+1 < s.coords {
			dst[i+1] = r * sin
			sum += dst[i+1] * dst[i+1]
		}
	}
	inverse := 1 / math.Sqrt(sum) // sum > 0: of the float angles none has a cosine of exactly 0
	for i := range dst[:s.coords] {
		dst[i] *= inverse
	}
}

// Candidate returns candidate j of a seed, a unit vector. Errors: ErrZero, and ErrReport if there is no candidate j.
func (c *Codebook) Candidate(seed Seed, j int) ([]float64, error) {
	if c.isZero() {
		return nil, ErrZero
	}
	if j < 0 || j >= c.cfg.Points {
		return nil, fmt.Errorf("%w: candidate %d of %d", ErrReport, j, c.cfg.Points)
	}
	y := make([]float64, c.cfg.Dim+1)
	newSource(seed, c.cfg.Dim).point(j, y)
	return y, nil
}

// Point returns the released point that a report stands for. Errors: ErrZero, ErrReport.
func (c *Codebook) Point(r Report) ([]float64, error) {
	if err := c.Belongs(r); err != nil {
		return nil, err
	}
	return c.Candidate(r.seed, r.Index())
}

// costs writes |x_i - y_j|^p for every atom i and candidate j, row-major. The atoms are unit vectors, row-major.
func (c *Codebook) costs(m *memory, seed Seed, atoms []float64) []float64 {
	coords, n := c.cfg.Dim+1, c.cfg.Points
	k := len(atoms) / coords
	out := m.float64s(k * n)
	y := make([]float64, coords)
	src := newSource(seed, c.cfg.Dim)
	for j := range n {
		src.point(j, y)
		for i := range k {
			square := max(2-2*dot(atoms[i*coords:(i+1)*coords], y), 0)
			v := square
			switch c.cfg.P {
			case 2:
			case 1:
				v = math.Sqrt(square)
			default:
				v = math.Pow(square, c.cfg.P/2)
			}
			out[i*n+j] = v
		}
	}
	return out
}

// dot adds in four lanes, which a processor can keep busy.
func dot(x, y []float64) float64 {
	var s0, s1, s2, s3 float64
	y = y[:len(x)]
	i := 0
	for ; i+4 <= len(x); i += 4 {
		s0 += x[i] * y[i]
		s1 += x[i+1] * y[i+1]
		s2 += x[i+2] * y[i+2]
		s3 += x[i+3] * y[i+3]
	}
	for ; i < len(x); i++ {
		s0 += x[i] * y[i]
	}
	return (s0 + s1) + (s2 + s3)
}
