//! Runs organs: wires workers, services and sessions for one run.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`contract`] | whether an answer is accepted when no check judges it: pure |
//! | [`order`] | which unit runs next: pure |
//! | [`run`] | one run, from plan to finish |

pub mod contract;
pub mod order;
pub mod run;
