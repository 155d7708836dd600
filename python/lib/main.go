// Package main is the C library of wpm, which the Python package calls. The file wpm.h describes its interface.
//
// A call runs on a goroutine of package parallel, so that a panic anywhere in wpm is the error of the call. Arrays
// belong to the caller and are borrowed until the call has ended. What an object keeps, it copies. C gets numbers for
// calls and objects, never a pointer of Go; a number that has been freed is an error.
//
// This file is the only one of the project that imports unsafe: here, and nowhere else, pointers of C become slices.
package main

/*
#include "wpm.h"
*/
import "C"

import (
	"time"
	"unsafe"
)

func main() {}

// most is how many numbers an array can have.
const most = 1 << 44

// What wpm_start and wpm_wait return.
var codes = map[state]C.int32_t{done: C.WPM_DONE, running: C.WPM_RUNNING, failed: C.WPM_FAILED}

//export wpm_start
func wpm_start(op, args *C.char, arrays *C.wpm_array, n, ms C.int32_t, call *C.uint64_t) C.int32_t {
	if arrays == nil {
		n = 0
	}
	var borrowed []array
	for _, a := range unsafe.Slice(arrays, int(max(n, 0))) {
		b := array{rows: int(a.rows), cols: int(a.cols)}
		switch size := b.rows * b.cols; {
		case b.rows <= 0 || b.cols <= 0 || a.rows > most/a.cols || a.data == nil: // empty, or none that there can be
			b.rows, b.cols = max(b.rows, 0), max(b.cols, 0)
		case a._type == C.WPM_INT64:
			b.ints = unsafe.Slice((*int64)(a.data), size)
		default:
			b.floats = unsafe.Slice((*float64)(a.data), size)
		}
		borrowed = append(borrowed, b)
	}
	c := start(C.GoString(op), []byte(C.GoString(args)), borrowed, ms < 0)
	*call = C.uint64_t(handles.add(c))
	return codes[c.wait(slice(ms))]
}

//export wpm_wait
func wpm_wait(call C.uint64_t, ms C.int32_t) C.int32_t {
	c, ok := handles.get(uint64(call)).(*job)
	if !ok {
		return C.WPM_NO_CALL
	}
	return codes[c.wait(slice(ms))]
}

// slice is how long to wait; without limit if ms is negative.
func slice(ms C.int32_t) time.Duration { return time.Duration(ms) * time.Millisecond }

//export wpm_text
func wpm_text(call C.uint64_t, dst *C.char, size C.int64_t) C.int64_t {
	c, ok := handles.get(uint64(call)).(*job)
	if !ok || c.wait(0) == running {
		return -1
	}
	if size > 0 && dst != nil {
		n := min(int(size), len(c.text))
		copy(unsafe.Slice((*byte)(unsafe.Pointer(dst)), n), c.text)
	}
	return C.int64_t(len(c.text))
}

//export wpm_read
func wpm_read(call C.uint64_t, dst unsafe.Pointer, size C.int64_t) C.int64_t {
	c, ok := handles.get(uint64(call)).(*job)
	if !ok || c.wait(0) == running {
		return -1
	}
	return write(c.out, dst, size)
}

// write copies arrays, one after the other, those that size bytes hold, and returns their length in all.
func write(arrays []array, dst unsafe.Pointer, size C.int64_t) C.int64_t {
	total, room := 0, int(size/8)
	if dst == nil {
		room = 0
	}
	for _, a := range arrays {
		if n := a.size(); total+n <= room {
			at := unsafe.Add(dst, 8*total)
			copy(unsafe.Slice((*int64)(at), len(a.ints)), a.ints)
			copy(unsafe.Slice((*float64)(at), len(a.floats)), a.floats)
		}
		total += a.size()
	}
	return C.int64_t(8 * total)
}

//export wpm_transport
func wpm_transport(a, b, costs unsafe.Pointer, k, kv C.int64_t, dst unsafe.Pointer, size C.int64_t) C.int64_t {
	if a == nil || b == nil || costs == nil || k <= 0 || kv <= 0 || k > most/kv {
		return -1
	}
	floats := func(x unsafe.Pointer, n C.int64_t) []float64 { return unsafe.Slice((*float64)(x), int(n)) }
	w := distance(floats(costs, k*kv), floats(a, k), floats(b, kv))
	if w == nil {
		return -1
	}
	return write(w.arrays(), dst, size)
}

//export wpm_steps
func wpm_steps(call C.uint64_t) C.uint64_t {
	c, ok := handles.get(uint64(call)).(*job)
	if !ok {
		return 0
	}
	return C.uint64_t(c.steps.Load())
}

//export wpm_free
func wpm_free(handle C.uint64_t) {
	if c, ok := handles.remove(uint64(handle)).(*job); ok {
		c.cancel()
		if c.wait(-1); c.free != nil {
			c.free()
		}
	}
}
