//! Opens a wallet's credit account. Anybody may pay; only the wallet's signature names a spender.
//!
//! The account begins without credits. A spender is named together with its limits; an account that
//! somebody else opens has no spender, and limits of zero.
//!
//! Emits `CreditOpened`.
//!
//! # Errors
//! - `MissingSigner`: `spender` is not the zero key, and `wallet` did not sign
//! - `ValueOutOfRange`: A limit is given without a spender
//! - `WrongAddress`: `credit_account` is not the wallet's
//! - `AlreadyInitialized`: The wallet has a credit account already

use pinocchio::Address;

use crate::{
    checks::accounts,
    error::{Result, require},
    events::{CreditOpened, CreditPart, LimitsPart},
    seeds::{CREDIT_ACCOUNT, NONE},
    state::{CreditAccount, creation::Creation, credit_account::Limits},
    wire::{Clock, arguments},
};

arguments! {
    pub struct Arguments<'a> {
        /// A key or a gateway; the zero key names none
        spender: &'a Address,
        /// The largest number means no limit; zero without a spender
        limit_per_job_credits: u64,
        /// The largest number means no limit; zero without a spender
        limit_per_day_credits: u64,
    }
}

accounts! {
    pub struct Accounts {
        /// Pays the rent
        payer: WritableSigner,
        /// Signs only to name a spender
        wallet: Readonly,
        #[pda(CREDIT_ACCOUNT, wallet)]
        credit_account: Writable,
        system_program: SystemProgram,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, arguments: Arguments) -> Result {
    let wallet = accounts.wallet.address();
    require!(arguments.spender == &NONE || accounts.wallet.is_signer(), MissingSigner);
    let clock = Clock::get();

    let credit_account: &mut CreditAccount =
        Creation { payer: &accounts.payer, account: &accounts.credit_account }
            .keyed(CREDIT_ACCOUNT, wallet.as_array())?;
    let limits = Limits {
        per_job_credits: arguments.limit_per_job_credits,
        per_day_credits: arguments.limit_per_day_credits,
    };
    credit_account.open(wallet, arguments.spender, &limits, clock.unix_time)?;
    credit_account.invariant()?;

    CreditOpened {
        account: CreditPart(&accounts.credit_account, credit_account),
        spender: arguments.spender,
        limits: LimitsPart(credit_account),
    }
    .emit(&accounts.event_authority, &clock)
}
