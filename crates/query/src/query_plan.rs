//! The plan of a query: the planner's choice, and the counts that it depends on. For curious
//! people, and for tests.

use std::fmt;

use spirit_kernel::Algorithm;

use crate::query::Occur;

/// The plan of a query, executor by executor.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QueryPlan {
    /// A plan for each executor.
    pub executors: Vec<ExecutorPlan>,
}

/// The plan of a query in one executor, whose segments have two forms.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExecutorPlan {
    /// The segments that are being filled, or were just flushed.
    pub fresh: PartPlan,
    /// The segments in the dictionary, in DRAM or in the second tier.
    pub registered: PartPlan,
}

/// The plan of a query in segments of one form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PartPlan {
    /// The number of segments.
    pub segments: u64,
    /// The number of segments whose terms are found in the second tier.
    pub older: u64,
    /// The evaluator.
    pub evaluator: Evaluator,
    /// The query's clauses with their lists.
    pub clause: ClausePlan,
}

/// The evaluator of a part.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Evaluator {
    /// None: nothing can match.
    Nothing,
    /// A look-up in the key table.
    Key,
    /// One term's list, in place.
    List,
    /// An intersection of the lists of all terms, by kernels.
    Intersection(Meetings),
    /// An intersection, and a check of the terms' positions.
    Phrase(Meetings),
    /// The best: blocks of one term's list, by their maxima.
    BlockMaxTerm,
    /// The best: blocks of the shortest list of an AND, by the maxima of all lists. The algorithm
    /// intersects the rest of a block.
    BlockMaxAll(Algorithm),
    /// Like `BlockMaxAll`, and a check of the terms' positions.
    BlockMaxPhrase(Algorithm),
    /// The best: term at a time, until the lists of a required group are done.
    ListsInTurn,
    /// The best: any of several terms, by MaxScore over windows, or term at a time if terms are
    /// rare.
    MaxScore,
    /// The newest few: the lists of any of several terms, merged in place.
    Merge,
    /// The newest few: one term of each of one or two groups, whose lists move each other on.
    Leapfrog,
    /// Windows of up to 4,096 documents, a bit each.
    Windows,
}

/// The numbers of segments in which the two shortest lists are intersected in each way.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Meetings {
    /// The algorithm for two lists.
    pub algorithm: Algorithm,
    /// Segments with two lists.
    pub lists: u64,
    /// Segments with a list whose documents are looked up in a bitmap.
    pub probes: u64,
    /// Segments with two bitmaps.
    pub bitmaps: u64,
    /// Segments with a single document, which is looked up in the other lists.
    pub singles: u64,
}

/// A clause of a query, and its lists.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ClausePlan {
    /// The clause in the query language. A combination is abbreviated.
    pub clause: String,
    /// The part that the clause plays for its parent.
    pub occur: Occur,
    /// The source of its matches.
    pub source: Source,
    /// Its subclauses.
    pub clauses: Vec<ClausePlan>,
}

/// The source of a clause's matches.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Source {
    /// Its subclauses.
    Clauses,
    /// A term's lists.
    Lists(Lists),
    /// The lists of all terms that a pattern matches. For a phrase prefix those of its last word;
    /// the others are its subclauses.
    Expansion(Expansion),
}

/// A term's lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lists {
    /// Documents in all of them, including dead ones.
    pub documents: u64,
    /// The number of lists: one for each segment that has the term.
    pub lists: u64,
    /// The number of dense lists, which have a bitmap too.
    pub bitmaps: u64,
}

/// The terms that a pattern matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Expansion {
    /// The number of terms, counted in each segment.
    pub terms: u64,
    /// Documents in their lists. A document counts once for each of its terms.
    pub documents: u64,
    /// The first few different terms, in their order.
    pub first: Vec<String>,
}

/// Terms of an expansion that are named, at most.
pub(crate) const FIRST_MAX: usize = 8;

impl QueryPlan {
    /// Returns the plan of these executors.
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
