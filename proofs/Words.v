(* Machine words: Go's uint64 as integers from 0 to 2^64 - 1, every operation modulo 2^64, and counting. *)
From Coq Require Export ZArith List Lia Bool.
Export ListNotations.
Open Scope bool_scope.
Open Scope Z_scope.

Ltac Zify.zify_post_hook ::= Z.to_euclidean_division_equations.

Notation W := 18446744073709551616.

Lemma W_is : W = 2 ^ 64.
Proof. reflexivity. Qed.

Definition add x y := (x + y) mod W.
Definition sub x y := (x - y) mod W.
Definition negate x := (- x) mod W.

(* Package math/bits. Carry and borrow are 0 or 1. *)
Definition Add64 x y c := ((x + y + c) mod W, (x + y + c) / W).
Definition Sub64 x y b := ((x - y - b) mod W, if x <? y + b then 1 else 0).
Definition Mul64 x y := (x * y / W, (x * y) mod W).
Definition borrow x y := snd (Sub64 x y 0).

Lemma add_exact x y : 0 <= x -> 0 <= y -> x + y < W -> add x y = x + y.
Proof. intros. apply Z.mod_small. lia. Qed.

Lemma sub_exact x y : 0 <= y -> y <= x -> x < W -> sub x y = x - y.
Proof. intros. apply Z.mod_small. lia. Qed.

Lemma borrow_ltb x y : borrow x y = if x <? y then 1 else 0.
Proof. unfold borrow, Sub64. simpl. rewrite Z.add_0_r. reflexivity. Qed.

(* A mask is 0 or all ones. *)
Lemma negate_bit b : negate (Z.b2z b) = if b then W - 1 else 0.
Proof. destruct b; reflexivity. Qed.

Lemma land_ones x : 0 <= x < W -> Z.land x (W - 1) = x.
Proof. intros. change (W - 1) with (Z.ones 64). rewrite Z.land_ones by lia. apply Z.mod_small. exact H. Qed.

Lemma land_mask x b : 0 <= x < W -> Z.land x (negate (Z.b2z b)) = if b then x else 0.
Proof. intros. rewrite negate_bit. destruct b; [apply land_ones; assumption | apply Z.land_0_r]. Qed.

(* Sums over slices. *)
Fixpoint sum (l : list Z) : Z := match l with [] => 0 | x :: r => x + sum r end.

(* ldp/polytope.go, sum: saturates at 2^64 - 1. *)
Fixpoint sum64 (l : list Z) (s : Z) : Z :=
  match l with
  | [] => s
  | x :: r => let (s, carry) := Add64 s x 0 in if carry =? 0 then sum64 r s else W - 1
  end.

Definition words l := Forall (fun x => 0 <= x < W) l.

Lemma sum_nonneg l : words l -> 0 <= sum l.
Proof. induction 1; simpl; lia. Qed.

Theorem sum64_spec l : words l -> forall s, 0 <= s < W -> sum64 l s = Z.min (s + sum l) (W - 1).
Proof.
  induction 1 as [|x r Hx Hr IH]; intros s Hs; cbn [sum64 sum].
  - lia.
  - unfold Add64. pose proof (sum_nonneg _ Hr). rewrite Z.add_0_r. destruct (Z.eqb_spec ((s + x) / W) 0).
    + assert (s + x < W) by lia. rewrite Z.mod_small by lia. rewrite IH; lia.
    + lia.
Qed.

(* How many of the numbers 0, 1, .., n - 1 have a property. *)
Definition numbers (n : Z) : list Z := map Z.of_nat (seq 0 (Z.to_nat n)).
Definition count (p : Z -> bool) (n : Z) : Z := Z.of_nat (length (filter p (numbers n))).

Lemma numbers_app m n : 0 <= m -> 0 <= n -> numbers (m + n) = numbers m ++ map (fun x => m + x) (numbers n).
Proof.
  intros. unfold numbers. rewrite Z2Nat.inj_add by lia. rewrite seq_app, map_app. f_equal. rewrite map_map. simpl.
  rewrite <- (Nat.add_0_r (Z.to_nat m)) at 1. generalize (Z.to_nat n), 0%nat. intros k.
  induction k as [|k IH]; intros s; cbn [seq map]; [reflexivity|]. rewrite <- Nat.add_succ_r, IH. f_equal. lia.
Qed.

Lemma filter_map (p : Z -> bool) (f : Z -> Z) (l : list Z) : length (filter p (map f l)) = length (filter (fun x => p
  (f x)) l).
Proof. induction l; simpl; [reflexivity|]. destruct (p (f a)); simpl; rewrite IHl; reflexivity. Qed.

Lemma count_app p m n : 0 <= m -> 0 <= n -> count p (m + n) = count p m + count (fun x => p (m + x)) n.
Proof.
  intros. unfold count. rewrite numbers_app, filter_app, app_length, filter_map by assumption. lia.
Qed.

Lemma in_numbers x n : In x (numbers n) -> 0 <= x < n.
Proof. unfold numbers. rewrite in_map_iff. intros (k & <- & H). apply in_seq in H. lia. Qed.

Lemma count_ext p p' n : (forall x, 0 <= x < n -> p x = p' x) -> count p n = count p' n.
Proof.
  intros. unfold count. f_equal. f_equal. apply filter_ext_in. intros x Hx. apply H. apply in_numbers. exact Hx.
Qed.

Lemma count_const b n : 0 <= n -> count (fun _ => b) n = if b then n else 0.
Proof.
  intros. unfold count. destruct b.
  - replace (filter (fun _ => true) (numbers n)) with (numbers n).
    + unfold numbers. rewrite map_length, seq_length. lia.
    + induction (numbers n); simpl; f_equal. assumption.
  - replace (filter (fun _ => false) (numbers n)) with (@nil Z); [reflexivity|]. induction (numbers n); simpl; auto.
Qed.

(* Of a random number only some low bits are used. *)
Lemma count_mod p n m : 0 < n -> 0 <= m -> count (fun y => p (y mod n)) (m * n) = m * count p n.
Proof.
  intros Hn Hm. revert m Hm. apply natlike_ind; [reflexivity|]. intros m Hm IH.
  unfold Z.succ. rewrite Z.mul_add_distr_r, Z.mul_1_l, Z.add_comm, (Z.add_comm n). rewrite count_app by nia. rewrite IH.
  rewrite (count_ext (fun x => p ((m * n + x) mod n)) p).
  - lia.
  - intros x Hx. rewrite Z.add_comm, Z.mod_add by lia. rewrite Z.mod_small by lia. reflexivity.
Qed.

Lemma count_range a b n : 0 <= a -> a <= b -> b <= n -> count (fun x => (a <=? x) && (x <? b)) n = b - a.
Proof.
  intros. replace n with (a + ((b - a) + (n - b))) by lia. rewrite !count_app by lia.
  rewrite (count_ext _ (fun _ => false) a), (count_ext _ (fun _ => true) (b - a)), (count_ext _ (fun _ => false) (n -
    b)).
  - rewrite !count_const by lia. lia.
  - intros x Hx. destruct (Z.ltb_spec (a + (b - a + x)) b); [lia|]. apply andb_false_r.
  - intros x Hx. destruct (Z.leb_spec a (a + x)); destruct (Z.ltb_spec (a + x) b); try lia; reflexivity.
  - intros x Hx. destruct (Z.leb_spec a x); [lia|]. reflexivity.
Qed.
