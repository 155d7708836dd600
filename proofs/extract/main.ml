(* The third verifier: texts in and out, around decisions that were extracted from the proofs (model.ml).

   wpm-proofs FILE...   policies: the epsilon, the box, the fallback, every row, every threshold, every code and disc.
                        It does not check that a text is canonical, and does not look at the order of outputs by a
                        geometry. Exit status: 0 all accepted, 1 one refused.
   wpm-proofs           cases on standard input, one a line, and an answer to each on standard output:
     box EPS BITS LO HI                         accepted, or why not
     row BITS LO HI N                           inside or outside
     round BITS LO HI Q                         a row; Q are the bits of float64s as integers
     sample BITS N Y                            an index
     fill BITS LO HI KEYS FALLBACK T USABLE     a row
     pick U Y                                   an index
     secret BITS LO HI ROWS FALLBACK I          a row, or outside
     code LOW HIGH G N                          the row of a code of N colours, for colour G
     even WEIGHT N                              a component's part of the fallback row
     slot T S EPOCHS                            which epochs are of the slot, by 1 and 0, and whether any T epochs in a
                                                row hold at most one of the list: one or several
     window T ALWAYS TURNS                      the most that any T epochs in a row hold
     ledger T S BUDGET EVENTS                   the answer to each payment, and the most that any T epochs in a row hold
                                                of those that are paid
   Lists have commas and no space; - is the empty one. Of ROWS, with semicolons, each is the list of columns at hi, a
   slash, and the list of columns with units above lo, column:units. Of TURNS each is epoch:amount. Of EVENTS each is
   debit:amount, turn:epoch:amount or torn:amount, in their order. Amounts are fractions; EPOCHS may be below 0. *)

let big = Big_int_Z.big_int_of_string
let show = Big_int_Z.string_of_big_int

exception Refused of string

let digits s = s <> "" && String.for_all (fun c -> '0' <= c && c <= '9') s
let number s = if digits s then big s else raise (Refused ("not a number: " ^ s))

(* Lengths are checked before a text becomes a number, and sizes before anything is as long as they say. *)
let word s =
  if String.length s > 20 then raise (Refused "above 2^64");
  let n = number s in
  if Z.numbits n > 64 then raise (Refused "above 2^64") else n

let most = 1 lsl 20 (* of inputs and of outputs *)
let most_bytes = 64 lsl 20
let index s =
  if String.length s > 7 || not (digits s) then raise (Refused "an index") else int_of_string s
let items s = if s = "-" then [] else String.split_on_char ',' s
let list s = List.map word (items s)
let show_list l = if l = [] then "-" else String.concat "," (List.map show l)

(* a decimal or a fraction, as p and q *)
let epsilon s =
  if String.length s > 200 then raise (Refused "epsilon");
  match String.split_on_char '/' s with
  | [ p; q ] when digits p && digits q -> (big p, big q)
  | [ s ] -> (
      match String.split_on_char '.' s with
      | [ p ] when digits p -> (big p, big "1")
      | [ p; d ] when digits p && digits d ->
          (big (p ^ d), Big_int_Z.power_int_positive_int 10 (String.length d))
      | _ -> raise (Refused "epsilon"))
  | _ -> raise (Refused "epsilon")

let compact s =
  match String.split_on_char '/' s with
  | [ full; extra ] ->
      let pair s =
        match String.split_on_char ':' s with
        | [ col; units ] -> (index col, word units)
        | _ -> raise (Refused "a row")
      in
      (List.map index (items full), List.map pair (items extra))
  | _ -> raise (Refused "a row")

let verdict eps bits lo hi =
  let p, q = epsilon eps in
  match Model.verify p q bits lo hi with
  | Accept -> "accepted"
  | NoColumn -> "no column"
  | BadEpsilon -> "epsilon"
  | BadBits -> "bits"
  | Order j -> "order " ^ show j
  | Top j -> "top " ^ show j
  | Loss j -> "loss " ^ show j
  | LowSum -> "low sum"
  | HighSum -> "high sum"
  | Undecided -> "undecided"

