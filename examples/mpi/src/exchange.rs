//! Transfers of any size, as collective calls that each carry at most so many bytes.
//!
//! MPI counts in C ints, so a call is kept below 2^31 elements, displacements and bytes. Every rank
//! makes the same calls, also with nothing left to carry: a call that one rank left out would never end.

use mpi::collective::SystemOperation;
use mpi::datatype::{Partition, PartitionMut};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

use crate::split::{layout, piece, round_count};

/// Puts `values`, of the same length on every rank, together by OR, on every rank.
pub fn or_over_ranks(world: &SimpleCommunicator, values: &mut [u32], message_bytes: usize) {
    let max_len = message_bytes / size_of::<u32>();
    let mut combined = vec![0; max_len.min(values.len())];
    for values in values.chunks_mut(max_len) {
        let combined = &mut combined[..values.len()];
        world.all_reduce_into(values, combined, SystemOperation::bitwise_or());
        values.copy_from_slice(combined);
    }
}

/// Gives each rank what `outgoing` has for it, and returns what each rank had for this one.
pub fn exchange<T: Equivalence + Copy + Default>(
    world: &SimpleCommunicator,
    outgoing: &[Vec<T>],
    message_bytes: usize,
) -> Vec<Vec<T>> {
    // A share for each rank keeps what a round sends and what it receives within the limit.
    let max_len = message_bytes / size_of::<T>() / outgoing.len();
    let send_lens: Vec<usize> = outgoing.iter().map(Vec::len).collect();
    let mut receive_lens = vec![0; outgoing.len()];
    world.all_to_all_into(&send_lens[..], &mut receive_lens[..]);
    let mut incoming: Vec<Vec<T>> = receive_lens
        .iter()
        .map(|&len| Vec::with_capacity(len))
        .collect();

    let longest = send_lens.iter().copied().max().unwrap_or(0);
    let mut rounds = 0;
    world.all_reduce_into(
        &round_count(longest, max_len),
        &mut rounds,
        SystemOperation::max(),
    );
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        sent.clear();
        for values in outgoing {
            sent.extend_from_slice(&values[piece(values.len(), max_len, round)]);
        }
        let receive_pieces = receive_lens
            .iter()
            .map(|&len| piece(len, max_len, round).len());
        received.resize(receive_pieces.clone().sum(), T::default());

        let (counts, displacements) = layout(&send_lens, max_len, round);
        let send = Partition::new(&sent[..], counts, displacements);
        let (counts, displacements) = layout(&receive_lens, max_len, round);
        let mut receive = PartitionMut::new(&mut received[..], counts, displacements);
        world.all_to_all_varcount_into(&send, &mut receive);

        let mut rest = &received[..];
        for (values, len) in incoming.iter_mut().zip(receive_pieces) {
            let (values_piece, behind) = rest.split_at(len);
            values.extend_from_slice(values_piece);
            rest = behind;
        }
    }
    incoming
}
