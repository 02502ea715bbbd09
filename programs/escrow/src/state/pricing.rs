//! What a job costs, in credits. The only place that knows.

/// A model's prices as they were when the job was locked.
pub struct Prices {
    pub credits_per_request: u32,
    pub credits_per_1k_tokens: u32,
    pub long_completion_threshold_tokens: u32,
}

impl Prices {
    /// What is locked for an answer of at most this many tokens. Never below the price of a
    /// request, since the answer may turn out short.
    pub fn lock_credits(&self, token_limit: u32) -> u64 {
        self.charge_credits(token_limit).max(u64::from(self.credits_per_request))
    }

    /// What an answer of this many tokens costs before it is held against the lock.
    pub fn charge_credits(&self, tokens: u32) -> u64 {
        if tokens <= self.long_completion_threshold_tokens {
            return u64::from(self.credits_per_request);
        }
        // Both factors have 32 bits, so the product fits 64.
        (u64::from(tokens) * u64::from(self.credits_per_1k_tokens)).div_ceil(1000)
    }
}
