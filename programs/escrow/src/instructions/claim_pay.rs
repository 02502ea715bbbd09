//! Pays what a wallet is owed, a worker can claim or the treasury was not paid. Anybody may call
//! it.
//!
//! A wallet receives credits, as far as the treasury vault reaches. A worker or the treasury
//! receives all of its claim from the vault.
//!
//! Emits `ClaimPaid`.
//!
//! # Errors
//! - `WrongAddress`: A vault is not the program's, or `payout` is not the one that the claimant is
//!   paid at
//! - `NothingToClaim`: The claimant has no claim, or the treasury vault holds less than a credit
//!   for the wallet
//! - `PayeeUnavailable`: The token account that pays or the one that is paid is closed or frozen

use pinocchio::{AccountView, Address};

use crate::{
    checks::{accounts, require_address, token},
    error::{EscrowError, Result, require},
    events::ClaimPaid,
    limits::{BASE_UNITS_PER_CREDIT, base_units},
    seeds::{TREASURY_ADDRESS, TREASURY_VAULT_ADDRESS, VAULT_ADDRESS},
    state::{Config, CreditAccount, Treasury, Worker, treasury::ClaimantKind},
    wire::{Clock, arguments, layout::is, load, load_mut},
};

arguments! {
    pub struct Arguments {}
}

accounts! {
    pub struct Accounts {
        /// A CreditAccount, a Worker or the Treasury
        claimant: Writable,
        config: Readonly,
        treasury: Writable,
        vault: Writable,
        treasury_vault: Writable,
        vault_authority: VaultAuthority,
        /// A worker's payout account; for the others the treasury vault
        payout: Writable,
        token_program: TokenProgram,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

/// What was paid and what the claimant looks like afterwards.
struct Claim {
    claimant_kind: ClaimantKind,
    claimant_sequence: u64,
    base_units: u64,
    credits: u64,
    remaining_base_units: u64,
    available_credits: u64,
}

impl Accounts {
    fn validate(&self) -> Result {
        require_address(&self.vault, &VAULT_ADDRESS)?;
        require_address(&self.treasury_vault, &TREASURY_VAULT_ADDRESS)?;
        require_address(&self.treasury, &TREASURY_ADDRESS)
    }

    /// Refuses by name what the transfer would refuse: a frozen or closed account at either end.
    #[inline(always)]
    fn pay(&self, from: &AccountView, to: &AccountView, mint: &Address, base_units: u64) -> Result {
        require!(token::usable(from, mint).is_ok(), PayeeUnavailable);
        require!(token::usable(to, mint).is_ok(), PayeeUnavailable);
        token::pay(from, to, &self.vault_authority, base_units)
    }

    /// What the treasury owes a wallet becomes credits again, as far as its tokens reach.
    fn pay_wallet(&self, mint: &Address, treasury: &mut Treasury) -> Result<Claim> {
        let wallet: &mut CreditAccount = load_mut(&self.claimant)?;
        require_address(&self.payout, &TREASURY_VAULT_ADDRESS)?;
        let source = token::usable(&self.treasury_vault, mint);
        let Ok(source) = source else {
            return Err(EscrowError::PayeeUnavailable);
        };
        let credits = wallet.owed_credits().min(source.amount() / BASE_UNITS_PER_CREDIT);
        require!(credits > 0, NothingToClaim);

        let payment = base_units(credits)?;
        treasury.pay_owed(payment)?;
        wallet.receive_owed(credits)?;
        treasury.changed()?;
        wallet.changed()?;
        self.pay(&self.treasury_vault, &self.vault, mint, payment)?;
        Ok(Claim {
            claimant_kind: ClaimantKind::CreditAccount,
            claimant_sequence: wallet.sequence(),
            base_units: payment,
            credits,
            remaining_base_units: base_units(wallet.owed_credits())?,
            available_credits: wallet.available_credits(),
        })
    }

    fn pay_worker(&self, mint: &Address) -> Result<Claim> {
        let worker: &mut Worker = load_mut(&self.claimant)?;
        require_address(&self.payout, worker.payout())?;
        let base_units = worker.pay_claimable()?;
        worker.changed()?;
        self.pay(&self.vault, &self.payout, mint, base_units)?;
        Ok(Claim {
            claimant_kind: ClaimantKind::Worker,
            claimant_sequence: worker.sequence(),
            base_units,
            credits: 0,
            remaining_base_units: worker.claimable_base_units(),
            available_credits: 0,
        })
    }

    fn pay_treasury(&self, mint: &Address, treasury: &mut Treasury) -> Result<Claim> {
        require_address(&self.payout, &TREASURY_VAULT_ADDRESS)?;
        let base_units = treasury.pay_unpaid()?;
        treasury.changed()?;
        self.pay(&self.vault, &self.treasury_vault, mint, base_units)?;
        Ok(Claim {
            claimant_kind: ClaimantKind::Treasury,
            claimant_sequence: treasury.sequence(),
            base_units,
            credits: 0,
            remaining_base_units: treasury.unpaid_base_units(),
            available_credits: 0,
        })
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, _: Arguments) -> Result {
    let mint = load::<Config>(&accounts.config)?.credit_mint();
    accounts.validate()?;
    let treasury: &mut Treasury = load_mut(&accounts.treasury)?;

    let claim = if accounts.claimant.address() == &TREASURY_ADDRESS {
        accounts.pay_treasury(mint, treasury)?
    } else if is::<Worker>(&accounts.claimant) {
        accounts.pay_worker(mint)?
    } else {
        accounts.pay_wallet(mint, treasury)?
    };

    ClaimPaid {
        claimant: accounts.claimant.address(),
        claimant_kind: claim.claimant_kind.into(),
        claimant_sequence: claim.claimant_sequence,
        treasury_sequence: treasury.sequence(),
        base_units: claim.base_units,
        credits: claim.credits,
        remaining_base_units: claim.remaining_base_units,
        owed_base_units: treasury.owed_base_units(),
        unpaid_base_units: treasury.unpaid_base_units(),
        available_credits: claim.available_credits,
    }
    .emit(&accounts.event_authority, &Clock::get())
}
