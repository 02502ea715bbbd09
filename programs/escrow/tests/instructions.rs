//! Every instruction on any data and any accounts: each input ends in a named refusal or a success,
//! and under Miri without undefined behaviour.

use pinocchio::{AccountView, Address};
use proptest::prelude::*;

use crate::{
    ID, INSTRUCTIONS, process,
    seeds::{
        CONFIG_ADDRESS, EVENT_AUTHORITY_ADDRESS, STAKE_VAULT_ADDRESS, TREASURY_ADDRESS,
        TREASURY_VAULT_ADDRESS, VAULT_ADDRESS, VAULT_AUTHORITY_ADDRESS,
    },
    state::{Config, CreditAccount, Gateway, Job, Model, Treasury, Worker},
    tests::{accounts::Stored, address, lending::VERSION},
    wire::{discriminator::discriminator, layout::Layout},
};

/// An account with the header of a kind and arbitrary bytes behind it.
fn stored(kind: u8, bytes: &[u8]) -> Stored {
    fn of<T: Layout>(at: Address, bytes: &[u8]) -> Stored {
        let mut data: Vec<u8> = bytes.iter().copied().cycle().take(size_of::<T>()).collect();
        data.resize(size_of::<T>(), 0);
        data[..8].copy_from_slice(&T::DISCRIMINATOR.to_le_bytes());
        data[8] = VERSION;
        Stored::of(ID, at, &data)
    }
    match kind {
        0 => of::<Config>(CONFIG_ADDRESS, bytes),
        1 => of::<Treasury>(TREASURY_ADDRESS, bytes),
        2 => of::<Gateway>(address(2), bytes),
        3 => of::<CreditAccount>(address(3), bytes),
        4 => of::<Model>(address(4), bytes),
        5 => of::<Worker>(address(5), bytes),
        6 => of::<Job>(address(6), bytes),
        7 => Stored::of(ID, ID, &[]),
        8 => Stored::of(address(1), EVENT_AUTHORITY_ADDRESS, &[]),
        9 => Stored::of(address(1), VAULT_AUTHORITY_ADDRESS, &[]),
        10 => Stored::of(pinocchio_token::ID, VAULT_ADDRESS, &[1; 165]),
        11 => Stored::of(pinocchio_token::ID, TREASURY_VAULT_ADDRESS, &[1; 165]),
        12 => Stored::of(pinocchio_token::ID, STAKE_VAULT_ADDRESS, &[1; 165]),
        13 => Stored::of(address(1), pinocchio_token::ID, &[]),
        _ => Stored::of(ID, address(kind), bytes),
    }
}

/// Of any size, and often of that of the instructions with signatures.
fn arguments() -> impl Strategy<Value = Vec<u8>> {
    let sizes = prop_oneof![3 => 0..80_usize, 1 => prop::sample::select(&[136, 141, 265])];
    sizes.prop_flat_map(|size| prop::collection::vec(any::<u8>(), size))
}

proptest! {
    #[test]
    fn ends_in_a_named_refusal_or_a_success(
        name in prop::sample::select(INSTRUCTIONS),
        arguments in arguments(),
        kinds in prop::collection::vec(0..16_u8, 0..16),
        bytes in prop::collection::vec(0..3_u8, 1..64),
    ) {
        let mut data = discriminator("global", name).to_le_bytes().to_vec();
        data.extend(arguments);
        let mut all: Vec<Stored> = kinds.iter().map(|kind| stored(*kind, &bytes)).collect();
        let views: Vec<AccountView> = all.iter_mut().map(Stored::view).collect();
        if let Err(error) = process(&views, &data) {
            prop_assert!((6000..=6072).contains(&(error as u32)));
        }
    }
}
