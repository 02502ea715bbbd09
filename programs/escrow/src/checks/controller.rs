//! Who may act: a key, or any current signer of a gateway.

use pinocchio::{AccountView, Address};

use crate::{
    error::{Result, require},
    state::Gateway,
    wire::layout::load,
};

/// The signer of an instruction and the gateway it says it signs for.
pub struct Actor<'a> {
    pub signer: &'a AccountView,
    pub gateway: Option<&'a AccountView>,
}

/// Whether the key is `party`, or a current signer of it if `party` is the given gateway. The stop
/// flag is no matter here: what runs can be ended.
pub fn signs_for(key: &Address, party: &Address, gateway: Option<&AccountView>) -> Result<bool> {
    if key == party {
        return Ok(true);
    }
    match gateway {
        Some(gateway) if gateway.address() == party => {
            Ok(load::<Gateway>(gateway)?.signers().contains(key))
        }
        _ => Ok(false),
    }
}

impl Actor<'_> {
    /// Whether the signer is `party`, or one of its signers.
    pub fn acts_for(&self, party: &Address) -> Result<bool> {
        signs_for(self.signer.address(), party, self.gateway)
    }

    /// Refuses a gateway that is stopped: it begins nothing any more.
    pub fn require_running(&self, controller: &Address) -> Result {
        match self.gateway {
            Some(gateway) if gateway.address() == controller => {
                require!(!load::<Gateway>(gateway)?.stopped(), GatewayStopped);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Refuses anybody who does not act for the job's controller.
    pub fn require_controller(&self, controller: &Address) -> Result {
        require!(self.acts_for(controller)?, Unauthorized);
        Ok(())
    }
}
