import { STOP_BEFORE_END_SECONDS } from '../../common/workerProtocol.ts';
import { JOB_TIMEOUT_SECONDS } from '../../programs/client/generated/constants.ts';

/** So many seconds after its lock anybody may refund a job. */
export const REFUNDABLE_SECONDS = JOB_TIMEOUT_SECONDS + 1;

/** So many seconds after the lock the API has stopped an answer that still ran. */
export const STOPPED_SECONDS = JOB_TIMEOUT_SECONDS - Number(STOP_BEFORE_END_SECONDS) + 1;
