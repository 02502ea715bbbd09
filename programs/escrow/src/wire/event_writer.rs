//! Emits events as Anchor's clients expect them: the program calls itself with the event as data.
//!
//! Logs would be cheaper by some 1,200 compute units an event. But anybody can push a log out of a
//! transaction, whereas an inner instruction is recorded whole.

use core::mem::MaybeUninit;

use pinocchio::{
    AccountView, Address,
    account::{MAX_PERMITTED_DATA_INCREASE, RuntimeAccount},
    cpi::{CpiAccount, Seed, Signer, invoke_signed_unchecked},
    instruction::{InstructionAccount, InstructionView},
};

use crate::{
    ID,
    seeds::{BUMP, EVENT_AUTHORITY, EVENT_AUTHORITY_ADDRESS},
    wire::{
        sysvars::Clock,
        text::{TEXT_BYTES_MAX, Text},
    },
};

/// Anchor's tag of an instruction that is an event: the first 8 bytes of sha256("anchor:event").
pub const EVENT_TAG: u64 = 0x1d9a_cb51_2ea5_45e4;

/// The signers of a gateway are the longest list in any event.
const ADDRESSES_MAX: usize = 8;
/// Tag, discriminator, slot and unix time.
const HEAD_BYTES: usize = 32;
const EVENT_BYTES_MAX: usize = 544;

/// An event's fields. The macro `events!` implements it.
pub trait Event {
    const DISCRIMINATOR: u64;
    /// What the fields take at most; `events!` asserts that it fits the buffer.
    const FIELD_BYTES_MAX: usize;

    fn write(&self, writer: &mut Writer);
}

/// The room left in the buffer for one event.
pub struct Writer {
    next: *mut u8,
}

impl Writer {
    #[inline(always)]
    fn bytes(&mut self, bytes: &[u8]) {
        // SAFETY: no field exceeds its own maximum. The sum of an event's maxima fits the buffer,
        // as the event's declaration asserts.
        unsafe {
            self.next.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            self.next = self.next.add(bytes.len());
        }
    }
}

/// A type that an event's fields may have: Borsh.
pub trait Field {
    const BYTES_MAX: usize;

    fn write(&self, writer: &mut Writer);
}

macro_rules! number {
    ($($type:ty)+) => {$(
        impl Field for $type {
            const BYTES_MAX: usize = size_of::<$type>();

            #[inline(always)]
            fn write(&self, writer: &mut Writer) {
                writer.bytes(&self.to_le_bytes());
            }
        }
    )+};
}
number!(u8 u16 u32 u64 i64);

impl Field for bool {
    const BYTES_MAX: usize = 1;

    #[inline(always)]
    fn write(&self, writer: &mut Writer) {
        writer.bytes(&[u8::from(*self)]);
    }
}

impl<const N: usize> Field for &[u8; N] {
    const BYTES_MAX: usize = N;

    #[inline(always)]
    fn write(&self, writer: &mut Writer) {
        writer.bytes(*self);
    }
}

impl Field for &Address {
    const BYTES_MAX: usize = size_of::<Address>();

    #[inline(always)]
    fn write(&self, writer: &mut Writer) {
        writer.bytes(self.as_array());
    }
}

impl Field for Text<'_> {
    const BYTES_MAX: usize = size_of::<u32>() + TEXT_BYTES_MAX;

    fn write(&self, writer: &mut Writer) {
        (self.bytes().len() as u32).write(writer);
        writer.bytes(self.bytes());
    }
}

impl Field for &[Address] {
    const BYTES_MAX: usize = size_of::<u32>() + ADDRESSES_MAX * size_of::<Address>();

    fn write(&self, writer: &mut Writer) {
        assert!(self.len() <= ADDRESSES_MAX);
        (self.len() as u32).write(writer);
        for address in *self {
            address.write(writer);
        }
    }
}

/// Records an event. Inlined: each event has one place that emits it.
#[inline(always)]
pub fn emit<E: Event>(event_authority: &AccountView, clock: &Clock, event: &E) {
    let mut buffer = [MaybeUninit::<u8>::uninit(); EVENT_BYTES_MAX];
    let start = buffer.as_mut_ptr().cast::<u8>();
    let mut writer = Writer { next: start };
    EVENT_TAG.write(&mut writer);
    E::DISCRIMINATOR.write(&mut writer);
    clock.slot.write(&mut writer);
    clock.unix_time.write(&mut writer);
    event.write(&mut writer);

    // SAFETY: the writer has initialized everything between the start and its position.
    let data = unsafe {
        let length = writer.next.offset_from_unsigned(start);
        core::slice::from_raw_parts(start, length)
    };
    record(event_authority, data);
}

