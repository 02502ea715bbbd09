//! Enumerations that take one byte of an account, an argument or an event.

use core::marker::PhantomData;

use super::{
    arguments::{Argument, Reader},
    event_writer::{Field, Writer},
};
use crate::error::Result;

/// An enumeration whose variants are numbered from zero. The macro `enumeration!` implements it.
pub trait Enumeration: Copy + 'static {
    const ALL: &'static [Self];

    fn number(self) -> u8;
}

/// A byte that stands for a variant. Any byte can be read; only `get` and `is` give it a meaning.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Byte<E>(u8, PhantomData<E>);

impl<E: Enumeration> Byte<E> {
    /// The variant, or none for a byte without one.
    #[inline(always)]
    pub fn get(self) -> Option<E> {
        E::ALL.get(usize::from(self.0)).copied()
    }

    #[inline(always)]
    pub fn is(self, variant: E) -> bool {
        self.0 == variant.number()
    }

    /// Whether the byte stands for this variant or for one declared before it.
    #[inline(always)]
    pub fn is_at_most(self, variant: E) -> bool {
        self.0 <= variant.number()
    }

    /// Whether the byte stands for a variant at all.
    #[inline(always)]
    pub fn is_known(self) -> bool {
        usize::from(self.0) < E::ALL.len()
    }

    #[inline(always)]
    pub fn set(&mut self, variant: E) {
        self.0 = variant.number();
    }
}

impl<E: Enumeration> From<E> for Byte<E> {
    #[inline(always)]
    fn from(variant: E) -> Self {
        Self(variant.number(), PhantomData)
    }
}

impl<E> Argument<'_> for Byte<E> {
    #[inline(always)]
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        Ok(Self(u8::read(reader)?, PhantomData))
    }
}

impl<E> Field for Byte<E> {
    const BYTES_MAX: usize = 1;

    #[inline(always)]
    fn write(&self, writer: &mut Writer) {
        self.0.write(writer);
    }
}

/// Declares an enumeration that is stored as a byte. Read by programs/tools/idl.ts.
macro_rules! enumeration {
    (
        $(#[$doc:meta])*
        pub enum $name:ident {
            $($(#[$variant_doc:meta])* $variant:ident,)+
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        #[allow(dead_code, reason = "some variants only come from outside")]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl crate::wire::byte::Enumeration for $name {
            const ALL: &'static [Self] = &[$(Self::$variant),+];

            #[inline(always)]
            fn number(self) -> u8 {
                self as u8
            }
        }
    };
}
pub(crate) use enumeration;
