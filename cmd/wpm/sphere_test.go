package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/sphere"
)

// TestSphereCard: the card has every number of the solver, and -json has them to all digits.
func TestSphereCard(t *testing.T) {
	out := must(t, "", "sphere", "-d", "63", "-p", "2", "-eps", "4", "-prove")
	for _, want := range []string{"S^63", "eps = 4, local and pure", "0.188482419307485", "1.2739839721853", "27.1486975",
		"proved", "no eps-LDP mechanism"} {
		if !strings.Contains(out, want) {
			t.Errorf("the card lacks %q:\n%s", want, out)
		}
	}
	var card struct {
		D      int     `json:"d"`
		P, Eps float64 // encoding/json is lenient about case
		sphere.Measure
		MSE    *float64 `json:"mse"`
		Bounds *struct {
			Lower float64 `json:"W_lower"`
			Upper float64 `json:"W_upper"`
		} `json:"bounds"`
	}
	read := func(args ...string) {
		t.Helper()
		card.MSE, card.Bounds = nil, nil
		if err := json.Unmarshal([]byte(must(t, "", append([]string{"sphere", "-json"}, args...)...)), &card); err != nil {
			t.Fatal(err)
		}
	}
	read("-d", "7", "-p", "3", "-eps", "0.5")
	want, err := sphere.Solve(7, 3, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if card.D != 7 || card.P != 3 || card.Eps != 0.5 || card.Measure != want || card.MSE != nil || card.Bounds != nil {
		t.Errorf("card %+v, want %+v", card, want)
	}
	read("-d", "1", "-eps", "2", "-prove")
	if card.MSE == nil || card.Bounds == nil || !(card.Bounds.Lower <= card.W && card.W <= card.Bounds.Upper) {
		t.Errorf("card %+v", card)
	}
}

func TestSphereUsage(t *testing.T) {
	for args, want := range map[string]string{
		"sphere":                      "-d and -eps",
		"sphere -d 3":                 "-d and -eps",
		"sphere -d 0 -eps 1":          "d = 0",
		"sphere -d 3 -eps 0":          "eps = 0",
		"sphere -d 3 -eps 1 -p 13":    "p = 13",
		"sphere -d 1 -p 0.5 -eps 700": "underflows",
		"sphere -d x -eps 1":          "x",
		"sphere -d 3 -eps 1 more":     "more",
		"sphere -d 3 -d 4 -eps 1":     "d",
	} {
		if status, out, errs := try(t, "", strings.Fields(args)...); status != device.Bad || out != "" ||
			!strings.Contains(errs, want) {
			t.Errorf("wpm %s: status %d, output %q, error %q, want %q", args, status, out, errs, want)
		}
	}
}

// TestSphereSolve: the machine interface from the command.
func TestSphereSolve(t *testing.T) {
	out := must(t, `{"id":1,"d":2,"p":2,"eps":5}`+"\n", "solve", "sphere")
	if !strings.HasPrefix(out, `{"id":1,"t":0.84828363995751`) || !strings.Contains(out, `"omt":`) {
		t.Errorf("answer %s", out)
	}
}
