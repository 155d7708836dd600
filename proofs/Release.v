(* A release, from random words to an outcome: policy/release.go, row.go and threshold.go. *)
From Wpm Require Export Sample.
Open Scope Z_scope.

(* Polytope.Weights: the gate through which every row passes that Round did not make. *)
Fixpoint inside (lo n hi : list Z) : bool :=
  match lo, n, hi with
  | [], [], [] => true
  | l :: lo, v :: n, h :: hi => negb ((v <? l) || (h <? v)) && inside lo n hi
  | _, _, _ => false
  end.

Definition weights (bits : Z) (lo hi n : list Z) : option (list Z) :=
  if negb (length n =? 0)%nat && inside lo n hi && (sum64 n 0 =? 2 ^ bits) then Some n else None.

(* A point of the box, as privacy needs it. *)
Definition point (bits : Z) (lo hi w : list Z) : Prop := box lo w hi /\ sum w = 2 ^ bits.

Lemma inside_box lo hi : bounds lo hi -> forall n, inside lo n hi = true <-> box lo n hi.
Proof.
  induction 1 as [|l h ls hs Hl Hh HB IH]; intros [|v n]; cbn [inside]; split; intros H; try discriminate;
  try (inversion H; fail).
  - constructor.
  - reflexivity.
  - apply andb_true_iff in H as (A & B). apply negb_true_iff, orb_false_iff in A as (A1 & A2).
    apply Z.ltb_ge in A1, A2. constructor; [lia | lia | apply IH; exact B].
  - inversion H; subst. apply andb_true_iff. split; [|apply IH; assumption].
    apply negb_true_iff, orb_false_iff. split; apply Z.ltb_ge; lia.
Qed.

Lemma bounds_words lo hi n : bounds lo hi -> box lo n hi -> words n.
Proof.
  intros HB. revert n. induction HB; intros n HX; inversion HX; subst; constructor; [units; lia | apply IHHB;
    assumption].
Qed.

(* The gate lets through the points of the box and nothing else, whoever wrote the numbers. *)
Theorem weights_point bits lo hi n : 1 <= bits <= 62 -> bounds lo hi -> lo <> [] -> words n ->
  (weights bits lo hi n = Some n <-> point bits lo hi n).
Proof.
  intros Hb HB Hlo Hn. unfold weights, point. pose proof (total_bound bits Hb) as T. units.
  rewrite sum64_spec by (assumption || lia). rewrite Z.add_0_l. split.
  - destruct (inside lo n hi) eqn:I; [|rewrite andb_false_r; discriminate].
    apply (inside_box _ _ HB) in I. intros H. split; [exact I|].
    destruct (Z.eqb_spec (Z.min (sum n) (W - 1)) (2 ^ bits)); [lia|]. rewrite andb_false_r in H. discriminate.
  - intros (B & S). pose proof B as B'. apply (inside_box _ _ HB) in B'. rewrite B'.
    destruct n as [|v n]; [inversion B; subst; contradiction|]. cbn [length Nat.eqb negb andb].
    destruct (Z.eqb_spec (Z.min (sum (v :: n)) (W - 1)) (2 ^ bits)); [reflexivity | lia].
Qed.

Lemma weights_some bits lo hi n w : weights bits lo hi n = Some w -> w = n.
Proof. unfold weights. destruct (_ && _); intros H; congruence. Qed.

(* A row of the file, written out: row.go, addTo. full are columns at hi, extra columns with their units above lo; mask
   is all ones for the row that is drawn, and 0 for the others. Indices that are not columns change nothing. *)
Fixpoint add_at (n : list Z) (j : nat) (x : Z) : list Z :=
  match n, j with
  | [], _ => []
  | v :: n, O => add v x :: n
  | v :: n, S j => v :: add_at n j x
  end.

