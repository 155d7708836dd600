(* Lists of codes and discs: policy/codes.go. *)
From Wpm Require Export Release.
Open Scope Z_scope.

(* A component. Of a disc, c_top is High; the outputs of a code are its colours, and those of a disc the inputs. *)
Record component := Component {
  c_code : bool;
  c_weight : Z;
  c_low : Z;
  c_outputs : nat;
  c_top : Z
}.

Definition number (c : component) : Z := Z.of_nat (c_outputs c).

(* Code.high: of words *)
Definition high (c : component) : Z :=
  if c_code c then sub (c_weight c) (((number c - 1) * c_low c) mod W) else c_top c.

(* Code.check *)
Definition fits (c : component) : bool :=
  (1 <=? number c) && negb (c_weight c =? 0) && negb (c_weight c / number c <? c_low c) &&
  (if c_code c then 2 <=? number c
   else negb ((c_top c <? c_low c) || (c_top c <=? (c_weight c - 1) / number c))).

(* checkWeights *)
Fixpoint weigh (left : Z) (l : list component) : bool :=
  match l with
  | [] => left =? 0
  | c :: l => fits c && negb (left <? c_weight c) && weigh (left - c_weight c) l
  end.

Fixpoint lows (l : list component) : list Z :=
  match l with [] => [] | c :: l => repeat (c_low c) (c_outputs c) ++ lows l end.
Fixpoint highs (l : list component) : list Z :=
  match l with [] => [] | c :: l => repeat (high c) (c_outputs c) ++ highs l end.

(* CodesBox, up to its last step, which is Verify *)
Definition codes_box (bits : Z) (l : list component) : option (list Z * list Z) :=
  if weigh (2 ^ bits) l then Some (lows l, highs l) else None.

(* Code.spread: the row of a code for colour g, from output j on *)
Fixpoint code_row (low width g j : Z) (n : nat) : list Z :=
  match n with
  | O => []
  | S n => add low (Z.land width (negate (Z.b2z (j =? g)))) :: code_row low width g (j + 1) n
  end.

