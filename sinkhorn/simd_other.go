//go:build !amd64 || !simd

package sinkhorn

// The default build, and every build for other processors, has no assembly of its own.
const hasAVX = false

var expConst [8]uint64

func extentAVX(_ *float64, _ int) (lo, hi, bad float64)             { panic("sinkhorn: no AVX") }
func minDiffAVX(_, _ *float64, _ int) float64                       { panic("sinkhorn: no AVX") }
func minIntoAVX(_, _ *float64, _ int, _ float64)                    { panic("sinkhorn: no AVX") }
func dot3AVX(_, _, _ *float64, _ int) float64                       { panic("sinkhorn: no AVX") }
func gemvN4AVX(_ *float64, _ int, _ *float64, _ int, _ *[4]float64) { panic("sinkhorn: no AVX") }
func gemvT4AVX(_ *float64, _ int, _ *[4]float64, _ int, _ *float64) { panic("sinkhorn: no AVX") }
func expAVX(_, _, _ *float64, _ int, _, _ float64, _ *[8]uint64, _ *float64) {
	panic("sinkhorn: no AVX")
}