Definition add_to (full : list nat) (extra : list (nat * Z)) (width n : list Z) (mask : Z) : list Z :=
  fold_left (fun n e => add_at n (fst e) (Z.land mask (snd e))) extra
    (fold_left (fun n j => add_at n j (Z.land mask (nth j width 0))) full n).

Fixpoint widths (lo hi : list Z) : list Z :=
  match lo, hi with
  | l :: lo, h :: hi => sub h l :: widths lo hi
  | _, _ => []
  end.

(* secretRow: row number i of the list, or the fallback if i is its length, by a pass over all of them. *)
Fixpoint add_rows (rows : list (list nat * list (nat * Z))) (r i : Z) (width n : list Z) : list Z :=
  match rows with
  | [] => n
  | (full, extra) :: rows =>
    add_rows rows (r + 1) i width (add_to full extra width n (negate (Z.b2z (r =? i))))
  end.

Definition secret_row (bits : Z) (lo hi : list Z) (rows : list (list nat * list (nat * Z)))
    (fallback : list nat * list (nat * Z)) (i : Z) : option (list Z) :=
  let width := widths lo hi in
  let n := add_rows rows 0 i width lo in
  let n := add_to (fst fallback) (snd fallback) width n (negate (Z.b2z (Z.of_nat (length rows) =? i))) in
  weights bits lo hi n.

(* Version 2: threshold.go. before is 1 or 0 by keys and indices, *)
Definition before (key j other_key other : Z) : Z :=
  let less := borrow key other_key in
  let d := Z.lxor key other_key in
  let differ := borrow 0 d in
  let first := borrow j other in
  Z.lor less (Z.land (sub 1 differ) first).

(* and the first pass of fill takes what comes before the threshold. over * 2^64 + sum is what is taken. *)
Fixpoint fill_scan (lo width keys : list Z) (j key t s over room : Z) : list Z * Z * Z * Z :=
  match lo, width, keys with
  | l :: lo, w :: width, k :: keys =>
    let more := Z.land w (negate (before k j key t)) in
    let (s, carry) := Add64 s more 0 in
    let over := add over carry in
    let room := Z.lor room (Z.land w (negate (Z.b2z (j =? t)))) in
    let '(n, s, over, room) := fill_scan lo width keys (j + 1) key t s over room in
    (add l more :: n, s, over, room)
  | _, _, _ => ([], s, over, room)
  end.

Fixpoint fill_rest (n fallback : list Z) (j t rest good : Z) : list Z :=
  match n, fallback with
  | v :: n, b :: fallback =>
    let v := add v (Z.land rest (negate (Z.b2z (j =? t)))) in
    Z.lor (Z.land v good) (Z.ldiff b good) :: fill_rest n fallback (j + 1) t rest good
  | _, _ => []
  end.

(* usable is 1 or 0; base is sum lo; keys are those of all outputs for the input that is drawn, any words at all, and t
  is
   its threshold, any index at all. *)
Definition fill (bits : Z) (lo hi keys fallback : list Z) (base t usable : Z) : list Z :=
  let width := widths lo hi in
  let '(n, s, over, room) := fill_scan lo width keys 0 (nth (Z.to_nat t) keys 0) t base 0 0 in
  let (rest, short) := Sub64 (2 ^ bits) s 0 in
  let above := borrow room rest in
  let more := borrow 0 over in
  let good := negate (Z.land (Z.land usable (sub 1 short)) (Z.land (sub 1 above) (sub 1 more))) in
  fill_rest n fallback 0 t rest good.

Lemma land_bit a b : Z.land (Z.b2z a) (Z.b2z b) = Z.b2z (a && b).
Proof. destruct a, b; reflexivity. Qed.

Lemma lor_bit a b : Z.lor (Z.b2z a) (Z.b2z b) = Z.b2z (a || b).
Proof. destruct a, b; reflexivity. Qed.

Lemma borrow_bit x y : borrow x y = Z.b2z (x <? y).
Proof. rewrite borrow_ltb. destruct (x <? y); reflexivity. Qed.

