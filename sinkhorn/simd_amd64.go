//go:build amd64 && simd

package sinkhorn

import "math"

// hasAVX says that the processor and the operating system have AVX2 and FMA. It is a variable so that a
// test can run both forms.
var hasAVX = detectAVX()

func detectAVX() bool {
	top, _, _, _ := cpuid(0, 0)
	if top < 7 {
		return false
	}
	_, _, c, _ := cpuid(1, 0)
	const fma, xsave, avx = 1 << 12, 1 << 27, 1 << 28
	if c&(fma|xsave|avx) != fma|xsave|avx || xgetbv()&6 != 6 {
		return false
	}
	_, b, _, _ := cpuid(7, 0)
	return b&(1<<5) != 0
}

//go:noescape
func cpuid(leaf, sub uint32) (a, b, c, d uint32)

//go:noescape
func xgetbv() (a uint32)

//go:noescape
func extentAVX(x *float64, n int) (lo, hi, bad float64)

//go:noescape
func minDiffAVX(c, h *float64, n int) float64

//go:noescape
func minIntoAVX(b, c *float64, n int, f float64)

//go:noescape
func dot3AVX(x, y, z *float64, n int) float64

//go:noescape
func gemvN4AVX(m *float64, lda int, v *float64, n int, a *[4]float64)

//go:noescape
func gemvT4AVX(m *float64, lda int, u *[4]float64, n int, s *float64)

//go:noescape
func expAVX(dst, c, h *float64, n int, f, scale float64, k *[8]uint64, table *float64)

// expConst is what expAVX takes its constants from.
var expConst = [8]uint64{
	math.Float64bits(expMagic), math.Float64bits(expC1), math.Float64bits(expC2), math.Float64bits(expC3),
	2047, 1<<64 - (1 - expMin),
}
