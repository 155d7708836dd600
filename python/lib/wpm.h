/* The C interface of wpm: work is started, waited for, read and freed.
 *
 * Every function may be called from any thread. Memory that a call borrows (its arrays) must stay as it is until the
 * call has ended, that is until wpm_start, wpm_wait or wpm_free has said so; the library keeps none of it afterwards.
 * No function ends the process, with one exception: a fatal error of Go's runtime, such as memory that runs out. A
 * process that has called any of them must not go on in a child made by fork().
 */
#ifndef WPM_H
#define WPM_H
#include <stdint.h>

/* What wpm_start and wpm_wait return. */
enum { WPM_DONE = 0, WPM_RUNNING = 1, WPM_FAILED = 2, WPM_NO_CALL = 3 };

/* The types of the numbers of an array. */
enum { WPM_FLOAT64 = 0, WPM_INT64 = 1 };

/* An array of rows x cols numbers, row by row without gaps; a vector has one row. */
typedef struct {
	void *data;
	int64_t rows, cols;
	int32_t type;
} wpm_array;

/* The prototypes, which cgo writes into the header of the library:
 *
 * int32_t wpm_start(char *op, char *args, wpm_array *arrays, int32_t n, int32_t ms, uint64_t *call);
 *     starts op with args, a JSON object, and n arrays; args names them in its field "arrays", and has
 *     op's own arguments in "args". With "bare": true the answer has no text. It waits ms milliseconds
 *     for the end. If ms < 0, it returns at the end; nothing can end a call before that. *call is for the functions
 *     below, whatever is returned.
 * int32_t wpm_wait(uint64_t call, int32_t ms);
 *     waits on.
 * int64_t wpm_text(uint64_t call, char *dst, int64_t size);
 *     copies as much of the answer, a JSON object, as size bytes hold, and returns its length; -1 before the end.
 * int64_t wpm_read(uint64_t call, void *dst, int64_t size);
 *     copies the arrays of the answer, one after the other, those that size bytes hold, and returns their length in
 *     all; -1 before the end.
 * int64_t wpm_transport(void *a, void *b, void *costs, int64_t k, int64_t kv, void *dst, int64_t size);
 *     performs the operation transport on k and kv masses and k x kv costs, all float64, at once, and copies its arrays
 *     as wpm_read does; -1 if it is an error, which the operation itself tells. For few costs: nothing can end it, and
 *     a call by wpm_start takes 10 microseconds longer.
 * uint64_t wpm_steps(uint64_t call);
 *     how far a call is: the steps done times 2^32 and the steps in all; 0 if the operation does not say.
 * void wpm_free(uint64_t handle);
 *     ends a call, waits until it has ended, and forgets it; or forgets an object that an answer has named.
 */
#endif
