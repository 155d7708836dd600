package playground

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"
)

// ErrAddress: an address that others could reach, or none.
var ErrAddress = errors.New("playground: bad address")

// Listen opens a port of this machine: address is HOST:PORT, with an address of the machine itself for HOST, and 0 for
// any PORT. The errors are ErrAddress and those of package net.
func Listen(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAddress, err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("%w: %q is not an address of this machine alone, like 127.0.0.1", ErrAddress, host)
	}
	return net.Listen("tcp", address)
}

// Serve answers on l with the page until ctx is over.
func Serve(ctx context.Context, l net.Listener, page []byte) error {
	server := &http.Server{
		Handler: Handler(page, l.Addr().String()), ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute,
		IdleTimeout:    time.Minute,
		MaxHeaderBytes: 1 << 14, ErrorLog: log.New(io.Discard, "", 0),
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Handler answers GET and HEAD of / with the page. Another Host than address, or localhost with its port, is refused:
// another page that has its own name lead to this machine could else read this one.
func Handler(page []byte, address string) http.Handler {
	_, port, _ := net.SplitHostPort(address)
	local := net.JoinHostPort("localhost", port)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", rules()+"; frame-ancestors 'none'")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		switch {
		case r.Host != address && r.Host != local:
			http.Error(w, "this server is for "+address, http.StatusForbidden)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "GET and HEAD only", http.StatusMethodNotAllowed)
		case r.URL.Path != "/":
			http.Error(w, "there is one page, at /", http.StatusNotFound)
		default:
			h.Set("Content-Type", "text/html; charset=utf-8")
			h.Set("Content-Length", strconv.Itoa(len(page)))
			if r.Method == http.MethodGet {
				_, _ = w.Write(page)
			}
		}
	})
}
