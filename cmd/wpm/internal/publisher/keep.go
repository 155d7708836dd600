package publisher

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/cmd/wpm/internal/published"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/sphere/codebook"
)

const forceUsage = "overwrite a policy that is in -out already"

// keepPublished refuses to write over a policy of any kind or version, unless -force or a person at a terminal says so:
// reports name the policy that they are of, and nobody can read them without it.
func keepPublished(c *cli.Command, path string) error {
	if path == "-" || c.Bool("force") {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil // nothing is there, or what writes it says what is wrong
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	start := make([]byte, 64)
	n, err := io.ReadFull(f, start)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	if start = start[:n]; !bytes.HasPrefix(start, []byte("{\n\"format\":\"wpm-policy-")) && !codebook.IsPolicy(start) {
		return nil
	}
	what := "a policy"
	if m, err := published.Env(c).OpenPolicy(path); err == nil {
		id := m.ID()
		what = "the policy " + hex.EncodeToString(id[:4]) + "..."
	}
	if shell.Confirm(c, fmt.Sprintf("%s is %s. Reports of it cannot be read without it. Overwrite it?", path, what)) {
		return nil
	}
	const refusal = "-out: %s is %s, and reports of it cannot be read without it; take another name, or add -force"
	return fmt.Errorf(refusal, path, what)
}
