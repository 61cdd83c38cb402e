// Satisfiability by cube and conquer (Heule, Kullmann, Wieringa and Biere 2011): a formula is split into cubes by the
// variable that looks best when both its values are tried, and each is conquered by a small solver. A cube that it does
// not finish within a number of conflicts is split again, by whoever has it.
#![no_std]
#![no_main]

use satin::share::{self, Shared};
use satin::{any, app, drop_all, fail, spawn, Job};

const VARS: usize = 256;
const CLAUSES: usize = 8192;
const LITS: usize = 32768;
const DEPTH: usize = 14; // literals of a cube
const FIRST: u32 = 3; // levels that are always split
const CONFLICTS: u32 = 500;
const TRIED: usize = 10; // variables that a split looks at

/// A formula as it travels: numbers of variables and clauses, then the literals, each clause ended by a 0.
struct Formula {
    vars: usize,
    clauses: usize,
    used: usize,
    lits: [i16; LITS],
    start: [u16; CLAUSES + 1],
    occurs: [u16; LITS],             // clauses, by literal
    first: [u16; 2 * VARS + 3],      // of each literal's in occurs
    value: [i8; VARS + 1],           // 1 true, -1 false
    trail: [i16; VARS],              // what was assigned, in order
    len: usize,                      // of trail
    seen: usize,                     // of trail, propagated
    stack: [(u16, i16, bool); VARS], // decisions: where the trail was, literal, whether it is the second try
}

static mut F: Formula = Formula {
    vars: 0,
    clauses: 0,
    used: 0,
    lits: [0; LITS],
    start: [0; CLAUSES + 1],
    occurs: [0; LITS],
    first: [0; 2 * VARS + 3],
    value: [0; VARS + 1],
    trail: [0; VARS],
    len: 0,
    seen: 0,
    stack: [(0, 0, false); VARS],
};
static mut LOADED: u32 = 0;

/// index is a literal's place in tables.
fn index(l: i16) -> usize {
    2 * l.unsigned_abs() as usize + (l < 0) as usize
}

impl Formula {
    /// add adds a literal to the clause that is being read, or with 0 ends it; false if there is no room.
    fn add(&mut self, l: i16) -> bool {
        if l.unsigned_abs() as usize > self.vars || self.used >= LITS || self.clauses >= CLAUSES {
            return false;
        }
        if l == 0 {
            self.clauses += 1;
            self.start[self.clauses] = self.used as u16;
        } else {
            self.lits[self.used] = l;
            self.used += 1;
        }
        true
    }

    /// list makes the tables of a formula that has been read.
    fn list(&mut self) {
        self.first = [0; 2 * VARS + 3];
        for i in 0..self.used {
            self.first[index(self.lits[i]) + 1] += 1;
        }
        for i in 1..self.first.len() {
            self.first[i] += self.first[i - 1];
        }
        let mut next = self.first;
        for c in 0..self.clauses {
            for i in self.start[c]..self.start[c + 1] {
                let at = &mut next[index(self.lits[i as usize])];
                self.occurs[*at as usize] = c as u16;
                *at += 1;
            }
        }
        self.value = [0; VARS + 1];
        self.len = 0;
        self.seen = 0;
    }

    /// is gives a literal's value.
    fn is(&self, l: i16) -> i8 {
        self.value[l.unsigned_abs() as usize] * if l < 0 { -1 } else { 1 }
    }

    fn assign(&mut self, l: i16) {
        self.value[l.unsigned_abs() as usize] = if l < 0 { -1 } else { 1 };
        self.trail[self.len] = l;
        self.len += 1;
    }

    fn undo(&mut self, to: usize) {
        while self.len > to {
            self.len -= 1;
            self.value[self.trail[self.len].unsigned_abs() as usize] = 0;
        }
        self.seen = to;
    }

    /// look says what is left of a clause: whether it is true, how many literals are open, and one of them.
    fn look(&self, c: usize) -> (bool, usize, i16) {
        let (mut open, mut last) = (0, 0);
        for i in self.start[c]..self.start[c + 1] {
            let l = self.lits[i as usize];
            match self.is(l) {
                1 => return (true, 0, 0),
                0 => {
                    open += 1;
                    last = l;
                }
                _ => {}
            }
        }
        (false, open, last)
    }

    /// propagate assigns what follows; false is a conflict.
    fn propagate(&mut self) -> bool {
        while self.seen < self.len {
            let l = -self.trail[self.seen];
            self.seen += 1;
            for k in self.first[index(l)]..self.first[index(l) + 1] {
                match self.look(self.occurs[k as usize] as usize) {
                    (false, 0, _) => return false,
                    (false, 1, last) => self.assign(last),
                    _ => {}
                }
            }
        }
        true
    }

