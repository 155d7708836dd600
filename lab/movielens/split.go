package movielens

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/cost"
)

// user is one user of a split: what the device knows and what would please.
type user struct {
	support []int     // positions in split.train of the films rated, ascending
	source  []float64 // their shares of the ratings
	hits    []int     // candidates rated Like or more
}

// split is the data of one seed, ready for the mechanisms.
type split struct {
	cost       *cost.Dense // train films x candidates
	validation []user
	test       []user

	genres  *baseline.Groups // of the train films
	outputs *baseline.Groups // of the candidates, the same genres

	popular int // the candidate that most validation users like, the first of those
}

// newSplit makes the films' space, and the users, of a division of the data.
func newSplit(d Data, cfg Config, p parts) (*split, error) {
	trainOf, testFilms, valOf, testUsers := p.trainFilms, slices.Clone(p.testFilms), p.validation, p.testedUsers
	if len(trainOf) == 0 || len(testUsers) == 0 || len(valOf) < 2 {
		return nil, fmt.Errorf("%w: %d films and %d users", ErrTooFew, len(d.Films), len(d.Users))
	}
	if len(testFilms) < cfg.Candidates {
		return nil, fmt.Errorf("%w: %d test films, want %d candidates", ErrTooFew, len(testFilms), cfg.Candidates)
	}

	x, popularity := ratingsOf(d, valOf)
	points, err := embed(x, cfg)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(testFilms, func(a, b int) int { return popularity[b] - popularity[a] }) // stable: ties by id
	candidates := testFilms[:cfg.Candidates]

	s := &split{}
	pick := func(films []int) [][]float64 {
		out := make([][]float64, len(films))
		for n, f := range films {
			out[n] = points[f]
		}
		return out
	}
	c, err := cost.NewCosine(pick(trainOf), pick(candidates))
	if err != nil {
		return nil, fmt.Errorf("movielens: %w", err)
	}
	if s.cost, err = cost.Materialize(context.Background(), c); err != nil {
		return nil, fmt.Errorf("movielens: %w", err)
	}
	if err := s.group(d, trainOf, candidates); err != nil {
		return nil, err
	}

	all := users(d, trainOf, candidates, cfg.Like)
	likes := make([]int, len(candidates))
	for _, n := range valOf {
		s.validation = append(s.validation, all[n])
		for _, j := range all[n].hits {
			likes[j]++
		}
	}
	s.popular = slices.Index(likes, slices.Max(likes))
	for _, n := range testUsers {
		s.test = append(s.test, all[n])
	}
	return s, nil
}

// none is the position of what has none.
const none = -1

// positions inverts a list of different numbers below n.
func positions(n int, list []int) []int {
	at := slices.Repeat([]int{none}, n)
	for i, x := range list {
		at[x] = i
	}
	return at
}

// ratingsOf returns the stars of the given users, a column each, and how many of them rated each film.
func ratingsOf(d Data, of []int) (x *mat.Dense, popularity []int) {
	column := positions(len(d.Users), of)
	x = mat.NewDense(len(d.Films), len(of), nil)
	popularity = make([]int, len(d.Films))
	for _, rating := range d.Ratings {
		if n := column[rating.User]; n != none {
			x.Set(rating.Film, n, float64(rating.Stars))
			popularity[rating.Film]++
		}
	}
	return x, popularity
}

// users returns the distribution of each user over the train films (uniform without a rating) and the candidates that
// the user likes.
func users(d Data, train, candidates []int, like int) []user {
	row, output := positions(len(d.Films), train), positions(len(d.Films), candidates)
	all := make([]user, len(d.Users))
	for _, rating := range d.Ratings { // by user, then film: supports come out ascending
		u := &all[rating.User]
		if i := row[rating.Film]; i != none {
			u.support, u.source = append(u.support, i), append(u.source, float64(rating.Stars))
		}
		if j := output[rating.Film]; j != none && rating.Stars >= like {
			u.hits = append(u.hits, j)
		}
	}
	for n := range all {
		u := &all[n]
		if len(u.support) == 0 {
			for i := range train {
				u.support, u.source = append(u.support, i), append(u.source, 1)
			}
		}
		var sum float64
		for _, w := range u.source {
			sum += w
		}
		for i := range u.source {
			u.source[i] /= sum
		}
	}
	return all
}

// embed centres the columns of x and returns the leading principal components of its rows.
func embed(x *mat.Dense, cfg Config) ([][]float64, error) {
	rows, cols := x.Dims()
	for j := range cols {
		mean := mat.Sum(x.ColView(j)) / float64(rows)
		for i := range rows {
			x.Set(i, j, x.At(i, j)-mean)
		}
	}
	var svd mat.SVD
	if !svd.Factorize(x, mat.SVDThinU) {
		return nil, fmt.Errorf("%w: the singular value decomposition of the ratings failed", ErrData)
	}
	var u mat.Dense
	svd.UTo(&u)
	sigma := svd.Values(nil)
	dim := min(cfg.Dimension, len(sigma))
	points := make([][]float64, rows)
	for i := range points {
		points[i] = make([]float64, dim)
		for j := range points[i] {
			points[i][j] = u.At(i, j)
			if cfg.Embedding == Scores {
				points[i][j] *= sigma[j]
			}
		}
	}
	return points, nil
}

// group makes the genres that occur among the candidates. A train film with none of those counts for all of them.
func (s *split) group(d Data, train, candidates []int) error {
	var seen uint32
	for _, f := range candidates {
		seen |= d.Genre[f]
	}
	var inputs, outputs [][]int
	for g := range Genres {
		if seen>>g&1 == 0 {
			continue
		}
		var in, out []int
		for n, f := range train {
			if d.Genre[f]>>g&1 == 1 || d.Genre[f]&seen == 0 {
				in = append(in, n)
			}
		}
		for n, f := range candidates {
			if d.Genre[f]>>g&1 == 1 {
				out = append(out, n)
			}
		}
		inputs, outputs = append(inputs, in), append(outputs, out)
	}
	if len(outputs) < 2 {
		return fmt.Errorf("%w: %d genres among the candidates, so there is nothing to choose between", ErrTooFew,
			len(outputs))
	}
	var err error
	if s.genres, err = baseline.NewGroups(len(train), inputs); err != nil {
		return err
	}
	s.outputs, err = baseline.NewGroups(len(candidates), outputs)
	return err
}

// hit is the probability that a draw from q pleases.
func (u user) hit(q []float64) float64 {
	var p float64
	for _, j := range u.hits {
		p += q[j]
	}
	return p
}

// dense writes the user's distribution over the train films to mu.
func (u user) dense(mu []float64) {
	clear(mu)
	for n, i := range u.support {
		mu[i] = u.source[n]
	}
}
