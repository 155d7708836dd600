package num

// Name returns the name of n, which is 0 or more, or the first name where there is none.
func Name(n int, names ...string) string {
	if n < 0 || n >= len(names) {
		return names[0]
	}
	return names[n]
}