    /// begin assigns a cube and all that follows from the formula's clauses of one literal; false is a conflict.
    fn begin(&mut self, cube: &[i16]) -> bool {
        self.undo(0);
        for c in 0..self.clauses {
            match self.look(c) {
                (false, 0, _) => return false,
                (false, 1, last) => self.assign(last),
                _ => {}
            }
        }
        for &l in cube {
            match self.is(l) {
                -1 => return false,
                0 => self.assign(l),
                _ => {}
            }
        }
        self.propagate()
    }

    /// weigh gives each open literal a weight by the clauses that it is in: short ones count more.
    fn weigh(&self, weight: &mut [u32; 2 * VARS + 2]) -> bool {
        let mut any = false;
        for c in 0..self.clauses {
            if let (false, open, _) = self.look(c) {
                any = true;
                for i in self.start[c]..self.start[c + 1] {
                    let l = self.lits[i as usize];
                    if self.is(l) == 0 {
                        weight[index(l)] += 1 << (12 - open.min(12)) >> 2;
                    }
                }
            }
        }
        any
    }

    /// choose gives a literal to decide on; 0: all clauses are true.
    fn choose(&self) -> i16 {
        let mut weight = [0; 2 * VARS + 2];
        if !self.weigh(&mut weight) {
            return 0;
        }
        let (mut best, mut most) = (0, 0);
        for v in 1..=self.vars {
            let (p, n) = (weight[2 * v] as u64, weight[2 * v + 1] as u64);
            let score = (p + 1) * (n + 1);
            if p + n > 0 && score > most {
                most = score;
                best = if p >= n { v as i16 } else { -(v as i16) };
            }
        }
        if best == 0 {
            // what is open weighs nothing: long clauses
            for c in 0..self.clauses {
                if let (false, 1.., last) = self.look(c) {
                    return last;
                }
            }
        }
        best
    }

    /// solve is the small solver: whether what was begun can be satisfied, unless there are too many conflicts.
    fn solve(&mut self, conflicts: u32) -> Option<bool> {
        let base = self.len;
        let (mut depth, mut count) = (0, 0);
        loop {
            if self.propagate() {
                let l = self.choose();
                if l == 0 {
                    return Some(true);
                }
                self.stack[depth] = (self.len as u16, l, false);
                depth += 1;
                self.assign(l);
                continue;
            }
            count += 1;
            loop {
                if depth == 0 {
                    return Some(false);
                }
                let (at, l, second) = self.stack[depth - 1];
                self.undo(at as usize);
                if !second {
                    self.stack[depth - 1].2 = true;
                    self.assign(-l);
                    break;
                }
                depth -= 1;
            }
            if count == conflicts {
                self.undo(base);
                return None;
            }
        }
    }

    /// split gives the variable by which a cube is split: of those that weigh most the one whose two values assign most.
    /// 0 if the cube has no solution.
    fn split(&mut self) -> i16 {
        'again: loop {
            let mut weight = [0; 2 * VARS + 2];
            self.weigh(&mut weight);
            let (mut best, mut most) = (0, 0);
            for _ in 0..TRIED {
                let (mut v, mut heaviest) = (0, 0);
                for w in 1..=self.vars {
                    let both = weight[2 * w] + weight[2 * w + 1];
                    if self.value[w] == 0 && both > heaviest {
                        v = w;
                        heaviest = both;
                    }
                }
                if v == 0 {
                    break;
                }
                weight[2 * v] = 0;
                weight[2 * v + 1] = 0;
                let mut follows = [0u64; 2];
                for (i, l) in [v as i16, -(v as i16)].iter().enumerate() {
                    let at = self.len;
                    self.assign(*l);
                    let fine = self.propagate();
                    follows[i] = (self.len - at) as u64;
                    self.undo(at);
                    if !fine {
                        self.assign(-*l); // the other one it is
                        if !self.propagate() {
                            return 0;
                        }
                        continue 'again;
                    }
                }
                let score = follows[0] * follows[1];
                if score > most {
                    most = score;
                    best = v as i16;
                }
            }
            return if best == 0 { self.choose() } else { best };
        }
    }
}

