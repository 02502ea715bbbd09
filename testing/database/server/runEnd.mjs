/** After the last file of a run. */
export { closeOffered as default } from './runStart.mjs';
