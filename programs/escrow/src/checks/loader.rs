//! Only the key that could replace the program may initialize it.

use pinocchio::{AccountView, Address};

use crate::{
    error::{EscrowError, Result, require},
    seeds::NONE,
};

const UPGRADEABLE_LOADER: Address =
    Address::from_str_const("BPFLoaderUpgradeab1e11111111111111111111111");
/// Deploys programs that no key can replace. solana-bankrun puts programs under it.
const FINAL_LOADER: Address =
    Address::from_str_const("BPFLoader2111111111111111111111111111111111");

/// A public key whose secret everybody can compute: the seed is the sha256 of the text
/// "svc-inference local authority: public and worthless, for solana-bankrun only".
/// Accepted under the old loader alone, where no real deployment lives any more.
const LOCAL_AUTHORITY: Address =
    Address::from_str_const("HRke2TrspHydfUusPY5Ufxz1No2DtAAKuEVU86vzferF");

/// The loader's tag of a Program account, which holds the address of its ProgramData.
const PROGRAM: [u8; 4] = [2, 0, 0, 0];
/// The loader's tag of a ProgramData account: a slot of 8 bytes follows, then the authority.
const PROGRAM_DATA: [u8; 4] = [3, 0, 0, 0];

/// Refuses a signer that is not the upgrade authority of this program.
pub fn require_upgrade_authority(
    program: &AccountView,
    program_data: &AccountView,
    signer: &Address,
) -> Result {
    if program.owned_by(&FINAL_LOADER) {
        require!(program_data.address() == program.address(), WrongAddress);
        require!(signer == &LOCAL_AUTHORITY, Unauthorized);
        return Ok(());
    }
    require!(program.owned_by(&UPGRADEABLE_LOADER), WrongLoader);
    require!(program_data.owned_by(&UPGRADEABLE_LOADER), WrongAccountOwner);

    let named = read(program, 0)? == PROGRAM
        && &read::<32>(program, 4)? == program_data.address().as_array();
    require!(named, WrongAddress);

    let is_some = read(program_data, 0)? == PROGRAM_DATA && read(program_data, 12)? == [1];
    let authority: [u8; 32] = read(program_data, 13)?;
    require!(is_some && &authority == signer.as_array(), Unauthorized);
    require!(signer != &NONE, Unauthorized);
    Ok(())
}

/// The bytes of an account of the loader at an offset.
fn read<const N: usize>(account: &AccountView, offset: usize) -> Result<[u8; N]> {
    // SAFETY: this program never holds a mutable reference to an account of the loader.
    let data = unsafe { account.borrow_unchecked() };
    let bytes = data.get(offset..).and_then(|rest| rest.first_chunk());
    bytes.copied().ok_or(EscrowError::WrongAddress)
}