Lemma flip_bit a : sub 1 (Z.b2z a) = Z.b2z (negb a).
Proof. destruct a; reflexivity. Qed.

Lemma lxor_nonneg a b : 0 <= a -> 0 <= b -> 0 <= Z.lxor a b.
Proof. intros. apply Z.lxor_nonneg. tauto. Qed.

(* The order of outputs: by key, those of one key by index. *)
Theorem before_spec key j other_key other : 0 <= key -> 0 <= other_key ->
  before key j other_key other = Z.b2z ((key <? other_key) || ((key =? other_key) && (j <? other))).
Proof.
  intros. unfold before. rewrite !borrow_bit, flip_bit, land_bit, lor_bit. f_equal. f_equal. f_equal.
  pose proof (lxor_nonneg key other_key H H0). destruct (Z.eqb_spec key other_key) as [->|E].
  - rewrite Z.lxor_nilpotent. reflexivity.
  - destruct (Z.ltb_spec 0 (Z.lxor key other_key)) as [L|L]; [reflexivity|].
    exfalso. apply E. apply Z.lxor_eq. lia.
Qed.

(* Without a branch: v where the mask is all ones, b where it is 0. *)
Lemma choose_true v b : 0 <= v < W -> 0 <= b < W ->
  Z.lor (Z.land v (negate (Z.b2z true))) (Z.ldiff b (negate (Z.b2z true))) = v.
Proof.
  intros Hv Hb. rewrite negate_bit, land_ones by exact Hv. change (W - 1) with (Z.ones 64).
  rewrite Z.ldiff_ones_r by lia. rewrite Z.shiftr_div_pow2, Z.div_small by (lia || exact Hb).
  rewrite Z.shiftl_0_l. apply Z.lor_0_r.
Qed.

Lemma choose_false v b : Z.lor (Z.land v (negate (Z.b2z false))) (Z.ldiff b (negate (Z.b2z false))) = b.
Proof. rewrite negate_bit, Z.land_0_r, Z.ldiff_0_r. apply Z.lor_0_l. Qed.

Section Fill.
Variables key t : Z.
Hypothesis Hkey : 0 <= key.