(* even: a component's part of the fallback row *)
Fixpoint even_row (each more j : Z) (n : nat) : list Z :=
  match n with
  | O => []
  | S n => add each (Z.b2z (j <? more)) :: even_row each more (j + 1) n
  end.

Definition is_component (c : component) : Prop := 0 <= c_weight c < W /\ 0 <= c_low c < W /\ 0 <= c_top c < W.

(* What check decides: a row of the component can sum to its weight. The high weight of a code does not wrap. *)
Theorem fits_spec c : is_component c -> fits c = true ->
  1 <= number c /\ 0 < c_weight c /\ number c * c_low c <= c_weight c <= number c * high c /\ c_low c <= high c < W /\
  (c_code c = true -> high c = c_weight c - (number c - 1) * c_low c).
Proof.
  intros (A & B & C). unfold fits. rewrite !andb_true_iff, !negb_true_iff, Z.leb_le, Z.eqb_neq, Z.ltb_ge.
  intros (((N & P) & L) & K). unfold high. set (n := number c) in *. set (w := c_weight c) in *. set (l := c_low c) in *.
  assert (M : n * l <= w).
  { apply Z.le_trans with (n * (w / n)); [apply Z.mul_le_mono_nonneg_l; lia | apply Z.mul_div_le; lia]. }
  destruct (c_code c).
  - apply Z.leb_le in K. rewrite Z.mod_small by nia. rewrite sub_exact by nia. repeat split; try lia; nia.
  - apply negb_true_iff, orb_false_iff in K as (K1 & K2). apply Z.ltb_ge in K1. apply Z.leb_gt in K2.
    assert (E : w - 1 < n * c_top c).
    { apply Z.lt_le_trans with (n * Z.succ ((w - 1) / n)); [apply Z.mul_succ_div_gt; lia|].
      apply Z.mul_le_mono_nonneg_l; lia. }
    repeat split; lia || discriminate.
Qed.

Lemma code_row_box low h g n : 0 <= low -> low <= h < W -> forall j,
  box (repeat low n) (code_row low (h - low) g j n) (repeat h n) /\
  sum (code_row low (h - low) g j n) =
    Z.of_nat n * low + (if (j <=? g) && (g <? j + Z.of_nat n) then h - low else 0).
Proof.
  intros Hl Hh. induction n as [|n IH]; intros j; cbn [code_row repeat sum].
  - split; [constructor|]. destruct (Z.leb_spec j g); destruct (Z.ltb_spec g (j + Z.of_nat 0)); cbn [andb]; lia.
  - rewrite land_mask by lia. destruct (IH (j + 1)) as (B & S). rewrite S.
    rewrite add_exact by (destruct (j =? g); lia). split.
    + constructor; [lia | destruct (j =? g); lia | exact B].
    + rewrite Nat2Z.inj_succ. destruct (Z.eqb_spec j g); destruct (Z.leb_spec j g); destruct (Z.leb_spec (j + 1) g);
        destruct (Z.ltb_spec g (j + 1 + Z.of_nat n)); destruct (Z.ltb_spec g (j + Z.succ (Z.of_nat n))); cbn [andb];
        lia.
Qed.

(* The row of a code lies in its box, and sums to its weight: a row of every colour. *)
Theorem code_in_box c g : is_component c -> fits c = true -> c_code c = true -> 0 <= g < number c ->
  let row := code_row (c_low c) (sub (high c) (c_low c)) g 0 (c_outputs c) in
  box (repeat (c_low c) (c_outputs c)) row (repeat (high c) (c_outputs c)) /\ sum row = c_weight c.
Proof.
  intros HC HF HK Hg. pose proof (fits_spec c HC HF) as (N & P & M & L & E). specialize (E HK). destruct HC as (A & B & C).
  cbn zeta. rewrite sub_exact by lia. destruct (code_row_box (c_low c) (high c) g (c_outputs c) ltac:(lia) L 0) as (X & S).
  split; [exact X|]. rewrite S. unfold number in *. destruct (Z.leb_spec 0 g); [|lia].
  destruct (Z.ltb_spec g (0 + Z.of_nat (c_outputs c))); [|lia]. cbn [andb]. lia.
Qed.

Lemma even_row_box low h each more n : 0 <= low -> low <= each -> each + 1 < W -> forall j, 0 <= j ->
  (forall y, j <= y < j + Z.of_nat n -> each + Z.b2z (y <? more) <= h) ->
  box (repeat low n) (even_row each more j n) (repeat h n) /\
  sum (even_row each more j n) = Z.of_nat n * each + Z.max 0 (Z.min (Z.of_nat n) (more - j)).
Proof.
  intros Hl He HW. induction n as [|n IH]; intros j Hj H; cbn [even_row repeat sum].
  - split; [constructor | lia].
  - destruct (IH (j + 1) ltac:(lia)) as (B & S); [intros y Hy; apply H; lia|]. rewrite S.
    specialize (H j ltac:(lia)). rewrite add_exact by (destruct (j <? more); cbn [Z.b2z]; lia). split.
    + constructor; [lia | destruct (j <? more); cbn [Z.b2z] in *; lia | exact B].
    + rewrite Nat2Z.inj_succ. destruct (Z.ltb_spec j more); cbn [Z.b2z]; lia.
Qed.

(* So does the component's part of the fallback row. *)
Theorem even_in_box c : is_component c -> fits c = true -> c_weight c < W - 1 ->
  let row := even_row (c_weight c / number c) (c_weight c mod number c) 0 (c_outputs c) in
  box (repeat (c_low c) (c_outputs c)) row (repeat (high c) (c_outputs c)) /\ sum row = c_weight c.
Proof.
  intros HC HF HW. pose proof (fits_spec c HC HF) as (N & P & M & L & _). destruct HC as (A & B & C). cbn zeta.
  pose proof (Z.div_mod (c_weight c) (number c) ltac:(lia)) as D.
  pose proof (Z.mod_pos_bound (c_weight c) (number c) ltac:(lia)) as R.
  set (e := c_weight c / number c) in *. set (m := c_weight c mod number c) in *.
  assert (E1 : c_low c <= e) by (apply Z.div_le_lower_bound; lia).
  assert (E2 : e <= c_weight c) by (apply Z.div_le_upper_bound; nia).
  assert (E3 : forall y, 0 <= y < 0 + Z.of_nat (c_outputs c) -> e + Z.b2z (y <? m) <= high c).
  { intros y Hy. destruct (Z.ltb_spec y m); cbn [Z.b2z]; nia. }
  destruct (even_row_box (c_low c) (high c) e m (c_outputs c) ltac:(lia) E1 ltac:(lia) 0 ltac:(lia) E3) as (X & S).
  split; [exact X|]. rewrite S. fold (number c). rewrite Z.sub_0_r, Z.min_r, Z.max_r by lia. lia.
Qed.

Lemma box_app l w h : box l w h -> forall l' w' h', box l' w' h' -> box (l ++ l') (w ++ w') (h ++ h').
Proof. induction 1; intros; cbn [app]; [assumption | constructor; auto]. Qed.

Lemma sum_app a b : sum (a ++ b) = sum a + sum b.
Proof. induction a; cbn [app sum]; lia. Qed.

(* Parts of rows, one for each component. *)
Inductive parts : list component -> list (list Z) -> Prop :=
| parts_nil : parts [] []
| parts_cons c l w ws : box (repeat (c_low c) (c_outputs c)) w (repeat (high c) (c_outputs c)) -> sum w = c_weight c ->
  parts l ws -> parts (c :: l) (w :: ws).

Lemma parts_box l ws : parts l ws -> forall left, weigh left l = true ->
  box (lows l) (concat ws) (highs l) /\ sum (concat ws) = left.
Proof.
  induction 1 as [|c l w ws B S P IH]; intros left Hw; cbn [weigh lows highs concat] in *.
  - apply Z.eqb_eq in Hw. split; [constructor | cbn; lia].
  - rewrite !andb_true_iff in Hw. destruct Hw as (_ & Hw). apply IH in Hw as (X & T).
    split; [apply box_app; assumption | rewrite sum_app; lia].
Qed.

(* The row of a policy: a component is drawn by its weight, which is public, and an output of it by the data. *)
Theorem codes_point bits l lo hi ws : codes_box bits l = Some (lo, hi) -> parts l ws -> point bits lo hi (concat ws).
Proof.
  unfold codes_box. destruct (weigh _ _) eqn:E; [|discriminate]. intros H P. injection H as <- <-.
  exact (parts_box l ws P _ E).
Qed.

Lemma weigh_fits l : forall left, left < W - 1 -> Forall is_component l -> weigh left l = true ->
  Forall (fun c => fits c = true /\ c_weight c < W - 1) l.
Proof.
  induction l as [|c l IH]; intros left Hl HC Hw; constructor; inversion HC as [|? ? C1 C2]; subst; cbn [weigh] in Hw;
    rewrite !andb_true_iff, negb_true_iff, Z.ltb_ge in Hw; destruct Hw as ((F & L) & Hw).
  - split; [exact F | lia].
  - destruct C1 as (C1 & _). apply (IH (left - c_weight c)); [lia | exact C2 | exact Hw].
Qed.

Definition even_rows (l : list component) : list (list Z) :=
  map (fun c => even_row (c_weight c / number c) (c_weight c mod number c) 0 (c_outputs c)) l.

(* The fallback row is a point of the box. *)
Theorem even_point bits l lo hi : 1 <= bits <= 62 -> Forall is_component l -> codes_box bits l = Some (lo, hi) ->
  point bits lo hi (concat (even_rows l)).
Proof.
  intros Hb HC HX. apply (codes_point _ _ _ _ _ HX). unfold codes_box in HX. destruct (weigh _ _) eqn:E; [|discriminate].
  pose proof (total_bound bits Hb) as T. unfold max_units in T. change (2 ^ 62) with 4611686018427387904 in T.
  pose proof (weigh_fits l (2 ^ bits) ltac:(lia) HC E) as F. clear -HC F.
  induction l as [|c l IH]; cbn [even_rows map]; [constructor|]. inversion HC; inversion F as [|? ? (F1 & F2) F3]; subst.
  destruct (even_in_box c H1 F1 F2) as (B & S). constructor; [exact B | exact S | apply IH; assumption].
Qed.

Lemma ratio_repeat e l h n : (IZR h <= e * IZR l)%R -> forall ls hs, ratio e ls hs ->
  ratio e (repeat l n ++ ls) (repeat h n ++ hs).
Proof. intros H. induction n; intros; cbn [repeat app]; [assumption | constructor; auto]. Qed.

Lemma ratio_repeat_inv e l h n ls hs : ratio e (repeat l (S n) ++ ls) (repeat h (S n) ++ hs) ->
  (IZR h <= e * IZR l)%R /\ ratio e ls hs.
Proof.
  induction n as [|n IH]; cbn [repeat app] in *; intros H; inversion H; subst; [split; assumption | apply IH; assumption].
Qed.

(* The check of the box is that of its components: high <= e^eps low, and high <= 2^B. *)
Theorem codes_verify p q bits l lo hi : 1 <= bits <= 62 -> Forall is_component l -> l <> [] ->
  is_epsilon p q = true -> codes_box bits l = Some (lo, hi) ->
  let sound := Forall (fun c => high c <= 2 ^ bits /\ (IZR (high c) <= exp (IZR p / IZR q) * IZR (c_low c))%R) l in
  (verify p q bits lo hi = Accept -> sound) /\
  (sound -> verify p q bits lo hi = Accept \/ verify p q bits lo hi = Undecided).
Proof.
  intros Hb HC Hl HE HX. pose proof (even_point _ _ _ _ Hb HC HX) as (EB & ES). unfold codes_box in HX.
  destruct (weigh _ _) eqn:E; [|discriminate]. injection HX as <- <-.
  pose proof (total_bound bits Hb) as T. unfold max_units in T. change (2 ^ 62) with 4611686018427387904 in T.
  pose proof (weigh_fits l (2 ^ bits) ltac:(lia) HC E) as F.
  assert (FW : Forall (fun c => (1 <= c_outputs c)%nat /\ 0 <= c_low c < W /\ 0 <= high c < W) l).
  { clear -HC F. induction HC as [|c l C1 C2 IH]; constructor; inversion F as [|? ? (F1 & F2) F3]; subst; [|apply IH, F3].
    destruct (fits_spec c C1 F1) as (N & _ & _ & L & _). destruct C1 as (_ & C1 & _). unfold number in N. lia. }
  assert (WL : words (lows l) /\ words (highs l)).
  { clear -FW. induction FW as [|c l (_ & A & B) FW (I1 & I2)]; cbn [lows highs]; [split; constructor|].
    split; apply Forall_app; (split; [apply Forall_forall; intros x Hx; apply repeat_spec in Hx; subst; assumption |
      assumption]). }
  destruct WL as (W1 & W2). cbn zeta. split.
  - intros V. apply (verify_sound _ _ _ _ _ W1 W2) in V. destruct V as [_ _ _ GT GL _]. clear -FW GT GL.
    induction FW as [|c l (N & _) FW IH]; cbn [lows highs] in *; constructor;
      (destruct (c_outputs c) as [|n]; [lia|]); apply ratio_repeat_inv in GL as (G1 & G2); apply Forall_app in GT as (T1 & T2).
    + split; [inversion T1; assumption | exact G1].
    + apply IH; assumption.
  - intros S. apply verify_complete; try assumption.
    constructor; try assumption.
    + destruct l as [|c l]; [congruence|]. inversion FW as [|? ? (N & _) _]; subst. cbn [lows].
      destruct (c_outputs c); [lia|]. discriminate.
    + exists (concat (even_rows l)). exact EB.
    + clear -S. induction S as [|c l (A & _) S IH]; cbn [highs]; [constructor|]. apply Forall_app. split; [|exact IH].
      apply Forall_forall. intros x Hx. apply repeat_spec in Hx. subst. exact A.
    + clear -S. induction S as [|c l (_ & A) S IH]; cbn [lows highs]; [constructor|]. apply ratio_repeat; assumption.
    + pose proof (box_sums _ _ _ EB). lia.
Qed.

(* content.spread and its gate. What a disc, or any part, comes to may be any numbers: the gate lets through points, and
   an error leads to the fallback. *)
Definition codes_law (bits : Z) (lo hi : list Z) (l : list component) (row : Z -> list Z) (y : Z) : list Z :=
  match weights bits lo hi (row y) with Some w => w | None => concat (even_rows l) end.

(* Any two clients of a policy with codes whose box is verified: the mixture over components is eps-LDP. *)
Theorem codes_ldp p q bits l lo hi f g A : 1 <= bits <= 62 -> Forall is_component l -> codes_box bits l = Some (lo, hi) ->
  Z.of_nat (length lo) < max_units -> words lo -> words hi -> verify p q bits lo hi = Accept ->
  (forall y, words (f y)) -> (forall y, words (g y)) ->
  (IZR (hits bits A (codes_law bits lo hi l f)) <= exp (IZR p / IZR q) * IZR (hits bits A (codes_law bits lo hi l g)))%R.
Proof.
  intros Hb HC HX HL Wl Wh HV Hf Hg. pose proof (even_point _ _ _ _ Hb HC HX) as EP.
  pose proof (verify_sound _ _ _ _ _ Wl Wh HV) as G. pose proof (guarantee_bounds _ _ _ _ _ G) as HB.
  pose proof (g_some _ _ _ _ _ G) as Hlo.
  assert (P : forall row, (forall y, words (row y)) -> forall y, point bits lo hi (codes_law bits lo hi l row y)).
  { intros row Hr y. unfold codes_law. destruct (weights bits lo hi (row y)) as [w|] eqn:E; [|exact EP].
    pose proof (weights_some _ _ _ _ _ E) as ->. apply weights_point in E; try assumption. apply Hr. }
  apply release_ldp with (lo := lo) (hi := hi); try assumption; apply P; assumption.
Qed.
