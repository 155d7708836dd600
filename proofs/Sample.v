(* Weights.Sample of ldp/weights.go, and the draw of an input, Distribution.Pick of policy/private. *)
From Wpm Require Export Round.
Open Scope Z_scope.

(* The loop that both share: count the cumulative sums that are <= x. *)
Fixpoint scan (w : list Z) (x c i : Z) : Z :=
  match w with
  | [] => i
  | n :: w =>
    let c := add c n in
    scan w x c (add i (sub 1 (borrow x c)))
  end.

(* The low B bits of a random word: a mask of low bits is a remainder. *)
Definition sample (bits : Z) (w : list Z) (y : Z) : Z := scan w (y mod 2 ^ bits) 0 0.

(* How many random bits Sample reads: whole bytes. *)
Definition read_bits (bits : Z) : Z := 8 * ((bits + 7) / 8).

(* u are the counts of inputs as integers; the high word of 64 by 64 bits draws from their sum. *)
Definition pick (u : list Z) (y : Z) : Z :=
  let (t, _) := Mul64 y (fold_left add u 0) in scan u t 0 0.

(* The first j with w_0 + .. + w_j > x. *)
Fixpoint first (w : list Z) (x : Z) : Z :=
  match w with
  | [] => 0
  | v :: w => if x <? v then 0 else 1 + first w (x - v)
  end.

Lemma scan_past w : words w -> forall x c i, 0 <= x < c -> c + sum w < W -> 0 <= i < W -> scan w x c i = i.
Proof.
  induction 1 as [|v w Hv Hw IH]; intros x c i Hx Hc Hi; cbn [scan sum] in *; [reflexivity|].
  pose proof (sum_nonneg _ Hw). rewrite (add_exact c) by lia. rewrite borrow_ltb.
  destruct (Z.ltb_spec x (c + v)); [|lia]. rewrite sub_exact, add_exact by lia. rewrite Z.add_0_r. apply IH; lia.
Qed.

(* The loop finds the first index, and no sum wraps. *)
Theorem scan_first w : words w -> forall x c i, 0 <= c <= x -> x < W -> c + sum w < W -> 0 <= i ->
  i + Z.of_nat (length w) < W -> scan w x c i = i + first w (x - c).
Proof.
  induction 1 as [|v w Hv Hw IH]; intros x c i Hx HxW Hc Hi Hn; cbn [scan sum first length] in *; [lia|].
  pose proof (sum_nonneg _ Hw). rewrite (add_exact c) by lia. rewrite borrow_ltb.
  destruct (Z.ltb_spec x (c + v)); destruct (Z.ltb_spec (x - c) v); try lia.
  - rewrite sub_exact, add_exact by lia. rewrite scan_past by (assumption || lia). lia.
  - rewrite sub_exact, add_exact by lia. rewrite IH by lia. replace (x - (c + v)) with (x - c - v) by lia. lia.
Qed.

Lemma first_range w : words w -> forall x, 0 <= x < sum w -> 0 <= first w x < Z.of_nat (length w) /\
  0 < nth (Z.to_nat (first w x)) w 0.
Proof.
  induction 1 as [|v w Hv Hw IH]; intros x Hx; cbn [first sum length] in *; [lia|].
  destruct (Z.ltb_spec x v); [cbn [Z.to_nat nth]; lia|].
  destruct (IH (x - v) ltac:(lia)) as (A & B). split; [lia|].
  replace (Z.to_nat (1 + first w (x - v))) with (S (Z.to_nat (first w (x - v)))) by lia. exact B.
Qed.

(* Of the numbers below the sum, those whose first index lies in A are as many as A weighs. *)
Lemma first_mass w : words w -> forall (A : Z -> bool) j,
  count (fun x => A (j + first w x)) (sum w) = mass A j w.
Proof.
  induction 1 as [|v w Hv Hw IH]; intros A j; cbn [sum mass]; [reflexivity|].
  pose proof (sum_nonneg _ Hw). rewrite count_app by lia. rewrite <- (IH A (j + 1)).
  rewrite (count_ext _ (fun _ => A j) v).
  - rewrite count_const by lia. f_equal. apply count_ext. intros x Hx. cbn [first].
    destruct (Z.ltb_spec (v + x) v); [lia|]. f_equal. replace (v + x - v) with x by lia. lia.
  - intros x Hx. cbn [first]. destruct (Z.ltb_spec x v); [|lia]. f_equal. lia.
Qed.

(* A row of weights: what Weights holds. *)
Record row (bits : Z) (w : list Z) : Prop := {
  r_bits : 1 <= bits <= 62;
  r_words : words w;
  r_sum : sum w = 2 ^ bits;
  r_length : Z.of_nat (length w) < max_units
}.

Lemma sample_first bits w y : row bits w -> sample bits w y = first w (y mod 2 ^ bits).
Proof.
  intros [B Hw S L]. pose proof (total_bound bits B) as T. unfold sample. units.
  assert (0 <= y mod 2 ^ bits < 2 ^ bits) by (apply Z.mod_pos_bound; lia).
  rewrite scan_first by (assumption || lia). rewrite Z.sub_0_r. lia.