(* Amounts as fractions, which the proofs have as integers over one denominator: this conversion is not extracted. *)
let fraction s =
  if String.length s > 256 then raise (Refused "an amount");
  match String.split_on_char '/' s with
  | [ p ] -> Q.of_bigint (number p)
  | [ p; q ] when Z.sign (number q) > 0 -> Q.make (number p) (number q)
  | _ -> raise (Refused "an amount")

let units_of amounts = List.fold_left (fun u a -> Z.lcm u (Q.den a)) Z.one amounts
let in_units u a = Z.divexact (Z.mul (Q.num a) u) (Q.den a)
let show_amount u n = Q.to_string (Q.make n u)

let whole s =
  if String.length s > 256 then raise (Refused "a number");
  match s.[0] with '-' -> Z.neg (number (String.sub s 1 (String.length s - 1))) | _ -> number s
  | exception Invalid_argument _ -> raise (Refused "a number")

let period s =
  let t = whole s in
  if Z.sign t > 0 then t else raise (Refused "a period")

let slot t s =
  let t = period t and s = whole s in
  if Z.sign s < 0 || Z.geq s t then raise (Refused "a slot") else (t, s)

let window t always turns =
  let turn s =
    match String.split_on_char ':' s with
    | [ n; c ] -> (whole n, fraction c)
    | _ -> raise (Refused "a turn")
  in
  let turns = List.map turn (items turns) and always = fraction always in
  let u = units_of (always :: List.map snd turns) in
  show_amount u
    (Model.window_most (period t) (in_units u always) (List.map (fun (n, c) -> (n, in_units u c)) turns))

let ledger t s budget events =
  let t, s = slot t s and budget = fraction budget in
  let words = List.map (String.split_on_char ':') (items events) in
  let amount w = fraction (List.nth w (List.length w - 1)) in
  let u = units_of (budget :: List.map amount words) in
  let event w =
    let c = in_units u (amount w) in
    match w with
    | [ "debit"; _ ] -> Model.Debit c
    | [ "turn"; n; _ ] -> Model.Turn (whole n, c)
    | [ "torn"; _ ] -> Model.Torn c
    | _ -> raise (Refused "an event")
  in
  let take (b, said) w =
    let e = event w in
    match Model.admits t s (in_units u budget) b e with
    | Model.Paid -> (Model.pay b e, "paid" :: said)
    | NoRoom -> (b, "no-room" :: said)
    | Late -> (b, "late" :: said)
    | Silent -> (b, "silent" :: said)
  in
  let empty = { Model.b_always = Z.zero; b_turns = [] } in
  let b, said = List.fold_left take (empty, []) words in
  String.concat "," (List.rev said)
  ^ " " ^ show_amount u (Model.window_most t b.Model.b_always b.Model.b_turns)

