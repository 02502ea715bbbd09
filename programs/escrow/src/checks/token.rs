//! Token accounts and transfers, of the SPL Token program alone.

use pinocchio::{
    AccountView, Address,
    cpi::{Seed, Signer},
};
use pinocchio_token::{
    instructions::{Burn, Transfer},
    state::{Account, Mint},
};

use crate::{
    error::{EscrowError, Result, require},
    seeds::{BUMP, STAKE_VAULT_ADDRESS, TREASURY_VAULT_ADDRESS, VAULT_ADDRESS, VAULT_AUTHORITY},
};

/// Reads a token account that can take part in a transfer now.
pub fn usable<'a>(account: &'a AccountView, mint: &Address) -> Result<&'a Account> {
    // SAFETY: this program never holds a mutable reference to a token account.
    let token = unsafe { Account::from_account_view_unchecked(account) }
        .map_err(|_| EscrowError::WrongTokenAccount)?;
    require!(token.is_initialized() && !token.is_frozen(), WrongTokenAccount);
    require!(token.mint() == mint, WrongMint);
    Ok(token)
}

/// Reads a mint of the SPL Token program.
pub fn mint(account: &AccountView) -> Result<&Mint> {
    // SAFETY: this program never holds a mutable reference to a mint.
    let mint = unsafe { Mint::from_account_view_unchecked(account) }
        .map_err(|_| EscrowError::WrongMint)?;
    require!(mint.is_initialized(), WrongMint);
    Ok(mint)
}

/// Refuses the program's own vaults where somebody else's token account is expected.
pub fn require_foreign(account: &AccountView) -> Result {
    let ours = [&VAULT_ADDRESS, &TREASURY_VAULT_ADDRESS, &STAKE_VAULT_ADDRESS];
    require!(!ours.contains(&account.address()), DuplicateAccount);
    Ok(())
}

/// Moves tokens of somebody who signed the transaction.
pub fn deposit(
    from: &AccountView,
    to: &AccountView,
    signer: &AccountView,
    base_units: u64,
) -> Result {
    Ok(Transfer::new(from, to, signer, base_units).invoke()?)
}

/// Moves tokens out of one of the vaults. The vault authority signs this and nothing else.
pub fn pay(
    from: &AccountView,
    to: &AccountView,
    vault_authority: &AccountView,
    base_units: u64,
) -> Result {
    let seeds = [Seed::from(VAULT_AUTHORITY), Seed::from(&[BUMP])];
    Ok(Transfer::new(from, to, vault_authority, base_units)
        .invoke_signed(&[Signer::from(&seeds)])?)
}

/// Burns tokens of one of the vaults.
pub fn burn(
    from: &AccountView,
    mint: &AccountView,
    vault_authority: &AccountView,
    base_units: u64,
) -> Result {
    let seeds = [Seed::from(VAULT_AUTHORITY), Seed::from(&[BUMP])];
    Ok(Burn::new(from, mint, vault_authority, base_units).invoke_signed(&[Signer::from(&seeds)])?)
}
