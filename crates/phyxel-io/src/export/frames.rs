//! Ranges of frames, as a user writes them.

use super::ExportError;
use std::str::FromStr;

/// A range of frames, both ends included; an open end means the first or last frame of the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameRange {
    first: Option<usize>,
    last: Option<usize>,
}

impl FromStr for FrameRange {
    type Err = ExportError;

    fn from_str(text: &str) -> Result<Self, ExportError> {
        let bad = || ExportError::BadRange(text.to_owned());
        let number = |word: &str| word.trim().parse::<usize>().map_err(|_| bad());
        let end = |word: &str| if word.trim().is_empty() { Ok(None) } else { number(word).map(Some) };
        let (first, last) = match text.split_once("..") {
            Some((first, last)) => (end(first)?, end(last)?),
            None => (Some(number(text)?), Some(number(text)?)),
        };
        if first.zip(last).is_some_and(|(first, last)| first > last) {
            return Err(bad());
        }
        Ok(Self { first, last })
    }
}

impl FrameRange {
    /// Returns the first and last frame of the range, for a result with the frames from `first` to `last`.
    pub(super) fn within(self, first: usize, last: usize) -> Result<(usize, usize), ExportError> {
        let (begin, end) = (self.first.unwrap_or(first), self.last.unwrap_or(last));
        match [begin, end].into_iter().find(|number| !(first..=last).contains(number)) {
            Some(number) => Err(ExportError::NoSuchFrame { number, first, last }),
            None => Ok((begin, end)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_included_and_either_may_be_open() {
        let within = |text: &str| text.parse::<FrameRange>().unwrap().within(0, 40);
        assert_eq!(within("10..20").unwrap(), (10, 20));
        assert_eq!(within("10..").unwrap(), (10, 40));
        assert_eq!(within("..20").unwrap(), (0, 20));
        assert_eq!(within("7").unwrap(), (7, 7));
        assert_eq!(within("..").unwrap(), (0, 40));
        assert_eq!(FrameRange::default().within(3, 5).unwrap(), (3, 5));
    }

    #[test]
    fn frames_that_are_not_there_and_words_that_are_no_ranges_are_refused() {
        for text in ["10..41", "41..", "..99", "50"] {
            let error = text.parse::<FrameRange>().unwrap().within(0, 40).unwrap_err();
            assert!(error.to_string().contains("0 to 40") && error.is_bad_request(), "{error}");
        }
        for text in ["", "a..b", "5..2", "-1..3", "1...3", "1..=3", "1,3"] {
            assert!(text.parse::<FrameRange>().unwrap_err().to_string().contains("10..40"), "{text}");
        }
    }
}
