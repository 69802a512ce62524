//! Transfers of any size, as collective calls of at most `message_bytes` each.
//!
//! MPI counts in C ints, so a call is kept below 2^31 elements, displacements and bytes. Every rank makes the same
//! calls, even with nothing left to send: a call that one rank leaves out never ends.

use mpi::collective::SystemOperation;
use mpi::datatype::{Partition, PartitionMut};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

use crate::split::{layout, part, round_count};

/// Combines `values`, of equal length on every rank, by OR. Every rank gets the result.
pub fn or_over_ranks(world: &SimpleCommunicator, values: &mut [u32], message_bytes: usize) {
    let max_len = message_bytes / size_of::<u32>();
    let mut combined = vec![0; max_len.min(values.len())];
    for values in values.chunks_mut(max_len) {
        let combined = &mut combined[..values.len()];
        world.all_reduce_into(values, combined, SystemOperation::bitwise_or());
        values.copy_from_slice(combined);
    }
}

/// Sends `outgoing[rank]` to each rank, and returns the values that each rank sent to this one.
pub fn exchange<T: Equivalence + Copy + Default>(
    world: &SimpleCommunicator,
    outgoing: &[Vec<T>],
    message_bytes: usize,
) -> Vec<Vec<T>> {
    // An equal share for each rank keeps the bytes that a round sends or receives within the limit.
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
            sent.extend_from_slice(&values[part(values.len(), max_len, round)]);
        }
        let receive_parts = receive_lens
            .iter()
            .map(|&len| part(len, max_len, round).len());
        received.resize(receive_parts.clone().sum(), T::default());

        let (counts, displacements) = layout(&send_lens, max_len, round);
        let send = Partition::new(&sent[..], counts, displacements);
        let (counts, displacements) = layout(&receive_lens, max_len, round);
        let mut receive = PartitionMut::new(&mut received[..], counts, displacements);
        world.all_to_all_varcount_into(&send, &mut receive);

        let mut rest = &received[..];
        for (values, len) in incoming.iter_mut().zip(receive_parts) {
            let (values_part, after) = rest.split_at(len);
            values.extend_from_slice(values_part);
            rest = after;
        }
    }
    incoming
}