/// load makes the formula that a constant is, unless it is there.
fn load(of: Shared) -> &'static mut Formula {
    unsafe {
        let f = &mut *core::ptr::addr_of_mut!(F);
        if LOADED != of.0 {
            static mut TEXT: [u8; 2 * LITS + 2 * CLAUSES + 8] = [0; 2 * LITS + 2 * CLAUSES + 8];
            let text = &mut *core::ptr::addr_of_mut!(TEXT);
            let n = share::read(of, text);
            f.vars = u16::from_le_bytes([text[0], text[1]]) as usize;
            f.clauses = 0;
            f.used = 0;
            for i in (2..n).step_by(2) {
                if !f.add(i16::from_le_bytes([text[i], text[i + 1]])) {
                    fail("a formula that is too large");
                }
            }
            f.list();
            LOADED = of.0;
        }
        f
    }
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Cube {
    formula: Shared,
    n: u32,
    lits: [i16; DEPTH],
}

/// An answer: whether there is a model, and that, a bit for each variable.
#[derive(Clone, Copy)]
#[repr(C)]
struct Answer {
    satisfiable: u32,
    model: [u8; VARS / 8],
}

fn answer(f: &Formula, satisfiable: bool) -> Answer {
    let mut model = [0; VARS / 8];
    for v in 1..=f.vars {
        if satisfiable && f.value[v] > 0 {
            model[(v - 1) / 8] |= 1 << ((v - 1) % 8);
        }
    }
    Answer { satisfiable: satisfiable as u32, model }
}

struct Conquer;
impl Job for Conquer {
    type Arg = Cube;
    type Res = Answer;
    const SHARED: usize = 1;
    fn run(c: Cube) -> Answer {
        let f = load(c.formula);
        if !f.begin(&c.lits[..c.n as usize]) {
            return answer(f, false);
        }
        if c.n >= FIRST {
            let most = if (c.n as usize) < DEPTH { CONFLICTS } else { u32::MAX };
            if let Some(satisfiable) = f.solve(most) {
                return answer(f, satisfiable);
            }
        }
        let v = f.split();
        if v == 0 {
            // either all clauses are true or none of two values will do
            let satisfiable = f.propagate() && f.choose() == 0;
            return answer(f, satisfiable);
        }
        for l in [v, -v] {
            let mut half = c;
            half.lits[c.n as usize] = l;
            half.n += 1;
            spawn::<Conquer>(half);
        }
        for _ in 0..2 {
            let a = any::<Conquer>();
            if a.satisfiable != 0 {
                drop_all();
                return a;
            }
        }
        answer(load(c.formula), false)
    }
}

/// The root job: of a formula with a rule k says which, for the check.
#[derive(Clone, Copy)]
#[repr(C)]
struct Whole {
    formula: Shared,
    k: u32,
}
struct Solve;
impl Job for Solve {
    type Arg = Whole;
    type Res = Answer;
    const SHARED: usize = 1;
    fn run(w: Whole) -> Answer {
        Conquer::run(Cube { formula: w.formula, n: 0, lits: [0; DEPTH] })
    }
}

#[no_mangle]
extern "C" fn satin1_describe() -> i64 {
    app::describe(concat!(
        "{\"abi\":1,\"name\":\"cubes\",\"summary\":\"find a model of FORMULA, or that there is none\",\"args\":\"FORMULA\",",
        "\"examples\":[\"vdw3-6-31\",\"hole --file hole=hole8.cnf\"],\"flags\":[],",
        "\"long\":\"FORMULA is the name of a file in the DIMACS format that --file gives, of at most 256 variables, or vdw3-K-N:",
        " can the numbers 1 to N be parted so that one part has no arithmetic progression of 3 and the other none of K?",
        " The formula is split into cubes, and each is solved by a small solver that splits it again if it is hard.\"}"
    ))
}

/// progressions says of n numbers that none of two parts has a progression of 3, or of k.
fn progressions(f: &mut Formula, k: usize, n: usize) -> bool {
    f.vars = n;
    for (len, sign) in [(3, -1i16), (k, 1)] {
        for step in 1..n {
            for from in 1..=n {
                if from + (len - 1) * step > n {
                    break;
                }
                for i in 0..len {
                    if !f.add(sign * (from + i * step) as i16) {
                        return false;
                    }
                }
                if !f.add(0) {
                    return false;
                }
            }
        }
    }
    true
}

/// rule reads vdw3-K-N.
fn rule(name: &[u8]) -> Option<(usize, usize)> {
    let mut parts = name.strip_prefix(b"vdw3-")?.split(|&c| c == b'-');
    let (k, n) = (app::number(parts.next()?)?, app::number(parts.next()?)?);
    if parts.next().is_some() || k < 3 || k > 20 || n < 1 || n > 100 {
        return None;
    }
    Some((k as usize, n as usize))
}

