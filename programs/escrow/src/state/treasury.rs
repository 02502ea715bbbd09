//! What the protocol's treasury owes and is owed.

use crate::{
    error::{OrOverflow, Result, require},
    seeds::TREASURY_ADDRESS,
    wire::{byte::enumeration, layout::layout, little_endian::U64},
};

enumeration! {
    /// Whose claim was paid
    pub enum ClaimantKind {
        CreditAccount,
        Worker,
        Treasury,
    }
}

/// The treasury's obligations; its tokens lie in the treasury vault
#[repr(C)]
pub struct Treasury {
    discriminator: [u8; 8],
    version: u8,
    bump: u8,
    /// Grows by one with every change
    sequence: U64,
    /// Owed to wallets by upheld disputes and not yet paid
    owed_base_units: U64,
    /// What the open disputes would cost if all were upheld
    disputed_exposure_base_units: U64,
    /// Whole tokens of the stake vault that belong to no worker any more and wait to be burnt
    slashed_stake_tokens: U64,
    /// Shares that still lie in the vault because they could not be paid at settlement
    unpaid_base_units: U64,
    reserved: [u8; 64],
}

layout! {
    Treasury at TREASURY_ADDRESS {
        sequence: u64,
        numbers {
            owed_base_units: u64,
            disputed_exposure_base_units: u64,
            slashed_stake_tokens: u64,
            unpaid_base_units: u64,
        }
        bytes {}
        references {}
    }
}

impl Treasury {
    /// What a withdrawal has to leave: what is owed, and what open disputes may add to it.
    pub fn reserved_base_units(&self) -> Result<u64> {
        self.owed_base_units().checked_add(self.disputed_exposure_base_units()).or_overflow()
    }

    /// A share could not be paid and stays in the vault.
    pub fn add_unpaid(&mut self, base_units: u64) -> Result {
        self.unpaid_base_units.add(base_units)
    }

    /// The unpaid shares were paid; returns how much that was.
    pub fn pay_unpaid(&mut self) -> Result<u64> {
        let base_units = self.unpaid_base_units();
        require!(base_units > 0, NothingToClaim);
        self.unpaid_base_units.set(0);
        Ok(base_units)
    }

    /// A dispute was opened over a charge.
    pub fn expose(&mut self, base_units: u64) -> Result {
        self.disputed_exposure_base_units.add(base_units)
    }

    /// A dispute ended without a claim.
    pub fn release(&mut self, base_units: u64) -> Result {
        self.disputed_exposure_base_units.subtract(base_units)
    }

    /// A dispute was upheld: of what was exposed for it, this becomes a debt.
    pub fn owe(&mut self, base_units: u64, exposed_base_units: u64) -> Result {
        self.release(exposed_base_units)?;
        self.owed_base_units.add(base_units)
    }

    /// A debt was paid.
    pub fn pay_owed(&mut self, base_units: u64) -> Result {
        self.owed_base_units.subtract(base_units)
    }

    /// A worker's stake was slashed and stays in the stake vault.
    pub fn add_slashed(&mut self, tokens: u64) -> Result {
        self.slashed_stake_tokens.add(tokens)
    }

    /// The slashed tokens leave the stake vault; returns how many whole ones there were.
    pub fn burn_slashed(&mut self) -> Result<u64> {
        let tokens = self.slashed_stake_tokens();
        require!(tokens > 0, NothingToClaim);
        self.slashed_stake_tokens.set(0);
        Ok(tokens)
    }

    fn is_consistent(&self) -> bool {
        self.reserved_base_units().is_ok()
    }
}
