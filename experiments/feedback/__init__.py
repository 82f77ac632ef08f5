"""What answers are worth: rows are asked about one after the other, and the anomalies found are counted."""
