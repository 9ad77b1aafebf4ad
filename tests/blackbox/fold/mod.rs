//! `reduce`: which observation wins, what is reported beside the artifacts, what is written where, what is refused
//! (L 6 to L 9, L 13, L 14).

mod authors;
mod baseline;
mod clock;
mod config;
mod marks;
mod merge;
mod order;
mod output;
mod status;
