//! Every refusal of the program. Numbered once and never renumbered: clients match on the numbers.
//! 6036 and 6037 were refusals of the ed25519 precompile's instruction, and stay unused.

use pinocchio::error::ProgramError;

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum EscrowError {
    /// Fewer accounts were given than the instruction names
    MissingAccount = 6000,
    /// An account belongs to another program than the instruction expects
    WrongAccountOwner = 6001,
    /// An account is of another kind, size or version than the instruction expects
    WrongDiscriminator = 6002,
    /// An account is not the one its seeds or a recorded address name
    WrongAddress = 6003,
    /// An account that has to sign did not
    MissingSigner = 6004,
    /// An account that has to be writable is not
    NotWritable = 6005,
    /// The instruction's data is not the encoding of its arguments
    InvalidInstructionData = 6006,
    /// Text is empty, too long or not printable ASCII
    InvalidText = 6007,
    /// A number left its range
    ArithmeticOverflow = 6008,
    /// The signer may not do this
    Unauthorized = 6009,
    /// A token account is not the expected one, not initialized or frozen
    WrongTokenAccount = 6010,
    /// A mint, or the mint of a token account, is not the configured one
    WrongMint = 6011,
    /// Two accounts that have to differ are the same
    DuplicateAccount = 6012,
    /// The token program is not the SPL Token program
    WrongTokenProgram = 6013,
    /// The account exists already
    AlreadyInitialized = 6014,
    /// A value is outside its permitted range
    ValueOutOfRange = 6015,
    /// Buying credits is paused
    DepositsPaused = 6016,
    /// Locking credits is paused
    LocksPaused = 6017,
    /// The gateway is stopped: it locks and acknowledges nothing
    GatewayStopped = 6018,
    /// The available credits do not cover this
    InsufficientCredits = 6019,
    /// The price on the ledger is above the highest the caller accepts
    PriceChanged = 6020,
    /// The lock is above the limit for one job
    JobLimitExceeded = 6021,
    /// The lock is above what is left of the day's limit
    DayLimitExceeded = 6022,
    /// The signer is neither the wallet nor its spender, or the wallet named none
    SpenderNotSet = 6023,
    /// The model is retired
    ModelRetired = 6024,
    /// The token limit is zero or above the model's context window
    TokenLimitTooLarge = 6025,
    /// The job id is not a UUID of version 7
    JobIdInvalid = 6026,
    /// The job id's time lies too far back
    JobIdTooOld = 6027,
    /// The job id's time lies too far ahead
    JobIdInFuture = 6028,
    /// The job's address is not the one derived with bump 255
    NonCanonicalBump = 6029,
    /// The job's status does not allow this
    WrongJobStatus = 6030,
    /// The deadline has passed
    DeadlinePassed = 6031,
    /// The deadline has not been reached
    DeadlineNotReached = 6032,
    /// The attempt is not newer than the recorded one
    AttemptNotNewer = 6033,
    /// The worker is not active, is unstaking or holds less than the minimum stake
    WorkerNotEligible = 6034,
    /// The worker does not host the job's model
    WorkerDoesNotHostModel = 6035,
    /// The key does not count for this job
    ProofWrongKey = 6038,
    /// The signed messages do not contradict what is recorded of this job
    ProofWrongMessage = 6039,
    /// Another proof is recorded already
    ProofAlreadyGiven = 6040,
    /// The delivered output is not the proven one
    OutputMismatch = 6041,
    /// No delivered token was counted
    NothingCounted = 6042,
    /// The delivered output is the proven one, so the job cannot fail
    OutputMatches = 6043,
    /// The reason is not one of the numbered reasons
    InvalidReason = 6044,
    /// The dispute window is closed
    DisputeWindowClosed = 6045,
    /// The client's hash is the proven one
    HashesEqual = 6046,
    /// The wallet has as many open disputes as the signer may bring it to
    DisputeLimitReached = 6047,
    /// The job was disputed before, or its dispute amended
    AlreadyDisputed = 6048,
    /// The verdict is not one of the numbered verdicts
    InvalidVerdict = 6049,
    /// The arbitration window is closed
    ArbitrationClosed = 6050,
    /// The arbitration window is still open
    ArbitrationOpen = 6051,
    /// The job is not final, or its windows are still open
    JobNotClosable = 6052,
    /// The account is not the one that paid the job's rent
    WrongRentPayer = 6053,
    /// A retirement has to be announced at least 30 days ahead
    RetirementTooSoon = 6054,
    /// The worker hosts as many models as it can
    TooManyModels = 6055,
    /// The worker hosts the model already
    AlreadyHosted = 6056,
    /// The worker does not host the model
    NotHosted = 6057,
    /// The worker's status does not allow this
    WrongWorkerStatus = 6058,
    /// The stake does not cover this
    InsufficientStake = 6059,
    /// The unstake cooldown is not over
    CooldownNotOver = 6060,
    /// Nothing is there to be paid
    NothingToClaim = 6061,
    /// The payee's token account cannot receive the payment now
    PayeeUnavailable = 6062,
    /// The treasury keeps what it owes, what disputes may cost it and its floor
    TreasuryReserved = 6063,
    /// The credit account would hold more than it may
    CreditAccountFull = 6064,
    /// No authority is proposed
    NoPendingAuthority = 6065,
    /// The program is owned by a loader under which it cannot be initialized
    WrongLoader = 6066,
    /// An account would break its own invariant
    InvariantViolated = 6067,
    /// Only the program itself records events
    EventAuthorityRequired = 6068,
    /// No instruction has this discriminator
    UnknownInstruction = 6069,
    /// The dispute window is still open
    VerdictTooEarly = 6070,
    /// The proof key changed so lately that a verdict may still need the one before
    ProofKeyInUse = 6071,
    /// The signature is not the key's signature of this message
    SignatureInvalid = 6072,
}

/// A called program that refuses ends the transaction. So a call returns an error only when its
/// accounts do not match its instruction, which no handler lets happen.
impl From<ProgramError> for EscrowError {
    #[inline(always)]
    fn from(_: ProgramError) -> Self {
        pinocchio::hint::cold_path();
        EscrowError::InvariantViolated
    }
}

/// What every fallible function of the program returns. The error is the program's own number
/// alone, so that a result fits one register.
pub type Result<T = ()> = core::result::Result<T, EscrowError>;

/// Turns `None` of a checked operation into the named error.
pub trait OrOverflow<T> {
    fn or_overflow(self) -> Result<T>;
}

impl<T> OrOverflow<T> for Option<T> {
    #[inline(always)]
    fn or_overflow(self) -> Result<T> {
        self.ok_or(EscrowError::ArithmeticOverflow)
    }
}

/// Refuses with a named error unless the condition holds.
macro_rules! require {
    ($condition:expr, $error:ident) => {
        if !$condition {
            pinocchio::hint::cold_path();
            return Err(crate::error::EscrowError::$error);
        }
    };
}
pub(crate) use require;
