(* Polytope.Round of ldp/round.go: any slice of floats, as their 64-bit patterns, becomes a point of the box. *)
From Wpm Require Export Verify.
Open Scope Z_scope.

(* split: the pattern v of a finite float64 >= 0 is mant 2^exp. Masks of low bits are remainders. *)
Definition split (v : Z) : Z * Z :=
  let mant := v mod 2 ^ 52 in
  let exp := (v / 2 ^ 52) mod 2 ^ 11 in
  if exp =? 0 then (mant, -1074) else (mant + 2 ^ 52, exp - 1075).

(* floorUnits. The pattern of 2 is 2^62, of -0 2^63; what is above 2047 2^52 is NaN. *)
Definition floor_units (v b : Z) : Z * Z :=
  if (v =? 0) || (2 ^ 63 <=? v) || (2047 * 2 ^ 52 <? v) then (0, 0)
  else if 2 ^ 62 <=? v then (2 ^ 63, 0)
  else
    let (mant, exp) := split v in
    let t := - (exp + b) in
    if t <=? 0 then ((mant * 2 ^ (- t)) mod W, 0)
    else
      let r := mant mod 2 ^ t in
      if r =? 0 then (mant / 2 ^ t, 0)
      else
        let l := Z.log2 r + 1 in
        (mant / 2 ^ t, add (((l - t + 1100) * 2 ^ 52) mod W) ((r * 2 ^ (53 - l)) mod W)).

Lemma floor_units_range v b : 1 <= b <= 62 -> 0 <= v < W ->
  0 <= fst (floor_units v b) < W /\ 0 <= snd (floor_units v b) < 2 ^ 63.
Proof.
  intros Hb Hv. unfold floor_units.
  destruct ((v =? 0) || (2 ^ 63 <=? v) || (2047 * 2 ^ 52 <? v)); [cbn; lia|].
  destruct (Z.leb_spec (2 ^ 62) v) as [H|H]; [cbn; lia|].
  destruct (split v) as [mant exp] eqn:S.
  assert (M : 0 <= mant < 2 ^ 53 /\ -1074 <= exp).
  { unfold split in S. assert (P : 0 <= v mod 2 ^ 52 < 2 ^ 52) by (apply Z.mod_pos_bound; reflexivity).
    assert (Q : 0 <= (v / 2 ^ 52) mod 2 ^ 11) by (apply Z.mod_pos_bound; reflexivity).
    change (2 ^ 53) with (2 * 2 ^ 52). destruct (Z.eqb_spec ((v / 2 ^ 52) mod 2 ^ 11) 0); injection S as <- <-; lia. }
  set (t := - (exp + b)). destruct (Z.leb_spec t 0).
  { cbn [fst snd]. split; [apply Z.mod_pos_bound; reflexivity | lia]. }
  assert (T : 0 < 2 ^ t) by (apply Z.pow_pos_nonneg; lia).
  assert (U : 0 <= mant / 2 ^ t < W).
  { split; [apply Z.div_pos; lia|]. apply Z.div_lt_upper_bound; [exact T|].
    change (2 ^ 53) with 9007199254740992 in M. nia. }
  set (r := mant mod 2 ^ t). assert (R : 0 <= r <= mant).
  { unfold r. split; [apply Z.mod_pos_bound; exact T | apply Z.mod_le; lia]. }
  destruct (Z.eqb_spec r 0); cbn [fst snd]; [lia|]. split; [exact U|].
  assert (R' : 0 < r) by lia. pose proof (Z.log2_spec r R') as (L1 & L2).
  assert (Rt : r < 2 ^ t) by (unfold r; apply Z.mod_pos_bound; exact T).
  assert (LT : Z.log2 r < t) by (apply Z.log2_lt_pow2; assumption).
  assert (L53 : Z.log2 r < 53) by (apply Z.log2_lt_pow2; lia).
  pose proof (Z.log2_nonneg r) as L0. set (l := Z.log2 r + 1) in *.
  assert (K : 0 <= r * 2 ^ (53 - l) < 2 ^ 53).
  { split; [apply Z.mul_nonneg_nonneg; [lia | apply Z.pow_nonneg; lia]|].
    replace 53 with (l + (53 - l)) at 2 by lia. rewrite Z.pow_add_r by lia.
    apply Z.mul_lt_mono_pos_r; [apply Z.pow_pos_nonneg; lia | unfold l; exact L2]. }
  assert (J : 0 <= (l - t + 1100) * 2 ^ 52 <= 1100 * 2 ^ 52) by (change (2 ^ 52) with 4503599627370496; lia).
  change (2 ^ 53) with 9007199254740992 in K. change (2 ^ 52) with 4503599627370496 in *.
  rewrite (Z.mod_small (_ * 4503599627370496)) by lia. rewrite (Z.mod_small (r * _)) by lia.
  rewrite add_exact by lia. change (2 ^ 63) with 9223372036854775808. lia.
