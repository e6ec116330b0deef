//! Posts that nobody wrote, shaped like those that people write. The same seed gives the same posts.
//!
//! | shape | modelled on two million real short posts |
//! |---|---|
//! | tokens a post | the histogram of lengths below: mean 10.6 |
//! | frequent words | Zipf-Mandelbrot, bending down towards the tail: c / ((r + q) (1 + r / b)) |
//! | rare words | a power law without end beyond rank 16,384, an octave of ranks at a time |
//! | vocabulary | grows with the stream because the tail has no end (Heaps' law, exponent about 0.6): 360 thousand words in 2.2 million posts, 56 % of them seen once |
//! | characters | 2.6 % of posts hold some that are not ASCII; numbers, times of day, `#tags`, `@names`, punctuation |
//!
//! What it does not model: topics, repeated phrases, bursts. Words are drawn independently of each other.

use std::fmt::Write;

use super::alias::Alias;
use super::words::write_word;
use spirit::lab::Random;

/// Posts of 1, 2, 3, ... tokens, of about 10,000.
const LENGTHS: [u16; 50] = [
    131, 393, 561, 689, 766, 798, 788, 746, 680, 602, 521, 454, 390, 332, 287, 246, 212, 181, 157,
    134, 115, 99, 85, 74, 66, 56, 49, 43, 37, 33, 28, 25, 23, 20, 18, 16, 15, 14, 12, 11, 10, 9, 9,
    8, 7, 7, 6, 6, 5, 5,
];
/// Ranks that have weights of their own.
const HEAD: usize = 1 << 14;
/// Zipf-Mandelbrot: the shift of ranks, and where the curve bends.
const SHIFT: f64 = 2.6;
const BEND: f64 = 20_000.0;
/// Of 10,000: words from the tail; and, octave by octave, those that go further out.
const TAIL: u64 = 540;
const FURTHER: u64 = 5_900;
const OCTAVES_MAX: u32 = 32;
/// Of 10,000 tokens.
const NUMBERS: u64 = 240;
const COMMAS: u64 = 400;
const CAPITALS: u64 = 2_000;
/// Of 10,000 posts.
const TAGS: u64 = 200;
const NAMES: u64 = 200;
const TIMES: u64 = 100;
const NOT_ASCII: u64 = 263;
/// Posts end in one of these; most in nothing.
const ENDINGS: [&str; 16] =
    ["", "", "", "", "", "", "", "", "", ".", ".", "?", "!", "...", " :)", "!!"];
const EMBELLISHMENTS: [&str; 8] =
    ["…", " – über", " ♥", " 😀", " café", " naïve", " »¿qué?«", " 日本"];

pub(crate) struct Generator {
    random: Random,
    lengths: Alias,
    head: Alias,
}

impl Generator {
    /// True `of` times in 10,000.
    fn chance(&mut self, of: u64) -> bool {
        self.random.below(10_000) < of
    }

    pub(crate) fn new(seed: u64) -> Generator {
        let weight = |rank: usize| 1.0 / ((rank as f64 + SHIFT) * (1.0 + rank as f64 / BEND));
        Generator {
            random: Random::new(seed),
            lengths: Alias::new(&LENGTHS.map(f64::from)),
            head: Alias::new(&(1..=HEAD).map(weight).collect::<Vec<_>>()),
        }
    }

    /// Appends the next post to `text`.
    pub(crate) fn write_post(&mut self, text: &mut String) {
        if self.chance(TIMES) {
            let minutes = self.random.below(24 * 60);
            let _ = write!(text, "{:02}:{:02} ", minutes / 60, minutes % 60);
        }
        if self.chance(NAMES) {
            self.write_marked('@', text);
            text.push(' ');
        }
        self.write_words(text);
        if self.chance(TAGS) {
            text.push(' ');
            self.write_marked('#', text);
        }
        if self.chance(NOT_ASCII) {
            text.push_str(self.one_of(&EMBELLISHMENTS));
        }
        text.push_str(self.one_of(&ENDINGS));
    }