let answer line =
  match String.split_on_char ' ' line with
  | [ "box"; eps; bits; lo; hi ] -> verdict eps (word bits) (list lo) (list hi)
  | [ "row"; bits; lo; hi; n ] -> (
      match Model.weights (word bits) (list lo) (list hi) (list n) with
      | Some _ -> "inside"
      | None -> "outside")
  | [ "round"; bits; lo; hi; q ] -> show_list (Model.round (word bits) (list lo) (list hi) (list q))
  | [ "sample"; bits; n; y ] -> show (Model.sample (word bits) (list n) (word y))
  | [ "fill"; bits; lo; hi; keys; fallback; t; usable ] ->
      let lo = list lo in
      let base = List.fold_left Big_int_Z.add_big_int Big_int_Z.zero_big_int lo in
      show_list
        (Model.fill (word bits) lo (list hi) (list keys) (list fallback) base (word t) (word usable))
  | [ "pick"; u; y ] -> show (Model.pick (list u) (word y))
  | [ "secret"; bits; lo; hi; rows; fallback; i ] -> (
      let rows = if rows = "-" then [] else List.map compact (String.split_on_char ';' rows) in
      match Model.secret_row (word bits) (list lo) (list hi) rows (compact fallback) (word i) with
      | Some n -> show_list n
      | None -> "outside")
  | [ "code"; low; high; g; n ] ->
      let low = word low in
      show_list (Model.code_row low (Z.sub (word high) low) (word g) Z.zero (index n))
  | [ "even"; weight; n ] ->
      let each, more = Z.ediv_rem (word weight) (Z.of_int (max 1 (index n))) in
      show_list (Model.even_row each more Z.zero (index n))
  | [ "slot"; t; s; epochs ] ->
      let t, s = slot t s and epochs = List.map whole (items epochs) in
      let own e = if Model.own t s e then "1" else "0" in
      String.concat "" (List.map own epochs) ^ if Model.one_turn t epochs then " one" else " several"
  | [ "window"; t; always; turns ] -> window t always turns
  | [ "ledger"; t; s; budget; events ] -> ledger t s budget events
  | _ -> raise (Refused "not a case")

(* The runs of digits in a text, at most so many. *)
let runs limit text =
  let size = String.length text in
  let digit i = '0' <= text.[i] && text.[i] <= '9' in
  let rec go count at found =
    if at >= size then List.rev found
    else if not (digit at) then go count (at + 1) found
    else if count = limit then raise (Refused "more numbers than there can be")
    else
      let stop = ref at in
      while !stop < size && digit !stop do incr stop done;
      go (count + 1) !stop (String.sub text at (!stop - at) :: found)
  in
  go 0 0 []

let rec pairs = function
  | col :: units :: rest -> (index col, word units) :: pairs rest
  | [] -> []
  | [ _ ] -> raise (Refused "a column without units")

(* {"full":[1,4],"extra":[[7,"12"]]} *)
let row outputs text =
  match Str.bounded_split_delim (Str.regexp_string "],\"extra\":") text 2 with
  | [ full; extra ] -> (List.map index (runs outputs full), pairs (runs (2 * outputs) extra))
  | _ -> raise (Refused "a row")

(* The decision of secret_row in the time of the row's own length: no column above its width, and the rest is taken. It
   is not extracted. Rows pass both; only where they have more than 2^27 columns in all, this one alone. *)
let cells = 1 lsl 27

let adds_up widths rest (full, extra) =
  let columns = Hashtbl.create 16 in
  let add col units =
    let before = Option.value (Hashtbl.find_opt columns col) ~default:Z.zero in
    Hashtbl.replace columns col (Z.add before units)
  in
  let known col = col < Array.length widths in
  List.for_all known full
  && List.for_all (fun (col, _) -> known col) extra
  && (List.iter (fun col -> add col widths.(col)) full;
      List.iter (fun (col, units) -> add col units) extra;
      Hashtbl.fold (fun col units ok -> ok && Z.leq units widths.(col)) columns true
      && Z.equal rest (Hashtbl.fold (fun _ units sum -> Z.add units sum) columns Z.zero))

(* {"weight":"60","low":"17","colors":2,"color":"MA=="} or {"weight":"60","low":"15","high":"40","thresholds":[1,2]} *)
type part = Code of int * string | Disc of string

