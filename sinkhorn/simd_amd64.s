//go:build amd64 && simd

#include "textflag.h"

// Loops over doubles with AVX2 and FMA, four to a register. Lengths are multiples of what the comments
// say; callers do the rest. Every function ends with VZEROUPPER. simd_generic.go is the
// reference for each.

// func cpuid(leaf, sub uint32) (a, b, c, d uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-24
	MOVL leaf+0(FP), AX
	MOVL sub+4(FP), CX
	CPUID
	MOVL AX, a+8(FP)
	MOVL BX, b+12(FP)
	MOVL CX, c+16(FP)
	MOVL DX, d+20(FP)
	RET

// func xgetbv() (a uint32)
TEXT ·xgetbv(SB), NOSPLIT, $0-4
	XORL CX, CX
	XGETBV
	MOVL AX, a+0(FP)
	RET

// func extentAVX(x *float64, n int) (lo, hi, bad float64)
// n a positive multiple of 16. bad is NaN if an entry is NaN or infinite, else 0.
TEXT ·extentAVX(SB), NOSPLIT, $0-40
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	VMOVUPD (SI), Y0
	VMOVAPD Y0, Y1
	VMOVAPD Y0, Y2
	VMOVAPD Y0, Y3
	VMOVAPD Y0, Y4
	VMOVAPD Y0, Y5
	VMOVAPD Y0, Y6
	VMOVAPD Y0, Y7
	VXORPD  Y12, Y12, Y12
	VXORPD  Y13, Y13, Y13
extent:
	VMOVUPD (SI), Y8
	VMOVUPD 32(SI), Y9
	VMOVUPD 64(SI), Y10
	VMOVUPD 96(SI), Y11
	VMINPD  Y8, Y0, Y0
	VMINPD  Y9, Y1, Y1
	VMINPD  Y10, Y2, Y2
	VMINPD  Y11, Y3, Y3
	VMAXPD  Y8, Y4, Y4
	VMAXPD  Y9, Y5, Y5
	VMAXPD  Y10, Y6, Y6
	VMAXPD  Y11, Y7, Y7
	VSUBPD  Y8, Y8, Y8
	VSUBPD  Y9, Y9, Y9
	VSUBPD  Y10, Y10, Y10
	VSUBPD  Y11, Y11, Y11
	VADDPD  Y8, Y12, Y12
	VADDPD  Y9, Y13, Y13
	VADDPD  Y10, Y12, Y12
	VADDPD  Y11, Y13, Y13
	ADDQ    $128, SI
	SUBQ    $16, CX
	JNZ     extent
	VMINPD  Y1, Y0, Y0
	VMINPD  Y3, Y2, Y2
	VMINPD  Y2, Y0, Y0
	VMAXPD  Y5, Y4, Y4
	VMAXPD  Y7, Y6, Y6
	VMAXPD  Y6, Y4, Y4
	VADDPD  Y13, Y12, Y12
	VEXTRACTF128 $1, Y0, X1
	VMINPD  X1, X0, X0
	VPERMILPD $1, X0, X1
	VMINSD  X1, X0, X0
	VEXTRACTF128 $1, Y4, X1
	VMAXPD  X1, X4, X4
	VPERMILPD $1, X4, X1
	VMAXSD  X1, X4, X4
	VEXTRACTF128 $1, Y12, X1
	VADDPD  X1, X12, X12
	VPERMILPD $1, X12, X1
	VADDSD  X1, X12, X12
	VMOVSD  X0, lo+16(FP)
	VMOVSD  X4, hi+24(FP)
	VMOVSD  X12, bad+32(FP)
	VZEROUPPER
	RET

// func minDiffAVX(c, h *float64, n int) float64
// min_j (c_j - h_j), n a positive multiple of 16.
TEXT ·minDiffAVX(SB), NOSPLIT, $0-32
	MOVQ c+0(FP), SI
	MOVQ h+8(FP), DI
	MOVQ n+16(FP), CX
	VMOVUPD (SI), Y0
	VSUBPD  (DI), Y0, Y0
	VMOVAPD Y0, Y1
	VMOVAPD Y0, Y2
	VMOVAPD Y0, Y3
