(* The enclosure of e^x: expInterval of ldp/exp.go. Integers of math/big are Z; quotients are of numbers >= 0, where
   Quo rounds down as Z's division does. *)
From Wpm Require Export Box.
Open Scope Z_scope.

(* One turn of the loop of expInterval, x = p/q. d is q n. The loop of Go has no fuel;
  exp_ends says how much is enough. *)
Fixpoint exp_loop (fuel : nat) (p q a b d below above : Z) : option (Z * Z) :=
  match fuel with
  | O => None
  | S fuel =>
    let d := d + q in
    let a := a * p / d in
    let b := (b * p + d - 1) / d in
    let below := below + a in
    let above := above + b in
    if b <=? 1 then Some (below, above + 1) else exp_loop fuel p q a b d below above
  end.

Definition exp_interval (p q w : Z) : option (Z * Z) :=
  exp_loop (Z.to_nat (w + 256)) p q (2 ^ w) (2 ^ w) 0 (2 ^ w) (2 ^ w).

Lemma div_le a d : 0 < d -> (IZR (a / d) <= IZR a / IZR d)%R.
Proof.
  intros Hd. assert (D : (0 < IZR d)%R) by (apply IZR_lt; lia).
  apply Rmult_le_reg_r with (IZR d); [exact D|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  rewrite <- mult_IZR. apply IZR_le. pose proof (Z.mul_div_le a d Hd). lia.
Qed.

Lemma div_lt a d : 0 < d -> (IZR a / IZR d < IZR (a / d) + 1)%R.
Proof.
  intros Hd. assert (D : (0 < IZR d)%R) by (apply IZR_lt; lia).
  apply Rmult_lt_reg_r with (IZR d); [exact D|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  rewrite <- (plus_IZR _ 1), <- mult_IZR. apply IZR_lt.
  pose proof (Z.mul_succ_div_gt a d Hd). lia.
Qed.

Lemma ceil_ge a d : 0 < d -> (IZR a / IZR d <= IZR ((a + d - 1) / d))%R.
Proof.
  intros Hd. assert (D : (0 < IZR d)%R) by (apply IZR_lt; lia).
  apply Rmult_le_reg_r with (IZR d); [exact D|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  rewrite <- mult_IZR. apply IZR_le. pose proof (Z.mul_succ_div_gt (a + d - 1) d Hd). lia.
Qed.

Lemma ceil_le a d m : 0 < d -> a <= m * d -> (a + d - 1) / d <= m.
Proof. intros. apply Z.lt_succ_r. apply Z.div_lt_upper_bound; nia. Qed.

Open Scope R_scope.

(* The terms of the series. *)
Definition term (x : R) (n : nat) : R := / INR (fact n) * x ^ n.

Lemma exp_series x : infinite_sum (term x) (exp x).
Proof. unfold exp. destruct (exist_exp x) as [l H]. exact H. Qed.

Lemma term_0 x : term x 0 = 1.
Proof. unfold term. simpl. field. Qed.

Lemma term_S x n : term x (S n) = term x n * (x / INR (S n)).
Proof.
  unfold term. rewrite fact_simpl, mult_INR. simpl pow. field. split; [apply not_0_INR;
    discriminate | apply INR_fact_neq_0].
Qed.

Lemma term_nonneg x n : 0 <= x -> 0 <= term x n.
Proof.
  intros. unfold term. apply Rmult_le_pos; [left; apply Rinv_0_lt_compat, INR_fact_lt_0 | apply pow_le; assumption].
Qed.

Lemma partial_below x n : 0 <= x -> sum_f_R0 (term x) n <= exp x.
Proof.
  intros. apply sum_incr; [exact (exp_series x) | intros; apply term_nonneg; assumption].
Qed.

(* From n with n + 1 >= 2x on, each term is at most half the one before. *)
Lemma term_half x n m : 0 <= x -> 2 * x <= INR (S n) -> term x (n + m) <= term x n * (/ 2) ^ m.
Proof.
  intros Hx Hn. induction m as [|m IH].
  - rewrite Nat.add_0_r. simpl. lra.
  - rewrite Nat.add_succ_r, term_S. simpl pow.
    assert (P : 0 < INR (S (n + m))) by (apply lt_0_INR; lia).
    assert (Q : INR (S n) <= INR (S (n + m))) by (apply le_INR; lia).
    assert (R : 0 <= x / INR (S (n + m)) <= / 2).
    { split; [apply Rmult_le_pos; [assumption | left; apply Rinv_0_lt_compat; assumption]|].
      apply Rmult_le_reg_r with (INR (S (n + m))); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
      lra. }
    pose proof (term_nonneg x (n + m) Hx).
    apply Rle_trans with (term x (n + m) * / 2); [apply Rmult_le_compat_l; lra|].
    apply Rle_trans with (term x n * (/ 2) ^ m * / 2); [apply Rmult_le_compat_r; lra|]. lra.
Qed.

Lemma partial_tail x n m : 0 <= x -> 2 * x <= INR (S n) ->
  sum_f_R0 (term x) (n + m) <= sum_f_R0 (term x) n + term x n * (1 - (/ 2) ^ m).
Proof.
  intros Hx Hn. induction m as [|m IH].
  - rewrite Nat.add_0_r. simpl. lra.
  - rewrite Nat.add_succ_r, tech5. pose proof (term_half x n (S m) Hx Hn) as H. rewrite Nat.add_succ_r in H.
    simpl pow in *. lra.
Qed.

Lemma exp_limit x n c : (forall m, sum_f_R0 (term x) (n + m) <= c) -> exp x <= c.
Proof.
  intros H. apply Rnot_lt_le. intros C. destruct (exp_series x (exp x - c)) as [N HN]; [lra|].
  specialize (HN (n + N)%nat ltac:(lia)). specialize (H N). unfold R_dist in HN. apply Rabs_def2 in HN. lra.
Qed.

Lemma exp_above x n : 0 <= x -> 2 * x <= INR (S n) -> exp x <= sum_f_R0 (term x) n + term x n.
Proof.
  intros Hx Hn. apply exp_limit with n. intros m. pose proof (partial_tail x n m Hx Hn).
  pose proof (term_nonneg x n Hx).
  assert (0 <= (/ 2) ^ m) by (apply pow_le; lra).
  assert (0 <= term x n * (/ 2) ^ m) by (apply Rmult_le_pos; assumption). lra.
Qed.

(* The rest of the series after term n, in units of that term, is rest x n. *)
Definition rest (x : R) (n : nat) : R := (exp x - sum_f_R0 (term x) n) / term x n.

Lemma term_pos x n : 0 < x -> 0 < term x n.
Proof. intros. unfold term. apply Rmult_lt_0_compat; [apply Rinv_0_lt_compat, INR_fact_lt_0 | apply pow_lt;
  assumption]. Qed.

Lemma rest_nonneg x n : 0 < x -> 0 <= rest x n.
Proof.
  intros Hx. unfold rest. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat, term_pos; assumption].
  pose proof (partial_below x n). lra.
Qed.

Lemma rest_S x n : 0 < x -> rest x n = x / INR (S n) * (1 + rest x (S n)).
Proof.
  intros Hx. unfold rest. rewrite tech5, term_S. pose proof (term_pos x n Hx).
  assert (0 < INR (S n)) by (apply lt_0_INR; lia). field. lra.
Qed.

Lemma term_add x n m : 0 <= x -> term x (n + m) <= term x n * term x m.
Proof.
  intros Hx. induction m as [|m IH].
  - rewrite Nat.add_0_r, term_0. lra.
  - rewrite Nat.add_succ_r, !term_S.
    assert (P : 0 < INR (S m)) by (apply lt_0_INR; lia).
    assert (Q : INR (S m) <= INR (S (n + m))) by (apply le_INR; lia).
    assert (F : x / INR (S (n + m)) <= x / INR (S m)).
    { unfold Rdiv. apply Rmult_le_compat_l; [assumption|]. apply Rinv_le_contravar; assumption. }
    assert (G : 0 <= x / INR (S (n + m))) by (apply Rmult_le_pos; [assumption | left; apply Rinv_0_lt_compat; lra]).
    pose proof (term_nonneg x n Hx). pose proof (term_nonneg x m Hx). pose proof (term_nonneg x (n + m) Hx).
    apply Rle_trans with (term x n * term x m * (x / INR (S m))); [|right; ring].
    apply Rmult_le_compat; assumption.
Qed.

Lemma rest_above x n : 0 < x -> 1 + rest x n <= exp x.
Proof.
  intros Hx. pose proof (term_pos x n Hx) as T.
  assert (E : exp x <= sum_f_R0 (term x) n - term x n + term x n * exp x).
  { apply exp_limit with n. intros m.
    apply Rle_trans with (sum_f_R0 (term x) n - term x n + term x n * sum_f_R0 (term x) m).
    - induction m as [|m IH].
      + rewrite Nat.add_0_r. simpl. rewrite term_0. lra.
      + rewrite Nat.add_succ_r, !tech5. pose proof (term_add x n (S m) ltac:(lra)) as A. rewrite Nat.add_succ_r in A.
        lra.
    - pose proof (partial_below x m ltac:(lra)). nra. }
  unfold rest. apply Rmult_le_reg_l with (term x n); [exact T|].
  replace (term x n * (1 + (exp x - sum_f_R0 (term x) n) / term x n)) with (term x n + exp x - sum_f_R0 (term x) n)
    by (field; lra).
  lra.
Qed.

(* The loop does not end before n > 2x: until then the terms are at least 1/2. *)
Lemma power_half n : (1 <= n)%nat -> / 2 <= term (INR n / 2) n.
Proof.
  induction 1 as [|n Hn IH].
  - unfold term. simpl. lra.
  - assert (P : 0 < INR n) by (apply lt_0_INR; lia). set (k := INR n) in *.
    assert (B : 2 <= (1 + / k) ^ n).
    { pose proof (poly n (/ k) ltac:(apply Rinv_0_lt_compat; exact P)) as H. fold k in H. rewrite Rinv_r in H; lra. }
    assert (E : term (INR (S n) / 2) (S n) = term (k / 2) n * (1 + / k) ^ n * / 2).
    { unfold term. rewrite fact_simpl, mult_INR. rewrite <- tech_pow_Rmult.
      replace (INR (S n) / 2) with (k / 2 * (1 + / k)) at 2 by (rewrite S_INR; fold k; field; lra).
      rewrite Rpow_mult_distr. field. split; [apply INR_fact_neq_0 | apply not_0_INR; discriminate]. }
    rewrite E. pose proof (term_nonneg (k / 2) n ltac:(lra)). nra.
Qed.

Lemma term_large x n : (1 <= n)%nat -> INR n <= 2 * x -> / 2 <= term x n.
Proof.
  intros Hn Hx. apply Rle_trans with (1 := power_half n Hn). unfold term. apply Rmult_le_compat_l.
  - left. apply Rinv_0_lt_compat, INR_fact_lt_0.
  - apply pow_incr. pose proof (pos_INR n). lra.
Qed.

Lemma IZR_pow2 w : (0 <= w)%Z -> 0 < IZR (2 ^ w).
Proof. intros. apply IZR_lt. apply Z.pow_pos_nonneg; lia. Qed.

Section Loop.
Variables p q w : Z.
Hypothesis Hp : (0 < p)%Z.
Hypothesis Hq : (0 < q)%Z.
Hypothesis Hw : (2 <= w)%Z.
Let x := IZR p / IZR q.
Let P := IZR (2 ^ w).

Lemma x_pos : 0 < x.
Proof. unfold x. apply Rmult_lt_0_compat; [|apply Rinv_0_lt_compat]; apply IZR_lt; assumption. Qed.

Lemma P_large : 4 <= P.
Proof. unfold P. apply (IZR_le 4). change 4%Z with (2 ^ 2)%Z. apply Z.pow_le_mono_r; lia. Qed.

(* a p / (q (n+1)) is a x / (n+1) *)
Lemma step_ratio (a : Z) n : IZR (a * p) / IZR (q * Z.of_nat (S n)) = IZR a * (x / INR (S n)).
Proof.
  unfold x. rewrite !mult_IZR, <- INR_IZR_INZ. field. split; [apply not_0_IZR; lia | apply not_0_INR; discriminate].
Qed.

Lemma exp_loop_sound fuel : forall n a b d below above lower upper,
  d = (q * Z.of_nat n)%Z -> (0 <= a)%Z -> (0 <= b)%Z ->
  IZR a <= P * term x n <= IZR b ->
  IZR below <= P * sum_f_R0 (term x) n <= IZR above ->
  exp_loop fuel p q a b d below above = Some (lower, upper) ->
  IZR lower <= P * exp x <= IZR upper.
Proof.
  pose proof x_pos as Hx. pose proof P_large as HP.
  induction fuel as [|fuel IH]; intros n a b d below above lower upper Hd Ha Hb Ht Hs; cbn [exp_loop]; [discriminate|].
  assert (D : (d + q = q * Z.of_nat (S n))%Z) by (rewrite Nat2Z.inj_succ; nia). rewrite D.
  set (d' := (q * Z.of_nat (S n))%Z) in *. assert (D' : (0 < d')%Z) by (unfold d'; rewrite Nat2Z.inj_succ; nia).
  set (a' := (a * p / d')%Z). set (b' := ((b * p + d' - 1) / d')%Z).
  assert (F : 0 <= x / INR (S n)).
  { apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat, lt_0_INR. lia. }
  assert (A' : IZR a' <= P * term x (S n)).
  { rewrite term_S. unfold a'. apply Rle_trans with (1 := div_le _ _ D'). unfold d'. rewrite step_ratio.
    rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [exact F | apply Ht]. }
  assert (B' : P * term x (S n) <= IZR b').
  { rewrite term_S. unfold b'. apply Rle_trans with (2 := ceil_ge _ _ D'). unfold d'. rewrite step_ratio.
    rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [exact F | apply Ht]. }
  assert (A0 : (0 <= a')%Z) by (apply Z.div_pos; nia).
  assert (B0 : (0 <= b')%Z) by (apply Z.div_pos; nia).
  assert (S' : IZR (below + a') <= P * sum_f_R0 (term x) (S n) <= IZR (above + b')).
  { rewrite tech5, !plus_IZR. rewrite Rmult_plus_distr_l. lra. }
  destruct (Z.leb_spec b' 1) as [E|E].
  - intros H. injection H as <- <-.
    assert (T : P * term x (S n) <= 1) by (apply Rle_trans with (1 := B'); apply (IZR_le _ 1); exact E).
    assert (L : 2 * x <= INR (S n)).
    { apply Rnot_lt_le. intros C. pose proof (term_large x (S n) ltac:(lia) ltac:(lra)). nra. }
    split.
    + apply Rle_trans with (1 := proj1 S'). apply Rmult_le_compat_l; [lra|]. apply partial_below. lra.
    + rewrite (plus_IZR _ 1).
      apply Rle_trans with (P * (sum_f_R0 (term x) (S n) + term x (S n))).
      * apply Rmult_le_compat_l; [lra|]. apply exp_above; [lra|]. apply Rle_trans with (1 := L). apply le_INR. lia.
      * rewrite Rmult_plus_distr_l. lra.
  - intros H. eapply IH; [exact (eq_refl d') | exact A0 | exact B0 | split; [exact A' | exact B'] | exact S' | exact H].
Qed.

(* What expInterval returns encloses 2^w e^x. *)
Theorem exp_interval_sound lower upper : exp_interval p q w = Some (lower, upper) ->
  IZR lower <= IZR (2 ^ w) * exp (IZR p / IZR q) <= IZR upper.
Proof.
  intros H. unfold exp_interval in H. fold x. fold P.
  assert (Q : (0 <= 2 ^ w)%Z) by (apply Z.pow_nonneg; lia).
  eapply exp_loop_sound with (n := O); [| exact Q | exact Q | | | exact H].
  - simpl. lia.
  - rewrite term_0. fold P. lra.
  - simpl. rewrite term_0. fold P. lra.
Qed.

(* The width: b - a grows by 2 in a turn beside its factor x / n, and what it adds to the sums later is at most e^x
  times
   as much. *)
Lemma exp_loop_width fuel : forall n a b d below above lower upper,
  d = (q * Z.of_nat n)%Z -> (a <= b)%Z ->
  IZR (above - below) + IZR (b - a) * rest x n <= 2 * INR n * exp x ->
  exp_loop fuel p q a b d below above = Some (lower, upper) ->
  IZR (upper - lower) <= 2 * INR (n + fuel) * exp x + 1.
Proof.
  pose proof x_pos as Hx.
  induction fuel as [|fuel IH]; intros n a b d below above lower upper Hd Hab Hw'; cbn [exp_loop]; [discriminate|].
  assert (D : (d + q = q * Z.of_nat (S n))%Z) by (rewrite Nat2Z.inj_succ; nia). rewrite D.
  set (d' := (q * Z.of_nat (S n))%Z) in *. assert (D' : (0 < d')%Z) by (unfold d'; rewrite Nat2Z.inj_succ; nia).
  set (a' := (a * p / d')%Z). set (b' := ((b * p + d' - 1) / d')%Z).
  assert (AB : (a' <= b')%Z) by (apply Z.div_le_mono; nia).
  assert (G : IZR (b' - a') <= IZR (b - a) * (x / INR (S n)) + 2).
  { rewrite <- step_ratio. fold d'.
    assert (Dr : 0 < IZR d') by (apply IZR_lt; exact D').
    apply Rmult_le_reg_r with (IZR d'); [exact Dr|]. rewrite Rmult_plus_distr_r. unfold Rdiv.
    rewrite (Rmult_assoc (IZR ((b - a) * p))), Rinv_l, Rmult_1_r by lra. rewrite <- !mult_IZR, <- plus_IZR.
    apply IZR_le.
    pose proof (Z.mul_succ_div_gt (a * p) d' D') as A. fold a' in A.
    pose proof (Z.mul_div_le (b * p + d' - 1) d' D') as B. fold b' in B. nia. }
  assert (H' : IZR (above + b' - (below + a')) + IZR (b' - a') * rest x (S n) <= 2 * INR (S n) * exp x).
  { replace (above + b' - (below + a'))%Z with (above - below + (b' - a'))%Z by ring. rewrite plus_IZR, S_INR.
    rewrite rest_S in Hw' by exact Hx. pose proof (rest_nonneg x (S n) Hx) as R0.
    pose proof (rest_above x (S n) Hx) as R1.
    set (r := rest x (S n)) in *. set (f := x / INR (S n)) in *.
    assert (M : IZR (b' - a') * (1 + r) <= (IZR (b - a) * f + 2) * (1 + r)) by (apply Rmult_le_compat_r; lra).
    nra. }
  destruct (b' <=? 1)%Z.
  - intros H. injection H as <- <-. pose proof (rest_nonneg x (S n) Hx) as R0.
    assert (0 <= IZR (b' - a')) by (apply (IZR_le 0); lia).
    assert (0 <= IZR (b' - a') * rest x (S n)) by (apply Rmult_le_pos; assumption).
    replace (above + b' + 1 - (below + a'))%Z with (above + b' - (below + a') + 1)%Z by ring. rewrite plus_IZR.
    assert (INR (S n) <= INR (n + S fuel)) by (apply le_INR; lia). pose proof (exp_pos x). nra.
  - intros H. apply IH with (1 := eq_refl d') (2 := AB) (3 := H') in H. rewrite Nat.add_succ_r. exact H.
Qed.

Theorem exp_interval_width lower upper : exp_interval p q w = Some (lower, upper) ->
  IZR (upper - lower) <= IZR (2 * (w + 256) + 1) * exp (IZR p / IZR q).
Proof.
  intros H. unfold exp_interval in H. fold x. pose proof x_pos as Hx.
  apply exp_loop_width with (n := O) in H; [| simpl; lia | lia | rewrite !Z.sub_diag; simpl; lra].
  apply Rle_trans with (1 := H). rewrite Nat.add_0_l, INR_IZR_INZ, Z2Nat.id by lia.
  rewrite (plus_IZR (2 * (w + 256)) 1), mult_IZR, Rmult_plus_distr_r.
  pose proof (partial_below x 0 ltac:(lra)) as B. simpl in B. rewrite term_0 in B. lra.
Qed.
End Loop.

(* ExpBounds: the bounds lower / 2^w and upper / 2^w, w = bits + 32, are apart by at most 2^-bits of the lower one. *)
Theorem exp_bounds_narrow p q bits lower upper : (0 < p)%Z -> (0 < q)%Z -> (1 <= bits <= 2 ^ 16)%Z ->
  exp_interval p q (bits + 32) = Some (lower, upper) -> ((upper - lower) * 2 ^ bits <= lower)%Z.
Proof.
  intros Hp Hq Hb H. pose proof (exp_interval_width p q (bits + 32) Hp Hq ltac:(lia) lower upper H) as V.
  pose proof (exp_interval_sound p q (bits + 32) Hp Hq ltac:(lia) lower upper H) as (_ & U).
  set (e := exp (IZR p / IZR q)) in *. assert (E : 0 < e) by apply exp_pos.
  assert (C : IZR (upper - lower) <= IZR (2 ^ 18) * e).
  { apply Rle_trans with (1 := V). apply Rmult_le_compat_r; [lra|]. apply IZR_le.
    change (2 ^ 16)%Z with 65536%Z in Hb. change (2 ^ 18)%Z with 262144%Z. lia. }
  assert (B : (2 <= 2 ^ bits)%Z) by (change 2%Z with (2 ^ 1)%Z at 1; apply Z.pow_le_mono_r; lia).
  apply le_IZR. rewrite mult_IZR.
  assert (L : IZR lower = IZR upper - IZR (upper - lower)) by (rewrite minus_IZR; ring). rewrite L.
  rewrite Z.pow_add_r, mult_IZR in U by lia. apply IZR_le in B.
  change (2 ^ 18)%Z with 262144%Z in C. change (2 ^ 32)%Z with 4294967296%Z in U.
  set (k := IZR (2 ^ bits)) in *.
  assert (IZR (upper - lower) * (k + 1) <= 262144 * e * (k + 1)) by (apply Rmult_le_compat_r; lra).
  assert (262144 * e * (k + 1) <= k * 4294967296 * e) by nra.
  lra.
Qed.

(* It ends, for x <= 64, within w + 191 turns. *)
Open Scope Z_scope.

Fixpoint cap (n : nat) : Z :=
  match n with
  | O => 1
  | S m => (64 * cap m + Z.of_nat n - 1) / Z.of_nat n
  end.

Lemma cap_128 : cap 128 <= 2 ^ 62.
Proof. vm_compute. discriminate. Qed.

Lemma cap_nonneg n : 0 <= cap n.
Proof. induction n as [|n IH]; cbn [cap]; [lia|]. apply Z.div_pos; lia. Qed.

Section Ends.
Variables p q w : Z.
Hypothesis Hp : 0 < p.
Hypothesis Hq : 0 < q.
Hypothesis Hx : p <= 64 * q.
Hypothesis Hw : 0 <= w.

Lemma exp_late fuel : forall k n a b below above, (128 <= n)%nat -> 0 <= b -> b <= 2 ^ Z.of_nat k -> (k < fuel)%nat ->
  exp_loop fuel p q a b (q * Z.of_nat n) below above <> None.
Proof.
  induction fuel as [|fuel IH]; intros k n a b below above Hn Hb Hk Hf; [lia|]. cbn [exp_loop].
  replace (q * Z.of_nat n + q) with (q * Z.of_nat (S n)) by (rewrite Nat2Z.inj_succ; nia).
  set (d := q * Z.of_nat (S n)). set (b' := (b * p + d - 1) / d).
  assert (D : 129 * q <= d) by (unfold d; nia).
  assert (B : b' <= 2 ^ Z.of_nat (Nat.pred k)).
  { apply ceil_le; [lia|]. destruct k as [|k].
    - change (2 ^ Z.of_nat 0) with 1 in Hk. change (2 ^ Z.of_nat (Nat.pred 0)) with 1.
      apply Z.le_trans with (1 * p); [apply Z.mul_le_mono_nonneg_r|]; lia.
    - simpl Nat.pred. rewrite Nat2Z.inj_succ, Z.pow_succ_r in Hk by lia.
      apply Z.le_trans with (2 * 2 ^ Z.of_nat k * p); [apply Z.mul_le_mono_nonneg_r; lia|].
      replace (2 * 2 ^ Z.of_nat k * p) with (2 ^ Z.of_nat k * (2 * p)) by ring.
      apply Z.mul_le_mono_nonneg_l; [apply Z.pow_nonneg|]; lia. }
  destruct (Z.leb_spec b' 1) as [E|E]; [discriminate|].
  destruct k as [|k]; [change (2 ^ Z.of_nat (Nat.pred 0)) with 1 in B; lia|]. apply (IH k (S n));
    [lia | lia | exact B | lia].
Qed.

Lemma exp_early m : forall fuel n a b below above, (n + m = 128)%nat -> 0 <= b -> b <= 2 ^ w * cap n ->
  (Z.to_nat (w + 63) + m < fuel)%nat ->
  exp_loop fuel p q a b (q * Z.of_nat n) below above <> None.
Proof.
  induction m as [|m IH]; intros fuel n a b below above Hn Hb Hc Hf.
  - apply exp_late with (k := Z.to_nat (w + 62)); [lia | lia | | lia].
    rewrite Z2Nat.id by lia. rewrite Z.pow_add_r by lia. apply Z.le_trans with (1 := Hc).
    apply Z.mul_le_mono_nonneg_l; [apply Z.pow_nonneg; lia|]. replace n with 128%nat by lia. exact cap_128.
  - destruct fuel as [|fuel]; [lia|]. cbn [exp_loop].
    replace (q * Z.of_nat n + q) with (q * Z.of_nat (S n)) by (rewrite Nat2Z.inj_succ; nia).
    set (d := q * Z.of_nat (S n)). set (b' := (b * p + d - 1) / d).
    assert (D : 0 < d) by (unfold d; nia).
    assert (C : 64 * cap n <= cap (S n) * Z.of_nat (S n)).
    { cbn [cap]. set (s := Z.of_nat (S n)). assert (0 < s) by lia.
      pose proof (Z.mul_succ_div_gt (64 * cap n + s - 1) s H). nia. }
    assert (B : b' <= 2 ^ w * cap (S n)).
    { apply ceil_le; [exact D|]. unfold d. pose proof (cap_nonneg n).
      assert (0 <= 2 ^ w) by (apply Z.pow_nonneg; lia).
      apply Z.le_trans with (2 ^ w * cap n * (64 * q)).
      - apply Z.mul_le_mono_nonneg; lia.
      - replace (2 ^ w * cap (S n) * (q * Z.of_nat (S n))) with (2 ^ w * (cap (S n) * Z.of_nat (S n)) * q) by ring.
        replace (2 ^ w * cap n * (64 * q)) with (2 ^ w * (64 * cap n) * q) by ring.
        apply Z.mul_le_mono_nonneg_r; [lia|]. apply Z.mul_le_mono_nonneg_l; assumption. }
    destruct (Z.leb_spec b' 1) as [E|E]; [discriminate|].
    apply IH; [lia | lia | exact B | lia].
Qed.

Theorem exp_ends : exp_interval p q w <> None.
Proof.
  unfold exp_interval. replace 0 with (q * Z.of_nat 0) by (simpl; lia).
  assert (0 <= 2 ^ w) by (apply Z.pow_nonneg; lia).
  apply exp_early with (m := 128%nat); [reflexivity | assumption | cbn [cap]; lia | lia].
Qed.
End Ends.
