//! The roles that accounts play in an instruction: what is checked before its handler sees them.

use pinocchio::{AccountView, Address};

use crate::{
    ID,
    error::{EscrowError, Result, require},
    seeds::{EVENT_AUTHORITY_ADDRESS, VAULT_AUTHORITY_ADDRESS},
};

/// Checks one account and hands it over.
pub trait Role {
    type Account;

    fn take(account: AccountView) -> Result<Self::Account>;
}

/// Checks all accounts of an instruction by their roles. The macro `accounts!` implements it.
pub trait Load: Sized {
    fn load(accounts: &[AccountView]) -> Result<Self>;
}

pub struct Readonly;
pub struct Writable;
pub struct Signer;
pub struct WritableSigner;
/// By Anchor's convention the program's own address stands for "none".
pub struct Optional;

impl Role for Readonly {
    type Account = AccountView;

    #[inline(always)]
    fn take(account: AccountView) -> Result<AccountView> {
        Ok(account)
    }
}

impl Role for Writable {
    type Account = AccountView;

    #[inline(always)]
    fn take(account: AccountView) -> Result<AccountView> {
        require!(account.is_writable(), NotWritable);
        Ok(account)
    }
}

impl Role for Signer {
    type Account = AccountView;

    #[inline(always)]
    fn take(account: AccountView) -> Result<AccountView> {
        require!(account.is_signer(), MissingSigner);
        Ok(account)
    }
}

impl Role for WritableSigner {
    type Account = AccountView;

    #[inline(always)]
    fn take(account: AccountView) -> Result<AccountView> {
        Writable::take(Signer::take(account)?)
    }
}

impl Role for Optional {
    type Account = Option<AccountView>;

    #[inline(always)]
    fn take(account: AccountView) -> Result<Option<AccountView>> {
        Ok((account.address() != &ID).then_some(account))
    }
}

macro_rules! fixed {
    ($($role:ident, $address:expr, $error:ident;)+) => {$(
        pub struct $role;

        impl Role for $role {
            type Account = AccountView;

            #[inline(always)]
            fn take(account: AccountView) -> Result<AccountView> {
                const ADDRESS: Address = $address;
                if account.address() != &ADDRESS {
                    return Err(EscrowError::$error);
                }
                Ok(account)
            }
        }
    )+};
}

fixed! {
    VaultAuthority, VAULT_AUTHORITY_ADDRESS, WrongAddress;
    EventAuthority, EVENT_AUTHORITY_ADDRESS, WrongAddress;
    EscrowProgram, ID, WrongAddress;
    SystemProgram, pinocchio_system::ID, WrongAddress;
    TokenProgram, pinocchio_token::ID, WrongTokenProgram;
}

/// Refuses any account but the named one.
pub fn require_address(account: &AccountView, address: &Address) -> Result {
    require!(account.address() == address, WrongAddress);
    Ok(())
}

/// Declares an instruction's accounts and their roles. Read by programs/tools/idl.ts, which also
/// understands `#[pda(seeds)]`; accounts beyond the declared ones are ignored.
macro_rules! accounts {
    ($(#[$about:meta])* pub struct $name:ident { $($(#[$meta:meta])* $field:ident: $role:ident,)+ }) => {
        $(#[$about])*
        #[allow(dead_code, reason = "some accounts only have to be there")]
        pub struct $name {
            $(pub $field: <crate::checks::roles::$role as crate::checks::roles::Role>::Account,)+
        }

        impl crate::checks::roles::Load for $name {
            #[inline(always)]
            fn load(accounts: &[pinocchio::AccountView]) -> crate::error::Result<Self> {
                let [$($field,)+ ..] = accounts else {
                    return Err(crate::error::EscrowError::MissingAccount);
                };
                Ok(Self {
                    $($field: <crate::checks::roles::$role as crate::checks::roles::Role>::take(*$field)?,)+
                })
            }
        }
    };
}
pub(crate) use accounts;
