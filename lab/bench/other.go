//go:build !unix

package bench

func names() []string { return nil }

func run(Config) error { return ErrSystem }

func measure([]string) error { return ErrSystem }
