//! Adds a model or changes its description and prices.
//!
//! The id decides which model it is. Jobs that are locked already keep their prices.
//!
//! Emits `ModelUpserted`.
//!
//! # Errors
//! - `InvalidText`: A text is empty, too long or not printable ASCII
//! - `Unauthorized`: `authority` is not the configuration's authority
//! - `WrongAddress`: `model` is not the account of this id
//! - `AlreadyInitialized`: Another program owns the account at `model`
//! - `ValueOutOfRange`: An argument is out of its bounds

use crate::{
    ID,
    checks::accounts,
    error::{Result, require},
    events::{ModelPart, ModelUpserted, PricesPart},
    seeds::MODEL,
    state::{
        Config, Model,
        creation::Creation,
        model::{Description, Tier},
        pricing::Prices,
    },
    wire::{Clock, arguments, byte::Byte, load, load_mut, sysvars::sha256, text::Text},
};

arguments! {
    pub struct Arguments<'a> {
        /// From 1 to 64 bytes of printable ASCII
        id: Text<'a>,
        tier: Byte<Tier>,
        /// The parameter count as shown, from 1 to 16 bytes of printable ASCII
        label: Text<'a>,
        /// Who made the model, from 1 to 32 bytes of printable ASCII
        originator: Text<'a>,
        /// At least 1
        context_window_tokens: u32,
        /// The price of a completion up to the threshold, at least 1
        credits_per_request: u32,
        /// The price of 1,000 tokens of a longer completion, at least 1
        credits_per_1k_tokens: u32,
        /// A completion of more tokens is a long one
        long_completion_threshold_tokens: u32,
        /// The sha256 of the model's card, or zeros
        card_hash: &'a [u8; 32],
    }
}

accounts! {
    pub struct Accounts {
        /// Pays a new model's rent
        authority: WritableSigner,
        config: Readonly,
        #[pda(MODEL, id)]
        model: Writable,
        system_program: SystemProgram,
        event_authority: EventAuthority,
        program: EscrowProgram,
    }
}

impl Arguments<'_> {
    fn prices(&self) -> Prices {
        Prices {
            credits_per_request: self.credits_per_request,
            credits_per_1k_tokens: self.credits_per_1k_tokens,
            long_completion_threshold_tokens: self.long_completion_threshold_tokens,
        }
    }
}

impl Accounts {
    /// The model of this id: a fresh one, or the one that is there, at its next sequence.
    fn open_or_load(&self, arguments: &Arguments, now: i64) -> Result<&mut Model> {
        if self.model.owned_by(&ID) {
            let model: &mut Model = load_mut(&self.model)?;
            require!(model.id() == arguments.id, WrongAddress);
            model.changed()?;
            return Ok(model);
        }
        let id_hash = sha256(&[arguments.id.bytes()]);
        let model: &mut Model =
            Creation { payer: &self.authority, account: &self.model }.keyed(MODEL, &id_hash)?;
        model.open(arguments.id, now)?;
        Ok(model)
    }
}

#[inline(always)]
pub fn process(accounts: Accounts, arguments: Arguments) -> Result {
    load::<Config>(&accounts.config)?.require_authority(accounts.authority.address())?;
    let clock = Clock::get();

    let model = accounts.open_or_load(&arguments, clock.unix_time)?;
    model.describe(&Description {
        tier: arguments.tier,
        label: arguments.label,
        originator: arguments.originator,
        context_window_tokens: arguments.context_window_tokens,
        prices: arguments.prices(),
        card_hash: arguments.card_hash,
    })?;
    model.invariant()?;

    ModelUpserted {
        model: ModelPart(&accounts.model, model),
        tier: arguments.tier,
        label: arguments.label,
        originator: arguments.originator,
        context_window_tokens: arguments.context_window_tokens,
        prices: PricesPart(&model.prices()),
        card_hash: model.card_hash(),
        created_at: model.created_at(),
        retires_at: model.retires_at(),
    }
    .emit(&accounts.event_authority, &clock)
}
