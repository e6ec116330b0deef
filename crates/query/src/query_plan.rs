//! How a query is evaluated: what the planner chose, and what it chose by. For people who wonder, and for tests.

use std::fmt;

use spirit_kernel::Algorithm;

use crate::query::Occur;

/// How a query is evaluated, executor by executor.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QueryPlan {
    /// In each executor.
    pub executors: Vec<ExecutorPlan>,
}

/// How a query is evaluated in one executor: its segments come in two forms.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExecutorPlan {
    /// Those that are being filled, or flushed just now.
    pub fresh: PartPlan,
    /// Those that are in the dictionary, in DRAM or in the second tier.
    pub registered: PartPlan,
}

/// How a query is evaluated in segments of one form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PartPlan {
    /// How many there are.
    pub segments: u64,
    /// Of these, those whose terms are found in the second tier.
    pub older: u64,
    /// What evaluates.
    pub evaluator: Evaluator,
    /// The query's clauses with their lists.
    pub clause: ClausePlan,
}

/// A way of evaluation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Evaluator {
    /// None: nothing can match.
    Nothing,
    /// A look-up in the key table.
    Key,
    /// One term's list as it lies.
    List,
    /// The lists of all terms, met by kernels.
    Intersection(Meetings),
    /// The same, and then where the terms are.
    Phrase(Meetings),
    /// For the best: blocks of one term's list, by their maxima.
    BlockMaxTerm,
    /// For the best: blocks of the shortest list of all terms, by the maxima of all, and an algorithm for what is left of a block.
    BlockMaxAll(Algorithm),
    /// The same, and then where the terms are.
    BlockMaxPhrase(Algorithm),
    /// For the best: the lists of terms that must match, and then those that may, a block at a time.
    ListsInTurn,
    /// For the best: any of several terms, by MaxScore over windows, or list after list where terms are rare.
    MaxScore,
    /// For the newest few: the lists of any of several terms, merged as they lie.
    Merge,
    /// For the newest few: the lists of two groups of terms, of each of which a document has one, moving each other on.
    Leapfrog,
    /// Windows of up to 4,096 documents, a bit each.
    Windows,
}

/// In how many segments the two shortest lists of an intersection meet in which way.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Meetings {
    /// For two lists.
    pub algorithm: Algorithm,
    /// Two lists.
    pub lists: u64,
    /// A list, whose documents are looked up in a bitmap.
    pub probes: u64,
    /// Two bitmaps.
    pub bitmaps: u64,
    /// A single document, which is looked up in the other lists.
    pub singles: u64,
}

/// A clause of a query, and its lists.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ClausePlan {
    /// The clause, as the query language has it; of several clauses only that there are some.
    pub clause: String,
    /// What must be true of it for the clause that it is part of.
    pub occur: Occur,
    /// What it is looked for in.
    pub source: Source,
    /// The clauses that it is made of.
    pub clauses: Vec<ClausePlan>,
}

/// What a clause is looked for in.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Source {
    /// Nothing of its own: its clauses.
    Clauses,
    /// A term's lists.
    Lists(Lists),
    /// The lists of all terms that a pattern matches. Of a phrase prefix those of its last word: its clauses are the others.
    Expansion(Expansion),
}

/// A term's lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lists {
    /// Documents in all of them, dead ones among them.
    pub documents: u64,
    /// How many there are: one a segment that has the term.
    pub lists: u64,
    /// Of these, dense ones, which are bitmaps too.
    pub bitmaps: u64,
}

/// What a pattern stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Expansion {
    /// Its terms, counted in each segment.
    pub terms: u64,
    /// Documents in their lists, one that has several of them as often.
    pub documents: u64,
    /// The first few different terms in their order.
    pub first: Vec<String>,
}

/// Terms of an expansion that are named.
pub(crate) const FIRST_MAX: usize = 8;

impl QueryPlan {
    /// Of these executors.
    pub fn new(executors: Vec<ExecutorPlan>) -> QueryPlan {
        QueryPlan { executors }
    }
}

impl fmt::Display for QueryPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, executor) in self.executors.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            writeln!(f, "executor {number}")?;
            write!(f, "{executor}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ExecutorPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  fresh segments: {}", self.fresh)?;
        write!(f, "  registered segments: {}", self.registered)
    }
}

impl fmt::Display for PartPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.segments)?;
        if self.older > 0 {
            write!(f, " ({} found in the second tier)", self.older)?;
        }
        write!(f, ", {}", self.evaluator)?;
        if self.segments > 0 { self.clause.write(f, 2) } else { Ok(()) }
    }
}

impl fmt::Display for Evaluator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Evaluator::Nothing => f.write_str("nothing"),
            Evaluator::Key => f.write_str("key table"),
            Evaluator::List => f.write_str("list"),
            Evaluator::Intersection(meetings) => write!(f, "intersection: {meetings}"),
            Evaluator::Phrase(meetings) => write!(f, "intersection and positions: {meetings}"),
            Evaluator::BlockMaxTerm => f.write_str("block maxima"),
            Evaluator::BlockMaxAll(algorithm) => {
                write!(f, "block maxima of all, {algorithm}")
            }
            Evaluator::BlockMaxPhrase(algorithm) => {
                write!(f, "block maxima of all and positions, {algorithm}")
            }
            Evaluator::ListsInTurn => f.write_str("lists in turn"),
            Evaluator::MaxScore => f.write_str("MaxScore"),
            Evaluator::Merge => f.write_str("merge"),
            Evaluator::Leapfrog => f.write_str("leapfrog"),
            Evaluator::Windows => f.write_str("windows"),
        }
    }
}

impl fmt::Display for Meetings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Meetings { algorithm, lists, probes, bitmaps, singles } = self;
        write!(f, "{lists} by lists ({algorithm}), {probes} by probing, ")?;
        write!(f, "{bitmaps} by bitmaps, {singles} by looking up")
    }
}

impl ClausePlan {
    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        let sign = match self.occur {
            _ if depth == 2 => "",
            Occur::Must => "+",
            Occur::Should => "",
            Occur::Not => "-",
        };
        write!(f, "\n{}{sign}{}{}", "  ".repeat(depth), self.clause, self.source)?;
        self.clauses.iter().try_for_each(|clause| clause.write(f, depth + 1))
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Clauses => Ok(()),
            Source::Lists(Lists { documents, lists, bitmaps }) => {
                write!(f, ": {documents} documents in {lists} lists")?;
                if *bitmaps > 0 { write!(f, ", {bitmaps} of them bitmaps") } else { Ok(()) }
            }
            Source::Expansion(Expansion { terms, documents, first }) => {
                write!(f, ": {documents} documents of {terms} terms")?;
                let more = if *terms > first.len() as u64 { ", ..." } else { "" };
                if first.is_empty() { Ok(()) } else { write!(f, " ({}{more})", first.join(", ")) }
            }
        }
    }
}
