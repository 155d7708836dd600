package main

import (
	"io"
	"os"
	"path/filepath"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// open opens a file for reading; "-" is standard input.
func open(path string, stdin io.Reader) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(stdin), nil
	}
	return os.Open(path)
}

// writeFile writes the whole of data or nothing: to a temporary file in the same folder, then renamed.
// "-" is standard output.
func writeFile(path string, data []byte, stdout io.Writer) (err error) {
	if path == "-" {
		_, err := stdout.Write(data)
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(data); err != nil {
		return err
	}
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// progress returns a callback that draws a bar on stderr if that is a terminal, and does nothing otherwise.
func progress(stderr io.Writer) func(done, total int, what string) {
	f, ok := stderr.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func(int, int, string) {}
	}
	var bar *progressbar.ProgressBar
	last := ""
	return func(done, total int, what string) {
		if bar == nil || what != last {
			if bar != nil {
				_ = bar.Finish()
			}
			bar = progressbar.NewOptions(total,
				progressbar.OptionSetWriter(f),
				progressbar.OptionSetDescription(what),
				progressbar.OptionShowCount(),
				progressbar.OptionClearOnFinish(),
				progressbar.OptionSetWidth(30),
			)
			last = what
		}
		bar.ChangeMax(total)
		_ = bar.Set(done)
	}
}
