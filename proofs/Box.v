(* The guarantee: points of a box with hi <= e^eps lo, sets of outcomes, mixtures. *)
From Wpm Require Export Words.
From Coq Require Export Reals Lra.
Open Scope Z_scope.

(* lo <= w <= hi in every column *)
Inductive box : list Z -> list Z -> list Z -> Prop :=
| box_nil : box [] [] []
| box_cons l w h ls ws hs : 0 <= l -> l <= w <= h -> box ls ws hs -> box (l :: ls) (w :: ws) (h :: hs).

(* hi <= e lo in every column, e a real number *)
Inductive ratio (e : R) : list Z -> list Z -> Prop :=
| ratio_nil : ratio e [] []
| ratio_cons l h ls hs : (IZR h <= e * IZR l)%R -> ratio e ls hs -> ratio e (l :: ls) (h :: hs).

(* the weight of a set of outcomes; the first column has number j *)
Fixpoint mass (A : Z -> bool) (j : Z) (w : list Z) : Z :=
  match w with [] => 0 | x :: r => (if A j then x else 0) + mass A (j + 1) r end.

Lemma box_refl l w h : box l w h -> box l l h /\ box l h h.
Proof. induction 1; split; constructor; intuition lia. Qed.

Lemma box_sums l w h : box l w h -> 0 <= sum l /\ sum l <= sum w <= sum h.
Proof. induction 1; simpl; lia. Qed.

Lemma mass_nonneg A l w h : box l w h -> forall j, 0 <= mass A j w.
Proof. induction 1; intros j; simpl; [lia|]. specialize (IHbox (j + 1)). destruct (A j); lia. Qed.

Lemma mass_mono A l w h : box l w h -> forall j, mass A j l <= mass A j w <= mass A j h.
Proof. induction 1; intros j; simpl; [lia|]. specialize (IHbox (j + 1)). destruct (A j); lia. Qed.

Lemma mass_ratio e lo hi : ratio e lo hi -> forall A j, (IZR (mass A j hi) <= e * IZR (mass A j lo))%R.
Proof.
  induction 1; intros A j; simpl; [lra|]. specialize (IHratio A (j + 1)). rewrite !plus_IZR. destruct (A j); simpl; lra.
Qed.

Lemma mass_box e lo hi w w' A j : (0 <= e)%R -> ratio e lo hi -> box lo w hi -> box lo w' hi ->
  (IZR (mass A j w) <= e * IZR (mass A j w'))%R.
Proof.
  intros He Hr Hw Hw'. pose proof (mass_mono A _ _ _ Hw j) as [_ U]. pose proof (mass_mono A _ _ _ Hw' j) as [L _].
  pose proof (mass_ratio _ _ _ Hr A j) as M. apply IZR_le in U. apply IZR_le in L.
  apply Rle_trans with (1 := U). apply Rle_trans with (1 := M). apply Rmult_le_compat_l; assumption.
Qed.

(* The box lemma: the laws w / 2^B and w' / 2^B of two clients, every set A of outcomes. *)
Theorem box_ldp (eps : R) (B : Z) (lo hi w w' : list Z) (A : Z -> bool) :
  0 <= B -> ratio (exp eps) lo hi -> box lo w hi -> box lo w' hi ->
  (IZR (mass A 0 w) / IZR (2 ^ B) <= exp eps * (IZR (mass A 0 w') / IZR (2 ^ B)))%R.
Proof.
  intros HB Hr Hw Hw'.
  pose proof (mass_box _ _ _ _ _ A 0 (Rlt_le _ _ (exp_pos eps)) Hr Hw Hw') as K.
  assert (T : (0 < IZR (2 ^ B))%R) by (apply IZR_lt; apply Z.pow_pos_nonneg; lia).
  unfold Rdiv. rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [|exact K]. left. apply Rinv_0_lt_compat. exact T.
Qed.

(* The mixture lemma: client inputs have the laws c and d, real probability vectors; rows are points of the box. *)
Open Scope R_scope.

Fixpoint mixmass (A : Z -> bool) (c : list R) (rows : list (list Z)) : R :=
  match c, rows with
  | x :: c', w :: rows' => x * IZR (mass A 0 w) + mixmass A c' rows'
  | _, _ => 0
  end.

Fixpoint rsum (c : list R) : R := match c with [] => 0 | x :: r => x + rsum r end.

Lemma mix_bounds A lo hi rows c : length c = length rows -> Forall (fun x => 0 <= x) c ->
  Forall (fun w => box lo w hi) rows ->
  rsum c * IZR (mass A 0 lo) <= mixmass A c rows <= rsum c * IZR (mass A 0 hi).
Proof.
  revert rows. induction c as [|x c IH]; intros [|w rows] L N F; simpl in *; try discriminate; [lra|].
  inversion N; inversion F; subst. specialize (IH rows ltac:(lia) H2 H6).
  destruct (mass_mono A _ _ _ H5 0%Z) as [P Q]. apply IZR_le in P. apply IZR_le in Q. nra.
Qed.

Theorem mixture_ldp eps lo hi rows c d A :
  ratio (exp eps) lo hi -> Forall (fun w => box lo w hi) rows ->
  length c = length rows -> length d = length rows ->
  Forall (fun x => 0 <= x) c -> Forall (fun x => 0 <= x) d -> rsum c = 1 -> rsum d = 1 ->
  mixmass A c rows <= exp eps * mixmass A d rows.
Proof.
  intros Hr F Lc Ld Nc Nd Sc Sd.
  pose proof (mix_bounds A _ _ _ _ Lc Nc F) as [_ Uc]. pose proof (mix_bounds A _ _ _ _ Ld Nd F) as [Ud _].
  rewrite Sc in Uc. rewrite Sd in Ud. pose proof (mass_ratio _ _ _ Hr A 0%Z) as M. pose proof (exp_pos eps). nra.
Qed.