/// parse reads a file; false if it is no formula of that size. A line "%" ends it, as in the files of SATLIB: the 0
/// after that is no clause.
fn parse(f: &mut Formula, text: &[u8]) -> bool {
    let mut open = false; // a clause
    for line in text.split(|&c| c == b'\n') {
        let mut words = line.split(|c| c.is_ascii_whitespace()).filter(|w| !w.is_empty()).peekable();
        match words.peek() {
            None | Some(&b"c") => continue,
            Some(&b"%") => break,
            Some(&b"p") if f.vars == 0 => {
                let (_, format, vars) = (words.next(), words.next(), words.next());
                let vars = vars.and_then(app::number).unwrap_or(0);
                if format != Some(b"cnf") || vars < 1 || vars > VARS as u64 {
                    return false;
                }
                f.vars = vars as usize;
                continue;
            }
            _ => {}
        }
        for word in words {
            let (digits, sign) = match word.strip_prefix(b"-") {
                Some(digits) => (digits, -1),
                None => (word, 1),
            };
            match app::number(digits) {
                Some(v) if f.vars > 0 && v <= f.vars as u64 && f.add(sign * v as i16) => open = v != 0,
                _ => return false,
            }
        }
    }
    f.vars > 0 && !open
}

#[no_mangle]
extern "C" fn satin1_setup(at: *const u8, len: u32) -> i64 {
    let name = unsafe { app::bytes(at, len) }.split(|&c| c == 0).next().unwrap_or(b"");
    let f = unsafe { &mut *core::ptr::addr_of_mut!(F) };
    let mut k = 0;
    let fine = match share::file(core::str::from_utf8(name).unwrap_or("")) {
        Some(file) => {
            const MOST: usize = 1 << 20;
            let text = core::arch::wasm32::memory_grow(0, MOST >> 16) << 16; // beyond what all instances have
            let text = unsafe { core::slice::from_raw_parts_mut(text as *mut u8, MOST) };
            let n = share::read(file, text);
            parse(f, &text[..n])
        }
        None => match rule(name) {
            Some((parts, n)) => {
                k = parts as u32;
                progressions(f, parts, n)
            }
            None => false,
        },
    };
    if !fine {
        return app::want("FORMULA", "the name of a --file with at most 256 variables and 8192 clauses, or vdw3-K-N");
    }
    static mut TEXT: [u8; 2 * LITS + 2 * CLAUSES + 8] = [0; 2 * LITS + 2 * CLAUSES + 8];
    let text = unsafe { &mut *core::ptr::addr_of_mut!(TEXT) };
    text[..2].copy_from_slice(&(f.vars as u16).to_le_bytes());
    let mut n = 2;
    for c in 0..f.clauses {
        for i in f.start[c]..f.start[c + 1] {
            text[n..n + 2].copy_from_slice(&f.lits[i as usize].to_le_bytes());
            n += 2;
        }
        text[n..n + 2].copy_from_slice(&[0, 0]);
        n += 2;
    }
    app::put(b"formula ");
    app::put(name);
    app::root::<Solve>(Whole { formula: share::constant(&text[..n]), k })
}

/// true_in says whether a literal is true in a model.
fn true_in(model: &[u8], l: i16) -> bool {
    let v = l.unsigned_abs() as usize - 1;
    (model[v / 8] >> (v % 8) & 1 == 1) == (l > 0)
}

#[no_mangle]
extern "C" fn satin1_render(at: *const u8, len: u32) -> i64 {
    let b = unsafe { app::bytes(at, len) };
    let (f, result) = (load(app::arg::<Solve>(b).formula), app::result(b));
    if result[0] == 0 {
        app::put(b"unsatisfiable\0{\"satisfiable\":false}");
        return app::text();
    }
    app::put(b"satisfiable:");
    for v in 1..=f.vars as i16 {
        app::put(if true_in(&result[4..], v) { b" " } else { b" -" });
        app::put_u64(v as u64);
    }
    app::put(b"\0{\"satisfiable\":true}");
    app::text()
}

/// The check: a model makes every clause true; and of the numbers that part, those that are known (OEIS A007783).
#[no_mangle]
extern "C" fn satin1_check(at: *const u8, len: u32) -> i64 {
    const LEAST: [usize; 11] = [0, 0, 0, 9, 18, 22, 32, 46, 58, 77, 97]; // numbers that cannot be parted
    let b = unsafe { app::bytes(at, len) };
    let (w, result) = (app::arg::<Solve>(b), app::result(b));
    let f = load(w.formula);
    if result[0] == 0 {
        return match LEAST.get(w.k as usize) {
            Some(&least) if least > f.vars => app::wrong("there is a model"),
            _ => 0,
        };
    }
    for c in 0..f.clauses {
        if !(f.start[c]..f.start[c + 1]).any(|i| true_in(&result[4..], f.lits[i as usize])) {
            return app::wrong("a clause is not true in the model");
        }
    }
    0
}
