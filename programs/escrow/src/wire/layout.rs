//! How account data becomes a typed reference, and how it is checked first.

use pinocchio::{AccountView, Address};

use crate::{
    ID,
    error::{Result, require},
};

/// The version of every layout.
const VERSION: u8 = 3;

/// What every account of the program begins with.
#[repr(C)]
struct Header {
    discriminator: [u8; 8],
    version: u8,
    bump: u8,
}

/// An account's layout.
///
/// # Safety
/// The type is `repr(C)`, aligned to one byte, free of padding, valid for any bytes, and begins
/// with the fields of `Header`. The macro `layout!` checks what the compiler can check.
pub unsafe trait Layout {
    const DISCRIMINATOR: u64;
    /// Where the only account of this kind is; none for a kind with many.
    const ADDRESS: Option<Address> = None;

    /// Gives a fresh account its first sequence.
    fn begin(&mut self);
}

/// Refuses an account that is not the program's, not free, not of this kind, or not the only one of
/// it.
#[inline(always)]
fn check<T: Layout>(account: &AccountView, is_free: bool) -> Result {
    require!(account.owned_by(&ID), WrongAccountOwner);
    require!(account.data_len() == size_of::<T>(), WrongDiscriminator);
    require!(is_free, DuplicateAccount);
    // SAFETY: the data is as long as the layout, which begins with the header, and no reference
    // may change it now.
    let header = unsafe { &*account.data_ptr().cast::<Header>() };
    require!(
        u64::from_le_bytes(header.discriminator) == T::DISCRIMINATOR && header.version == VERSION,
        WrongDiscriminator
    );
    if let Some(address) = T::ADDRESS {
        require!(account.address() == &address, WrongAddress);
    }
    Ok(())
}

/// Whether the account is of this kind.
pub fn is<T: Layout>(account: &AccountView) -> bool {
    check::<T>(account, account.check_borrow().is_ok()).is_ok()
}

/// Reads an account. Refuses one that was loaded to be changed.
#[inline(always)]
pub fn load<T: Layout>(account: &AccountView) -> Result<&T> {
    check::<T>(account, account.check_borrow().is_ok())?;
    lend(account, BORROWED);
    // SAFETY: the data is as long as the layout, which is valid for any bytes at any alignment. No
    // other reference may change it, as `lend` says.
    Ok(unsafe { &*account.data_ptr().cast() })
}

/// Reads an account in order to change it. Refuses one that was loaded before, by whatever name the
/// transaction passes it.
#[inline(always)]
#[allow(clippy::mut_from_ref, reason = "the data lies behind the view, not inside it")]
pub fn load_mut<T: Layout>(account: &AccountView) -> Result<&mut T> {
    check::<T>(account, account.check_borrow_mut().is_ok())?;
    lend(account, BORROWED_MUT);
    // SAFETY: as in `load`; the reference is the only one, as `lend` says.
    Ok(unsafe { &mut *account.data_ptr().cast_mut().cast() })
}

/// The runtime's marks of an account's data: lent to readers, or to one writer.
const BORROWED: u8 = u8::MAX - 1;
const BORROWED_MUT: u8 = 0;

/// Marks the account's data as lent for the rest of the instruction. Views of one account share the
/// mark, and nothing removes it. So no two references contradict each other, even where a
/// transaction names an account twice. A guard that removes the mark would cost a destructor for
/// each account, and no handler needs an account again.
#[inline(always)]
fn lend(account: &AccountView, mark: u8) {
    // SAFETY: the first byte of the runtime's account is the mark, which belongs to the program.
    unsafe { *account.account_ptr().cast_mut().cast::<u8>() = mark };
}

/// Writes the header of an account that was just created.
#[inline(always)]
#[allow(clippy::mut_from_ref, reason = "the data lies behind the view, not inside it")]
pub fn initialize<T: Layout>(account: &AccountView, bump: u8) -> Result<&mut T> {
    require!(account.data_len() == size_of::<T>(), WrongDiscriminator);
    require!(account.check_borrow_mut().is_ok(), DuplicateAccount);
    lend(account, BORROWED_MUT);
    // SAFETY: the data is as long as the layout, which begins with the header; the reference is the
    // only one.
    let fresh = unsafe {
        *account.data_ptr().cast_mut().cast() =
            Header { discriminator: T::DISCRIMINATOR.to_le_bytes(), version: VERSION, bump };
        &mut *account.data_ptr().cast_mut().cast::<T>()
    };
    fresh.begin();
    Ok(fresh)
}

/// Makes a struct an account: discriminator, sequence, and read access to the named fields.
/// Nothing outside the struct's own file can write one.
macro_rules! layout {
    ($name:ident $(at $address:ident)? {
        sequence: $sequence:ty,
        numbers { $($number:ident: $native:ty,)* }
        bytes { $($byte:ident: $byte_type:ty,)* }
        references { $($reference:ident: $target:ty,)* }
    }) => {
        const _: () = assert!(align_of::<$name>() == 1);

        // SAFETY: every field is an array of bytes or transparent over one, so there is neither
        // alignment nor padding nor an invalid value.
        unsafe impl crate::wire::layout::Layout for $name {
            const DISCRIMINATOR: u64 =
                crate::wire::discriminator::discriminator("account", stringify!($name));
            $(const ADDRESS: Option<pinocchio::Address> = Some($address);)?

            fn begin(&mut self) {
                self.sequence.set(1);
            }
        }

        impl $name {
            pub fn sequence(&self) -> $sequence {
                self.sequence.get()
            }

            /// Counts a change and refuses it if the account contradicts itself afterwards.
            pub fn changed(&mut self) -> crate::error::Result {
                use crate::error::OrOverflow;

                self.sequence.set(self.sequence.get().checked_add(1).or_overflow()?);
                self.invariant()
            }

            /// Refuses an account whose fields contradict one another. Every handler that creates
            /// or changes an account asks.
            pub fn invariant(&self) -> crate::error::Result {
                crate::error::require!(self.is_consistent(), InvariantViolated);
                Ok(())
            }

            $(#[inline(always)]
            pub fn $number(&self) -> $native {
                self.$number.get()
            })*

            $(#[inline(always)]
            pub fn $byte(&self) -> $byte_type {
                self.$byte
            })*

            $(#[inline(always)]
            pub fn $reference(&self) -> &$target {
                &self.$reference
            })*
        }
    };
}
pub(crate) use layout;
