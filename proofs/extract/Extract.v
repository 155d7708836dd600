(* The decisions of the proofs as OCaml, over zarith. The mapping of Z and nat is the standard library's own. *)
From Wpm Require Import Release.
From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZBigInt.

(* One row of a file, on its own. *)
Definition one_row bits lo hi (row : list nat * list (nat * Z)) := secret_row bits lo hi [] row 0.

Extraction "model.ml" verify weights one_row round sample fill pick.
