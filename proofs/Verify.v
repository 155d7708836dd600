(* The decision h <= e^x l, that is factor.floor of ldp/exp.go, and Polytope.Verify of ldp/polytope.go. *)
From Wpm Require Export Exp.
Open Scope Z_scope.

(* fixed: i + f1/2^64 + f0/2^128 *)
Definition fixed := (Z * Z * Z)%type.

Definition value (y : fixed) : Z := let '(i, f1, f0) := y in i * 2 ^ 128 + f1 * 2 ^ 64 + f0.

Definition is_fixed (y : fixed) : Prop := let '(i, f1, f0) := y in 0 <= i < W /\ 0 <= f1 < W /\ 0 <= f0 < W.

Definition new_fixed (v w : Z) : fixed :=
  let z := Z.min (Z.abs (Z.shiftr v (w - 128))) (2 ^ 191) in
  (z / 2 ^ 128, (z / 2 ^ 64) mod 2 ^ 64, z mod 2 ^ 64).

Definition max_units := 2 ^ 62.

(* fixed.mul *)
Definition mul (y : fixed) (n : Z) : Z :=
  let '(i, f1, f0) := y in
  let (h0, _) := Mul64 n f0 in
  let (h1, l1) := Mul64 n f1 in
  let (h2, l2) := Mul64 n i in
  let (_, c) := Add64 l1 h0 0 in
  let (s, c) := Add64 l2 h1 c in
  if add h2 c =? 0 then Z.min s max_units else max_units.

Lemma new_fixed_spec v w : is_fixed (new_fixed v w) /\
  value (new_fixed v w) = Z.min (Z.abs (Z.shiftr v (w - 128))) (2 ^ 191).
Proof.
  unfold new_fixed. set (z := Z.min (Z.abs (Z.shiftr v (w - 128))) (2 ^ 191)).
  assert (H : 0 <= z <= 2 ^ 191) by (unfold z; split; [apply Z.min_glb;
    [apply Z.abs_nonneg | discriminate] | apply Z.le_min_r]).
  clearbody z. unfold is_fixed, value.
  change (2 ^ 191) with 3138550867693340381917894711603833208051177722232017256448 in H.
  change (2 ^ 128) with 340282366920938463463374607431768211456. change (2 ^ 64) with W. lia.
Qed.

