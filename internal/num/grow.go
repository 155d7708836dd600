package num

// Grow returns a slice of length n, reusing s when it is large enough. The contents are left over.
func Grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