    fn write_words(&mut self, text: &mut String) {
        for i in 0..=self.lengths.draw(&mut self.random) {
            if i > 0 {
                text.push_str(if self.chance(COMMAS) { ", " } else { " " });
            }
            let start = text.len();
            self.write_token(text);
            if i == 0 || self.chance(CAPITALS) {
                text[start..start + 1].make_ascii_uppercase();
            }
        }
    }

    fn write_token(&mut self, text: &mut String) {
        if self.chance(NUMBERS) {
            // Small numbers are frequent, large ones are many.
            let digits_max = 1 + self.random.below(4) as u32;
            let _ = write!(text, "{}", self.random.below(10u64.pow(digits_max)));
        } else {
            let rank = self.rank();
            write_word(rank, text);
        }
    }

    fn write_marked(&mut self, mark: char, text: &mut String) {
        text.push(mark);
        let rank = HEAD as u64 / 16 + self.rank();
        write_word(rank, text);
    }

    /// The rank of a word, by its frequency.
    fn rank(&mut self) -> u64 {
        if !self.chance(TAIL) {
            return self.head.draw(&mut self.random) as u64;
        }
        let mut octave = 0;
        while octave < OCTAVES_MAX && self.chance(FURTHER) {
            octave += 1;
        }
        let first = (HEAD as u64) << octave;
        first + self.random.below(first)
    }

    fn one_of(&mut self, texts: &[&'static str]) -> &'static str {
        texts[self.random.below(texts.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    const POSTS: usize = 100_000;

    fn posts(seed: u64) -> Vec<String> {
        let mut generator = Generator::new(seed);
        let post = |_| {
            let mut text = String::new();
            generator.write_post(&mut text);
            text
        };
        (0..POSTS).map(post).collect()
    }

    fn words(post: &str) -> impl Iterator<Item = String> {
        post.split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
    }

    fn vocabulary(posts: &[String]) -> HashMap<String, u64> {
        let mut words_seen = HashMap::new();
        for word in posts.iter().flat_map(|post| words(post)) {
            *words_seen.entry(word).or_default() += 1;
        }
        words_seen
    }

    #[track_caller]
    fn within(measured: f64, least: f64, most: f64) {
        assert!((least..=most).contains(&measured), "{measured} is not within {least} to {most}");
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(posts(7)[..100], posts(7)[..100]);
        assert_ne!(posts(7)[..100], posts(8)[..100]);
    }

    #[test]
    fn posts_have_real_lengths_and_characters() {
        let posts = posts(1);
        let share = |count: usize| count as f64 / POSTS as f64;
        within(share(posts.iter().map(String::len).sum()), 57.0, 61.0);
        within(share(posts.iter().flat_map(|post| words(post)).count()), 10.3, 10.9);
        within(share(posts.iter().filter(|post| !post.is_ascii()).count()), 0.024, 0.028);
        for mark in ['#', '@', ':'] {
            within(share(posts.iter().filter(|post| post.contains(mark)).count()), 0.005, 0.1);
        }
    }

    #[test]
    fn frequencies_fall_as_in_real_posts() {
        let posts = posts(2);
        let mut counts: Vec<_> = vocabulary(&posts).into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let tokens = counts.iter().sum::<u64>() as f64;
        let of_rank = |rank: usize| counts[rank - 1] as f64 / tokens;
        within(of_rank(1), 0.025, 0.040);
        within(of_rank(10), 0.008, 0.012);
        within(of_rank(100), 0.0008, 0.0013);
        within(of_rank(1_000), 0.9e-4, 1.4e-4);
    }

    #[test]
    fn the_vocabulary_grows_with_the_stream() {
        let posts = posts(3);
        let (part, all) = (vocabulary(&posts[..POSTS / 10]), vocabulary(&posts));
        within(part.len() as f64, 14_000.0, 19_000.0);
        within(all.len() as f64, 52_000.0, 66_000.0);
        let once = all.values().filter(|count| **count == 1).count();
        within(once as f64 / all.len() as f64, 0.52, 0.60);
    }
}
