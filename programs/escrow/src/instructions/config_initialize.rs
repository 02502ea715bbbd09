//! Creates the configuration, the treasury's account and the three vaults, once.
//!
//! The program's upgrade authority signs and becomes the authority of the configuration. The mints
//! and a job's three windows cannot be changed afterwards.
//!
//! Emits `ConfigInitialized`.
//!
//! # Errors
//! - `WrongLoader`: Neither the upgradeable loader nor solana-bankrun's owns the program
//! - `WrongAccountOwner`: `program_data` does not belong to the upgradeable loader
//! - `WrongAddress`: `program_data` is not this program's, or an account to create is not at its
//!   seeds' address
//! - `Unauthorized`: `authority` is not the program's upgrade authority. Under solana-bankrun's
//!   loader it has to be the public test key
//! - `WrongMint`: A mint does not belong to the SPL Token program, or has decimals that are not
//!   permitted
//! - `DuplicateAccount`: Both mints are the same
//! - `AlreadyInitialized`: The configuration exists already
//! - `ValueOutOfRange`: An argument is out of its bounds

use pinocchio::{AccountView, cpi::Seed};
use pinocchio_token::{instructions::InitializeAccount3, state::Account};

use crate::{
    checks::{accounts, loader::require_upgrade_authority, require_address, token},
    error::{Result, require},
    events::{ConfigInitialized, TermsPart},
    limits::{
        ARBITRATION_WINDOW_SECONDS, CREDIT_MINT_DECIMALS, DISPUTE_WINDOW_SECONDS,
        JOB_TIMEOUT_SECONDS, STAKE_DECIMALS_MAX,
    },
    seeds::{
        BUMP, CONFIG, CONFIG_ADDRESS, STAKE_VAULT, STAKE_VAULT_ADDRESS, TREASURY, TREASURY_ADDRESS,
        TREASURY_VAULT, TREASURY_VAULT_ADDRESS, VAULT, VAULT_ADDRESS, VAULT_AUTHORITY_ADDRESS,
    },
    state::{
        Config, Treasury,
        config::{Mints, Terms as Arguments},
        creation::{Creation, Space},
    },
    wire::{Clock, layout::Layout},
};

accounts! {
    pub struct Accounts {
        /// Pays the rent and becomes the authority
        authority: WritableSigner,
        config: Writable,
        treasury: Writable,
        vault_authority: VaultAuthority,
        vault: Writable,
        treasury_vault: Writable,
        stake_vault: Writable,
        /// The stablecoin, with `CREDIT_MINT_DECIMALS` decimals
        credit_mint: Readonly,
        /// The token that workers stake, with at most `STAKE_DECIMALS_MAX` decimals
        stake_mint: Readonly,
        /// The program's ProgramData under the upgradeable loader, else the program itself
        program_data: Readonly,
        token_program: TokenProgram,
        system_program: SystemProgram,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

impl Accounts {
    fn validate(&self) -> Result<Mints<'_>> {
        require_upgrade_authority(&self.program, &self.program_data, self.authority.address())?;

        require_address(&self.config, &CONFIG_ADDRESS)?;
        require_address(&self.treasury, &TREASURY_ADDRESS)?;
        require_address(&self.vault, &VAULT_ADDRESS)?;
        require_address(&self.treasury_vault, &TREASURY_VAULT_ADDRESS)?;
        require_address(&self.stake_vault, &STAKE_VAULT_ADDRESS)?;

        // mints: apart from each other, or credits could be paid out as stake
        let credit_mint = token::mint(&self.credit_mint)?;
        require!(credit_mint.decimals() == CREDIT_MINT_DECIMALS, WrongMint);
        let stake_mint = token::mint(&self.stake_mint)?;
        require!(stake_mint.decimals() <= STAKE_DECIMALS_MAX, WrongMint);
        require!(self.credit_mint.address() != self.stake_mint.address(), DuplicateAccount);

        Ok(Mints {
            credit_mint: self.credit_mint.address(),
            stake_mint: self.stake_mint.address(),
            stake_decimals: stake_mint.decimals(),
        })
    }

    fn create_vault(&self, vault: &AccountView, seed: &&[u8], mint: &AccountView) -> Result {
        let seeds = [Seed::from(*seed), Seed::from(&[BUMP])];
        let space = Space { bytes: Account::LEN, owner: &pinocchio_token::ID };
        Creation { payer: &self.authority, account: vault }.allocate(&space, &seeds)?;
        Ok(InitializeAccount3::new(vault, mint, &VAULT_AUTHORITY_ADDRESS).invoke()?)
    }

    fn create<'a, T: Layout>(&'a self, account: &'a AccountView, seed: &[u8]) -> Result<&'a mut T> {
        let seeds = [Seed::from(seed), Seed::from(&[BUMP])];
        Creation { payer: &self.authority, account }.fixed(&seeds)
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, arguments: Arguments) -> Result {
    let mints = accounts.validate()?;
    let clock = Clock::get();

    let config: &mut Config = accounts.create(&accounts.config, CONFIG)?;
    config.open(accounts.authority.address(), &mints, &arguments, clock.unix_time)?;
    config.invariant()?;
    accounts.create::<Treasury>(&accounts.treasury, TREASURY)?;

    accounts.create_vault(&accounts.vault, &VAULT, &accounts.credit_mint)?;
    accounts.create_vault(&accounts.treasury_vault, &TREASURY_VAULT, &accounts.credit_mint)?;
    accounts.create_vault(&accounts.stake_vault, &STAKE_VAULT, &accounts.stake_mint)?;

    ConfigInitialized {
        terms: TermsPart(config),
        vault: &VAULT_ADDRESS,
        treasury_vault: &TREASURY_VAULT_ADDRESS,
        stake_vault: &STAKE_VAULT_ADDRESS,
        stake_decimals: mints.stake_decimals,
        job_timeout_seconds: u32::from(JOB_TIMEOUT_SECONDS),
        dispute_window_seconds: u32::from(DISPUTE_WINDOW_SECONDS),
        arbitration_window_seconds: ARBITRATION_WINDOW_SECONDS,
    }
    .emit(&accounts.event_authority, &clock)
}