#[inline(never)]
fn record(event_authority: &AccountView, data: &[u8]) {
    let instruction = InstructionView {
        program_id: &ID,
        accounts: &[InstructionAccount::readonly_signer(&EVENT_AUTHORITY_ADDRESS)],
        data,
    };
    let seeds = [Seed::from(EVENT_AUTHORITY), Seed::from(&[BUMP])];
    // SAFETY: the account is the one that the instruction names (its role checked the address), and
    // nothing ever borrows its data.
    unsafe {
        invoke_signed_unchecked(
            &instruction,
            &[CpiAccount::from(event_authority)],
            &[Signer::from(&seeds)],
        );
    }
}

/// Whether the input is the program's own call with an event, as `record` makes it. Only it signs
/// for the event authority, and the instruction's data is the event, so the call does nothing
/// more. The entry checks this before any parsing, since every instruction makes this call.
///
/// # Safety
/// The runtime's promise: `input` is a serialized instruction.
#[inline(always)]
pub unsafe fn is_own_call(input: *const u8) -> bool {
    /// The call's one account, which has no data, and the instruction's data behind it.
    #[repr(C)]
    struct OwnCall {
        accounts_len: u64,
        authority: RuntimeAccount,
        spare: [u8; MAX_PERMITTED_DATA_INCREASE],
        rent_epoch: u64,
        data_len: u64,
        tag: u64,
    }

    let call = input.cast::<OwnCall>();
    // SAFETY: each field is read only after the ones before it show that it exists. The program's
    // address follows the instruction's data, so 8 bytes exist even without data.
    unsafe {
        (*call).accounts_len == 1
            && (*call).authority.is_signer != 0
            && (*call).authority.data_len == 0
            && (*call).tag == EVENT_TAG
            && (*call).authority.address == EVENT_AUTHORITY_ADDRESS
    }
}

/// Declares the parts that events share: what each is made of, and every field with its value. Read
/// by programs/tools/idl.ts, which sees the fields alone.
macro_rules! parts {
    ($(
        $(#[$doc:meta])*
        pub struct $name:ident<'a>($($source:ident: $source_type:ty),+) {
            $($(#[$field_doc:meta])* $field:ident: $type:ty = $value:expr,)+
        }
    )+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<'a>($(pub $source_type),+);

        impl<'a> crate::wire::event_writer::Field for $name<'a> {
            const BYTES_MAX: usize =
                0 $(+ <$type as crate::wire::event_writer::Field>::BYTES_MAX)+;

            #[inline(always)]
            fn write(&self, writer: &mut crate::wire::event_writer::Writer) {
                let Self($($source),+) = *self;
                $({
                    let value: $type = $value;
                    crate::wire::event_writer::Field::write(&value, writer);
                })+
            }
        }
    )+};
}
pub(crate) use parts;

/// Declares the events. Read by programs/tools/idl.ts.
macro_rules! events {
    ($(
        $(#[$doc:meta])*
        pub struct $name:ident$(<$life:lifetime>)? {
            $($(#[$field_doc:meta])* pub $field:ident: $type:ty,)+
        }
    )+) => {$(
        $(#[$doc])*
        pub struct $name$(<$life>)? {
            $($(#[$field_doc])* pub $field: $type,)+
        }

        impl$(<$life>)? $name$(<$life>)? {
            /// Records the event. Called last by every handler, which succeeds then.
            #[inline(always)]
            pub fn emit(
                &self,
                event_authority: &pinocchio::AccountView,
                clock: &crate::wire::sysvars::Clock,
            ) -> crate::error::Result {
                crate::wire::event_writer::emit(event_authority, clock, self);
                Ok(())
            }
        }

        impl$(<$life>)? crate::wire::event_writer::Event for $name$(<$life>)? {
            const DISCRIMINATOR: u64 =
                crate::wire::discriminator::discriminator("event", stringify!($name));
            const FIELD_BYTES_MAX: usize =
                0 $(+ <$type as crate::wire::event_writer::Field>::BYTES_MAX)+;

            #[inline(always)]
            fn write(&self, writer: &mut crate::wire::event_writer::Writer) {
                const { crate::wire::event_writer::assert_fits::<Self>() }
                $(crate::wire::event_writer::Field::write(&self.$field, writer);)+
            }
        }
    )+};
}
pub(crate) use events;

/// Fails the build for an event that could outgrow the buffer.
pub const fn assert_fits<E: Event>() {
    assert!(HEAD_BYTES + E::FIELD_BYTES_MAX <= EVENT_BYTES_MAX);
}
