//! Search for the nearest valid spelling of a mistyped word, for the help line of an error.

/// Returns the number of insertions, deletions, replacements and swaps of neighbouring letters between two words
/// (optimal string alignment).
fn edit_distance(left: &[char], right: &[char]) -> usize {
    let width = right.len() + 1;
    let mut before_last = vec![0; width];
    let mut last: Vec<usize> = (0..width).collect();
    for i in 1..=left.len() {
        let mut row = vec![i; width];
        for j in 1..width {
            let replaced = last[j - 1] + usize::from(left[i - 1] != right[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[width - 1]
}

/// Returns the candidate that was most probably meant by `word`, if one is near enough. A difference in letter case
/// alone always counts as near. Among equally near candidates the one that agrees best in letter case is taken, then
/// the first.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A word longer than any key cannot be near; the limit keeps malicious input cheap.
    const MAX_LENGTH: usize = 64;
    let letters = |text: &str| -> Vec<char> { text.to_lowercase().chars().collect() };
    let word_letters = letters(word);
    if word_letters.is_empty() || word_letters.len() > MAX_LENGTH {
        return None;
    }
    let allowed = (word_letters.len() / 3).max(1);
    let exact_word: Vec<char> = word.chars().collect();
    let mut best: Option<((usize, usize), &str)> = None;
    for candidate in candidates {
        let candidate_letters = letters(candidate);
        let distance = edit_distance(&word_letters, &candidate_letters);
        // A one-letter word is one replacement away from every other one, which is no evidence.
        let near = distance <= allowed && distance < word_letters.len().max(candidate_letters.len());
        let exact = edit_distance(&exact_word, &candidate.chars().collect::<Vec<_>>());
        if near && best.is_none_or(|(smallest, _)| (distance, exact) < smallest) {
            best = Some(((distance, exact), candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Returns the words as a list for a sentence: "`a`, `b` and `c`".
pub fn listed<'a>(words: impl IntoIterator<Item = &'a str>, last_word: &str) -> String {
    let quoted: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{} {last_word} {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits_and_swaps() {
        let distance =
            |a: &str, b: &str| edit_distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "abc"), 0);
        assert_eq!(distance("abcd", "acbd"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let keys = ["density", "youngs_modulus", "viscosity"];
        assert_eq!(nearest("densty", keys), Some("density"));
        assert_eq!(nearest("young_modulus", keys), Some("youngs_modulus"));
        assert_eq!(nearest("VISCOSITY", keys), Some("viscosity"));
        assert_eq!(nearest("colour", keys), None);
        assert_eq!(nearest("Mpa", ["mPa", "MPa"]), Some("MPa"));
        assert_eq!(nearest("x", ["y"]), None);
        assert_eq!(nearest("", keys), None);
        assert_eq!(nearest(&"a".repeat(10_000), keys), None);
    }

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(listed(["a"], "or"), "`a`");
        assert_eq!(listed(["a", "b", "c"], "or"), "`a`, `b` or `c`");
        assert_eq!(listed([], "or"), "");
    }
}