mindiff:
	VMOVUPD (SI), Y4
	VMOVUPD 32(SI), Y5
	VMOVUPD 64(SI), Y6
	VMOVUPD 96(SI), Y7
	VSUBPD  (DI), Y4, Y4
	VSUBPD  32(DI), Y5, Y5
	VSUBPD  64(DI), Y6, Y6
	VSUBPD  96(DI), Y7, Y7
	VMINPD  Y4, Y0, Y0
	VMINPD  Y5, Y1, Y1
	VMINPD  Y6, Y2, Y2
	VMINPD  Y7, Y3, Y3
	ADDQ    $128, SI
	ADDQ    $128, DI
	SUBQ    $16, CX
	JNZ     mindiff
	VMINPD  Y1, Y0, Y0
	VMINPD  Y3, Y2, Y2
	VMINPD  Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VMINPD  X1, X0, X0
	VPERMILPD $1, X0, X1
	VMINSD  X1, X0, X0
	VMOVSD  X0, ret+24(FP)
	VZEROUPPER
	RET

// func minIntoAVX(b, c *float64, n int, f float64)
// b_j = min(b_j, c_j - f), n a positive multiple of 8.
TEXT ·minIntoAVX(SB), NOSPLIT, $0-32
	MOVQ b+0(FP), DI
	MOVQ c+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSD f+24(FP), Y15
minto:
	VMOVUPD (SI), Y0
	VMOVUPD 32(SI), Y1
	VSUBPD  Y15, Y0, Y0
	VSUBPD  Y15, Y1, Y1
	VMINPD  (DI), Y0, Y0
	VMINPD  32(DI), Y1, Y1
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $8, CX
	JNZ     minto
	VZEROUPPER
	RET

// func dot3AVX(x, y, z *float64, n int) float64
// sum_j (x_j y_j) z_j, n a positive multiple of 16.
TEXT ·dot3AVX(SB), NOSPLIT, $0-40
	MOVQ x+0(FP), SI
	MOVQ y+8(FP), DI
	MOVQ z+16(FP), R8
	MOVQ n+24(FP), CX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
dot3:
	VMOVUPD (SI), Y4
	VMOVUPD 32(SI), Y5
	VMOVUPD 64(SI), Y6
	VMOVUPD 96(SI), Y7
	VMULPD  (DI), Y4, Y4
	VMULPD  32(DI), Y5, Y5
	VMULPD  64(DI), Y6, Y6
	VMULPD  96(DI), Y7, Y7
	VFMADD231PD (R8), Y4, Y0
	VFMADD231PD 32(R8), Y5, Y1
	VFMADD231PD 64(R8), Y6, Y2
	VFMADD231PD 96(R8), Y7, Y3
	ADDQ    $128, SI
	ADDQ    $128, DI
	ADDQ    $128, R8
	SUBQ    $16, CX
	JNZ     dot3
	VADDPD  Y1, Y0, Y0
	VADDPD  Y3, Y2, Y2
	VADDPD  Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPD  X1, X0, X0
	VPERMILPD $1, X0, X1
	VADDSD  X1, X0, X0
	VMOVSD  X0, ret+32(FP)
	VZEROUPPER
	RET

// func gemvN4AVX(m *float64, lda int, v *float64, n int, a *[4]float64)
// a_r = sum_j m[r*lda+j] v_j for four rows, n a positive multiple of 8. lda in entries.
TEXT ·gemvN4AVX(SB), NOSPLIT, $0-40
	MOVQ m+0(FP), SI
	MOVQ lda+8(FP), R8
	SHLQ $3, R8
	LEAQ (SI)(R8*1), R9
	LEAQ (R9)(R8*1), R10
	LEAQ (R10)(R8*1), R11
	MOVQ v+16(FP), DI
	MOVQ n+24(FP), CX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	XORQ   AX, AX
gemvn:
	VMOVUPD (DI)(AX*8), Y8
	VMOVUPD 32(DI)(AX*8), Y9
	VFMADD231PD (SI)(AX*8), Y8, Y0
	VFMADD231PD (R9)(AX*8), Y8, Y1
	VFMADD231PD (R10)(AX*8), Y8, Y2
	VFMADD231PD (R11)(AX*8), Y8, Y3
	VFMADD231PD 32(SI)(AX*8), Y9, Y4
	VFMADD231PD 32(R9)(AX*8), Y9, Y5
	VFMADD231PD 32(R10)(AX*8), Y9, Y6
	VFMADD231PD 32(R11)(AX*8), Y9, Y7
	ADDQ   $8, AX
	CMPQ   AX, CX
	JLT    gemvn
	VADDPD Y4, Y0, Y0
	VADDPD Y5, Y1, Y1
	VADDPD Y6, Y2, Y2
	VADDPD Y7, Y3, Y3
	// Sums across registers: lanes (0 1) of rows 0 and 1, and so on.
	VHADDPD Y1, Y0, Y0
	VHADDPD Y3, Y2, Y2
	VPERM2F128 $0x20, Y2, Y0, Y4
	VPERM2F128 $0x31, Y2, Y0, Y5
	VADDPD  Y5, Y4, Y4
	MOVQ a+32(FP), DX
	VMOVUPD Y4, (DX)
	VZEROUPPER
	RET

