/** The form of event envelopes: the date of the release that last changed it. */
export const API_VERSION = '2026-11-21';
