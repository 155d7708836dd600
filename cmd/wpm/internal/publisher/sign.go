package publisher

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/cmd/wpm/internal/published"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/shell"
)

// keyMagic begins the file of a private key: "wpm-key-1 SEED", the 32 bytes of RFC 8032 in hexadecimal.
const keyMagic = "wpm-key-1 "

// Sign is the command sign.
func Sign() *cli.Command {
	return &cli.Command{
		Name: "sign", Usage: "sign a policy, so that devices can tell whose it is", ArgsUsage: "[POLICY]",
		Description: "Writes a signature by Ed25519 (RFC 8032) beside the policy, to POLICY.sig, and prints the public key.\n" +
			"\"wpm verify -key KEY\" and \"wpm release -key KEY\" then refuse every policy that this key has not signed, and a\n" +
			"ledger keeps to the first key that a release names. -new makes the file of a private key. Whoever has this file\n" +
			"can sign: keep it off the server that hands out the policies.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "key", Usage: "`FILE` of the private key (required)"},
			&cli.BoolFlag{Name: "new", Usage: "make the private key, in a file that is not there yet"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write the signature to `FILE` (- is standard output)"},
		},
		OnUsageError: shell.UsageError,
		Action:       sign,
	}
}

func sign(_ context.Context, c *cli.Command) error {
	file, args := c.String("key"), c.Args().Slice()
	if file == "" || len(args) > 1 || len(args) == 0 && !c.Bool("new") {
		return errors.New("sign needs -key FILE and a policy, or -new -key FILE")
	}
	if c.Bool("new") {
		if err := newKey(file); err != nil {
			return err
		}
	}
	key, err := readKey(file)
	if err != nil {
		return err
	}
	public := c.Root().Writer
	if len(args) == 1 {
		e := published.Env(c)
		out := c.String("out")
		switch {
		case out == "" && args[0] == "-":
			return errors.New("a policy from standard input needs -out FILE")
		case out == "":
			out = args[0] + device.SignatureEnd
		case out == "-":
			public = io.Discard
		}
		if err := device.Apart([]string{out}, []string{args[0], file}); err != nil {
			return err
		}
		m, err := e.OpenPolicy(args[0])
		if err != nil {
			return err
		}
		text := device.Sign(key, m.ID())
		if err := device.WriteFiles(c.Root().Writer, device.Output{Path: out, Data: text}); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(public, "%x\n", key.Public())
	return err
}

// newKey makes a file that only its owner can read, and overwrites none.
func newKey(path string) error {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := rand.Read(seed); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("-new: %w", err)
	}
	_, err = fmt.Fprintf(f, "%s%x\n", keyMagic, seed)
	return errors.Join(err, f.Sync(), f.Close())
}

func readKey(path string) (ed25519.PrivateKey, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("-key: %w", err)
	}
	digits, ok := bytes.CutPrefix(bytes.TrimSuffix(text, []byte("\n")), []byte(keyMagic))
	seed, err := hex.DecodeString(string(digits))
	if !ok || err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("-key %s: no private key; \"wpm sign -new -key FILE\" makes one", path)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}
