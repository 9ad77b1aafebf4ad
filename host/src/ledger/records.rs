//! All records of a fold, in the chunks in which they were made: they are never moved together, which would hold all of
//! them in memory twice.

use super::record::Record;

/// Records of a chunk. A record's index is its chunk's number times this, plus its place in the chunk.
const CHUNK: usize = 512;

/// Records in list order: baseline, checkpoint, journal.
#[derive(Debug, Default)]
pub struct Records {
    chunks: Vec<Vec<Record>>,
}

impl Records {
    /// Appends records; a list that fits a chunk becomes one as it is.
    pub fn append(&mut self, mut records: Vec<Record>) {
        while records.len() > CHUNK {
            let rest = records.split_off(CHUNK);
            self.chunks.push(std::mem::replace(&mut records, rest));
        }
        if !records.is_empty() {
            self.chunks.push(records);
        }
    }

    /// Appends all records of another list.
    pub fn append_all(&mut self, other: Self) {
        self.chunks.extend(other.chunks);
    }

    /// The record with this index.
    #[must_use]
    pub fn get(&self, index: u32) -> &Record {
        let index = index as usize;
        &self.chunks[index / CHUNK][index % CHUNK]
    }

    /// Number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chunks.iter().all(Vec::is_empty)
    }

    /// The records in list order.
    pub fn iter(&self) -> impl Iterator<Item = &Record> {
        self.chunks.iter().flatten()
    }

    /// The records in list order, each with its index.
    pub fn indexed(&self) -> impl Iterator<Item = (u32, &Record)> {
        self.chunks.iter().enumerate().flat_map(|(chunk, records)| {
            records.iter().enumerate().map(move |(place, record)| (index(chunk, place), record))
        })
    }

    /// Removes the records with these indexes, which ascend. Indexes behind them in the same chunk change.
    pub fn remove(&mut self, indexes: &[u32]) {
        let mut indexes = indexes.iter().copied().peekable();
        for (chunk, records) in self.chunks.iter_mut().enumerate() {
            let mut place = 0;
            records.retain(|_| {
                place += 1;
                indexes.next_if_eq(&index(chunk, place - 1)).is_none()
            });
        }
    }
}

/// Indexes have 32 bits: four thousand million observations are not folded in one process.
fn index(chunk: usize, place: usize) -> u32 {
    u32::try_from(chunk * CHUNK + place).unwrap_or(u32::MAX)
}
