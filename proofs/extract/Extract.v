(* The decisions of the proofs as OCaml, over zarith. The mapping of Z and nat is the standard library's own. *)
From Wpm Require Import Window Codes.
From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZBigInt.

Extraction "model.ml" verify weights round sample pick secret_row fill own one_turn
  window_most admits pay codes_box code_row even_row.