Qed.

(* step 1: columns from first to last; room and the number of fractions run along *)
Fixpoint step1 (lo hi qs : list Z) (b room fractions : Z) : list Z * list Z * Z * Z :=
  match lo, hi with
  | l :: lo, h :: hi =>
    let room := sub room l in
    let (x, f) := match qs with v :: _ => floor_units v b | [] => (0, 0) end in
    let frac := if (l <=? x) && (x <? h) then f else 0 in
    let fractions := if 0 <? frac then add fractions 1 else fractions in
    let '(n, fracs, room, fractions) := step1 lo hi (tl qs) b room fractions in
    (Z.min (Z.max x l) h :: n, frac :: fracs, room, fractions)
  | _, _ => ([], [], room, fractions)
  end.

(* step 2: columns from last to first *)
Fixpoint step2 (lo n : list Z) (room : Z) : list Z * Z :=
  match lo, n with
  | l :: lo, v :: n =>
    let (n, room) := step2 lo n room in
    let extra := Z.min (sub v l) room in
    (add l extra :: n, sub room extra)
  | _, _ => ([], room)
  end.

(* step 3: atLeast and roundUp *)
Fixpoint at_least (frac : list Z) (level count : Z) : Z :=
  match frac with
  | [] => count
  | v :: frac => at_least frac level (add count (sub 1 (borrow v level)))
  end.

Fixpoint search (steps : nat) (frac : list Z) (count level : Z) : Z :=
  match steps with
  | O => level
  | S steps =>
    let next := add level (2 ^ Z.of_nat steps) in
    search steps frac count (if count <=? at_least frac next 0 then next else level)
  end.

Fixpoint bump (n frac : list Z) (level equal : Z) : list Z :=
  match n, frac with
  | v :: n, f :: frac =>
    if level <? f then add v 1 :: bump n frac level equal
    else if (f =? level) && (0 <? equal) then add v 1 :: bump n frac level (sub equal 1)
    else v :: bump n frac level equal
  | _, _ => []
  end.

Definition round_up (n frac : list Z) (count : Z) : list Z :=
  let level := search 63 frac count 0 in
  let equal := sub count (at_least frac (add level 1) 0) in
  bump n frac level equal.

(* step 4 *)
Fixpoint step4 (hi n : list Z) (room : Z) : list Z * Z :=
  match hi, n with
  | h :: hi, v :: n =>
    let extra := Z.min (sub h v) room in
    let (n, room) := step4 hi n (sub room extra) in
    (add v extra :: n, room)
  | _, _ => ([], room)
  end.

Definition round (bits : Z) (lo hi qs : list Z) : list Z :=
  let '(n, frac, room, fractions) := step1 lo hi qs bits (2 ^ bits) 0 in
  let (n, room) := step2 lo n room in
  let count := Z.min room fractions in
  let (n, room) := if 0 <? count then (round_up n frac count, sub room count) else (n, room) in
  fst (step4 hi n room).

