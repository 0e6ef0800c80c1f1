//! Text tables with aligned columns.

use std::fmt;

/// Rows of cells; columns are aligned when the table is displayed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
    /// Columns that are aligned at the right, because their cells are numbers.
    right: Vec<usize>,
}

impl Table {
    /// Creates a table with a head; the columns in `right` are aligned at the right.
    pub(crate) fn new<const N: usize>(head: [&str; N], right: &[usize]) -> Self {
        Self { rows: vec![head.map(str::to_owned).to_vec()], right: right.to_vec() }
    }

    /// Creates a table without a head.
    pub(crate) fn plain() -> Self {
        Self::default()
    }

    /// Creates a table without a head whose columns are all aligned at the right.
    pub(crate) fn right_aligned(n_columns: usize) -> Self {
        Self { rows: Vec::new(), right: (0..n_columns).collect() }
    }

    /// Creates a table whose head is only known at run time.
    pub(crate) fn with_head(head: Vec<String>, right: impl IntoIterator<Item = usize>) -> Self {
        Self { rows: vec![head], right: right.into_iter().collect() }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..n_columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let blanks = " ".repeat(widths[column] - cell.chars().count());
                let (before, after) = if self.right.contains(&column) {
                    (blanks, String::new())
                } else {
                    (String::new(), blanks)
                };
                line += &format!("{}{before}{cell}{after}", if column == 0 { "" } else { "  " });
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_have_no_trailing_blanks() {
        let mut table = Table::new(["stage", "s", "what"], &[1]);
        table.row(["µ".into(), "12.5".into(), "x".into()]);
        table.row(["forces".into(), "3".into()]);
        assert_eq!(table.to_string(), "stage      s  what\nµ       12.5  x\nforces     3\n");
    }
}
