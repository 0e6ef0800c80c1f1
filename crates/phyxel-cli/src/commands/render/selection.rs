//! Selection of the frames that are drawn.

use super::Format;

/// Frames of a picture, a page or an animation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// One frame; `None` for the last.
    One(Option<usize>),
    /// This number of moments of the run, on one page.
    Sheet(usize),
    /// Every Nth frame, as an animation.
    Every(usize),
}

impl Selection {
    pub(super) fn from_args(
        format: Format,
        frame: Option<usize>,
        every: Option<u32>,
        sheet: Option<u32>,
    ) -> Result<Self, String> {
        match (format, frame, every, sheet) {
            (Format::Png, frame, None, None) => Ok(Self::One(frame)),
            (Format::Png, _, _, Some(n_pictures)) => Ok(Self::Sheet(n_pictures as usize)),
            (Format::Png, _, Some(_), None) => {
                Err("--every makes an animation: write a .gif, or use --sheet".into())
            }
            (Format::Gif, None, every, None) => Ok(Self::Every(every.unwrap_or(1) as usize)),
            (Format::Gif, ..) => Err("--frame and --sheet make one picture: write a .png".into()),
        }
    }

    /// Returns the numbers of the selected frames, from the numbers of the existing ones.
    pub(super) fn pick(self, numbers: &[usize]) -> Result<Vec<usize>, String> {
        let (Some(&first), Some(&last)) = (numbers.first(), numbers.last()) else {
            return Err("the result has no frames".into());
        };
        match self {
            Self::One(None) => Ok(vec![last]),
            Self::One(Some(number)) if numbers.contains(&number) => Ok(vec![number]),
            Self::One(Some(number)) => {
                Err(format!("there is no frame {number}: the result has {first} to {last}"))
            }
            Self::Every(every) => Ok(numbers.iter().copied().step_by(every.max(1)).collect()),
            Self::Sheet(n_pictures) => Ok(evenly_spaced(numbers, n_pictures)),
        }
    }
}

/// Picks `n_picked` of the numbers, the first and the last among them; all of them if there are fewer.
pub(in crate::commands) fn evenly_spaced(numbers: &[usize], n_picked: usize) -> Vec<usize> {
    let n_picked = n_picked.clamp(1, numbers.len().max(1)).min(numbers.len());
    let gaps = n_picked.saturating_sub(1).max(1);
    (0..n_picked).map(|k| numbers[(k * (numbers.len() - 1) + gaps / 2) / gaps]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sheets_have_the_first_and_the_last_frame_and_none_twice() {
        let numbers: Vec<usize> = (0..=60).collect();
        assert_eq!(Selection::Sheet(4).pick(&numbers).unwrap(), [0, 20, 40, 60]);
        assert_eq!(Selection::Sheet(9).pick(&[0, 1, 2]).unwrap(), [0, 1, 2]);
        assert_eq!(Selection::Sheet(1).pick(&numbers).unwrap(), [0]);
    }

    #[test]
    fn frames_that_are_not_there_are_named() {
        assert!(Selection::One(Some(9)).pick(&[0, 1]).unwrap_err().contains("0 to 1"));
        assert_eq!(Selection::One(None).pick(&[0, 1]).unwrap(), [1]);
        assert_eq!(Selection::Every(2).pick(&[0, 1, 2, 3]).unwrap(), [0, 2]);
        assert!(Selection::Every(2).pick(&[]).is_err());
    }

    #[test]
    fn endings_and_flags_must_agree() {
        assert_eq!(Selection::from_args(Format::Gif, None, None, None), Ok(Selection::Every(1)));
        assert!(Selection::from_args(Format::Gif, Some(3), None, None).is_err());
        assert!(Selection::from_args(Format::Png, None, Some(2), None).unwrap_err().contains("gif"));
        assert_eq!(Selection::from_args(Format::Png, None, None, Some(4)), Ok(Selection::Sheet(4)));
    }
}
