package numtest

import (
	"context"
	"sync"
)

// Asked is a context that counts how often it is looked at, and ends after Most times if that is not negative.
type Asked struct {
	context.Context
	Most  int
	mu    sync.Mutex // of times: solvers look from several goroutines
	times int
}

// Times returns how often it was looked at.
func (c *Asked) Times() int { return c.times }

func (c *Asked) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.times++; c.Most >= 0 && c.times > c.Most {
		return context.Canceled
	}
	return nil
}

// Until is a context that ends as soon as Over says so.
type Until struct {
	context.Context
	Over func() bool
}

// Err returns context.Canceled once it has ended.
func (c Until) Err() error {
	if c.Over() {
		return context.Canceled
	}
	return nil
}