(* Each column is at lo or at hi, and the threshold is at lo. *)
Lemma fill_scan_spec lo hi : bounds lo hi -> forall keys j s over room,
  length keys = length lo -> words keys -> 0 <= s < W -> 0 <= over -> over + Z.of_nat (length lo) < W ->
  0 <= room < W -> (j <= t -> t < j + Z.of_nat (length lo) -> nth (Z.to_nat (t - j)) keys 0 = key /\ room = 0) ->
  let '(n, s', over', room') := fill_scan lo (widths lo hi) keys j key t s over room in
  box lo n hi /\ s + over * W + sum n = s' + over' * W + sum lo /\ 0 <= s' < W /\ over <= over' /\
  (forall rest, 0 <= rest -> rest <= room' -> 
    if (j <=? t) && (t <? j + Z.of_nat (length lo)) then nth (Z.to_nat (t - j)) n 0 + rest <= nth (Z.to_nat (t - j)) hi
      0
    else room' = room).
Proof.
  induction 1 as [|l h ls hs Hl Hh HB IH]; intros [|k keys] j s over room HL HK Hs Ho Hc Hr Ht; cbn [length] in *;
    try discriminate;
  cbn [fill_scan widths].
  - repeat split; try lia; [constructor|]. intros rest _ _. destruct (Z.leb_spec j t);
    destruct (Z.ltb_spec t (j + Z.of_nat 0)); cbn [andb]; lia || reflexivity.
  - inversion HK as [|? ? Hk HK']; subst. units. rewrite (sub_exact h l) by lia.
    rewrite before_spec by lia. set (b := (k <? key) || (k =? key) && (j <? t)).
    rewrite !land_mask by lia.
    set (m := if b then h - l else 0). assert (M : 0 <= m <= h - l) by (unfold m; destruct b; lia).
    unfold Add64. rewrite Z.add_0_r. set (c := (s + m) / W).
    assert (C : 0 <= c <= 1 /\ s + m = c * W + (s + m) mod W /\ 0 <= (s + m) mod W < W) by (unfold c; lia).
    set (s1 := (s + m) mod W) in *. clearbody c s1. rewrite (add_exact over c) by lia.
    set (room1 := Z.lor room (if j =? t then h - l else 0)).
    assert (R1 : (j =? t = true -> room = 0 -> room1 = h - l) /\ (j =? t = false -> room1 = room)).
    { unfold room1. split; intros E; rewrite E; [intros ->; apply Z.lor_0_l | apply Z.lor_0_r]. }
    assert (R2 : 0 <= room1 < W).
    { destruct (Z.eqb_spec j t) as [E|E]; [|rewrite (proj2 R1 eq_refl); lia].
      destruct (Ht ltac:(lia) ltac:(lia)) as (_ & R0). rewrite (proj1 R1 eq_refl R0). lia. }
    specialize (IH keys (j + 1) s1 (over + c) room1 ltac:(lia) HK' ltac:(lia) ltac:(lia) ltac:(lia) R2).
    destruct (fill_scan ls (widths ls hs) keys (j + 1) key t s1 (over + c) room1) as [[[n s'] over'] room'].
    destruct IH as (B & E1 & E2 & E3 & G).
    { intros J1 J2. destruct (Ht ltac:(lia) ltac:(lia)) as (K & R0).
      replace (Z.to_nat (t - j)) with (S (Z.to_nat (t - (j + 1)))) in K by lia. cbn [nth] in K.
      split; [exact K|]. destruct (Z.eqb_spec j t); [lia|]. rewrite (proj2 R1 eq_refl). exact R0. }
    rewrite (add_exact l m) by lia. cbn [sum]. split; [constructor; try assumption; lia|]. split; [lia|]. split;
      [lia|]. split; [lia|].
    intros rest P1 P2. specialize (G rest P1 P2).
    destruct (Z.leb_spec j t) as [J1|J1]; destruct (Z.ltb_spec t (j + Z.of_nat (S (length ls)))) as [J2|J2]; cbn [andb].
    + destruct (Z.eqb_spec j t) as [E|E].
      * subst j. destruct (Ht ltac:(lia) ltac:(lia)) as (K & R0). rewrite Z.sub_diag in *. cbn [Z.to_nat nth] in *.
        destruct (Z.leb_spec (t + 1) t); [lia|]. cbn [andb] in G. rewrite (proj1 R1 eq_refl R0) in G.
        assert (b = false) as Hb by (unfold b; rewrite K; rewrite Z.ltb_irrefl, Z.ltb_irrefl; apply andb_false_r).
        unfold m. rewrite Hb. lia.
      * replace (Z.to_nat (t - j)) with (S (Z.to_nat (t - (j + 1)))) by lia. cbn [nth].
        destruct (Z.leb_spec (j + 1) t); [|lia]. destruct (Z.ltb_spec t (j + 1 + Z.of_nat (length ls))); [|lia].
        exact G.
    + destruct (Z.eqb_spec j t); [lia|]. destruct (Z.ltb_spec t (j + 1 + Z.of_nat (length ls))); [lia|].
      rewrite andb_false_r in G. rewrite G. apply R1. reflexivity.
    + destruct (Z.eqb_spec j t); [lia|]. destruct (Z.leb_spec (j + 1) t); [lia|]. cbn [andb] in G. rewrite G.
      apply R1. reflexivity.
    + destruct (Z.eqb_spec j t); [lia|]. destruct (Z.leb_spec (j + 1) t); [lia|]. cbn [andb] in G. rewrite G.
      apply R1. reflexivity.
Qed.

(* The second pass, with good all ones. *)
Lemma fill_rest_good n lo hi : box lo n hi -> bounds lo hi -> forall fallback j rest, length fallback = length n ->
  words fallback -> 0 <= rest < W ->
  (j <= t -> t < j + Z.of_nat (length n) -> nth (Z.to_nat (t - j)) n 0 + rest <= nth (Z.to_nat (t - j)) hi 0) ->
  let r := fill_rest n fallback j t rest (negate (Z.b2z true)) in
  box lo r hi /\ sum r = sum n + (if (j <=? t) && (t <? j + Z.of_nat (length n)) then rest else 0).
Proof.
  induction 1 as [|l v h ls ns hs Hl Hv HX IH]; intros HB [|b fb] j rest HL HF Hr Ht; cbn [length] in *;
    try discriminate;
  cbn [fill_rest].
  - split; [constructor|]. cbn [sum]. destruct (Z.leb_spec j t); destruct (Z.ltb_spec t (j + Z.of_nat 0)); cbn [andb];
    lia.
  - inversion HB as [|? ? ? ? B1 B2 HB']; subst. inversion HF as [|? ? F1 HF']; subst. units.
    destruct (IH HB' fb (j + 1) rest ltac:(lia) HF' Hr) as (B & E1).
    { intros J1 J2. specialize (Ht ltac:(lia) ltac:(lia)).
      replace (Z.to_nat (t - j)) with (S (Z.to_nat (t - (j + 1)))) in Ht by lia. exact Ht. }
    rewrite (land_mask rest) by lia. set (x := if j =? t then rest else 0).
    assert (X : 0 <= x /\ v + x <= h).
    { unfold x. destruct (Z.eqb_spec j t) as [->|]; [|lia]. specialize (Ht ltac:(lia) ltac:(lia)).
      rewrite Z.sub_diag in Ht. cbn [Z.to_nat nth] in Ht. lia. }
    rewrite (add_exact v x) by lia. rewrite choose_true by lia. cbn zeta in *. cbn [sum].
    split; [constructor; try assumption; lia|]. rewrite E1. unfold x.
    destruct (Z.eqb_spec j t); destruct (Z.leb_spec j t); destruct (Z.leb_spec (j + 1) t);
      destruct (Z.ltb_spec t (j + Z.of_nat (S (length ns)))); destruct (Z.ltb_spec t (j + 1 + Z.of_nat (length ns)));
        cbn [andb]; lia.
Qed.

(* and with good 0. *)
Lemma fill_rest_bad n : forall fallback j rest, length fallback = length n ->
  fill_rest n fallback j t rest (negate (Z.b2z false)) = fallback.
Proof.
  induction n as [|v n IH]; intros [|b fb] j rest HL; try discriminate; cbn [fill_rest]; [reflexivity|].
  rewrite choose_false. f_equal. apply IH. cbn [length] in HL. lia.
Qed.
End Fill.

(* In version 2 every threshold gives a point of the box, whatever the keys: so the gate after fill never refuses. *)
Theorem fill_point bits lo hi keys fallback t usable : 1 <= bits <= 62 -> bounds lo hi ->
  Z.of_nat (length lo) < max_units ->
  sum lo <= 2 ^ bits -> length keys = length lo -> words keys -> point bits lo hi fallback ->
  point bits lo hi (fill bits lo hi keys fallback (sum lo) t (Z.b2z usable)).
Proof.
  intros Hb HB Hn HS HL HK HF. pose proof (total_bound bits Hb) as T. unfold fill.
  assert (S0 : 0 <= sum lo) by (clear -HB; induction HB; cbn [sum]; lia).
  assert (Hkey : 0 <= nth (Z.to_nat t) keys 0).
  { clear -HK. generalize (Z.to_nat t). induction HK; intros [|i]; cbn [nth]; auto; lia. }
  units. pose proof (fill_scan_spec (nth (Z.to_nat t) keys 0) t Hkey lo hi HB keys 0 (sum lo) 0 0 HL HK) as F.
  destruct (fill_scan lo (widths lo hi) keys 0 (nth (Z.to_nat t) keys 0) t (sum lo) 0 0) as [[[n s] over] room].
  destruct F as (B & E & Hs & Ho & G); try lia.
  { intros _ _. rewrite Z.sub_0_r. split; reflexivity. }
  pose proof (box_length _ _ _ B) as (L1 & _). destruct HF as (FB & FS). pose proof (box_length _ _ _ FB) as (L2 & _).
  unfold Sub64. rewrite Z.add_0_r, Z.sub_0_r.
  replace (if 2 ^ bits <? s then 1 else 0) with (Z.b2z (2 ^ bits <? s)) by (destruct (2 ^ bits <? s); reflexivity).
  set (rest := (2 ^ bits - s) mod W). assert (R : 0 <= rest < W) by (apply Z.mod_pos_bound; reflexivity).
  rewrite !borrow_bit, !flip_bit, !land_bit.
  destruct (usable && negb (2 ^ bits <? s) && (negb (room <? rest) && negb (0 <? over))) eqn:C;
  [|rewrite fill_rest_bad by lia; split; assumption].
  apply andb_true_iff in C as (C1 & C2). apply andb_true_iff in C1 as (_ & C1). apply andb_true_iff in C2 as (C2 & C3).
  apply negb_true_iff, Z.ltb_ge in C1, C2, C3. assert (over = 0) by lia. subst over.
  assert (R' : rest = 2 ^ bits - s) by (unfold rest; apply Z.mod_small; lia).
  specialize (G rest ltac:(lia) C2). rewrite Z.add_0_l, L1 in G.
  destruct (fill_rest_good t n lo hi B HB fallback 0 rest ltac:(lia) (bounds_words _ _ _ HB FB) R) as (P & Q).
  - intros J1 J2. rewrite Z.add_0_l in J2. destruct (Z.leb_spec 0 t); [|lia].
    destruct (Z.ltb_spec t (Z.of_nat (length n))); [|lia]. exact G.
  - split; [exact P|]. cbn zeta in Q. rewrite Q, Z.add_0_l. 
    destruct ((0 <=? t) && (t <? Z.of_nat (length n))); [lia|].
    (* no column is the threshold: then room is 0, and so is what is left *)
    lia.
Qed.

(* The numbers that addTo writes are words, so the gate decides them. *)
Lemma add_at_words n : words n -> forall j x, words (add_at n j x).
Proof.
  induction 1 as [|v n Hv Hn IH]; intros [|j] x; cbn [add_at]; constructor; try assumption; try apply IH.
  unfold add. apply Z.mod_pos_bound. reflexivity.
Qed.

Lemma add_to_words full extra width n mask : words n -> words (add_to full extra width n mask).
Proof.
  intros Hn. unfold add_to.
  assert (G : forall n, words n -> words (fold_left (fun n j => add_at n j (Z.land mask (nth j width 0))) full n)).
  { induction full as [|j full IH]; intros m Hm; cbn [fold_left]; [exact Hm|]. apply IH, add_at_words, Hm. }
  specialize (G n Hn). revert G. generalize (fold_left (fun n j => add_at n j (Z.land mask (nth j width 0))) full n).
  induction extra as [|e extra IH]; intros m Hm; cbn [fold_left]; [exact Hm|]. apply IH, add_at_words, Hm.
Qed.

Lemma add_rows_words rows : forall r i width n, words n -> words (add_rows rows r i width n).
Proof.
  induction rows as [|[full extra] rows IH]; intros r i width n Hn; cbn [add_rows]; [exact Hn|].
  apply IH, add_to_words, Hn.
Qed.

(* What comes out of secretRow is a point of the box, whatever the rows are. *)
Theorem secret_row_point bits lo hi rows fallback i w : 1 <= bits <= 62 -> bounds lo hi -> lo <> [] ->
  secret_row bits lo hi rows fallback i = Some w -> point bits lo hi w.
Proof.
  intros Hb HB Hlo. unfold secret_row. intros H. pose proof (weights_some _ _ _ _ _ H) as ->.
  apply weights_point in H; try assumption. apply add_to_words, add_rows_words.
  clear -HB. induction HB; constructor; [units; lia | assumption].
Qed.

(* A policy, as a release sees it. keys and thresholds are functions of the input, of which privacy asks nothing. *)
Record policy := Policy {
  p_bits : Z;
  p_lo : list Z;
  p_hi : list Z;
  p_rows : list (list nat * list (nat * Z));
  p_fallback_row : list nat * list (nat * Z);
  p_fallback : list Z;                       (* the fallback row written out, which has passed the gate *)
  p_keys : Z -> list Z;
  p_thresholds : Z -> Z
}.

(* What Release's private data and solver come to. The counts u are integers below 2^64 with any sum: pick then gives
   some number, and no theorem on privacy asks which. *)
Inductive client :=
| Answer (qs : list Z)                       (* a solver's answer, any floats at all *)
| Unread                                     (* data that do not parse, in projection mode; a panic *)
| Mixture (u : list Z) (usable : bool)       (* version 1 *)
| Thresholds (u : list Z) (usable : bool).   (* version 2 *)

(* content.law: the point that the client draws from, once the first random word y is there. The gate's error, which
   does not occur, leads to the fallback as in Go. *)
Definition law (P : policy) (c : client) (y : Z) : list Z :=
  let or_fallback w := match w with Some w => w | None => p_fallback P end in
  match c with
  | Answer qs => round (p_bits P) (p_lo P) (p_hi P) qs
  | Unread => p_fallback P
  | Mixture u usable =>
    let i := if usable then pick u y else Z.of_nat (length (p_rows P)) in
    or_fallback (secret_row (p_bits P) (p_lo P) (p_hi P) (p_rows P) (p_fallback_row P) i)
  | Thresholds u usable =>
    let i := pick u y in
    or_fallback (weights (p_bits P) (p_lo P) (p_hi P)
      (fill (p_bits P) (p_lo P) (p_hi P) (p_keys P i) (p_fallback P) (sum (p_lo P)) (p_thresholds P i) (Z.b2z usable)))
  end.

Definition is_client (P : policy) (c : client) : Prop :=
  match c with
  | Answer qs => words qs
  | Thresholds _ _ => forall i, length (p_keys P i) = length (p_lo P) /\ words (p_keys P i)
  | _ => True
  end.

Theorem law_point p q P c y : guarantee p q (p_bits P) (p_lo P) (p_hi P) ->
  Z.of_nat (length (p_lo P)) < max_units -> point (p_bits P) (p_lo P) (p_hi P) (p_fallback P) -> is_client P c ->
  point (p_bits P) (p_lo P) (p_hi P) (law P c y).
Proof.
  intros G HL HF HC. pose proof (guarantee_bounds _ _ _ _ _ G) as HB. destruct G as [Hb Hlo _ _ _ HS].
  destruct c as [qs| |u usable|u usable]; cbn [law].
  - apply round_in_box; assumption.
  - exact HF.
  - destruct (secret_row _ _ _ _ _ _) as [w|] eqn:E; [|exact HF]. apply secret_row_point in E; assumption.
  - destruct (HC (pick u y)) as (K1 & K2).
    pose proof (fill_point (p_bits P) (p_lo P) (p_hi P) (p_keys P (pick u y)) (p_fallback P) (p_thresholds P (pick u
      y)) usable
      Hb HB HL (proj1 HS) K1 K2 HF) as X.
    destruct (weights _ _ _ _) as [w|] eqn:E; [|exact HF]. rewrite (weights_some _ _ _ _ _ E). exact X.
Qed.

(* A client is a function from the first 64 random bits to a list of weights. hits counts the random bytes that give an
   outcome in A: all 2^64 first words, with all values of the bytes that Sample reads. *)
Definition hits (bits : Z) (A : Z -> bool) (f : Z -> list Z) : Z :=
  sum (map (fun y => count (fun x => A (sample bits (f y) x)) (2 ^ read_bits bits)) (numbers W)).

Lemma sum_ratio (e : R) (f g : Z -> Z) l : (forall y, In y l -> IZR (f y) <= e * IZR (g y))%R ->
  (IZR (sum (map f l)) <= e * IZR (sum (map g l)))%R.
Proof.
  induction l as [|y l IH]; intros H; cbn [map sum]; [lra|]. rewrite !plus_IZR, Rmult_plus_distr_l.
  apply Rplus_le_compat; [apply H; left; reflexivity | apply IH; intros z Hz; apply H; right; exact Hz].
Qed.

Lemma point_row bits lo hi w : 1 <= bits <= 62 -> bounds lo hi -> Z.of_nat (length lo) < max_units ->
  point bits lo hi w -> row bits w.
Proof.
  intros Hb HB HL (B & S). split; [exact Hb | exact (bounds_words _ _ _ HB B) | exact S|].
  pose proof (box_length _ _ _ B) as (<- & _). exact HL.
Qed.

(* If Verify accepts a box, the releases of any two clients who draw from its points, whatever word leads to which
  point,
   are eps-LDP: of equally likely random bytes, those that give an outcome in A are at most e^eps times as many. *)
Theorem release_ldp p q bits lo hi f g A :
  words lo -> words hi -> Z.of_nat (length lo) < max_units -> verify p q bits lo hi = Accept ->
  (forall y, point bits lo hi (f y)) -> (forall y, point bits lo hi (g y)) ->
  (IZR (hits bits A f) <= exp (IZR p / IZR q) * IZR (hits bits A g))%R.
Proof.
  intros Wl Wh HL HV Hf Hg. pose proof (verify_sound _ _ _ _ _ Wl Wh HV) as G.
  pose proof (guarantee_bounds _ _ _ _ _ G) as HB.
  pose proof (g_bits _ _ _ _ _ G) as Hb. pose proof (read_bits_range bits Hb) as HR.
  unfold hits. apply sum_ratio. intros y _.
  rewrite (sample_bytes bits (f y) A (point_row _ _ _ _ Hb HB HL (Hf y))).
  rewrite (sample_bytes bits (g y) A (point_row _ _ _ _ Hb HB HL (Hg y))).
  rewrite !mult_IZR. set (k := IZR (2 ^ (read_bits bits - bits))).
  assert (K : (0 <= k)%R) by (apply (IZR_le 0); apply Z.pow_nonneg; lia).
  pose proof (mass_box (exp (IZR p / IZR q)) lo hi (f y) (g y) A 0 (Rlt_le _ _ (exp_pos _)) (g_loss _ _ _ _ _ G) (proj1
    (Hf y)) (proj1 (Hg y))) as M.
  replace (exp (IZR p / IZR q) * (k * IZR (mass A 0 (g y))))%R with (k * (exp (IZR p / IZR q) * IZR (mass A 0 (g
    y))))%R by ring.
  apply Rmult_le_compat_l; assumption.
Qed.

(* The same, of clients of a policy. *)
Theorem policy_ldp p q P c d A :
  words (p_lo P) -> words (p_hi P) -> Z.of_nat (length (p_lo P)) < max_units ->
  verify p q (p_bits P) (p_lo P) (p_hi P) = Accept ->
  point (p_bits P) (p_lo P) (p_hi P) (p_fallback P) -> is_client P c -> is_client P d ->
  (IZR (hits (p_bits P) A (law P c)) <= exp (IZR p / IZR q) * IZR (hits (p_bits P) A (law P d)))%R.
Proof.
  intros Wl Wh HL HV HF HC HD. pose proof (verify_sound _ _ _ _ _ Wl Wh HV) as G.
  apply release_ldp with (lo := p_lo P) (hi := p_hi P); try assumption; intros y;
    apply law_point with (p := p) (q := q); assumption.
Qed.
