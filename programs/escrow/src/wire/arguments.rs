//! Decodes an instruction's arguments: Borsh, without copies, and nothing may be left over.

use pinocchio::Address;

use crate::{
    error::{Result, require},
    wire::text::Text,
};

/// What remains of the instruction's data.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    #[inline(always)]
    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        require!(self.0.len() >= length, InvalidInstructionData);
        let (taken, rest) = self.0.split_at(length);
        self.0 = rest;
        Ok(taken)
    }

    #[inline(always)]
    fn take_array<const N: usize>(&mut self) -> Result<&'a [u8; N]> {
        let bytes = self.take(N)?;
        // SAFETY: `take` returned exactly N bytes, and an array of bytes is aligned anywhere.
        Ok(unsafe { &*bytes.as_ptr().cast() })
    }

    #[inline(always)]
    pub fn finish(&self) -> Result {
        require!(self.0.is_empty(), InvalidInstructionData);
        Ok(())
    }
}

/// Reads all arguments of an instruction. The macro `arguments!` implements it.
pub trait Decode<'a>: Sized {
    fn decode(data: &'a [u8]) -> Result<Self>;
}

/// A type that arguments may have.
pub trait Argument<'a>: Sized {
    fn read(reader: &mut Reader<'a>) -> Result<Self>;
}

macro_rules! number {
    ($($type:ty)+) => {$(
        impl Argument<'_> for $type {
            #[inline(always)]
            fn read(reader: &mut Reader<'_>) -> Result<Self> {
                Ok(<$type>::from_le_bytes(*reader.take_array()?))
            }
        }
    )+};
}
number!(u8 u16 u32 u64 i64);

impl Argument<'_> for bool {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let byte = u8::read(reader)?;
        require!(byte <= 1, InvalidInstructionData);
        Ok(byte == 1)
    }
}

impl<'a, const N: usize> Argument<'a> for &'a [u8; N] {
    #[inline(always)]
    fn read(reader: &mut Reader<'a>) -> Result<Self> {
        reader.take_array()
    }
}

impl<'a> Argument<'a> for &'a Address {
    #[inline(always)]
    fn read(reader: &mut Reader<'a>) -> Result<Self> {
        let bytes: &[u8; 32] = reader.take_array()?;
        // SAFETY: an Address is a transparent wrapper of 32 bytes.
        Ok(unsafe { &*bytes.as_ptr().cast() })
    }
}

impl<'a> Argument<'a> for Text<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self> {
        let length = u32::read(reader)?;
        Text::new(reader.take(length as usize)?)
    }
}

/// A list of addresses.
pub type Addresses<'a> = &'a [Address];

impl<'a> Argument<'a> for Addresses<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self> {
        let count = u32::read(reader)? as usize;
        require!(count <= reader.0.len() / size_of::<Address>(), InvalidInstructionData);
        let bytes = reader.take(count * size_of::<Address>())?;
        // SAFETY: the bytes are `count` times 32, and an Address is a transparent wrapper of those.
        Ok(unsafe { core::slice::from_raw_parts(bytes.as_ptr().cast(), count) })
    }
}

/// Declares an instruction's arguments and how they are decoded. Read by programs/tools/idl.ts.
macro_rules! arguments {
    ($(#[$about:meta])* pub struct $name:ident<'a> { $($(#[$doc:meta])* $field:ident: $type:ty,)+ }) => {
        $(#[$about])*
        pub struct $name<'a> {
            $($(#[$doc])* pub $field: $type,)+
        }

        impl<'a> crate::wire::arguments::Decode<'a> for $name<'a> {
            #[inline(always)]
            fn decode(data: &'a [u8]) -> crate::error::Result<Self> {
                let mut reader = crate::wire::arguments::Reader(data);
                $(let $field = crate::wire::arguments::Argument::read(&mut reader)?;)+
                reader.finish()?;
                Ok(Self { $($field),+ })
            }
        }
    };
    (pub struct Arguments { $($(#[$doc:meta])* $field:ident: $type:ty,)* }) => {
        pub struct Arguments {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl crate::wire::arguments::Decode<'_> for Arguments {
            #[inline(always)]
            fn decode(data: &[u8]) -> crate::error::Result<Self> {
                #[allow(unused_mut, reason = "an instruction may have no arguments")]
                let mut reader = crate::wire::arguments::Reader(data);
                $(let $field = crate::wire::arguments::Argument::read(&mut reader)?;)*
                reader.finish()?;
                Ok(Self { $($field),* })
            }
        }
    };
}
pub(crate) use arguments;
