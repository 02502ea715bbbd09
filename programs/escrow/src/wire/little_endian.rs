//! Numbers as they lie in account data: little-endian, aligned to one byte, so that a layout has no
//! padding and may start at any offset.

use crate::error::{OrOverflow, Result};

macro_rules! little_endian {
    ($($name:ident($native:ty);)+) => {$(
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[repr(transparent)]
        pub struct $name([u8; size_of::<$native>()]);

        impl $name {
            #[inline(always)]
            pub const fn get(self) -> $native {
                <$native>::from_le_bytes(self.0)
            }

            #[inline(always)]
            pub const fn set(&mut self, value: $native) {
                self.0 = value.to_le_bytes();
            }
        }

        impl From<$native> for $name {
            #[inline(always)]
            fn from(value: $native) -> Self {
                Self(value.to_le_bytes())
            }
        }
    )+};
}

little_endian! {
    U16(u16);
    U32(u32);
    U64(u64);
    I64(i64);
}

impl U64 {
    /// Refuses to go past the largest number.
    #[inline(always)]
    pub fn add(&mut self, amount: u64) -> Result {
        self.set(self.get().checked_add(amount).or_overflow()?);
        Ok(())
    }

    /// Refuses to go below zero.
    #[inline(always)]
    pub fn subtract(&mut self, amount: u64) -> Result {
        self.set(self.get().checked_sub(amount).or_overflow()?);
        Ok(())
    }
}

/// A byte that is only ever 0 or 1.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Flag(u8);

impl Flag {
    #[inline(always)]
    pub const fn get(self) -> bool {
        self.0 != 0
    }

    #[inline(always)]
    pub const fn set(&mut self, value: bool) {
        self.0 = value as u8;
    }
}