let code_head = Str.regexp {|^{"weight":"\([0-9]+\)","low":"\([0-9]+\)","colors":\([0-9]+\),"color":"|}
let disc_head = Str.regexp {|^{"weight":"\([0-9]+\)","low":"\([0-9]+\)","high":"\([0-9]+\)","thresholds":\[|}

let component inputs line =
  let size = String.length line in
  let size = if size > 0 && line.[size - 1] = ',' then size - 1 else size in
  let rest ending =
    let from = Str.match_end () and n = String.length ending in
    if size < from + n || String.sub line (size - n) n <> ending then raise (Refused "a component");
    String.sub line from (size - n - from)
  in
  let group n = Str.matched_group n line in
  let make c_code c_outputs c_top =
    { Model.c_code; c_weight = word (group 1); c_low = word (group 2); c_outputs; c_top }
  in
  if Str.string_match code_head line 0 then
    let colors = index (group 3) in
    let part = Code (colors, rest "\"}") in
    (make true colors Z.zero, part)
  else if Str.string_match disc_head line 0 then
    let part = Disc (rest "]}") in
    (make false inputs (word (group 3)), part)
  else raise (Refused "a component")

(* The colours of a code, in as many bits as the largest takes, and the bits after them, which are 0. *)
let colours inputs colors text =
  let rec width b = if 1 lsl b >= colors then b else width (b + 1) in
  let b = width 1 in
  let bytes = ((inputs * b) + 7) / 8 in
  if String.length text <> (bytes + 2) / 3 * 4 then raise (Refused "colours");
  let value = function
    | 'A' .. 'Z' as c -> Char.code c - 65
    | 'a' .. 'z' as c -> Char.code c - 71
    | '0' .. '9' as c -> Char.code c + 4
    | '+' -> 62
    | '/' -> 63
    | _ -> raise (Refused "colours")
  in
  let held = ref 0 and bits = ref 0 and seen = ref 0 in
  for i = 0 to (((bytes * 8) + 5) / 6) - 1 do
    held := ((!held lsl 6) lor value text.[i]) land ((1 lsl 30) - 1);
    bits := !bits + 6;
    while !seen < inputs && !bits >= b do
      bits := !bits - b;
      if (!held lsr !bits) land ((1 lsl b) - 1) >= colors then raise (Refused "a colour");
      held := !held land ((1 lsl !bits) - 1);
      incr seen
    done
  done;
  if !held <> 0 then raise (Refused "bits after the last colour")

(* A policy with codes: lines are those after the member codes. *)
let check_codes eps bits inputs outputs lines =
  let rec go parts count size = function
    | line :: rest when String.starts_with ~prefix:"{" line ->
        let c, part = component inputs line in
        let size = size + c.Model.c_outputs and count = count + 1 in
        if size > outputs || count > (1 lsl 28) / inputs then raise (Refused "components");
        (match part with
        | Code (colors, text) -> colours inputs colors text
        | Disc text ->
            let t = List.map index (runs inputs text) in
            if List.length t <> inputs || List.exists (fun t -> t >= inputs) t then raise (Refused "thresholds"));
        go (c :: parts) count size rest
    | _ -> (List.rev parts, size)
  in
  let parts, size = go [] 0 0 lines in
  if size <> outputs then raise (Refused "outputs");
  if Z.gt bits (Z.of_int 62) then raise (Refused "bits");
  match Model.codes_box bits parts with
  | None -> raise (Refused "components that do not fit")
  | Some (lo, hi) ->
      let v = verdict eps bits lo hi in
      if v <> "accepted" then raise (Refused ("box: " ^ v))

let check name =
  let file = open_in_bin name in
  let size = in_channel_length file in
  if size > most_bytes then raise (Refused "more than 64 MiB");
  let text = really_input_string file size in
  close_in file;
  (* one line for each row and member, or the list of lines is longer than any policy's *)
  let count = ref 0 in
  String.iter (fun c -> if c = '\n' then incr count) text;
  if !count > most + 64 then raise (Refused "more lines than a policy has");
  let lines = String.split_on_char '\n' text in
  let member name =
    let start = "\"" ^ name ^ "\":" in
    let rec go = function
      | [] -> raise (Refused ("no member " ^ name))
      | line :: rest when String.starts_with ~prefix:start line ->
          let n = String.length start in
          (String.sub line n (String.length line - n), rest)
      | _ :: rest -> go rest
    in
    go lines
  in
  let one name = match runs 1 (fst (member name)) with [ n ] -> n | _ -> raise (Refused name) in
  let length name =
    let n = index (one name) in
    if n < 1 || n > most then raise (Refused name) else n
  in
  let outputs = length "outputs" and inputs = length "inputs" in
  let has name = List.exists (String.starts_with ~prefix:("\"" ^ name ^ "\":")) lines in
  let format = fst (member "format") in
  if not (List.mem format (List.map (Printf.sprintf "\"wpm-policy-%d\",") [ 1; 2; 3 ])) then raise (Refused "format");
  let first = format = "\"wpm-policy-1\"," and three = format = "\"wpm-policy-3\"," in
  let two = (not first) && ((not three) || has "thresholds") in
  let eps =
    match String.split_on_char '"' (fst (member "epsilon")) with
    | _ :: eps :: _ -> eps
    | _ -> raise (Refused "epsilon")
  in
  let bits = word (one "bits") in
  if three && has "codes" then check_codes eps bits inputs outputs (snd (member "codes"))
  else
  let bounds name =
    let text = fst (member name) in
    let l = List.map word (runs outputs text) in
    match l with
    | [ one ] when (not first) && text.[0] = '"' -> List.init outputs (fun _ -> one)
    | _ when (not first) && text.[0] = '"' -> raise (Refused name)
    | _ -> l
  in
  let lo = bounds "lo" and hi = bounds "hi" in
  if List.length lo <> outputs then raise (Refused "outputs");
  let v = verdict eps bits lo hi in
  if v <> "accepted" then raise (Refused ("box: " ^ v));
  let widths = Array.of_list (List.map2 Z.sub hi lo) in
  let rest = Z.sub (Z.shift_left Z.one (Z.to_int bits)) (List.fold_left Z.add Z.zero lo) in
  let written = two || inputs <= cells / outputs in
  let inside what text =
    let r = row outputs text in
    let alone = not written || Model.secret_row bits lo hi [] r Big_int_Z.zero_big_int <> None in
    if not (alone && adds_up widths rest r) then raise (Refused (what ^ " is outside the box"))
  in
  inside "fallback" (fst (member "fallback"));
  if two then (
    let t = List.map index (runs inputs (fst (member "thresholds"))) in
    if List.length t <> inputs || List.exists (fun t -> t >= outputs) t then raise (Refused "thresholds"))
  else
    let value, rest = member "rows" in
    if value <> "null" then (
      let rec go n = function
        | line :: rest when String.starts_with ~prefix:"{" line ->
            inside ("row " ^ string_of_int n) line;
            go (n + 1) rest
        | _ -> n
      in
      if go 0 rest <> inputs then raise (Refused "rows"))

(* The extracted functions on lists recurse once for each output: a file is checked with as much stack as there may be. *)
let with_stack () =
  let words = List.map Filename.quote (Sys.executable_name :: List.tl (Array.to_list Sys.argv)) in
  Sys.command
    ("ulimit -s unlimited 2>/dev/null || ulimit -s $(ulimit -H -s); export WPM_PROOFS_STACK=1; exec "
    ^ String.concat " " words)

let () =
  if Array.length Sys.argv > 1 && Sys.getenv_opt "WPM_PROOFS_STACK" = None then exit (with_stack ())
  else if Array.length Sys.argv > 1 then (
    let status = ref 0 in
    for i = 1 to Array.length Sys.argv - 1 do
      let name = Sys.argv.(i) in
      let said =
        try check name; "accepted" with
        | Refused why -> status := 1; "refused (" ^ why ^ ")"
        | e -> status := 1; "refused (" ^ Printexc.to_string e ^ ")"
      in
      print_endline (said ^ " " ^ name)
    done;
    exit !status)
  else
    try
      while true do
        let line = input_line stdin in
        print_endline (try answer line with Refused why -> "refused (" ^ why ^ ")")
      done
    with End_of_file -> ()