(* What holds after step 1. *)
Inductive columns : list Z -> list Z -> list Z -> list Z -> Prop :=
| columns_nil : columns [] [] [] []
| columns_cons l n f h ls ns fs hs : 0 <= l -> l <= n <= h -> h <= max_units -> 0 <= f < 2 ^ 63 -> (0 < f -> n < h) ->
    columns ls ns fs hs -> columns (l :: ls) (n :: ns) (f :: fs) (h :: hs).

(* The bounds of a box that Verify accepted. *)
Inductive bounds : list Z -> list Z -> Prop :=
| bounds_nil : bounds [] []
| bounds_cons l h ls hs : 0 <= l -> l <= h <= max_units -> bounds ls hs -> bounds (l :: ls) (h :: hs).

Lemma max_units_is : max_units = 4611686018427387904.
Proof. reflexivity. Qed.

Ltac units := rewrite ?max_units_is in *; change (2 ^ 63) with 9223372036854775808 in *.

Lemma columns_box l n f h : columns l n f h -> box l n h.
Proof. induction 1; constructor; auto. Qed.

Lemma columns_length l n f h : columns l n f h -> length l = length f /\ length n = length f /\ length h = length f.
Proof. induction 1; simpl; lia. Qed.

Fixpoint at_least_z (frac : list Z) (level : Z) : Z :=
  match frac with [] => 0 | v :: frac => (if level <=? v then 1 else 0) + at_least_z frac level end.

Lemma at_least_z_range frac level : 0 <= at_least_z frac level <= Z.of_nat (length frac).
Proof. induction frac as [|v frac IH]; cbn [at_least_z length]; [lia|]. destruct (level <=? v); lia. Qed.

Lemma at_least_spec frac : forall level c, 0 <= c -> c + Z.of_nat (length frac) < W ->
  at_least frac level c = c + at_least_z frac level.
Proof.
  induction frac as [|v frac IH]; intros level c Hc Hl; cbn [at_least at_least_z length] in *; [lia|].
  rewrite borrow_ltb. destruct (Z.ltb_spec v level); destruct (Z.leb_spec level v); try lia.
  - rewrite sub_exact, add_exact by lia. rewrite IH; lia.
  - rewrite sub_exact, add_exact by lia. rewrite IH; lia.
Qed.

Lemma step1_spec lo hi : bounds lo hi -> forall qs b room fr, 1 <= b <= 62 -> words qs ->
  sum lo <= room < W -> 0 <= fr -> fr + Z.of_nat (length lo) < W ->
  let '(n, frac, room', fr') := step1 lo hi qs b room fr in
  columns lo n frac hi /\ room' = room - sum lo /\ fr' = fr + at_least_z frac 1.
