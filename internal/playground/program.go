package playground

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/wpm-go/wpm/internal/atomicfile"
)

// Program is the engine as WebAssembly.
type Program struct {
	Packed []byte // by gzip
	Exec   []byte // wasm_exec.js of the Go that built it
}

// ErrNoProgram: there is no program, and none can be built. The text says what to type.
var ErrNoProgram = errors.New("the page's program is not here")

const (
	module  = "github.com/wpm-go/wpm"
	command = "./internal/playground/wasm"

	packedName, execName = "wpm.wasm.gz", "wasm_exec.js"

	// maxUnpacked bounds what is unpacked to look whether a file is sound; the program has 8 MB.
	maxUnpacked = 64 << 20
)

//go:embed all:dist
var dist embed.FS

// Find returns the program: embedded, cached or built. dir is the folder of the module or below it; elsewhere nothing
// is cached or built. progress is told how many packages have been compiled, of about how many; it may be nil.
//
// The error is ErrNoProgram, also if the build fails, or that of ctx.
func Find(ctx context.Context, dir string, progress func(done, total int)) (Program, error) {
	if embedded, err := fs.Sub(dist, "dist"); err == nil {
		if p, err := load(embedded); err == nil {
			return p, nil
		}
	}
	root, key, err := sources(dir)
	if err != nil {
		return Program{}, fmt.Errorf("%w (%w); in a clone of %s, with Go installed, type: go run ./cmd/wpm playground",
			ErrNoProgram, err, module)
	}
	cache := "" // no cache is no error
	if base, err := os.UserCacheDir(); err == nil {
		cache = filepath.Join(base, "wpm", "playground-"+key)
		if p, err := load(os.DirFS(cache)); err == nil {
			return p, nil
		}
	}
	p, err := build(ctx, root, progress)
	if ctx.Err() != nil {
		return Program{}, ctx.Err()
	}
	if err != nil {
		return Program{}, fmt.Errorf("%w (%w); install Go, and in %s type: go run ./cmd/wpm playground", ErrNoProgram, err,
			root)
	}
	if cache != "" {
		_ = p.keep(cache) // the next run builds again
	}
	return p, nil
}

// load reads a program, and checks that it is whole.
func load(from fs.FS) (p Program, err error) {
	if p.Packed, err = fs.ReadFile(from, packedName); err != nil {
		return p, err
	}
	if p.Exec, err = fs.ReadFile(from, execName); err != nil {
		return p, err
	}
	z, err := gzip.NewReader(bytes.NewReader(p.Packed))
	if err != nil {
		return p, err
	}
	var magic [4]byte
	if _, err := io.ReadFull(z, magic[:]); err != nil {
		return p, err
	}
	if string(magic[:]) != "\x00asm" {
		return p, fmt.Errorf("%w: %s is not WebAssembly", ErrPage, packedName)
	}
	_, err = io.Copy(io.Discard, io.LimitReader(z, maxUnpacked)) // the checksum is at the end
	return p, err
}

// keep writes the program into a folder.
func (p Program) keep(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	var batch atomicfile.Batch
	defer batch.Discard()
	if err := batch.Add(filepath.Join(folder, execName), 0o600, p.Exec); err != nil {
		return err
	}
	if err := batch.Add(filepath.Join(folder, packedName), 0o600, p.Packed); err != nil {
		return err
	}
	return batch.Commit()
}

// sources finds the module that dir is in, and returns a key of the version of Go and of all that the program is built
// from.
func sources(dir string) (root, key string, err error) {
	root, err = filepath.Abs(dir)
	if err != nil {
		return "", "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(root, "go.mod"))
		if err == nil {
			if line, _, _ := strings.Cut(string(text), "\n"); strings.TrimSpace(line) == "module "+module {
				break
			}
		}
		up := filepath.Dir(root)
		if up == root {
			return "", "", fmt.Errorf("%s is not in that module", dir)
		}
		root = up
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", runtime.Version())
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case d.IsDir() || strings.HasSuffix(name, "_test.go") ||
			!strings.HasSuffix(name, ".go") && name != "go.mod" && name != "go.sum":
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(h, "%q %d\n", filepath.ToSlash(rel), len(text))
		h.Write(text)
		return err
	})
	return root, hex.EncodeToString(h.Sum(nil))[:32], err
}

// packages is about how many the program is made of.
const packages = 130

// build compiles the program: 20 seconds, or some minutes if nothing has been compiled before.
func build(ctx context.Context, root string, progress func(done, total int)) (p Program, err error) {
	where := exec.CommandContext(ctx, "go", "env", "GOROOT")
	where.Dir = root
	goroot, err := where.Output()
	if err != nil {
		return p, err
	}
	p.Exec, err = os.ReadFile(filepath.Join(strings.TrimSpace(string(goroot)), "lib", "wasm", execName))
	if err != nil {
		return p, err
	}
	dir, err := os.MkdirTemp("", "wpm-playground-")
	if err != nil {
		return p, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "wpm.wasm")
	compile := exec.CommandContext(ctx, "go", "build", "-v", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", out,
		command)
	compile.Dir = root
	compile.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	said := &lines{progress: progress}
	compile.Stderr = said
	if err := compile.Run(); err != nil {
		return p, fmt.Errorf("go build: %w: %s", err, said.last)
	}
	raw, err := os.ReadFile(out)
	if err != nil {
		return p, err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(raw)
	}
	if err == nil {
		err = z.Close()
	}
	p.Packed = b.Bytes()
	return p, err
}

// lines counts lines, and keeps the last.
type lines struct {
	progress func(done, total int)
	n        int
	last     string
}

func (l *lines) Write(b []byte) (int, error) {
	for line := range strings.Lines(string(b)) {
		l.last = strings.TrimSpace(line)
		l.n++
		if l.progress != nil {
			l.progress(min(l.n, packages), packages)
		}
	}
	return len(b), nil
}
