/* Calls the library as C programs do: the distance of two distributions on two points, an error, and a panic. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../lib/wpm.h"

extern int32_t wpm_start(char *op, char *args, wpm_array *arrays, int32_t n, int32_t ms, uint64_t *call);
extern int32_t wpm_wait(uint64_t call, int32_t ms);
extern int64_t wpm_text(uint64_t call, char *dst, int64_t size);
extern int64_t wpm_read(uint64_t call, void *dst, int64_t size);
extern void wpm_free(uint64_t handle);

static void ask(char *op, wpm_array *arrays, int32_t n, char *names, int32_t ms)
{
	char args[200], text[200] = "";
	double numbers[64];
	uint64_t call;
	snprintf(args, sizeof args, "{\"args\":{},\"arrays\":[%s]}", names);
	int32_t state = wpm_start(op, args, arrays, n, ms, &call);
	while (state == WPM_RUNNING)
		state = wpm_wait(call, 50);
	int64_t size = wpm_read(call, numbers, sizeof numbers);
	if (state == WPM_DONE)
		printf("%d: value %g, %d bytes\n", (int)state, numbers[0], (int)size);
	else {
		wpm_text(call, text, sizeof text - 1);
		printf("%d: %.80s\n", (int)state, text);
	}
	wpm_free(call);
	printf("freed: %d\n", (int)wpm_wait(call, 0));
}

int main(void)
{
	double C[] = {0, 1, 1, 0}, a[] = {1, 0}, b[] = {0.25, 0.75}, none[] = {0, 0};
	wpm_array given[] = {{C, 2, 2, WPM_FLOAT64}, {a, 1, 2, WPM_FLOAT64}, {b, 1, 2, WPM_FLOAT64}};
	ask("transport", given, 3, "\"C\",\"a\",\"b\"", 0);
	ask("transport", given, 3, "\"C\",\"a\",\"b\"", -1);
	given[1].data = none;
	ask("transport", given, 3, "\"C\",\"a\",\"b\"", 50);
	ask("panic", given, 0, "", 50);
	return 0;
}
