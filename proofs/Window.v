(* Time: what a device with a slot releases in any T epochs in a row, policy/ledger/slot.go, text.go and books.go. *)
From Wpm Require Export Release.
From Coq Require Import FinFun.
Open Scope Z_scope.

(* A slot, Slot.turnOf: Go's % is the remainder that rounds to 0. *)
Definition own (period number t : Z) : bool := Z.rem (number - Z.rem t period + period) period =? 0.

Theorem own_spec period number t : 0 <= number < period -> (own period number t = true <-> t mod period = number).
Proof.
  intros Hs. unfold own. rewrite Z.eqb_eq.
  assert (R : - period < Z.rem t period < period) by (pose proof (Z.rem_bound_abs t period ltac:(lia)); lia).
  pose proof (Z.quot_rem' t period) as Q. rewrite Z.rem_mod_nonneg by lia.
  assert (E : (number - Z.rem t period + period) mod period = (number - t) mod period).
  { rewrite <- (Z.mod_add (number - t) (Z.quot t period + 1) period) by lia. f_equal. lia. }
  rewrite E. split; intros H.
  - apply Z.mod_divide in H as (k & K); [|lia]. replace t with (number + (- k) * period) by lia.
    rewrite Z.mod_add by lia. apply Z.mod_small. lia.
  - rewrite <- H. rewrite Zminus_mod_idemp_l, Z.sub_diag. apply Z.mod_0_l. lia.
Qed.

(* How many of the epochs a, .., a + l - 1 are of the slot. *)
Definition turns_in (period number a l : Z) : Z := count (fun i => (a + i) mod period =? number) l.

(* Of T epochs in a row exactly one is of the slot, *)
Theorem slot_one period number a : 0 <= number < period -> turns_in period number a period = 1.
Proof.
  intros Hs. unfold turns_in. set (i0 := (number - a) mod period).
  assert (I : 0 <= i0 < period) by (apply Z.mod_pos_bound; lia).
  rewrite (count_ext _ (fun i => (i0 <=? i) && (i <? i0 + 1))); [rewrite count_range; lia|].
  intros i Hi. replace ((i0 <=? i) && (i <? i0 + 1)) with (i =? i0).
  - destruct (Z.eqb_spec i i0) as [->|N].
    + apply Z.eqb_eq. unfold i0. rewrite Zplus_mod_idemp_r. replace (a + (number - a)) with number by lia.
      apply Z.mod_small. lia.
    + apply Z.eqb_neq. intros E. apply N. unfold i0. rewrite <- E, Zminus_mod_idemp_l.
      replace (a + i - a) with i by lia. symmetry. apply Z.mod_small. lia.
  - destruct (Z.eqb_spec i i0); destruct (Z.leb_spec i0 i); destruct (Z.ltb_spec i (i0 + 1)); cbn [andb]; lia.
Qed.

Lemma count_nonneg p n : 0 <= count p n.
Proof. unfold count. lia. Qed.

Lemma turns_split period number a m n : 0 <= m -> 0 <= n ->
  turns_in period number a (m + n) = turns_in period number a m + turns_in period number (a + m) n.
Proof.
  intros. unfold turns_in. rewrite count_app by assumption. f_equal. apply count_ext. intros x _.
  rewrite Z.add_assoc. reflexivity.
Qed.

Lemma turns_blocks period number : 0 <= number < period -> forall m a l, 0 <= l <= Z.of_nat m * period ->
  turns_in period number a l <= Z.of_nat m.
Proof.
  intros Hs. induction m as [|m IH]; intros a l Hl.
  - replace l with 0 by lia. unfold turns_in. cbn. lia.
  - destruct (Z.le_gt_cases l period) as [L|L].
    + pose proof (slot_one period number a Hs) as O.
      replace period with (l + (period - l)) in O at 2 by lia. rewrite turns_split in O by lia.
      pose proof (count_nonneg (fun i => (a + l + i) mod period =? number) (period - l)) as N.
      fold (turns_in period number (a + l) (period - l)) in N. lia.
    + replace l with (period + (l - period)) by lia. rewrite turns_split by lia. rewrite slot_one by exact Hs.
      specialize (IH (a + period) (l - period) ltac:(nia)). lia.
Qed.

Definition ceil (l period : Z) : Z := (l + period - 1) / period.

(* and of any L at most L / T, rounded up. *)
Theorem slot_count period number a l : 0 <= number < period -> 0 <= l ->
  turns_in period number a l <= ceil l period.
Proof.
  intros Hs Hl. assert (C : 0 <= ceil l period) by (apply Z.div_pos; lia).
  rewrite <- (Z2Nat.id (ceil l period)) by exact C. apply turns_blocks; [exact Hs|]. rewrite Z2Nat.id by exact C.
  unfold ceil. pose proof (Z.mul_succ_div_gt (l + period - 1) period ltac:(lia)). nia.
Qed.

(* What a device has sent so far, newest first: in each step an output, or silence. *)
Definition past := list (option Z).

(* What is asked in a step, which is public: a box, and whether its loss is that of a turn in an epoch, or counts in
   every window. *)
Record offer := Offer {
  o_turn : bool;
  o_epoch : Z;
  o_p : Z;
  o_q : Z;
  o_bits : Z;
  o_lo : list Z;
  o_hi : list Z
}.

Definition sound (o : offer) : Prop :=
  words (o_lo o) /\ words (o_hi o) /\ Z.of_nat (length (o_lo o)) < max_units /\
  verify (o_p o) (o_q o) (o_bits o) (o_lo o) (o_hi o) = Accept.

Definition loss (o : offer) : R := (IZR (o_p o) / IZR (o_q o))%R.

(* The share of the random bytes of a release that give output j; f leads from the first word to a row. *)
Definition chance (o : offer) (f : Z -> list Z) (j : Z) : R :=
  (IZR (hits (o_bits o) (fun i => i =? j) f) / IZR (W * 2 ^ read_bits (o_bits o)))%R.

Definition outputs (o : offer) : list Z := numbers (Z.of_nat (length (o_lo o))).

Open Scope R_scope.

Fixpoint total (F : Z -> R) (l : list Z) : R := match l with [] => 0 | j :: l => F j + total F l end.

Lemma total_ratio e F G l : (forall j, In j l -> F j <= e * G j) -> total F l <= e * total G l.
Proof.
  induction l as [|j l IH]; intros H; cbn [total]; [lra|]. rewrite Rmult_plus_distr_l.
  apply Rplus_le_compat; [apply H; left; reflexivity | apply IH; intros i Hi; apply H; right; exact Hi].
Qed.

Lemma total_ext F G l : (forall j, In j l -> F j = G j) -> total F l = total G l.
Proof.
  induction l as [|j l IH]; intros H; cbn [total]; [reflexivity|].
  f_equal; [apply H; left; reflexivity | apply IH; intros i Hi; apply H; right; exact Hi].
Qed.

Lemma total_plus F G l : total (fun j => F j + G j) l = total F l + total G l.
Proof. induction l as [|j l IH]; cbn [total]; [|rewrite IH]; lra. Qed.

Lemma total_mult k F l : total (fun j => k * F j) l = k * total F l.
Proof. induction l as [|j l IH]; cbn [total]; [|rewrite IH]; lra. Qed.

(* exp_increasing of the standard library rests on one axiom more. *)
Lemma exp_above_one x : 0 <= x -> 1 <= exp x.
Proof. intros H. pose proof (partial_below x 0 H) as P. cbn [sum_f_R0] in P. unfold term in P. simpl in P. lra. Qed.

Section Run.
(* The rule of a device whose slot is known: what is asked next may depend on all that it has sent. *)
Variable rule : past -> option offer.
Hypothesis rule_sound : forall h o, rule h = Some o -> sound o.

(* A device's data, at any time, and what it has sent lead to a function from the first random word to points of the box
   that is asked: that of release_ldp. *)
Definition device (f : past -> Z -> list Z) : Prop :=
  forall h o, rule h = Some o -> forall y, point (o_bits o) (o_lo o) (o_hi o) (f h y).

(* The probability that n more steps after h end in A, a set of sequences. *)
Fixpoint prob (f : past -> Z -> list Z) (n : nat) (h : past) (A : past -> bool) : R :=
  match n with
  | O => if A h then 1 else 0
  | S n =>
    match rule h with
    | None => prob f n (None :: h) A
    | Some o => total (fun j => chance o (f h) j * prob f n (Some j :: h) A) (outputs o)
    end
  end.

(* The losses of the steps in h that count. *)
Fixpoint paid (counts : offer -> bool) (h : past) : R :=
  match h with
  | [] => 0
  | _ :: h => paid counts h + match rule h with Some o => if counts o then loss o else 0 | None => 0 end
  end.

Lemma bytes_pos bits : (1 <= bits <= 62)%Z -> 0 < IZR (W * 2 ^ read_bits bits).
Proof.
  intros Hb. apply IZR_lt. apply Z.mul_pos_pos; [reflexivity|]. apply Z.pow_pos_nonneg; [lia|].
  pose proof (read_bits_range bits Hb). lia.
Qed.

Lemma hits_ext bits A (f g : Z -> list Z) : (forall y, f y = g y) -> hits bits A f = hits bits A g.
Proof.
  intros H. unfold hits. generalize (numbers W). intros l. induction l as [|y l IH]; cbn [map sum]; [reflexivity|].
  rewrite IH, H. reflexivity.
Qed.

Lemma sum_nonneg_map (F : Z -> Z) l : (forall y, (0 <= F y)%Z) -> (0 <= sum (map F l))%Z.
Proof. intros H. induction l as [|y l IH]; cbn [map sum]; [lia | specialize (H y); lia]. Qed.

Lemma sound_guarantee o : sound o -> guarantee (o_p o) (o_q o) (o_bits o) (o_lo o) (o_hi o).
Proof. intros (A & B & _ & V). exact (verify_sound _ _ _ _ _ A B V). Qed.

Lemma chance_nonneg o f j : sound o -> 0 <= chance o f j.
Proof.
  intros S. pose proof (bytes_pos _ (g_bits _ _ _ _ _ (sound_guarantee o S))) as P.
  unfold chance, Rdiv. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; exact P].
  apply (IZR_le 0). apply sum_nonneg_map. intros y. apply count_nonneg.
Qed.

Lemma loss_nonneg o : sound o -> 0 <= loss o.
Proof.
  intros (_ & _ & _ & V). unfold verify in V. destruct (_ || _); [discriminate|].
  destruct (is_epsilon (o_p o) (o_q o)) eqn:E; [|discriminate]. apply is_epsilon_pos in E as (P & Q & _).
  apply IZR_lt in P, Q. unfold loss, Rdiv. left. apply Rmult_lt_0_compat; [|apply Rinv_0_lt_compat]; assumption.
Qed.

Lemma prob_nonneg f n : forall h A, 0 <= prob f n h A.
Proof.
  induction n as [|n IH]; intros h A; cbn [prob]; [destruct (A h); lra|].
  destruct (rule h) as [o|] eqn:E; [|apply IH]. generalize (outputs o). intros l.
  induction l as [|j l IHl]; cbn [total]; [lra|]. apply Rplus_le_le_0_compat; [|exact IHl].
  apply Rmult_le_pos; [apply chance_nonneg, (rule_sound _ _ E) | apply IH].
Qed.

(* The chances of all outputs sum to 1. *)
Lemma mass_whole w : forall k l, (0 <= k)%Z -> (forall j, (k <= j < k + Z.of_nat (length w))%Z -> In j l) -> NoDup l ->
  total (fun j => IZR (mass (fun i => i =? j)%Z k w)) l = IZR (sum w).
Proof.
  induction w as [|v w IH]; intros k l Hk Hin Hl; cbn [mass sum].
  - clear. induction l as [|j l IH]; cbn [total]; [reflexivity | rewrite IH; lra].
  - rewrite plus_IZR, <- (IH (k + 1)%Z l) by (lia || exact Hl || (intros j Hj; apply Hin; cbn [length]; lia)).
    rewrite (total_ext _ (fun j => IZR (if (k =? j)%Z then v else 0%Z) + IZR (mass (fun i => i =? j)%Z (k + 1) w)))
      by (intros; apply plus_IZR).
    rewrite total_plus. f_equal. assert (K : In k l) by (apply Hin; cbn [length]; lia).
    clear -K Hl. induction l as [|j l IH]; [contradiction|]. cbn [total]. inversion Hl as [|? ? N Hl']; subst.
    destruct (Z.eqb_spec k j) as [->|E].
    + replace (total (fun i => IZR (if (j =? i)%Z then v else 0%Z)) l) with 0; [lra|].
      clear -N. induction l as [|i l IH]; cbn [total]; [reflexivity|]. destruct (Z.eqb_spec j i) as [->|E].
      * exfalso. apply N. left. reflexivity.
      * rewrite <- IH by (intros I; apply N; right; exact I). lra.
    + destruct K as [K|K]; [congruence|]. rewrite IH by assumption. lra.
Qed.

Lemma numbers_length n : (0 <= n)%Z -> Z.of_nat (length (numbers n)) = n.
Proof. intros H. unfold numbers. rewrite map_length, seq_length. apply Z2Nat.id. exact H. Qed.

Lemma numbers_nodup n : NoDup (numbers n).
Proof.
  unfold numbers. apply Injective_map_NoDup; [intros a b H; lia | apply seq_NoDup].
Qed.

Lemma numbers_in n j : (0 <= j < n)%Z -> In j (numbers n).
Proof. intros H. unfold numbers. apply in_map_iff. exists (Z.to_nat j). split; [lia|]. apply in_seq. lia. Qed.

Lemma chance_whole o f : sound o -> (forall y, point (o_bits o) (o_lo o) (o_hi o) (f y)) ->
  total (chance o f) (outputs o) = 1.
Proof.
  intros S Hf. pose proof (sound_guarantee o S) as G. pose proof (g_bits _ _ _ _ _ G) as Hb.
  pose proof (guarantee_bounds _ _ _ _ _ G) as HB. pose proof (bytes_pos _ Hb) as P.
  pose proof (read_bits_range _ Hb) as K.
  rewrite (total_ext _ (fun j => / IZR (W * 2 ^ read_bits (o_bits o)) * IZR (hits (o_bits o) (fun i => i =? j)%Z f)))
    by (intros; unfold chance; lra).
  rewrite total_mult. apply Rmult_eq_reg_l with (IZR (W * 2 ^ read_bits (o_bits o))); [|lra].
  rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l, Rmult_1_r by lra.
  assert (G2 : forall l, total (fun j => IZR (sum (map (fun y => count (fun x => sample (o_bits o) (f y) x =? j)%Z
    (2 ^ read_bits (o_bits o))) l))) (outputs o) = IZR (Z.of_nat (length l) * 2 ^ read_bits (o_bits o))).
  2: { unfold hits. rewrite G2, numbers_length by lia. reflexivity. }
  intros l. induction l as [|y l IH].
  - rewrite (total_ext _ (fun _ => 0 * 0)) by (intros; cbn; lra). rewrite total_mult. cbn [length Z.of_nat].
    rewrite Z.mul_0_l. lra.
  - cbn [map sum length]. rewrite (total_ext _ (fun j => IZR (2 ^ (read_bits (o_bits o) - o_bits o)) *
      IZR (mass (fun i => i =? j)%Z 0 (f y)) +
      IZR (sum (map (fun y => count (fun x => sample (o_bits o) (f y) x =? j)%Z (2 ^ read_bits (o_bits o))) l)))).
    + rewrite total_plus, total_mult, IH. destruct (Hf y) as (B & T). pose proof (box_length _ _ _ B) as (L & _).
      rewrite mass_whole; [|lia | intros j Hj; apply numbers_in; lia | apply numbers_nodup].
      rewrite T, <- mult_IZR, <- Z.pow_add_r, <- plus_IZR by lia. f_equal.
      replace (read_bits (o_bits o) - o_bits o + o_bits o)%Z with (read_bits (o_bits o)) by lia. lia.
    + intros j _. rewrite plus_IZR. f_equal.
      rewrite (sample_bytes (o_bits o) (f y) (fun i => i =? j)%Z (point_row _ _ _ _ Hb HB (proj1 (proj2 (proj2 S))) (Hf
        y))).
      apply mult_IZR.
Qed.

(* prob is a law: all sequences together have the probability 1. *)
Theorem run_whole f n : device f -> forall h, prob f n h (fun _ => true) = 1.
Proof.
  intros Hf. induction n as [|n IH]; intros h; cbn [prob]; [reflexivity|].
  destruct (rule h) as [o|] eqn:E; [|apply IH].
  rewrite (total_ext _ (chance o (f h))) by (intros; rewrite IH; lra).
  apply chance_whole; [exact (rule_sound _ _ E) | exact (Hf _ _ E)].
Qed.

(* Adaptive composition: two devices that differ only in steps that count, which cost c at most together. *)
Theorem run_ldp counts c f g n A : device f -> device g ->
  (forall h o, rule h = Some o -> counts o = false -> forall y, f h y = g h y) ->
  (forall h, paid counts h <= c) ->
  prob f n [] A <= exp c * prob g n [] A.
Proof.
  intros Hf Hg Hsame Hc. replace c with (c - paid counts []) by (cbn; lra). generalize (@nil (option Z)).
  induction n as [|n IH]; intros h; cbn [prob].
  - destruct (A h); [|lra]. rewrite Rmult_1_r. apply exp_above_one. specialize (Hc h). lra.
  - destruct (rule h) as [o|] eqn:E.
    + apply total_ratio. intros j _. pose proof (IH (Some j :: h)) as I. cbn [paid] in I. rewrite E in I.
      set (x := if counts o then loss o else 0) in *.
      assert (K : chance o (f h) j <= exp x * chance o (g h) j).
      { pose proof (rule_sound _ _ E) as S. pose proof S as (Wl & Wh & HL & V).
        pose proof (bytes_pos _ (g_bits _ _ _ _ _ (sound_guarantee o S))) as P. unfold chance, Rdiv.
        rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; exact P|].
        unfold x, loss. destruct (counts o) eqn:C.
        - exact (release_ldp _ _ _ _ _ _ _ _ Wl Wh HL V (Hf _ _ E) (Hg _ _ E)).
        - rewrite exp_0, Rmult_1_l. right. rewrite (hits_ext _ _ (f h) (g h)); [reflexivity|].
          exact (Hsame _ _ E C). }
      pose proof (chance_nonneg o (f h) j (rule_sound _ _ E)) as N1.
      pose proof (chance_nonneg o (g h) j (rule_sound _ _ E)) as N2.
      pose proof (prob_nonneg f n (Some j :: h) A) as N3.
      replace (exp (c - paid counts h)) with (exp x * exp (c - (paid counts h + x)))
        by (rewrite <- exp_plus; f_equal; lra).
      replace (exp x * exp (c - (paid counts h + x)) * (chance o (g h) j * prob g n (Some j :: h) A))
        with ((exp x * chance o (g h) j) * (exp (c - (paid counts h + x)) * prob g n (Some j :: h) A)) by ring.
      apply Rmult_le_compat; assumption.
    + pose proof (IH (None :: h)) as I. cbn [paid] in I. rewrite E, Rplus_0_r in I. exact I.
Qed.

(* The loss that counts in every window, and that of the turns of one epoch. *)
Definition always : past -> R := paid (fun o => negb (o_turn o)).
Definition turns (h : past) (t : Z) : R := paid (fun o => o_turn o && (o_epoch o =? t)%Z) h.
Definition within (a l : Z) (o : offer) : bool := negb (o_turn o) || (a <=? o_epoch o)%Z && (o_epoch o <? a + l)%Z.

Lemma paid_nonneg counts h : 0 <= paid counts h.
Proof.
  induction h as [|x h IH]; cbn [paid]; [lra|]. destruct (rule h) as [o|] eqn:E; [|lra].
  pose proof (loss_nonneg o (rule_sound _ _ E)). destruct (counts o); lra.
Qed.

Lemma paid_ext c d h : (forall o, c o = d o) -> paid c h = paid d h.
Proof.
  intros H. induction h as [|x h IH]; cbn [paid]; [reflexivity|]. rewrite IH. destruct (rule h) as [o|]; [|reflexivity].
  rewrite H. reflexivity.
Qed.

Lemma within_next h a l : (0 <= l)%Z -> paid (within a (l + 1)) h = paid (within a l) h + turns h (a + l).
Proof.
  intros Hl. unfold turns. induction h as [|x h IH]; cbn [paid]; [lra|]. rewrite IH.
  destruct (rule h) as [o|]; [|lra]. unfold within. destruct (o_turn o); cbn [negb orb andb]; [|lra].
  destruct (Z.leb_spec a (o_epoch o)); destruct (Z.ltb_spec (o_epoch o) (a + (l + 1)));
    destruct (Z.ltb_spec (o_epoch o) (a + l)); destruct (Z.eqb_spec (o_epoch o) (a + l)); cbn [andb]; lra || lia.
Qed.

Lemma within_none h a : paid (within a 0) h = always h.
Proof.
  apply paid_ext. intros o. unfold within. destruct (o_turn o); cbn [negb orb]; [|reflexivity].
  destruct (Z.leb_spec a (o_epoch o)); destruct (Z.ltb_spec (o_epoch o) (a + 0)); cbn [andb]; lia || reflexivity.
Qed.

Section Slot.
Variables period number : Z.
Variable eps : R.
Hypothesis Hslot : (0 <= number < period)%Z.
Hypothesis rule_slot : forall h o, rule h = Some o -> o_turn o = true -> (o_epoch o mod period = number)%Z.
Hypothesis rule_eps : forall h t, always h + turns h t <= eps.

Lemma turns_outside h t : (t mod period <> number)%Z -> turns h t = 0.
Proof.
  intros Ht. unfold turns. induction h as [|x h IH]; cbn [paid]; [reflexivity|]. rewrite IH.
  destruct (rule h) as [o|] eqn:E; [|lra]. destruct (o_turn o) eqn:K; cbn [andb]; [|lra].
  destruct (Z.eqb_spec (o_epoch o) t) as [<-|]; [|lra]. exfalso. apply Ht. exact (rule_slot _ _ E K).
Qed.

Lemma within_slot h a (l : nat) :
  paid (within a (Z.of_nat l)) h <= always h + IZR (turns_in period number a (Z.of_nat l)) * (eps - always h).
Proof.
  induction l as [|l IH].
  - change (Z.of_nat 0) with 0%Z. rewrite within_none. change (turns_in period number a 0) with 0%Z. lra.
  - rewrite Nat2Z.inj_succ. unfold Z.succ. rewrite within_next by lia.
    rewrite turns_split by lia. rewrite plus_IZR.
    assert (O : turns_in period number (a + Z.of_nat l) 1 =
      if ((a + Z.of_nat l) mod period =? number)%Z then 1%Z else 0%Z).
    { unfold turns_in. rewrite (count_ext _ (fun _ => ((a + Z.of_nat l) mod period =? number)%Z)).
      - rewrite count_const by lia. reflexivity.
      - intros x Hx. replace x with 0%Z by lia. rewrite Z.add_0_r. reflexivity. }
    rewrite O. destruct (Z.eqb_spec ((a + Z.of_nat l) mod period) number) as [E|E].
    + specialize (rule_eps h (a + Z.of_nat l)%Z). lra.
    + rewrite (turns_outside h _ E). lra.
Qed.

(* What any L epochs in a row cost. *)
Theorem window_cost h a l : (0 < l)%Z -> paid (within a l) h <= IZR (ceil l period) * eps.
Proof.
  intros Hl. pose proof (within_slot h a (Z.to_nat l)) as P. rewrite Z2Nat.id in P by lia.
  pose proof (slot_count period number a l Hslot ltac:(lia)) as C.
  pose proof (paid_nonneg (fun o => negb (o_turn o)) h) as N. fold (always h) in N.
  pose proof (rule_eps h a) as E. pose proof (paid_nonneg (fun o => o_turn o && (o_epoch o =? a)%Z) h) as M.
  fold (turns h a) in M.
  assert (C1 : (1 <= ceil l period)%Z) by (unfold ceil; apply Z.div_le_lower_bound; lia).
  assert (K0 : (0 <= turns_in period number a l)%Z) by apply count_nonneg.
  set (k := turns_in period number a l) in *. apply IZR_le in C1. pose proof (IZR_le _ _ C) as C'.
  destruct (Z.eq_dec k 0) as [Z0|Z0].
  - rewrite Z0 in P. nra.
  - assert (K1 : (1 <= k)%Z) by lia. apply IZR_le in K1. nra.
Qed.
End Slot.
End Run.

(* The slot is drawn by a law q that does not depend on data, and is public then. What is asked, what a device does and
   which sequences A has may all depend on the slot s and on what has been sent. Two devices have the same data
   outside L epochs in a row, and anything within; whatever counts in every window may differ as well. *)
Theorem window_ldp period eps l a n (q : Z -> R) (rule : Z -> past -> option offer) f g A :
  (0 < period)%Z -> (0 < l)%Z -> (forall s, 0 <= q s) ->
  (forall s h o, rule s h = Some o -> sound o) ->
  (forall s h o, rule s h = Some o -> o_turn o = true -> (o_epoch o mod period = s)%Z) ->
  (forall s h t, always (rule s) h + turns (rule s) h t <= eps) ->
  (forall s, device (rule s) (f s)) -> (forall s, device (rule s) (g s)) ->
  (forall s h o, rule s h = Some o -> within a l o = false -> forall y, f s h y = g s h y) ->
  total (fun s => q s * prob (rule s) (f s) n [] (A s)) (numbers period) <=
  exp (IZR (ceil l period) * eps) * total (fun s => q s * prob (rule s) (g s) n [] (A s)) (numbers period).
Proof.
  intros HT Hl Hq Hsound Hslot Heps Hf Hg Hsame. apply total_ratio. intros s Hs. apply in_numbers in Hs.
  replace (exp (IZR (ceil l period) * eps) * (q s * prob (rule s) (g s) n [] (A s)))
    with (q s * (exp (IZR (ceil l period) * eps) * prob (rule s) (g s) n [] (A s))) by ring.
  apply Rmult_le_compat_l; [apply Hq|].
  apply (run_ldp (rule s) (Hsound s) (within a l)); [apply Hf | apply Hg | exact (Hsame s)|].
  intros h. apply (window_cost (rule s) (Hsound s) period s eps); [exact Hs | exact (Hslot s) | exact (Heps s) |
    exact Hl].
Qed.

(* The plain case: one policy, asked in epoch t0 + i in step i, in the epochs of the slot alone. *)
Section Period.
Variables period t0 p q bits : Z.
Variables lo hi : list Z.

Definition now (h : past) : Z := (t0 + Z.of_nat (length h))%Z.
Definition periodic (s : Z) (h : past) : option offer :=
  if own period s (now h) then Some (Offer true (now h) p q bits lo hi) else None.

Theorem period_ldp l a n (law : Z -> R) f g A :
  (0 < period)%Z -> (0 < l)%Z -> (forall s, 0 <= law s) ->
  words lo -> words hi -> (Z.of_nat (length lo) < max_units)%Z -> verify p q bits lo hi = Accept ->
  (forall s h y, point bits lo hi (f s h y)) -> (forall s h y, point bits lo hi (g s h y)) ->
  (forall s h, (now h < a \/ a + l <= now h)%Z -> forall y, f s h y = g s h y) ->
  total (fun s => law s * prob (periodic s) (f s) n [] (A s)) (numbers period) <=
  exp (IZR (ceil l period) * (IZR p / IZR q)) *
    total (fun s => law s * prob (periodic s) (g s) n [] (A s)) (numbers period).
Proof.
  intros HT Hl Hlaw Wl Wh HL V Hf Hg Hsame.
  set (rule := fun s h => if (0 <=? s)%Z && (s <? period)%Z then periodic s h else None).
  assert (S : forall s h o, rule s h = Some o ->
    (0 <= s < period)%Z /\ own period s (now h) = true /\ o = Offer true (now h) p q bits lo hi).
  { intros s h o. unfold rule, periodic. destruct (Z.leb_spec 0 s); cbn [andb]; [|discriminate].
    destruct (Z.ltb_spec s period); [|discriminate]. destruct (own period s (now h)); [|discriminate].
    intros H1. injection H1 as <-. repeat split; lia. }
  assert (E : forall f, total (fun s => law s * prob (periodic s) (f s) n [] (A s)) (numbers period) =
    total (fun s => law s * prob (rule s) (f s) n [] (A s)) (numbers period)).
  { intros f'. apply total_ext. intros s Hs. apply in_numbers in Hs. unfold rule.
    destruct (Z.leb_spec 0 s); [|lia]. destruct (Z.ltb_spec s period); [|lia]. reflexivity. }
  rewrite !E.
  assert (Hsound : forall s h o, rule s h = Some o -> sound o).
  { intros s h o H1. apply S in H1 as (_ & _ & ->). repeat split; assumption. }
  apply (window_ldp period (IZR p / IZR q) l a n law rule); try assumption.
  - intros s h o H1 _. apply S in H1 as (R & O & ->). cbn [o_epoch]. apply own_spec; [lia | exact O].
  - intros s h t. assert (N : 0 <= IZR p / IZR q).
    { apply (loss_nonneg (Offer true 0 p q bits lo hi)). repeat split; assumption. }
    unfold always, turns.
    assert (G : paid (rule s) (fun o => negb (o_turn o)) h = 0).
    { induction h as [|x h IH]; cbn [paid]; [reflexivity|]. rewrite IH. destruct (rule s h) as [o|] eqn:K; [|lra].
      apply S in K as (_ & _ & ->). cbn [o_turn negb]. lra. }
    rewrite G, Rplus_0_l. clear G.
    assert (G : paid (rule s) (fun o => o_turn o && (o_epoch o =? t)%Z) h <=
      if (t <? now h)%Z then IZR p / IZR q else 0).
    { induction h as [|x h IH]; cbn [paid]; [destruct (t <? now [])%Z; lra|].
      replace (now (x :: h)) with (now h + 1)%Z by (unfold now; cbn [length]; lia).
      destruct (rule s h) as [o|] eqn:K.
      - apply S in K as (_ & _ & ->). cbn [o_turn o_epoch andb]. unfold loss. cbn [o_p o_q].
        revert IH. destruct (Z.eqb_spec (now h) t); destruct (Z.ltb_spec t (now h));
          destruct (Z.ltb_spec t (now h + 1)); intros IH; lra || lia.
      - revert IH. destruct (Z.ltb_spec t (now h)); destruct (Z.ltb_spec t (now h + 1)); intros IH; lra || lia. }
    destruct (t <? now h)%Z; lra.
  - intros s h o H1 y. apply S in H1 as (_ & _ & ->). apply Hf.
  - intros s h o H1 y. apply S in H1 as (_ & _ & ->). apply Hg.
  - intros s h o H1 H2 y. apply S in H1 as (_ & _ & ->). apply Hsame. unfold within in H2.
    cbn [o_turn o_epoch negb orb] in H2. destruct (Z.leb_spec a (now h)); destruct (Z.ltb_spec (now h) (a + l));
      try discriminate; lia.
Qed.
End Period.

(* The ledger, with amounts as multiples of a unit: all fractions of one ledger have a common denominator. *)
Open Scope Z_scope.

Inductive event :=
| Debit (c : Z)            (* counts in every window *)
| Turn (t c : Z)           (* counts in its epoch *)
| Torn (c : Z).            (* a charge without a report *)

(* b_turns has what was paid in each epoch of the slot, newest first. *)
Record books := Books { b_always : Z; b_turns : list (Z * Z) }.

Inductive answer := Paid | NoRoom | Late | Silent.

Definition last_paid (b : books) (t : Z) : Z :=
  match b_turns b with (u, c) :: _ => if u =? t then c else 0 | [] => 0 end.

Fixpoint top (f : Z * Z -> Z) (l : list (Z * Z)) : Z := match l with [] => 0 | x :: l => Z.max (f x) (top f l) end.
Definition most : list (Z * Z) -> Z := top snd.

(* The decision of books.go and slot.go on a payment, for a ledger that has a slot *)
Definition admits (period number budget : Z) (b : books) (e : event) : answer :=
  match e with
  | Torn _ => Paid
  | Debit c => if b_always b + most (b_turns b) + c <=? budget then Paid else NoRoom
  | Turn t c =>
    if match b_turns b with (u, _) :: _ => t <? u | [] => false end then Late
    else if budget <? b_always b + c then NoRoom
    else if negb (own period number t) then Silent
    else if b_always b + last_paid b t + c <=? budget then Paid else NoRoom
  end.

(* state.pay, payTurn and tear *)
Definition pay (b : books) (e : event) : books :=
  match e with
  | Debit c | Torn c => Books (b_always b + c) (b_turns b)
  | Turn t c =>
    Books (b_always b)
      match b_turns b with
      | (u, p) :: rest => if u =? t then (u, p + c) :: rest else (t, c) :: (u, p) :: rest
      | [] => [(t, c)]
      end
  end.

(* What a list of events, newest first, has paid for reports. *)
Fixpoint debits (l : list event) : Z := match l with [] => 0 | Debit c :: l => c + debits l | _ :: l => debits l end.
Fixpoint paid_in (t : Z) (l : list event) : Z :=
  match l with [] => 0 | Turn u c :: l => (if u =? t then c else 0) + paid_in t l | _ :: l => paid_in t l end.

Definition amount (e : event) : Z := match e with Debit c | Turn _ c | Torn c => c end.

(* The ledgers that this makes. *)
Inductive written (period number budget : Z) : list event -> books -> Prop :=
| written_nil : written period number budget [] (Books 0 [])
| written_cons l b e : written period number budget l b -> 0 <= amount e -> admits period number budget b e = Paid ->
  written period number budget (e :: l) (pay b e).

(* In such a ledger, what counts in every window and the turns of any one epoch are at most the budget together. *)
Theorem books_bound period number budget l b : 0 <= budget -> written period number budget l b ->
  forall t, debits l + paid_in t l <= budget.
Proof.
  intros H0 HW.
  assert (G : 0 <= debits l <= b_always b /\ (forall t, 0 <= paid_in t l <= most (b_turns b)) /\
    match b_turns b with
    | [] => forall t, paid_in t l = 0
    | (u, p) :: _ => paid_in u l = p /\ forall t, u < t -> paid_in t l = 0
    end /\ forall t, debits l + paid_in t l <= budget); [|apply G].
  induction HW as [|l b e HW IH Ha Hp].
  - cbn. repeat split; intros; lia.
  - destruct IH as (I1 & I2 & I3 & I4). destruct e as [c|t c|c]; cbn [amount] in Ha;
    cbn [debits paid_in pay admits] in *.
    + destruct (Z.leb_spec (b_always b + most (b_turns b) + c) budget) as [L|]; [|discriminate].
      cbn [b_always b_turns]. split; [lia|]. split; [exact I2|]. split; [exact I3|]. intros t. specialize (I2 t). lia.
    + unfold last_paid in Hp. destruct b as [al [|[u p] rest]]; cbn [b_always b_turns most top snd] in *.
      * destruct (budget <? al + c); [discriminate|]. destruct (negb _); [discriminate|].
        destruct (Z.leb_spec (al + 0 + c) budget); [|discriminate].
        split; [lia|]. split; [|split; [split|]].
        -- intros x. rewrite I3. destruct (t =? x); lia.
        -- rewrite I3, Z.eqb_refl. lia.
        -- intros x Hx. rewrite I3. destruct (Z.eqb_spec t x); lia.
        -- intros x. rewrite I3. destruct (t =? x); lia.
      * destruct (Z.ltb_spec t u); [discriminate|]. destruct (budget <? al + c); [discriminate|].
        destruct (negb _); [discriminate|]. destruct I3 as (I3 & I5). fold (most rest) in *.
        destruct (Z.eqb_spec u t) as [E|E].
        -- subst t. destruct (Z.leb_spec (al + p + c) budget) as [L|]; [|discriminate].
           cbn [most top snd]. fold (most rest). split; [lia|]. split; [|split; [split|]].
           ++ intros x. specialize (I2 x). destruct (Z.eqb_spec u x) as [<-|]; lia.
           ++ rewrite Z.eqb_refl. lia.
           ++ intros x Hx. rewrite I5 by lia. destruct (Z.eqb_spec u x); lia.
           ++ intros x. specialize (I4 x). destruct (Z.eqb_spec u x) as [<-|]; lia.
        -- destruct (Z.leb_spec (al + 0 + c) budget) as [L|]; [|discriminate].
           cbn [most top snd]. fold (most rest). split; [lia|]. split; [|split; [split|]].
           ++ intros x. specialize (I2 x). destruct (Z.eqb_spec t x) as [<-|]; [rewrite I5 by lia|]; lia.
           ++ rewrite I5, Z.eqb_refl by lia. lia.
           ++ intros x Hx. rewrite I5 by lia. destruct (Z.eqb_spec t x); lia.
           ++ intros x. specialize (I4 x). destruct (Z.eqb_spec t x) as [<-|]; [rewrite I5 by lia|]; lia.
    + cbn [b_always b_turns]. split; [lia|]. split; [exact I2|]. split; [exact I3 | exact I4].
Qed.

(* A device that has a line of such a ledger for every report: any L epochs in a row cost at most L / T, rounded up,
   times the budget, which is budget / unit. *)
Theorem ledger_ldp period budget unit l a n (q : Z -> R) (rule : Z -> past -> option offer) f g A :
  (0 < period) -> (0 < l) -> 0 <= budget -> 0 < unit -> (forall s, (0 <= q s)%R) ->
  (forall s h o, rule s h = Some o -> sound o) ->
  (forall s h o, rule s h = Some o -> o_turn o = true -> (o_epoch o mod period = s)) ->
  (forall s h, exists lines b, written period s budget lines b /\
    (IZR unit * always (rule s) h <= IZR (debits lines))%R /\
    forall t, (IZR unit * turns (rule s) h t <= IZR (paid_in t lines))%R) ->
  (forall s, device (rule s) (f s)) -> (forall s, device (rule s) (g s)) ->
  (forall s h o, rule s h = Some o -> within a l o = false -> forall y, f s h y = g s h y) ->
  (total (fun s => q s * prob (rule s) (f s) n [] (A s)) (numbers period) <=
  exp (IZR (ceil l period) * (IZR budget / IZR unit)) *
    total (fun s => q s * prob (rule s) (g s) n [] (A s)) (numbers period))%R.
Proof.
  intros HT Hl HB Hu Hq Hsound Hslot Hbooks. apply window_ldp; try assumption. intros s h t.
  destruct (Hbooks s h) as (lines & b & HW & D & P). specialize (P t).
  pose proof (books_bound _ _ _ _ _ HB HW t) as K. apply IZR_le in K. rewrite plus_IZR in K.
  assert (U : (0 < IZR unit)%R) by (apply IZR_lt; exact Hu).
  apply Rmult_le_reg_l with (IZR unit); [exact U|].
  replace (IZR unit * (IZR budget / IZR unit))%R with (IZR budget) by (field; lra). lra.
Qed.

(* What the extracted verifier says of the epochs of turns. *)
Definition one_turn (period : Z) (epochs : list Z) : bool :=
  forallb (fun t => forallb (fun u => (t =? u) || (period <=? Z.abs (t - u))) epochs) epochs.

(* Any T epochs in a row hold the turns of one epoch at most. *)
Theorem one_turn_spec period epochs : 0 < period -> (one_turn period epochs = true <->
  forall a t u, In t epochs -> In u epochs -> a <= t < a + period -> a <= u < a + period -> t = u).
Proof.
  intros HT. unfold one_turn. rewrite forallb_forall. split.
  - intros H a t u Ht Hu Rt Ru. specialize (H t Ht). rewrite forallb_forall in H. specialize (H u Hu).
    apply orb_true_iff in H as [H|H]; [apply Z.eqb_eq in H; exact H | apply Z.leb_le in H; lia].
  - intros H t Ht. apply forallb_forall. intros u Hu. apply orb_true_iff. rewrite Z.eqb_eq, Z.leb_le.
    destruct (Z.le_gt_cases period (Z.abs (t - u))) as [L|L]; [right; exact L | left].
    apply (H (Z.min t u)); try assumption; lia.
Qed.

(* Epochs of one slot are such. *)
Theorem own_one_turn period number epochs : 0 <= number < period -> forallb (own period number) epochs = true ->
  one_turn period epochs = true.
Proof.
  intros Hs H. apply one_turn_spec; [lia|]. rewrite forallb_forall in H. intros a t u Ht Hu Rt Ru.
  apply H, own_spec in Ht; [|exact Hs]. apply H, own_spec in Hu; [|exact Hs].
  pose proof (Z.div_mod t period ltac:(lia)) as D1. pose proof (Z.div_mod u period ltac:(lia)) as D2.
  rewrite Ht in D1. rewrite Hu in D2. assert (t / period = u / period) by nia. congruence.
Qed.

(* The turns of the T epochs from a on, and the most that any such window holds beside what counts in all. *)
Fixpoint held (period a : Z) (turns : list (Z * Z)) : Z :=
  match turns with
  | [] => 0
  | (t, c) :: turns => (if (a <=? t) && (t <? a + period) then c else 0) + held period a turns
  end.

Definition window_most (period always : Z) (turns : list (Z * Z)) : Z :=
  always + top (fun x => held period (fst x) turns) turns.

Lemma held_nonneg period a turns : Forall (fun x => 0 <= snd x) turns -> 0 <= held period a turns.
Proof. induction 1 as [|[t c] l Hc Hl IH]; cbn [held snd] in *; [lia|]. destruct (_ && _); lia. Qed.

Lemma held_first period a turns : Forall (fun x => 0 <= snd x) turns -> held period a turns = 0 \/
  exists t c, In (t, c) turns /\ held period a turns <= held period t turns.
Proof.
  intros F.
  assert (G : (forall t c, In (t, c) turns -> a <= t -> a + period <= t) \/
    exists t c, In (t, c) turns /\ a <= t < a + period /\
      forall u d, In (u, d) turns -> a <= u -> t <= u).
  { clear F. induction turns as [|[t c] turns IH]; [left; intros ? ? []|].
    destruct (Z_le_dec a t) as [L|L]; [destruct (Z_lt_dec t (a + period)) as [M|M]|].
    - destruct IH as [IH|(u & d & I & R & J)]; right.
      + exists t, c. split; [left; reflexivity|]. split; [lia|]. intros u d [E|E] Hu; [injection E; lia|].
        specialize (IH u d E Hu). lia.
      + destruct (Z_le_dec t u).
        * exists t, c. split; [left; reflexivity|]. split; [lia|]. intros v e [E|E] Hv; [injection E; lia|].
          specialize (J v e E Hv). lia.
        * exists u, d. split; [right; exact I|]. split; [lia|]. intros v e [E|E] Hv; [injection E; lia|].
          exact (J v e E Hv).
    - destruct IH as [IH|(u & d & I & R & J)]; [left | right].
      + intros u d [E|E] Hu; [injection E; lia | exact (IH u d E Hu)].
      + exists u, d. split; [right; exact I|]. split; [lia|]. intros v e [E|E] Hv; [injection E; lia|].
        exact (J v e E Hv).
    - destruct IH as [IH|(u & d & I & R & J)]; [left | right].
      + intros u d [E|E] Hu; [injection E; lia | exact (IH u d E Hu)].
      + exists u, d. split; [right; exact I|]. split; [lia|]. intros v e [E|E] Hv; [injection E; lia|].
        exact (J v e E Hv). }
  destruct G as [G|(t & c & I & R & J)]; [left | right; exists t, c; split; [exact I|]].
  - clear F. induction turns as [|[t c] turns IH]; cbn [held]; [reflexivity|].
    rewrite IH by (intros u d Hu; apply (G u d); right; exact Hu). specialize (G t c (or_introl eq_refl)).
    destruct (Z.leb_spec a t); destruct (Z.ltb_spec t (a + period)); cbn [andb]; lia.
  - clear I. induction F as [|[u d] l Hd Hl IH]; cbn [held snd] in *; [lia|].
    assert (J' : forall v e, In (v, e) l -> a <= v -> t <= v) by (intros v e Hv; apply (J v e); right; exact Hv).
    specialize (IH J'). specialize (J u d (or_introl eq_refl)).
    destruct (Z.leb_spec a u); destruct (Z.ltb_spec u (a + period)); destruct (Z.leb_spec t u);
      destruct (Z.ltb_spec u (t + period)); cbn [andb]; lia.
Qed.

Theorem window_most_spec period always turns : 0 < period -> Forall (fun x => 0 <= snd x) turns ->
  (forall a, always + held period a turns <= window_most period always turns) /\
  exists a, window_most period always turns = always + held period a turns.
Proof.
  intros HT F. unfold window_most. set (g := fun x : Z * Z => held period (fst x) turns).
  assert (U : forall l x, In x l -> held period (fst x) turns <= top g l).
  { induction l as [|y l IH]; intros x []; cbn [top]; [subst; fold (g x); lia|].
    specialize (IH x H). lia. }
  assert (N : forall l, 0 <= top g l).
  { clear U. intros l. induction l as [|y l IH]; cbn [top]; lia. }
  split.
  - intros a. destruct (held_first period a turns F) as [E|(t & c & I & L)]; [specialize (N turns); lia|].
    specialize (U turns (t, c) I). cbn [fst] in U. lia.
  - assert (V : forall l, l <> [] -> (forall x, In x l -> 0 <= held period (fst x) turns) ->
      exists a, top g l = held period a turns).
    { induction l as [|y l IH]; intros Hl Hn; [congruence|]. cbn [top].
      specialize (Hn y (or_introl eq_refl)) as Hy. destruct l as [|z l].
      - exists (fst y). cbn [top]. fold (g y) in *. lia.
      - destruct IH as (a & E); [discriminate | intros x Hx; apply Hn; right; exact Hx|]. rewrite E.
        destruct (Z.max_spec (g y) (held period a turns)) as [[_ ->]|[_ ->]];
          [exists a | exists (fst y)]; reflexivity. }
    destruct turns as [|x l] eqn:E; [exists 0; reflexivity|]. rewrite <- E in *.
    destruct (V turns) as (a & K); [rewrite E; discriminate | intros y _; apply held_nonneg, F |
      exists a; rewrite K; lia].
Qed.