Qed.

(* Of the 2^B values of the random bits, those that give an index in A are as many as A weighs, *)
Theorem sample_mass bits w A : row bits w -> count (fun x => A (sample bits w x)) (2 ^ bits) = mass A 0 w.
Proof.
  intros R. rewrite <- (first_mass w (r_words _ _ R) A 0). rewrite (r_sum _ _ R). apply count_ext. intros x Hx.
  rewrite sample_first by exact R. rewrite Z.mod_small by exact Hx. reflexivity.
Qed.

Lemma mass_none j w : forall k, j < k -> mass (fun i => i =? j) k w = 0.
Proof. induction w as [|v w IH]; intros k Hk; cbn [mass]; [reflexivity|]. destruct (Z.eqb_spec k j); [lia|].
rewrite IH; lia. Qed.

Lemma mass_one j w : forall k, k <= j < k + Z.of_nat (length w) ->
  mass (fun i => i =? j) k w = nth (Z.to_nat (j - k)) w 0.
Proof.
  induction w as [|v w IH]; intros k Hk; cbn [mass length] in *; [lia|]. destruct (Z.eqb_spec k j) as [->|E].
  - rewrite mass_none by lia. rewrite Z.sub_diag. cbn [Z.to_nat nth]. lia.
  - rewrite IH by lia. replace (Z.to_nat (j - k)) with (S (Z.to_nat (j - (k + 1)))) by lia. reflexivity.
Qed.

(* so exactly n_j of them give j: *)
Theorem sample_exact bits w j : row bits w -> 0 <= j < Z.of_nat (length w) ->
  count (fun x => sample bits w x =? j) (2 ^ bits) = nth (Z.to_nat j) w 0.
Proof.
  intros R Hj. rewrite (sample_mass bits w (fun i => i =? j) R).
  rewrite mass_one by lia. rewrite Z.sub_0_r. reflexivity.
Qed.

(* and the same of the whole bytes that Sample reads, in the same proportion. *)
Lemma read_bits_range bits : 1 <= bits <= 62 -> bits <= read_bits bits <= 64.
Proof. intros. unfold read_bits. lia. Qed.

Theorem sample_bytes bits w A : row bits w ->
  count (fun y => A (sample bits w y)) (2 ^ read_bits bits) = 2 ^ (read_bits bits - bits) * mass A 0 w.
Proof.
  intros R. pose proof (r_bits _ _ R) as B. pose proof (read_bits_range bits B) as K.
  pose proof (total_bound bits B) as T.
  rewrite <- (sample_mass bits w A R). rewrite <- count_mod.
  - rewrite <- Z.pow_add_r by lia. replace (read_bits bits - bits + bits) with (read_bits bits) by lia.
    apply count_ext. intros y Hy. rewrite !sample_first by exact R. rewrite Z.mod_mod by lia. reflexivity.
  - lia.
  - apply Z.pow_nonneg. lia.
Qed.

(* An index that is drawn has a weight above 0. *)
Theorem sample_in_range bits w y : row bits w ->
  0 <= sample bits w y < Z.of_nat (length w) /\ 0 < nth (Z.to_nat (sample bits w y)) w 0.
Proof.
  intros R. rewrite sample_first by exact R. apply first_range; [exact (r_words _ _ R)|]. rewrite (r_sum _ _ R).
  apply Z.mod_pos_bound. apply Z.pow_pos_nonneg; [lia | pose proof (r_bits _ _ R); lia].
Qed.

(* The draw of an input. *)
Lemma fold_add u : words u -> forall c, 0 <= c -> c + sum u < W -> fold_left add u c = c + sum u.
Proof.
  induction 1 as [|v u Hv Hu IH]; intros c Hc Hs; cbn [fold_left sum] in *; [lia|].
  pose proof (sum_nonneg _ Hu). rewrite add_exact by lia. rewrite IH; lia.
Qed.

Lemma pick_first u y : words u -> 0 < sum u < W -> Z.of_nat (length u) < W -> 0 <= y < W ->
  pick u y = first u (y * sum u / W) /\ 0 <= y * sum u / W < sum u.
Proof.
  intros Hu Hs Hn Hy. unfold pick, Mul64. rewrite fold_add by (assumption || lia). rewrite Z.add_0_l.
  assert (0 <= y * sum u / W < sum u).
  { split; [apply Z.div_pos; nia | apply Z.div_lt_upper_bound; nia]. }
  rewrite scan_first by (assumption || lia). rewrite Z.sub_0_r. split; [lia | assumption].
Qed.

(* It is an input with a count above 0, *)
Theorem pick_in_range u y : words u -> 0 < sum u < W -> Z.of_nat (length u) < W -> 0 <= y < W ->
  0 <= pick u y < Z.of_nat (length u) /\ 0 < nth (Z.to_nat (pick u y)) u 0.
Proof.
  intros Hu Hs Hn Hy. destruct (pick_first u y Hu Hs Hn Hy) as (E & T). rewrite E. apply first_range; assumption.
Qed.

Lemma first_interval w : words w -> forall j x, 0 <= x -> (j < length w)%nat ->
  (first w x =? Z.of_nat j) = (sum (firstn j w) <=? x) && (x <? sum (firstn j w) + nth j w 0).
