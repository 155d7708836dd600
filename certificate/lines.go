package certificate

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Write writes certificates, one on each line. Errors: those of Encode and of w.
func Write(w io.Writer, certificates ...Certificate) error {
	for _, c := range certificates {
		text, err := Encode(c)
		if err != nil {
			return err
		}
		if _, err := w.Write(append(text, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// Read reads a file of certificates, one on each line, and calls each for every one of them. It stops at the
// first fault: of the file, which is a *LineError around an error of Decode or of the reader, or of each, which
// is returned as it is. The last line need not have a line end; an empty line is a fault, an empty file is not.
func Read(r io.Reader, each func(line int, c Certificate) error) error {
	in := bufio.NewReader(r)
	for line := 1; ; line++ {
		text, err := readLine(in)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return &LineError{line, err}
		}
		c, err := Decode(text)
		if err != nil {
			return &LineError{line, err}
		}
		if err := each(line, c); err != nil {
			return err
		}
	}
}

// readLine returns the next line without its end, or io.EOF if there is none. It holds no more than MaxBytes
// and a buffer.
func readLine(in *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(text)+len(part) > MaxBytes+1 {
			return nil, fmt.Errorf("%w: a line of more than %d bytes", ErrLimit, MaxBytes)
		}
		text = append(text, part...)
		switch {
		case err == nil:
			return bytes.TrimSuffix(text, []byte("\n")), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF && len(text) > 0:
			return text, nil
		default:
			return nil, err
		}
	}
}
