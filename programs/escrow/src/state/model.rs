//! A model of the catalog and its prices.

use crate::{
    error::{Result, require},
    limits::RETIREMENT_NOTICE_SECONDS,
    state::pricing::Prices,
    wire::{
        byte::{Byte, enumeration},
        layout::layout,
        little_endian::{I64, U32, U64},
        text::Text,
    },
};

enumeration! {
    /// A class of models by the price of their work
    pub enum Tier {
        Lite,
        Standard,
        Pro,
        Max,
    }
}

/// A model that jobs can be locked for, at `["model", sha256(id)]`
#[repr(C)]
pub struct Model {
    discriminator: [u8; 8],
    version: u8,
    bump: u8,
    /// Grows by one with every change
    sequence: U64,
    id_len: u8,
    /// Printable ASCII, padded with zeros
    id: [u8; 64],
    tier: Byte<Tier>,
    label_len: u8,
    /// The parameter count as shown, printable ASCII, padded with zeros
    label: [u8; 16],
    originator_len: u8,
    /// Who made the model, printable ASCII, padded with zeros
    originator: [u8; 32],
    context_window_tokens: U32,
    /// The price of a completion up to the threshold
    credits_per_request: U32,
    /// The price of 1,000 tokens of a longer completion
    credits_per_1k_tokens: U32,
    long_completion_threshold_tokens: U32,
    created_at: I64,
    /// From here on nothing is locked for the model; zero when no retirement is announced
    retires_at: I64,
    /// The sha256 of the model's card; zero when nothing says which weights it is
    card_hash: [u8; 32],
    reserved: [u8; 32],
}

layout! {
    Model {
        sequence: u64,
        numbers { context_window_tokens: u32, created_at: i64, retires_at: i64, }
        bytes { tier: Byte<Tier>, }
        references { card_hash: [u8; 32], }
    }
}

/// What the authority says about a model.
pub struct Description<'a> {
    pub tier: Byte<Tier>,
    pub label: Text<'a>,
    pub originator: Text<'a>,
    pub context_window_tokens: u32,
    pub prices: Prices,
    pub card_hash: &'a [u8; 32],
}

impl Model {
    pub fn open(&mut self, id: Text, now: i64) -> Result {
        self.id_len = id.store(&mut self.id)?;
        self.created_at.set(now);
        Ok(())
    }

    pub fn describe(&mut self, description: &Description) -> Result {
        let prices = &description.prices;
        require!(description.tier.is_known(), ValueOutOfRange);
        require!(description.context_window_tokens >= 1, ValueOutOfRange);
        require!(prices.credits_per_request >= 1, ValueOutOfRange);
        require!(prices.credits_per_1k_tokens >= 1, ValueOutOfRange);

        self.tier = description.tier;
        self.label_len = description.label.store(&mut self.label)?;
        self.originator_len = description.originator.store(&mut self.originator)?;
        self.context_window_tokens.set(description.context_window_tokens);
        self.credits_per_request.set(prices.credits_per_request);
        self.credits_per_1k_tokens.set(prices.credits_per_1k_tokens);
        self.long_completion_threshold_tokens.set(prices.long_completion_threshold_tokens);
        self.card_hash = *description.card_hash;
        Ok(())
    }

    /// Zero takes an announcement back.
    pub fn retire(&mut self, retires_at: i64, now: i64) -> Result {
        require!(
            retires_at == 0
                || retires_at >= now.saturating_add(i64::from(RETIREMENT_NOTICE_SECONDS)),
            RetirementTooSoon
        );
        self.retires_at.set(retires_at);
        Ok(())
    }

    pub fn is_retired(&self, now: i64) -> bool {
        self.retires_at() != 0 && now >= self.retires_at()
    }

    pub fn id(&self) -> Text<'_> {
        Text::stored(&self.id, self.id_len)
    }

    pub fn prices(&self) -> Prices {
        Prices {
            credits_per_request: self.credits_per_request.get(),
            credits_per_1k_tokens: self.credits_per_1k_tokens.get(),
            long_completion_threshold_tokens: self.long_completion_threshold_tokens.get(),
        }
    }

    fn is_consistent(&self) -> bool {
        self.id_len >= 1
            && usize::from(self.id_len) <= self.id.len()
            && self.tier.is_known()
            && self.credits_per_request.get() >= 1
            && self.credits_per_1k_tokens.get() >= 1
    }
}