Proof.
  induction 1 as [|v w Hv Hw IH]; intros j x Hx Hj; cbn [length] in Hj; [lia|].
  assert (F : forall z, 0 <= first w z) by (clear -Hw; induction Hw; intros z; cbn [first]; [lia | destruct (z <? x);
    [lia | specialize (IHHw (z - x)); lia]]).
  specialize (F (x - v)). cbn [first].
  destruct j as [|j]; cbn [firstn nth sum].
  - destruct (Z.ltb_spec x v); destruct (Z.leb_spec 0 x); destruct (Z.ltb_spec x (0 + v)); try lia; cbn [andb];
    apply Z.eqb_neq || reflexivity; lia.
  - assert (N : 0 <= sum (firstn j w)).
    { apply sum_nonneg. clear -Hw. revert j. induction Hw; intros [|j]; constructor; auto. apply IHHw. }
    rewrite Nat2Z.inj_succ. destruct (Z.ltb_spec x v).
    + destruct (Z.leb_spec (v + sum (firstn j w)) x); [lia|]. apply Z.eqb_neq. lia.
    + replace (1 + first w (x - v) =? Z.succ (Z.of_nat j)) with (first w (x - v) =? Z.of_nat j)
        by (destruct (Z.eqb_spec (first w (x - v)) (Z.of_nat j));
          destruct (Z.eqb_spec (1 + first w (x - v)) (Z.succ (Z.of_nat j))); lia).
      rewrite IH by lia. f_equal.
      * destruct (Z.leb_spec (sum (firstn j w)) (x - v)); destruct (Z.leb_spec (v + sum (firstn j w)) x); lia.
      * destruct (Z.ltb_spec (x - v) (sum (firstn j w) + nth j w 0));
        destruct (Z.ltb_spec x (v + sum (firstn j w) + nth j w 0)); lia.
Qed.

Lemma firstn_sum w : words w -> forall j, 0 <= sum (firstn j w) /\ 0 <= nth j w 0 /\
  sum (firstn j w) + nth j w 0 <= sum w.
Proof.
  induction 1 as [|v w Hv Hw IH]; intros [|j]; cbn [firstn nth sum]; try lia; pose proof (sum_nonneg _ Hw);
  try (specialize (IH j)); lia.
Qed.

(* and input j comes from 2^64 u_j / sum u of the 2^64 words, rounded up or down. *)
Theorem pick_share u j : words u -> 0 < sum u < W -> Z.of_nat (length u) < W -> (j < length u)%nat ->
  let share := count (fun y => pick u y =? Z.of_nat j) W in
  share * sum u < W * nth j u 0 + sum u /\ W * nth j u 0 < share * sum u + sum u.
Proof.
  intros Hu Hs Hn Hj. cbn zeta. set (s := sum u) in *.
  destruct (firstn_sum u Hu j) as (C & N & T). fold s in T. set (c := sum (firstn j u)) in *. set (n := nth j u 0) in *.
  rewrite (count_ext _ (fun y => ((c * W + s - 1) / s <=? y) && (y <? ((c + n) * W + s - 1) / s)) W).
  - rewrite count_range.
    + set (a := (c * W + s - 1) / s). set (b := ((c + n) * W + s - 1) / s).
      assert (A : c * W <= s * a < c * W + s).
      { unfold a. pose proof (Z.mul_div_le (c * W + s - 1) s ltac:(lia)).
        pose proof (Z.mul_succ_div_gt (c * W + s - 1) s ltac:(lia)). nia. }
      assert (B : (c + n) * W <= s * b < (c + n) * W + s).
      { unfold b. pose proof (Z.mul_div_le ((c + n) * W + s - 1) s ltac:(lia)).
        pose proof (Z.mul_succ_div_gt ((c + n) * W + s - 1) s ltac:(lia)). nia. }
      clearbody a b. nia.
    + apply Z.div_pos; nia.
    + apply Z.div_le_mono; nia.
    + apply ceil_le; nia.
  - intros y Hy. destruct (pick_first u y Hu Hs Hn Hy) as (E & P). fold s in E, P. rewrite E.
    rewrite first_interval by (assumption || lia). fold c n.
    assert (G : forall d, (d <=? y * s / W) = ((d * W + s - 1) / s <=? y)).
    { intros d. destruct (Z.leb_spec d (y * s / W)) as [L|L]; destruct (Z.leb_spec ((d * W + s - 1) / s) y) as [K|K];
      try reflexivity; exfalso.
      - assert (Q : d * W <= y * s) by (pose proof (Z.mul_div_le (y * s) W ltac:(lia)); lia).
        pose proof (ceil_le (d * W) s y ltac:(lia) Q). lia.
      - assert (Q : y * s < d * W) by (pose proof (Z.mul_succ_div_gt (y * s) W ltac:(lia)); lia).
        pose proof (Z.mul_succ_div_gt (d * W + s - 1) s ltac:(lia)). nia. }
    f_equal; [apply G|]. rewrite !Z.ltb_antisym. f_equal. apply G.
Qed.