Proof.
  induction 1 as [|l h ls hs Hl Hh Hb IH]; intros qs b room fr Hbits Hq Hr Hf Hn; cbn [step1].
  - cbn. split; [constructor | lia].
  - cbn [sum length] in *. set (pair := match qs with v :: _ => floor_units v b | [] => (0, 0) end).
    assert (P : 0 <= fst pair < W /\ 0 <= snd pair < 2 ^ 63).
    { unfold pair. destruct Hq; [cbn; lia | apply floor_units_range; assumption]. }
    destruct pair as [x f]. cbn [fst snd] in P.
    set (g := if (l <=? x) && (x <? h) then f else 0).
    assert (G : 0 <= g < 2 ^ 63 /\ (0 < g -> l <= x < h)).
    { unfold g. destruct (Z.leb_spec l x); destruct (Z.ltb_spec x h); cbn [andb]; lia. }
    assert (N : 0 <= sum ls) by (clear -Hb; induction Hb; simpl; lia).
    assert (Q : words (tl qs)) by (destruct Hq; [constructor | assumption]).
    rewrite sub_exact by lia.
    set (fr1 := if 0 <? g then add fr 1 else fr).
    assert (F1 : fr1 = fr + (if 1 <=? g then 1 else 0)).
    { unfold fr1. destruct (Z.ltb_spec 0 g); destruct (Z.leb_spec 1 g); try lia. rewrite add_exact; lia. }
    specialize (IH (tl qs) b (room - l) fr1 Hbits Q ltac:(lia)).
    destruct (step1 ls hs (tl qs) b (room - l) fr1) as [[[n frac] room'] fr'].
    destruct IH as (C & R & F); [destruct (1 <=? g); lia | destruct (1 <=? g); lia|].
    cbn [at_least_z]. split; [|split; lia]. constructor; try assumption; try lia.
Qed.

Lemma step2_spec lo n frac hi : columns lo n frac hi -> forall room, 0 <= room < W ->
  let (r, room') := step2 lo n room in
  box lo r hi /\ 0 <= room' <= room /\ sum r + room' = sum lo + room /\ (0 < room' -> r = n).
Proof.
  induction 1 as [|l v f h ls ns fs hs Hl Hv Hh Hf Hfh HC IH]; intros room Hr; cbn [step2].
  - cbn. repeat split; try lia. constructor.
  - specialize (IH room Hr). destruct (step2 ls ns room) as [r room']. destruct IH as (B & R & S & E). units.
    rewrite (sub_exact v l) by lia. set (e := Z.min (v - l) room').
    assert (0 <= e <= v - l /\ e <= room') by (unfold e; lia).
    rewrite add_exact, sub_exact by lia. cbn [sum]. repeat split; try lia.
    + constructor; try assumption; lia.
    + intros P. assert (e = v - l) by (unfold e in *; lia). f_equal; [lia|]. apply E. lia.
Qed.

Lemma at_least_z_mono frac a b : a <= b -> at_least_z frac b <= at_least_z frac a.
Proof. intros. induction frac as [|v frac IH]; cbn [at_least_z]; [lia|]. destruct (Z.leb_spec a v);
  destruct (Z.leb_spec b v); lia. Qed.

Lemma search_spec steps : forall frac count level, Z.of_nat (length frac) < W -> 0 <= level -> (steps <= 63)%nat ->
  level + 2 ^ Z.of_nat steps <= 2 ^ 63 ->
  count <= at_least_z frac level -> at_least_z frac (level + 2 ^ Z.of_nat steps) < count ->
  let r := search steps frac count level in
  level <= r < 2 ^ 63 /\ count <= at_least_z frac r /\ at_least_z frac (r + 1) < count.
Proof.
  induction steps as [|steps IH]; intros frac count level Hn Hl Hs Hb Hc Hd; cbn [search].
  - change (2 ^ Z.of_nat 0) with 1 in *. lia.
  - assert (P : 2 ^ Z.of_nat (S steps) = 2 * 2 ^ Z.of_nat steps) by (rewrite Nat2Z.inj_succ; apply Z.pow_succ_r; lia).
    assert (Q : 0 < 2 ^ Z.of_nat steps) by (apply Z.pow_pos_nonneg; lia).
    rewrite add_exact by (units; lia). rewrite at_least_spec by lia. rewrite Z.add_0_l.
    destruct (Z.leb_spec count (at_least_z frac (level + 2 ^ Z.of_nat steps))) as [G|G].
    + pose proof (IH frac count (level + 2 ^ Z.of_nat steps) Hn ltac:(lia) ltac:(lia) ltac:(lia) G) as K.
      replace (level + 2 ^ Z.of_nat steps + 2 ^ Z.of_nat steps) with (level + 2 ^ Z.of_nat (S steps)) in K by lia.
      specialize (K Hd). cbn zeta in *. lia.
    + pose proof (IH frac count level Hn Hl ltac:(lia) ltac:(lia) Hc G) as K. exact K.
Qed.

Lemma bump_spec lo n frac hi : columns lo n frac hi -> forall level equal, 1 <= level < 2 ^ 63 -> 0 <= equal < W ->
  equal <= at_least_z frac level - at_least_z frac (level + 1) ->
  box lo (bump n frac level equal) hi /\ sum (bump n frac level equal) = sum n + at_least_z frac (level + 1) + equal.
Proof.
  induction 1 as [|l v f h ls ns fs hs Hl Hv Hh Hf Hfh HC IH]; intros level equal Hlevel He Hc;
    cbn [bump at_least_z sum] in *.
  - split; [constructor | lia].
  - units. destruct (Z.ltb_spec level f); destruct (Z.leb_spec level f); destruct (Z.leb_spec (level + 1) f); try lia.
    + destruct (IH level equal) as (B & S); try lia. rewrite add_exact by lia. cbn [sum].
      split; [constructor; try assumption; lia | lia].
    + destruct (Z.eqb_spec f level); [|lia]. destruct (Z.ltb_spec 0 equal); cbn [andb].
      * destruct (IH level (sub equal 1)) as (B & S); rewrite ?sub_exact in * by lia; try lia.
        rewrite add_exact by lia. cbn [sum]. split; [constructor; try assumption; lia | lia].
      * destruct (IH level equal) as (B & S); try lia.
        { pose proof (at_least_z_mono fs level (level + 1)). lia. }
        cbn [sum]. split; [constructor; assumption | lia].
    + destruct (Z.eqb_spec f level); [lia|]. cbn [andb].
      destruct (IH level equal) as (B & S); try lia. cbn [sum]. split; [constructor; assumption | lia].
Qed.

Lemma at_least_top lo n frac hi : columns lo n frac hi -> at_least_z frac (2 ^ 63) = 0.
Proof. induction 1; cbn [at_least_z]; [reflexivity|]. destruct (Z.leb_spec (2 ^ 63) f); lia. Qed.

Lemma at_least_0 lo n frac hi : columns lo n frac hi -> at_least_z frac 0 = Z.of_nat (length frac).
Proof. induction 1; cbn [at_least_z length]; [reflexivity|]. destruct (Z.leb_spec 0 f); lia. Qed.

(* roundUp gives one unit more to just so many columns, each of which can take it. *)
Lemma round_up_spec lo n frac hi count : columns lo n frac hi -> Z.of_nat (length frac) < W ->
  1 <= count <= at_least_z frac 1 ->
  box lo (round_up n frac count) hi /\ sum (round_up n frac count) = sum n + count.
Proof.
  intros HC Hn Hc. pose proof (at_least_z_range frac 1) as R1. unfold round_up.
  assert (E63 : 2 ^ Z.of_nat 63 = 2 ^ 63) by reflexivity.
  destruct (search_spec 63 frac count 0 Hn) as (L & A & B).
  - lia.
  - lia.
  - rewrite E63. lia.
  - rewrite (at_least_0 _ _ _ _ HC). lia.
  - rewrite E63. change (0 + 2 ^ 63) with (2 ^ 63). rewrite (at_least_top _ _ _ _ HC). lia.
  - set (level := search 63 frac count 0) in *. clearbody level.
    assert (P : 1 <= level).
    { destruct (Z.eq_dec level 0) as [->|]; [|lia]. change (0 + 1) with 1 in B. lia. }
    pose proof (at_least_z_range frac (level + 1)) as R2. pose proof (at_least_z_range frac level) as R3.
    units. rewrite add_exact by lia. rewrite at_least_spec by lia. rewrite Z.add_0_l. rewrite sub_exact by lia.
    destruct (bump_spec _ _ _ _ HC level (count - at_least_z frac (level + 1))) as (X & Y); units; try lia.
    split; [exact X | lia].
Qed.

Lemma step4_spec lo n hi : box lo n hi -> Forall (fun h => h <= max_units) hi ->
  forall room, 0 <= room < W -> sum n + room <= sum hi ->
  let (r, room') := step4 hi n room in box lo r hi /\ room' = 0 /\ sum r = sum n + room.
Proof.
  induction 1 as [|l w h ls ws hs Hl Hw HB IH]; intros HF room Hr Hs; cbn [step4 sum] in *.
  - repeat split; try lia. constructor.
  - inversion HF as [|? ? Hh HF']; subst. units. rewrite (sub_exact h w) by lia. set (e := Z.min (h - w) room).
    assert (E : 0 <= e <= h - w /\ e <= room) by (unfold e; lia).
    rewrite sub_exact, add_exact by lia.
    specialize (IH HF' (room - e)). destruct (step4 hs ws (room - e)) as [r room'].
    pose proof (box_sums _ _ _ HB). destruct IH as (B & R & S); [lia | unfold e in *; lia|].
    cbn [sum]. repeat split; try lia. constructor; try assumption; lia.
Qed.

Lemma bounds_top lo hi : bounds lo hi -> Forall (fun h => h <= max_units) hi.
Proof. induction 1; constructor; try assumption; lia. Qed.

(* Round takes anything to a point of the box. *)
Theorem round_in_box bits lo hi qs : 1 <= bits <= 62 -> bounds lo hi -> words qs ->
  Z.of_nat (length lo) < max_units -> sum lo <= 2 ^ bits <= sum hi ->
  box lo (round bits lo hi qs) hi /\ sum (round bits lo hi qs) = 2 ^ bits.
Proof.
  intros Hb HB Hq Hn Hs. pose proof (total_bound bits Hb) as HT. unfold round.
  pose proof (step1_spec lo hi HB qs bits (2 ^ bits) 0 Hb Hq) as S1. units.
  destruct (step1 lo hi qs bits (2 ^ bits) 0) as [[[n1 frac] r1] fr].
  destruct S1 as (C & R1 & F); try lia. pose proof (columns_length _ _ _ _ C) as (L1 & _).
  assert (N : 0 <= sum lo) by (pose proof (box_sums _ _ _ (columns_box _ _ _ _ C)); lia).
  pose proof (step2_spec _ _ _ _ C r1 ltac:(lia)) as S2. destruct (step2 lo n1 r1) as [n2 r2].
  destruct S2 as (B2 & R2 & T2 & E2).
  set (count := Z.min r2 fr). pose proof (at_least_z_range frac 1) as Rf.
  assert (S3 : let (n3, r3) := if 0 <? count then (round_up n2 frac count, sub r2 count) else (n2, r2) in
    box lo n3 hi /\ 0 <= r3 < W /\ sum n3 + r3 = 2 ^ bits).
  { destruct (Z.ltb_spec 0 count) as [P|P].
    - assert (0 < r2) by (unfold count in P; lia). rewrite (E2 H) in *.
      destruct (round_up_spec _ _ _ _ count C) as (B3 & T3); [lia | unfold count in *; lia|].
      rewrite sub_exact by (unfold count in *; lia). split; [exact B3|]. unfold count in *. lia.
    - split; [exact B2 | lia]. }
  destruct (if 0 <? count then (round_up n2 frac count, sub r2 count) else (n2, r2)) as [n3 r3].
  destruct S3 as (B3 & R3 & T3).
  pose proof (step4_spec _ _ _ B3 (bounds_top _ _ HB) r3 R3 ltac:(lia)) as S4. destruct (step4 hi n3 r3) as [n4 r4].
  destruct S4 as (B4 & _ & T4). cbn [fst]. split; [exact B4 | lia].
Qed.

Lemma guarantee_bounds p q bits lo hi : guarantee p q bits lo hi -> bounds lo hi.
Proof.
  intros [GB _ (w & GX) GT _ _]. pose proof (total_bound bits GB). induction GX; constructor; inversion GT; subst;
    try lia.
  apply IHGX. assumption.
Qed.
