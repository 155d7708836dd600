package publisher

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"text/tabwriter"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/cmd/wpm/internal/published"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/sphere"
	"github.com/wpm-go/wpm/sphere/codebook"
)

// Sphere is the command sphere.
func Sphere() *cli.Command {
	return &cli.Command{
		Name:  "sphere",
		Usage: "the optimal mechanism on the sphere S^d: one card, and a codebook's policy",
		Description: "Clients hold unit vectors of d+1 coordinates, or distributions of them; the cost is |x-y|^p.\n" +
			"d is 1 to 10000000, p 0.5 to 12, eps 1e-12 to 700. -prove adds rational bounds, verified (slow beyond d = 1000000).\n" +
			"To release vectors, -out FILE writes the policy of a codebook, for wpm release, verify, audit, aggregate and report.\n" +
			"Its eps is exact, a decimal or fraction up to 64. Nothing that goes in may depend on private data; -geometry and -base\n" +
			"say so, as for wpm design. Without them the policy says \"unstated\", and whoever reads it is warned.\n" +
			"For many problems, see \"wpm solve sphere\".",
		Flags: append([]cli.Flag{
			&cli.IntFlag{Name: "d", Usage: "dimension of the sphere `D` (required)"},
			&cli.FloatFlag{Name: "p", Value: 2, Usage: "power of the distance"},
			&cli.StringFlag{Name: "eps", Usage: "privacy `EPS` (required)"},
			&cli.BoolFlag{Name: "prove", Usage: "print proven bounds on the worst case too"},
			&cli.BoolFlag{Name: "json", Usage: "print the card as JSON"},
			&cli.BoolFlag{Name: "force", Usage: "overwrite a policy that is in -out already"},
		}, codebookFlags()...),
		OnUsageError: shell.UsageError,
		Action:       runSphere,
	}
}

// sphereCard is what "wpm sphere" prints.
type sphereCard struct {
	Dim int     `json:"d"`
	P   float64 `json:"p"`
	Eps float64 `json:"eps"`
	sphere.Measure
	MSE    *float64     `json:"mse,omitempty"`    // p = 2: of the unbiased estimate y/t of x; absent where it overflows
	Bounds *sphereProof `json:"bounds,omitempty"` // -prove
	Policy string       `json:"policy,omitempty"` // -out: its ID
	Points int          `json:"points,omitempty"`
	High   int          `json:"high,omitempty"`
}

type sphereProof struct {
	WLower float64 `json:"W_lower"`
	WUpper float64 `json:"W_upper"`
	Lower  string  `json:"lower"` // of (1-t)/2, "p/q"
	Upper  string  `json:"upper"`
}

func runSphere(_ context.Context, c *cli.Command) error {
	if err := shell.NoArgs(c); err != nil {
		return err
	}
	if err := checkSphere(c); err != nil {
		return err
	}
	eps, err := parseEps(c.String("eps"))
	if err != nil {
		return fmt.Errorf("-eps: %w", err)
	}
	card := sphereCard{Dim: c.Int("d"), P: c.Float("p"), Eps: eps}
	m, err := sphere.Solve(card.Dim, card.P, card.Eps)
	if err != nil {
		return err
	}
	card.Measure = m
	if card.P == 2 {
		// 1/t^2 - 1 without the loss of 1 - t^2 near t = 1; t > 0 at p = 2, and at least 1e-17 or so.
		mse := m.Omt * (1 + m.T) / (m.T * m.T)
		card.MSE = &mse
	}
	if c.Bool("prove") {
		if err := card.prove(); err != nil {
			return err
		}
	}
	var outs []device.Output
	var book *codebook.Codebook
	if c.IsSet("out") {
		var text []byte
		if book, text, err = card.publish(c); err != nil {
			return err
		}
		outs = append(outs, device.Output{Path: c.String("out"), Data: text})
	}
	text := card.render()
	if c.Bool("json") {
		if text, err = json.MarshalIndent(card, "", "  "); err != nil {
			return err
		}
		text = append(text, '\n')
	}
	if err := device.WriteFiles(c.Root().Writer, append(outs, device.Output{Path: "-", Data: text})...); err != nil {
		return err
	}
	if book != nil {
		published.Env(c).Warn(book)
	}
	return nil
}

