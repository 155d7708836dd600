//go:build amd64 && simd

#include "textflag.h"

// One step of two columns: X4 = y, and each row times it is added to its two lanes.
#define STEP(off) \
	MOVUPD off(DI), X4; \
	MOVUPD off(R8), X5; \
	MOVUPD off(R9), X6; \
	MOVUPD off(R10), X7; \
	MOVUPD off(R11), X12; \
	MULPD  X4, X5; \
	MULPD  X4, X6; \
	MULPD  X4, X7; \
	MULPD  X4, X12; \
	ADDPD  X5, X0; \
	ADDPD  X6, X1; \
	ADDPD  X7, X2; \
	ADDPD  X12, X3

// The two lanes of two rows, a and b, are joined and added to their sums hi with the errors in lo (twoSum).
#define JOIN(a, b, hi, lo) \
	MOVAPD   a, X4; \
	UNPCKLPD b, X4; \
	UNPCKHPD b, a; \
	ADDPD    X4, a; \
	MOVAPD   hi, X5; \
	ADDPD    a, X5; \
	MOVAPD   X5, X6; \
	SUBPD    hi, X6; \
	MOVAPD   X5, X7; \
	SUBPD    X6, X7; \
	SUBPD    X7, hi; \
	SUBPD    X6, a; \
	ADDPD    a, hi; \
	ADDPD    hi, lo; \
	MOVAPD   X5, hi

// func dot4SSE(x0, x1, x2, x3, y *float64, blocks int, sum *[8]float64)
// sum: hi of rows 0, 1; lo of rows 0, 1; hi of rows 2, 3; lo of rows 2, 3.
TEXT ·dot4SSE(SB), NOSPLIT, $0-56
	MOVQ  x0+0(FP), R8
	MOVQ  x1+8(FP), R9
	MOVQ  x2+16(FP), R10
	MOVQ  x3+24(FP), R11
	MOVQ  y+32(FP), DI
	MOVQ  blocks+40(FP), CX
	MOVQ  sum+48(FP), DX
	XORPS X8, X8
	XORPS X9, X9
	XORPS X10, X10
	XORPS X11, X11

block:
	MOVUPD (DI), X4
	MOVUPD (R8), X0
	MOVUPD (R9), X1
	MOVUPD (R10), X2
	MOVUPD (R11), X3
	MULPD  X4, X0
	MULPD  X4, X1
	MULPD  X4, X2
	MULPD  X4, X3
	STEP(16)
	STEP(32)
	STEP(48)
	STEP(64)
	STEP(80)
	STEP(96)
	STEP(112)
	JOIN(X0, X1, X8, X9)
	JOIN(X2, X3, X10, X11)
	ADDQ   $128, DI
	ADDQ   $128, R8
	ADDQ   $128, R9
	ADDQ   $128, R10
	ADDQ   $128, R11
	DECQ   CX
	JNZ    block
	MOVUPD X8, (DX)
	MOVUPD X9, 16(DX)
	MOVUPD X10, 32(DX)
	MOVUPD X11, 48(DX)
	RET
