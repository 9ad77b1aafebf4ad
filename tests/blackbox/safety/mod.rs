//! Path guards: nothing is written into the folder that machines share or into a repository, however the path is
//! spelled, and nothing is made before that is known (L 11, N16, DECISIONS 6.8).

mod order;
mod outputs;
mod places;
mod state;

use places::Place;