func checkSphere(c *cli.Command) error {
	if !c.IsSet("d") || !c.IsSet("eps") {
		return errors.New("sphere needs -d and -eps; see \"wpm sphere -help\"")
	}
	if c.IsSet("out") {
		return nil
	}
	for _, f := range codebookFlags()[1:] {
		if name := f.Names()[0]; c.IsSet(name) {
			return fmt.Errorf("-%s needs -out FILE", name)
		}
	}
	return nil
}

// prove adds the bounds of -prove.
func (s *sphereCard) prove() error {
	b, err := sphere.Enclose(s.Dim, s.P, s.Eps, 0)
	if err != nil {
		return err
	}
	if err := b.Verify(s.Dim, s.P, s.Eps); err != nil {
		return err
	}
	s.Bounds = &sphereProof{Lower: b.Lower.String(), Upper: b.Upper.String()}
	s.Bounds.WLower, s.Bounds.WUpper = b.W()
	return nil
}

// publish makes the policy of -out and its text.
func (s *sphereCard) publish(c *cli.Command) (*codebook.Codebook, []byte, error) {
	if err := keepPublished(c, c.String("out")); err != nil {
		return nil, nil, err
	}
	book, err := designCodebook(c)
	if err != nil {
		return nil, nil, err
	}
	text, err := codebook.Encode(book)
	if err != nil {
		return nil, nil, err
	}
	id := book.ID()
	s.Policy, s.Points, s.High = hex.EncodeToString(id[:]), book.Config().Points, book.Config().High
	return book, text, nil
}

// parseEps reads the solver's eps, which may be a fraction, or beyond what a release allows.
func parseEps(s string) (float64, error) {
	if e, err := ldp.ParseEpsilon(s); err == nil {
		return e.Float64(), nil
	}
	return strconv.ParseFloat(s, 64)
}

func (s sphereCard) render() []byte {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "sphere\tS^%d, unit vectors of %d coordinates, cost |x-y|^%v\n", s.Dim, s.Dim+1, s.P)
	fmt.Fprintf(w, "privacy\teps = %v, local and pure\n", s.Eps)
	fmt.Fprintf(w, "base measure\talpha = %.15g times the uniform distribution\n", s.Alpha)
	fmt.Fprintf(w, "cap\t<x,y> >= t = %.15g, 1-t = %.15g\n", s.T, s.Omt)
	fmt.Fprintf(w, "\t%.15g of the sphere, with probability %.15g; the rest %.15g\n", s.S, s.Pin, s.Pout)
	fmt.Fprintf(w, "worst case\tW_%v = %.15g (W_%v^%v = %.15g), reached by every point mass\n", s.P, s.W, s.P, s.P, s.J)
	fmt.Fprintf(w, "\tin units of the radius, along chords; no eps-LDP mechanism has a smaller one; the diameter is 2\n")
	if s.MSE != nil {
		fmt.Fprintf(w, "unbiased\ty/t estimates x with mean squared error %.10g\n", *s.MSE)
	}
	if s.Bounds != nil {
		fmt.Fprintf(w, "proved\t%.17g <= W_%v <= %.17g\n", s.Bounds.WLower, s.P, s.Bounds.WUpper)
		fmt.Fprintf(w, "\tfrom %s\n\t< (1-t)/2 < %s\n", s.Bounds.Lower, s.Bounds.Upper)
	}
	if s.Policy != "" {
		fmt.Fprintf(w, "policy\t%d points, %d high for a point, sha256 %s\n", s.Points, s.High, s.Policy)
	}
	w.Flush()
	return b.Bytes()
}