Theorem mul_spec y n : is_fixed y -> 0 <= n < W -> mul y n = Z.min (value y * n / 2 ^ 128) max_units.
Proof.
  destruct y as [[i f1] f0]. unfold is_fixed, value, mul, Mul64, Add64, add. intros (Hi & H1 & H0) Hn.
  set (a2 := n * i). set (a1 := n * f1). set (a0 := n * f0).
  assert (A2 : 0 <= a2 <= (W - 1) * (W - 1)) by (unfold a2; nia).
  assert (A1 : 0 <= a1 <= (W - 1) * (W - 1)) by (unfold a1; nia).
  assert (A0 : 0 <= a0 <= (W - 1) * (W - 1)) by (unfold a0; nia).
  replace ((i * 2 ^ 128 + f1 * 2 ^ 64 + f0) * n) with (a0 + a1 * W + a2 * W * W)
    by (unfold a0, a1, a2; change (2 ^ 128) with (W * W); change (2 ^ 64) with W; ring).
  clearbody a2 a1 a0. change (2 ^ 128) with (W * W). rewrite <- Z.div_div by lia.
  replace (a0 + a1 * W + a2 * W * W) with (a0 + (a1 + a2 * W) * W) by ring. rewrite Z.div_add by lia.
  set (h0 := a0 / W). assert (G0 : 0 <= h0 <= W - 2) by (unfold h0; lia). clearbody h0.
  set (h1 := a1 / W). set (l1 := a1 mod W). set (h2 := a2 / W). set (l2 := a2 mod W).
  assert (E1 : a1 = h1 * W + l1 /\ 0 <= l1 < W /\ 0 <= h1 <= W - 2) by (unfold h1, l1; lia).
  assert (E2 : a2 = h2 * W + l2 /\ 0 <= l2 < W /\ 0 <= h2 <= W - 2) by (unfold h2, l2; lia).
  clearbody h1 l1 h2 l2. destruct E1 as (-> & L1 & G1). destruct E2 as (-> & L2 & G2).
  set (c := (l1 + h0 + 0) / W). assert (C : 0 <= c <= 1 /\ c * W <= l1 + h0 < c * W + W) by (unfold c; lia).
  clearbody c.
  replace (h0 + (h1 * W + l1 + (h2 * W + l2) * W)) with ((l1 + h0) + (h1 + h2 * W + l2) * W) by ring.
  rewrite Z.div_add by lia.
  replace ((l1 + h0) / W) with c by lia.
  set (t := l2 + h1 + c). set (c' := t / W).
  assert (C' : 0 <= c' <= 1 /\ t = c' * W + t mod W /\ 0 <= t mod W < W) by (unfold c', t; lia).
  replace (c + (h1 + h2 * W + l2)) with (t + h2 * W) by (unfold t; ring).
  rewrite (Z.mod_small (h2 + c')) by lia.
  unfold max_units. change (2 ^ 62) with 4611686018427387904.
  destruct (Z.eqb_spec (h2 + c') 0) as [E|E].
  - assert (h2 = 0) by lia. assert (c' = 0) by lia. f_equal. lia.
  - symmetry. apply Z.min_r. nia.
Qed.

Record factor := Factor { width : Z; below : Z; above : Z; under : fixed; over : fixed }.

Definition factor_bits := 256.

Definition new_factor (p q : Z) : option factor :=
  match exp_interval p q factor_bits with
  | None => None
  | Some (below, above) =>
    Some (Factor factor_bits below above (new_fixed below factor_bits) (new_fixed (- above) factor_bits))
  end.

(* factor.slow: precision doubles while in doubt. The loop of Go has no fuel; it ends because e^x n is irrational, which
   is not proved here. Where fuel ends there is no verdict. *)
Fixpoint slow (fuel : nat) (p q : Z) (f : factor) (n : Z) : option (Z * factor) :=
  let down := Z.shiftr (below f * n) (width f) in
  let up := Z.shiftr (above f * n) (width f) in
  if down =? up then Some (Z.min down max_units, f)
  else match fuel with
  | O => None
  | S fuel =>
    match exp_interval p q (width f * 2) with
    | None => None
    | Some (b, a) => slow fuel p q (Factor (width f * 2) b a (under f) (over f)) n
    end
  end.

(* factor.floor. The factor that comes back keeps a refined enclosure, as Go's does. *)
Definition floor (p q : Z) (f : factor) (n : Z) : option (Z * factor) :=
  let down := mul (under f) n in
  let up := mul (over f) n in
  if down =? up then Some (down, f) else slow 40 p q f n.

(* v is min(floor(y n), 2^62) for a real number y *)
Definition floor_of (y : R) (n v : Z) : Prop :=
  v <= max_units /\ (IZR v <= y * IZR n)%R /\ (v = max_units \/ (y * IZR n < IZR v + 1)%R).

Section Decision.
Variables p q : Z.
Hypothesis Hp : 0 < p.
Hypothesis Hq : 0 < q.
Let e := exp (IZR p / IZR q).

(* the invariant of a factor *)
Definition encloses (f : factor) : Prop :=
  2 <= width f /\ (IZR (below f) <= IZR (2 ^ width f) * e <= IZR (above f))%R /\
  is_fixed (under f) /\ is_fixed (over f) /\
  (IZR (value (under f)) <= IZR (2 ^ 128) * e)%R /\
  ((IZR (2 ^ 128) * e <= IZR (value (over f)))%R \/ value (over f) = 2 ^ 191).

Lemma e_pos : (0 < e)%R.
Proof. apply exp_pos. Qed.

Lemma scale_down v w : 128 <= w -> (IZR v <= IZR (2 ^ w) * e)%R -> (IZR (Z.shiftr v (w - 128)) <= IZR (2 ^ 128) * e)%R.
Proof.
  intros Hw Hv. rewrite Z.shiftr_div_pow2 by lia.
  assert (D : 0 < 2 ^ (w - 128)) by (apply Z.pow_pos_nonneg; lia).
  apply Rle_trans with (1 := div_le _ _ D). apply Rmult_le_reg_r with (IZR (2 ^ (w - 128))); [apply IZR_lt; exact D|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by (apply not_0_IZR; lia).
  replace (IZR (2 ^ 128) * e * IZR (2 ^ (w - 128)))%R with (IZR (2 ^ w) * e)%R; [exact Hv|].
  replace w with (128 + (w - 128)) at 1 by lia. rewrite Z.pow_add_r, mult_IZR by lia. ring.
Qed.

Lemma scale_up v w : 128 <= w -> (IZR (2 ^ w) * e <= IZR v)%R ->
  (IZR (2 ^ 128) * e <= IZR (Z.abs (Z.shiftr (- v) (w - 128))))%R.
Proof.
  intros Hw Hv. rewrite Z.shiftr_div_pow2 by lia.
  assert (D : 0 < 2 ^ (w - 128)) by (apply Z.pow_pos_nonneg; lia).
  apply Rle_trans with (IZR (- (- v / 2 ^ (w - 128)))); [|apply IZR_le; lia].
  rewrite opp_IZR. pose proof (div_le (- v) _ D) as H. rewrite opp_IZR in H.
  apply Rle_trans with (IZR v / IZR (2 ^ (w - 128)))%R; [|unfold Rdiv in *; lra].
  apply Rmult_le_reg_r with (IZR (2 ^ (w - 128))); [apply IZR_lt; exact D|].
  replace (IZR (2 ^ 128) * e * IZR (2 ^ (w - 128)))%R with (IZR (2 ^ w) * e)%R.
  { unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by (apply not_0_IZR; lia). exact Hv. }
  replace w with (128 + (w - 128)) at 1 by lia. rewrite Z.pow_add_r, mult_IZR by lia. ring.
Qed.

Lemma exp_interval_nonneg w b a : 0 <= w -> exp_interval p q w = Some (b, a) -> 0 <= b.
Proof.
  intros Hw. unfold exp_interval. assert (P : 0 <= 2 ^ w) by (apply Z.pow_nonneg; lia).
  assert (G : forall fuel x y d s t b a, 0 <= x -> 0 <= d -> 0 <= s -> exp_loop fuel p q x y d s t = Some (b, a) ->
    0 <= b).
  { induction fuel as [|fuel IH]; intros x y d s t b' a' X D S; cbn [exp_loop]; [discriminate|].
    assert (0 <= x * p / (d + q)) by (apply Z.div_pos; nia).
    destruct (_ <=? 1); [intros H0; injection H0; lia | apply IH; lia]. }
  apply G; lia.
Qed.

Lemma new_factor_encloses f : new_factor p q = Some f -> encloses f.
Proof.
  unfold new_factor, factor_bits. destruct (exp_interval p q 256) as [[b a]|] eqn:E; [|discriminate]. intros H;
    injection H as <-.
  pose proof (exp_interval_sound p q 256 Hp Hq ltac:(lia) b a E) as (L & U). fold e in L, U.
  pose proof (exp_interval_nonneg 256 b a ltac:(lia) E) as Nb.
  unfold encloses. cbn [width below above under over].
  destruct (new_fixed_spec b 256) as (F1 & V1). destruct (new_fixed_spec (- a) 256) as (F2 & V2).
  split; [lia|]. split; [split; assumption|]. split; [exact F1|]. split; [exact F2|]. rewrite V1, V2. split.
  - pose proof (scale_down b 256 ltac:(lia) L) as K.
    assert (0 <= Z.shiftr b (256 - 128)) by (apply Z.shiftr_nonneg; exact Nb).
    rewrite Z.abs_eq by assumption. apply Rle_trans with (2 := K). apply IZR_le. apply Z.le_min_l.
  - pose proof (scale_up a 256 ltac:(lia) U) as K.
    destruct (Z.min_spec (Z.abs (Z.shiftr (- a) (256 - 128))) (2 ^ 191)) as [[_ ->]|[_ ->]]; [left; exact K | right;
      reflexivity].
Qed.

Lemma floor_unit (v n : Z) (k : Z) : 0 < k -> (IZR v <= IZR k * e)%R -> 0 <= n -> (IZR (v * n / k) <= e * IZR n)%R.
Proof.
  intros Hk Hv Hn. apply Rle_trans with (1 := div_le _ _ Hk).
  assert (K : (0 < IZR k)%R) by (apply IZR_lt; exact Hk).
  apply Rmult_le_reg_r with (IZR k); [exact K|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  rewrite mult_IZR. replace (e * IZR n * IZR k)%R with (IZR k * e * IZR n)%R by ring.
  apply Rmult_le_compat_r; [apply (IZR_le 0); exact Hn | exact Hv].
Qed.

Lemma ceil_unit (v n : Z) (k : Z) : 0 < k -> (IZR k * e <= IZR v)%R -> 0 <= n -> (e * IZR n < IZR (v * n / k) + 1)%R.
Proof.
  intros Hk Hv Hn. apply Rle_lt_trans with (2 := div_lt (v * n) _ Hk).
  assert (K : (0 < IZR k)%R) by (apply IZR_lt; exact Hk).
  apply Rmult_le_reg_r with (IZR k); [exact K|]. rewrite mult_IZR. unfold Rdiv.
  rewrite (Rmult_assoc (IZR v * IZR n)), Rinv_l, Rmult_1_r by lra.
  replace (e * IZR n * IZR k)%R with (IZR k * e * IZR n)%R by ring.
  apply Rmult_le_compat_r; [apply (IZR_le 0); exact Hn | exact Hv].
Qed.

Lemma slow_sound fuel : forall f n v f', 0 <= n -> encloses f -> slow fuel p q f n = Some (v, f') ->
  floor_of e n v /\ encloses f'.
Proof.
  induction fuel as [|fuel IH]; intros f n v f' Hn Hf; cbn [slow]; pose proof Hf as (Hw & (L & U) & Hrest);
  rewrite !Z.shiftr_div_pow2 by lia; assert (D : 0 < 2 ^ width f) by (apply Z.pow_pos_nonneg; lia);
  destruct (Z.eqb_spec (below f * n / 2 ^ width f) (above f * n / 2 ^ width f)) as [E|E]; try discriminate.
  1, 2: intros H; injection H as <- <-; split; [|exact Hf]; split; [apply Z.le_min_r|]; split;
    [ apply Rle_trans with (2 := floor_unit _ _ _ D L Hn); apply IZR_le; apply Z.le_min_l
    | destruct (Z.min_spec (below f * n / 2 ^ width f) max_units) as [[_ ->]|[_ ->]];
      [right; rewrite E; apply ceil_unit; assumption | left; reflexivity] ].
  destruct (exp_interval p q (width f * 2)) as [[b a]|] eqn:X; [|discriminate].
  apply IH; [exact Hn|]. pose proof (exp_interval_sound p q (width f * 2) Hp Hq ltac:(lia) b a X) as B. fold e in B.
  split; [cbn [width]; lia|]. split; [exact B | exact Hrest].
Qed.

Theorem floor_sound f n v f' : 0 <= n < W -> encloses f -> floor p q f n = Some (v, f') ->
  floor_of e n v /\ encloses f'.
Proof.
  intros Hn Hf. unfold floor. destruct (Z.eqb_spec (mul (under f) n) (mul (over f) n)) as [E|E];
  [|apply slow_sound; [lia | exact Hf]].
  intros H. injection H as <- <-. split; [|exact Hf]. destruct Hf as (_ & _ & F1 & F2 & L & U).
  assert (K : 0 < 2 ^ 128) by reflexivity.
  split; [rewrite mul_spec by assumption; apply Z.le_min_r|]. split.
  - rewrite mul_spec by assumption.
    apply Rle_trans with (2 := floor_unit _ _ _ K L (proj1 Hn)). apply IZR_le. apply Z.le_min_l.
  - rewrite E, mul_spec by assumption. destruct U as [U|U].
    + destruct (Z.min_spec (value (over f) * n / 2 ^ 128) max_units) as [[_ ->]|[_ ->]]; [right | left; reflexivity].
      apply ceil_unit; [exact K | exact U | lia].
    + rewrite U. replace (2 ^ 191 * n / 2 ^ 128) with (2 ^ 63 * n)
        by (replace (2 ^ 191 * n) with (2 ^ 63 * n * 2 ^ 128) by (change (2 ^ 191) with (2 ^ 63 * 2 ^ 128); ring);
            rewrite Z.div_mul; lia).
      unfold max_units. destruct (Z.eq_dec n 0) as [->|Hn0]; [right; change (Z.min (2 ^ 63 * 0) (2 ^ 62)) with 0;
        lra | left].
      apply Z.min_r. change (2 ^ 63) with (2 * 2 ^ 62). nia.
Qed.

(* Integers h up to 2^62 compare with e n as they do with its floor. *)
Lemma floor_of_compare n v h : floor_of e n v -> h <= max_units -> (h <= v <-> (IZR h <= e * IZR n)%R).
Proof.
  intros (V & L & U) Hh. split.
  - intros H. apply Rle_trans with (2 := L). apply IZR_le. exact H.
  - intros H. destruct U as [->|U]; [exact Hh|]. apply Z.lt_succ_r. apply lt_IZR. rewrite succ_IZR.
    apply Rle_lt_trans with (1 := H). exact U.
Qed.
End Decision.

(* Polytope.Verify. The box error of a column comes with its number. *)
Inductive verdict :=
| Accept
| NoColumn                  (* no column, or not as many lower as upper bounds *)
| BadEpsilon
| BadBits
| Order (j : Z)             (* lo > hi *)
| Top (j : Z)               (* hi > 2^B *)
| Loss (j : Z)              (* hi > e^eps lo *)
| LowSum                    (* sum lo > 2^B *)
| HighSum                   (* sum hi < 2^B *)
| Undecided.                (* fuel ran out: Go would still be at it *)

(* ldp/epsilon.go, the range of an Epsilon p/q *)
Definition is_epsilon (p q : Z) : bool :=
  (0 <? q) && (q <=? 10 ^ 18 * p) && (p <=? 64 * q) && (q / Z.gcd p q <? 2 ^ 128).

Fixpoint verify_columns (p q total : Z) (f : factor) (j : Z) (lo hi : list Z) : verdict :=
  match lo, hi with
  | l :: lo, h :: hi =>
    if h <? l then Order j
    else if total <? h then Top j
    else match floor p q f l with
    | None => Undecided
    | Some (v, f) => if v <? h then Loss j else verify_columns p q total f (j + 1) lo hi
    end
  | _, _ => Accept
  end.

Definition verify (p q bits : Z) (lo hi : list Z) : verdict :=
  if (length lo =? 0)%nat || negb (length lo =? length hi)%nat then NoColumn
  else if negb (is_epsilon p q) then BadEpsilon
  else if (bits <? 1) || (62 <? bits) then BadBits
  else match new_factor p q with
  | None => Undecided
  | Some f =>
    let total := 2 ^ bits in
    match verify_columns p q total f 0 lo hi with
    | Accept =>
      if total <? sum64 lo 0 then LowSum
      else if sum64 hi 0 <? total then HighSum
      else Accept
    | v => v
    end
  end.

(* What an accepted box owes. *)
Record guarantee (p q bits : Z) (lo hi : list Z) : Prop := {
  g_bits : 1 <= bits <= 62;
  g_some : lo <> [];
  g_box : exists w, box lo w hi;
  g_top : Forall (fun h => h <= 2 ^ bits) hi;
  g_loss : ratio (exp (IZR p / IZR q)) lo hi;
  g_sums : sum lo <= 2 ^ bits <= sum hi
}.

Lemma is_epsilon_pos p q : is_epsilon p q = true -> 0 < p /\ 0 < q /\ p <= 64 * q.
Proof. unfold is_epsilon. rewrite !andb_true_iff, !Z.ltb_lt, !Z.leb_le. intros (((A & B) & C) & _). lia. Qed.

Lemma total_bound bits : 1 <= bits <= 62 -> 2 <= 2 ^ bits <= max_units.
Proof. intros. unfold max_units. split; [change 2 with (2 ^ 1) at 1|]; apply Z.pow_le_mono_r; lia. Qed.

Section Columns.
Variables p q total : Z.
Hypothesis Hp : 0 < p.
Hypothesis Hq : 0 < q.
Hypothesis Ht : total <= max_units.

Lemma verify_columns_sound lo : forall hi f j, length lo = length hi -> words lo -> encloses p q f ->
  match verify_columns p q total f j lo hi with
  | Accept => (exists w, box lo w hi) /\ Forall (fun h => h <= total) hi /\ ratio (exp (IZR p / IZR q)) lo hi
  | Order i => j <= i < j + Z.of_nat (length lo) /\ nth (Z.to_nat (i - j)) hi 0 < nth (Z.to_nat (i - j)) lo 0
  | Top i => j <= i < j + Z.of_nat (length lo) /\ total < nth (Z.to_nat (i - j)) hi 0
  | Loss i => j <= i < j + Z.of_nat (length lo) /\
      (exp (IZR p / IZR q) * IZR (nth (Z.to_nat (i - j)) lo 0%Z) < IZR (nth (Z.to_nat (i - j)) hi 0%Z))%R
  | Undecided => True
  | _ => False
  end.
Proof.
  induction lo as [|l lo IH]; intros [|h hi] f j Hl Hw Hf; try discriminate; cbn [verify_columns].
  - split; [exists []; constructor | split; constructor].
  - inversion Hw as [|? ? Hl' Hw']; subst. cbn [length] in *. rewrite Nat2Z.inj_succ.
    destruct (Z.ltb_spec h l); [rewrite Z.sub_diag; cbn; lia|].
    destruct (Z.ltb_spec total h); [rewrite Z.sub_diag; cbn; lia|].
    destruct (floor p q f l) as [[v f']|] eqn:E; [|exact I].
    apply (floor_sound p q Hp Hq) in E; [|exact Hl' | exact Hf]. destruct E as (V & Hf').
    pose proof (floor_of_compare p q l v h V ltac:(lia)) as C.
    destruct (Z.ltb_spec v h) as [K|K].
    + rewrite Z.sub_diag. cbn [Z.to_nat nth]. split; [lia|]. apply Rnot_le_lt. intros D. apply C in D. lia.
    + specialize (IH hi f' (j + 1) ltac:(lia) Hw' Hf').
      assert (N : forall i (l0 : list Z) x, j + 1 <= i ->
        nth (Z.to_nat (i - j)) (x :: l0) 0 = nth (Z.to_nat (i - (j + 1))) l0 0).
      { intros i l0 x Hi. replace (Z.to_nat (i - j)) with (S (Z.to_nat (i - (j + 1)))) by lia. reflexivity. }
      destruct (verify_columns p q total f' (j + 1) lo hi); try contradiction; try exact I.
      * destruct IH as ((w & B) & T & R). split; [exists (l :: w); constructor; [lia | lia | exact B]|].
        split; constructor; try assumption. apply C. lia.
      * destruct IH as (A & B). rewrite !N by lia. split; [lia | exact B].
      * destruct IH as (A & B). rewrite !N by lia. split; [lia | exact B].
      * destruct IH as (A & B). rewrite !N by lia. split; [lia | exact B].
Qed.
End Columns.

Lemma box_length l w h : box l w h -> length l = length w /\ length w = length h.
Proof. induction 1; simpl; intuition lia. Qed.

Lemma box_nth l w h : box l w h -> forall i, nth i l 0 <= nth i h 0.
Proof. induction 1; intros [|i]; simpl; auto; lia. Qed.

Lemma ratio_nth e l h : ratio e l h -> forall i, (IZR (nth i h 0%Z) <= e * IZR (nth i l 0%Z))%R.
Proof. induction 1; intros [|i]; simpl; auto; lra. Qed.

Lemma forall_nth (t : Z) l : 0 <= t -> Forall (fun h => h <= t) l -> forall i, nth i l 0 <= t.
Proof. intros Ht. induction 1; intros [|i]; simpl; auto. Qed.

(* Verify accepts only boxes that carry the guarantee, *)
Theorem verify_sound p q bits lo hi : words lo -> words hi -> verify p q bits lo hi = Accept ->
  guarantee p q bits lo hi.
Proof.
  intros Wl Wh. unfold verify.
  destruct (Nat.eqb_spec (length lo) 0); [discriminate|]. destruct (Nat.eqb_spec (length lo) (length hi)) as [HL|];
    [|discriminate].
  cbn [orb negb]. destruct (is_epsilon p q) eqn:HE; [|discriminate]. apply is_epsilon_pos in HE as (Hp & Hq & _).
  cbn [negb].
  destruct (Z.ltb_spec bits 1); [discriminate|]. destruct (Z.ltb_spec 62 bits); [discriminate|]. cbn [orb].
  destruct (new_factor p q) as [f|] eqn:HF; [|discriminate]. apply (new_factor_encloses p q Hp Hq) in HF.
  pose proof (total_bound bits ltac:(lia)) as HT.
  pose proof (verify_columns_sound p q (2 ^ bits) Hp Hq (proj2 HT) lo hi f 0 HL Wl HF) as C.
  destruct (verify_columns p q (2 ^ bits) f 0 lo hi); try discriminate. destruct C as (B & T & R).
  rewrite !sum64_spec by (assumption || lia). rewrite !Z.add_0_l. unfold max_units in HT.
  change (2 ^ 62) with 4611686018427387904 in HT.
  destruct (Z.ltb_spec (2 ^ bits) (Z.min (sum lo) (W - 1))); [discriminate|].
  destruct (Z.ltb_spec (Z.min (sum hi) (W - 1)) (2 ^ bits)); [discriminate|]. intros _.
  split; try assumption; try lia. intros ->. simpl in *. lia.
Qed.

(* and refuses, of those with an epsilon in range, only boxes that do not. *)
Theorem verify_complete p q bits lo hi : words lo -> words hi -> is_epsilon p q = true -> guarantee p q bits lo hi ->
  verify p q bits lo hi = Accept \/ verify p q bits lo hi = Undecided.
Proof.
  intros Wl Wh HE G. pose proof HE as HE'. apply is_epsilon_pos in HE' as (Hp & Hq & _).
  destruct G as [GB GS (w & GX) GT GL (S1 & S2)].
  pose proof (box_length _ _ _ GX) as (L1 & L2). pose proof (total_bound bits GB) as HT. unfold verify.
  destruct (Nat.eqb_spec (length lo) 0) as [E|E]; [destruct lo; [contradiction|discriminate]|].
  destruct (Nat.eqb_spec (length lo) (length hi)) as [HL|]; [|lia]. cbn [orb negb]. rewrite HE. cbn [negb].
  destruct (Z.ltb_spec bits 1); [lia|]. destruct (Z.ltb_spec 62 bits); [lia|]. cbn [orb].
  destruct (new_factor p q) as [f|] eqn:HF; [|right; reflexivity]. apply (new_factor_encloses p q Hp Hq) in HF.
  pose proof (verify_columns_sound p q (2 ^ bits) Hp Hq (proj2 HT) lo hi f 0 HL Wl HF) as C.
  destruct (verify_columns p q (2 ^ bits) f 0 lo hi) as [ | | | |i|i|i| | | ]; try contradiction; [left| | | |right;
    reflexivity].
  - rewrite !sum64_spec by (assumption || lia). rewrite !Z.add_0_l. unfold max_units in HT.
    change (2 ^ 62) with 4611686018427387904 in HT.
    destruct (Z.ltb_spec (2 ^ bits) (Z.min (sum lo) (W - 1))); [lia|].
    destruct (Z.ltb_spec (Z.min (sum hi) (W - 1)) (2 ^ bits)); [lia|]. reflexivity.
  - pose proof (box_nth _ _ _ GX (Z.to_nat (i - 0))). lia.
  - pose proof (forall_nth (2 ^ bits) hi ltac:(lia) GT (Z.to_nat (i - 0))). lia.
  - pose proof (ratio_nth _ _ _ GL (Z.to_nat (i - 0))). lra.
Qed.