// func gemvT4AVX(m *float64, lda int, u *[4]float64, n int, s *float64)
// s_j += sum_r u_r m[r*lda+j] over four rows, n a positive multiple of 8. lda in entries.
TEXT ·gemvT4AVX(SB), NOSPLIT, $0-40
	MOVQ m+0(FP), SI
	MOVQ lda+8(FP), R8
	SHLQ $3, R8
	LEAQ (SI)(R8*1), R9
	LEAQ (R9)(R8*1), R10
	LEAQ (R10)(R8*1), R11
	MOVQ u+16(FP), DX
	MOVQ n+24(FP), CX
	MOVQ s+32(FP), DI
	VBROADCASTSD (DX), Y12
	VBROADCASTSD 8(DX), Y13
	VBROADCASTSD 16(DX), Y14
	VBROADCASTSD 24(DX), Y15
	XORQ   AX, AX
gemvt:
	VMOVUPD (DI)(AX*8), Y0
	VMOVUPD 32(DI)(AX*8), Y1
	VMULPD  (SI)(AX*8), Y12, Y2
	VMULPD  32(SI)(AX*8), Y12, Y3
	VFMADD231PD (R9)(AX*8), Y13, Y0
	VFMADD231PD 32(R9)(AX*8), Y13, Y1
	VFMADD231PD (R10)(AX*8), Y14, Y2
	VFMADD231PD 32(R10)(AX*8), Y14, Y3
	VFMADD231PD (R11)(AX*8), Y15, Y0
	VFMADD231PD 32(R11)(AX*8), Y15, Y1
	VADDPD  Y2, Y0, Y0
	VADDPD  Y3, Y1, Y1
	VMOVUPD Y0, (DI)(AX*8)
	VMOVUPD Y1, 32(DI)(AX*8)
	ADDQ   $8, AX
	CMPQ   AX, CX
	JLT    gemvt
	VZEROUPPER
	RET

// func expAVX(dst, c, h *float64, n int, f, scale float64, k *[8]uint64, table *float64)
// The loop of expRow, bit for bit, n a positive multiple of 4. k: expMagic, expC1, expC2, expC3, and the
// integers 2047, expMin-1.
TEXT ·expAVX(SB), NOSPLIT, $0-64
	MOVQ dst+0(FP), DI
	MOVQ c+8(FP), SI
	MOVQ h+16(FP), R9
	MOVQ n+24(FP), CX
	MOVQ k+48(FP), DX
	MOVQ table+56(FP), R8
	VBROADCASTSD f+32(FP), Y15
	VBROADCASTSD scale+40(FP), Y14
	VBROADCASTSD (DX), Y13
	VBROADCASTSD 8(DX), Y12
	VBROADCASTSD 16(DX), Y11
	VBROADCASTSD 24(DX), Y10
	VPBROADCASTQ 32(DX), Y9
	VPBROADCASTQ 40(DX), Y8
	XORQ AX, AX
exp:
	VSUBPD (SI)(AX*8), Y15, Y0
	VADDPD (R9)(AX*8), Y0, Y0
	VMULPD Y14, Y0, Y0      // z
	VADDPD Y13, Y0, Y1      // t
	VSUBPD Y13, Y1, Y2
	VSUBPD Y2, Y0, Y2       // r = z - (t - magic)
	VPSUBQ Y13, Y1, Y1      // n
	VPAND  Y9, Y1, Y3       // n & 2047
	VPCMPEQQ Y5, Y5, Y5
	VGATHERQPD Y5, (R8)(Y3*8), Y4
	VMULPD Y10, Y2, Y6
	VADDPD Y11, Y6, Y6
	VMULPD Y2, Y6, Y6
	VADDPD Y12, Y6, Y6
	VMULPD Y2, Y6, Y6
	VMULPD Y4, Y6, Y6
	VADDPD Y4, Y6, Y6
	VPSUBQ Y3, Y1, Y7       // (n >> 11) << 11
	VPSLLQ $41, Y7, Y7      // (n >> 11) << 52
	VPADDQ Y7, Y6, Y6
	VPCMPGTQ Y8, Y1, Y7     // n > expMin - 1
	VPAND  Y7, Y6, Y6
	VMOVUPD Y6, (DI)(AX*8)
	ADDQ $4, AX
	CMPQ AX, CX
	JLT  exp
	VZEROUPPER
	RET
